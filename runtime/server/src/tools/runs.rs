//! Driving runs.

mod control_run;
mod describe_workflow;
mod explain_run;
mod get_events;
mod get_run;
mod list_runs;
mod list_workflows;
mod send_event;
mod start_run;
mod wait_run;

use crate::tool::Tool;

pub(super) fn all() -> Vec<Tool> {
    vec![
        list_workflows::tool(),
        describe_workflow::tool(),
        start_run::tool(),
        list_runs::tool(),
        get_run::tool(),
        send_event::tool(),
        wait_run::tool(),
        explain_run::tool(),
        get_events::tool(),
        control_run::tool(),
    ]
}
