//! What runs hand in, and how far they are.

mod get_artifact;
mod report_progress;
mod submit_artifact;

pub(crate) use get_artifact::{all as all_told, no_revision};
use serde_json::{Value, json};
use statemark_runs::body::Finding;

use crate::tool::Tool;
use crate::tools::put;

pub(super) fn all() -> Vec<Tool> {
    vec![
        submit_artifact::tool(),
        get_artifact::tool(),
        report_progress::tool(),
    ]
}

/// Something that a contract finds, and where.
fn diagnostic(finding: &Finding) -> Value {
    let mut told = json!({"line": finding.line, "column": finding.column, "message": finding.what});
    if let Some(help) = &finding.help {
        put(&mut told, "help", json!(help));
    }
    told
}
