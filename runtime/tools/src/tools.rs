//! Our own tools, by subject. Each is a type that implements [`ToolCall`](crate::tool::ToolCall).

mod agent;
mod artifacts;
mod author;
mod human;
mod project;
mod runs;
mod time;
mod workflows;

pub(crate) use runs::start::StartRun;

use crate::tool::Tool;

/// Lists all of our own tools. The index of the API has their routes in this order.
#[must_use]
pub fn own_tools() -> Vec<Tool> {
    vec![
        Tool::new::<workflows::ListWorkflows>(),
        Tool::new::<workflows::DescribeWorkflow>(),
        Tool::new::<runs::look::ListRuns>(),
        Tool::new::<StartRun>(),
        Tool::new::<runs::look::GetRun>(),
        Tool::new::<runs::events::GetEvents>(),
        Tool::new::<runs::send::SendEvent>(),
        Tool::new::<runs::events::WaitRun>(),
        Tool::new::<runs::look::ExplainRun>(),
        Tool::new::<runs::start::ControlRun>(),
        Tool::new::<time::GetTimeline>(),
        Tool::new::<time::ForkRun>(),
        Tool::new::<time::RewindRun>(),
        Tool::new::<time::MigrateRun>(),
        Tool::new::<time::VerifyRun>(),
        Tool::new::<time::SaveFiles>(),
        Tool::new::<artifacts::GetArtifact>(),
        Tool::new::<artifacts::SubmitArtifact>(),
        Tool::new::<artifacts::ReportProgress>(),
        Tool::new::<human::ListRequests>(),
        Tool::new::<human::RequestHuman>(),
        Tool::new::<human::ResolveRequest>(),
        Tool::new::<author::LintWorkflow>(),
        Tool::new::<author::CreateWorkflow>(),
        Tool::new::<author::SimulateWorkflow>(),
        Tool::new::<author::SearchDocs>(),
        Tool::new::<project::GetProjectContext>(),
        Tool::new::<project::ReadDocument>(),
        Tool::new::<project::CompleteTask>(),
        Tool::new::<project::RunCheck>(),
        Tool::new::<agent::RunAgent>(),
    ]
}
