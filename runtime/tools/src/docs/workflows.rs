//! Pages of workflows: their texts and those of their states.

use serde_json::Value;
use statemark_runs::Workflow;

use super::Page;

/// Creates the page of a workflow; its states are its sections.
pub(crate) fn page(workflow: &Workflow) -> Page {
    let id = workflow.id();
    let text_of = |meta: &Value, key: &str| {
        let text = meta.get(key).and_then(Value::as_str);
        text.map(str::trim)
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
    };
    let title = match text_of(workflow.meta(), "title") {
        Some(title) if title != id => format!("Workflow {id}: {title}"),
        _ => format!("Workflow {id}"),
    };
    let mut text = format!("# {title}\n");
    if let Some(description) = text_of(workflow.meta(), "description") {
        text.push_str(&format!("\n{description}\n"));
    }
    let states: Vec<&str> = workflow.visible_states().map(|(_, name)| name).collect();
    text.push_str(&format!("\nStates: {}.\n", states.join(", ")));
    for (state, name) in workflow.visible_states() {
        let meta = workflow.state_meta(state);
        let words = ["title", "description", "instructions"];
        let words: Vec<String> = words.iter().filter_map(|key| text_of(meta, key)).collect();
        if !words.is_empty() {
            text.push_str(&format!(
                "\n## `{name}`\n\n{}\n",
                lower_headings(&words.join("\n\n"))
            ));
        }
    }
    Page {
        id: format!("workflow/{id}"),
        title,
        text,
        whole: false,
        weight: 1.0,
        // The workflow itself is listed.
        listed: false,
    }
}

/// Lowers the headings of a text below those of the page around it.
fn lower_headings(text: &str) -> String {
    let mut is_code = false;
    let lines = text.lines().map(|line| {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if line.starts_with('#') && !is_code {
            format!("##{line}")
        } else {
            line.to_owned()
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}
