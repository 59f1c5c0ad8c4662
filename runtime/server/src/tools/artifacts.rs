//! What runs hand in, and how far they are.

mod get_artifact;
mod report_progress;
mod submit_artifact;

use serde_json::{Value, json};
use statemark_runs::body::Finding;

use crate::envelope::set_field;
use crate::tool::Tool;

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
        set_field(&mut told, "help", json!(help));
    }
    told
}
