//! Our own tools, by subject. Each is a type that implements [`ToolCall`](crate::tool::ToolCall).

mod agent;
mod artifacts;
mod author;
mod human;
mod project;
mod runs;
mod time;
mod workflows;

pub use author::create_spec;
pub(crate) use runs::start::StartRunCall;

use crate::Tool;
use crate::tool::ToolCall as _;

/// The name of the tool that runs checks: a state can't withhold those that it requires.
pub(crate) const RUN_CHECK: &str = project::RunCheckCall::NAME;

/// Lists all of our own tools. The index of the API has their routes in this order.
#[must_use]
pub fn own_tools() -> Vec<Tool> {
    vec![
        Tool::new::<workflows::ListWorkflowsCall>(),
        Tool::new::<workflows::DescribeWorkflowCall>(),
        Tool::new::<runs::look::ListRunsCall>(),
        Tool::new::<StartRunCall>(),
        Tool::new::<runs::look::GetRunCall>(),
        Tool::new::<runs::events::GetEventsCall>(),
        Tool::new::<runs::send::SendEventCall>(),
        Tool::new::<runs::events::WaitRunCall>(),
        Tool::new::<runs::look::ExplainRunCall>(),
        Tool::new::<runs::start::ControlRunCall>(),
        Tool::new::<time::GetTimelineCall>(),
        Tool::new::<time::ForkRunCall>(),
        Tool::new::<time::RewindRunCall>(),
        Tool::new::<time::MigrateRunCall>(),
        Tool::new::<time::VerifyRunCall>(),
        Tool::new::<time::SaveFilesCall>(),
        Tool::new::<artifacts::GetArtifactCall>(),
        Tool::new::<artifacts::SubmitArtifactCall>(),
        Tool::new::<artifacts::ReportProgressCall>(),
        Tool::new::<human::ListRequestsCall>(),
        Tool::new::<human::RequestHumanCall>(),
        Tool::new::<human::ResolveRequestCall>(),
        Tool::new::<author::LintWorkflowCall>(),
        Tool::new::<author::CreateWorkflowCall>(),
        Tool::new::<author::SimulateWorkflowCall>(),
        Tool::new::<author::SearchDocsCall>(),
        Tool::new::<project::GetProjectContextCall>(),
        Tool::new::<project::ReadDocumentCall>(),
        Tool::new::<project::CompleteTaskCall>(),
        Tool::new::<project::RunCheckCall>(),
        Tool::new::<agent::RunAgentCall>(),
    ]
}
