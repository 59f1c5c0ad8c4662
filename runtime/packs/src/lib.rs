//! Packs: an agent's own tools, which the states of a run grant.
//!
//! Names, arguments and answers are those of Ralph Workflow's document; what it leaves open is said where it is decided.
//! What to rely on:
//!
//! - Every tool is one that states can restrict and that limits count; its capability is one of the policy's words.
//! - The module `workspace` is the only way to a file; commands run as checks do, and git reads data alone.
//! - An answer is a text or an object without an envelope of ours. An error is a text that says what, where and how to mend
//!   it, or the object that the document has for it.
//!
//! Deliberately not here: whether a call is allowed. The dispatcher asks the policy before a tool runs.

mod env;
mod exec;
mod fs;
mod git;
mod media;
mod settings;
mod walk;
mod web;
mod workspace;

pub use fs::changed_lines;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use statemark_runs::policy::Gating;
use statemark_tools::{Annotations, Ctx, Outcome, Problem, ProfileTool, Set, Tool};

pub use settings::Settings;

/// The sets of tools, one for each pack.
pub const SETS: [Set; 6] = [fs::SET, git::SET, exec::SET, env::SET, web::SET, media::SET];

/// The packs that are offered with the tools of Ralph Workflow; the others are a project's choice.
pub const RALPH: [Set; 5] = [fs::SET, git::SET, exec::SET, env::SET, media::SET];

/// Creates the tools of all packs.
#[must_use]
pub fn all() -> Vec<Tool> {
    let all = [
        fs::all(),
        git::all(),
        exec::all(),
        env::all(),
        web::all(),
        media::all(),
    ];
    all.into_iter().flatten().collect()
}

/// The texts of a tool and the function that it calls.
struct Spec<I> {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    annotations: Annotations,
    run: fn(&Ctx<'_>, &I) -> Outcome,
}

/// Creates a tool of a pack.
fn tool<I: DeserializeOwned + JsonSchema + 'static>(set: Set, spec: &Spec<I>) -> Tool {
    let tool = ProfileTool {
        name: spec.name,
        title: spec.title,
        description: spec.description,
        annotations: spec.annotations,
        output: "",
        equivalent: None,
        run: spec.run,
    };
    // A call names no run: each that holds the caller is asked.
    Tool::profile(set, shape, &tool)
        .gated_by(Gating::Counted)
        .without_run()
}

/// Gives an answer its shape: errors are texts, or the objects that the document has for them.
fn shape(outcome: Outcome) -> (Value, bool) {
    match outcome {
        Ok(answer) => (answer, false),
        Err(problem) if problem.details.get("status").is_some() => (problem.details, true),
        Err(problem) => (Value::String(problem.message), true),
    }
}

/// Creates an error that the document has an object for.
fn error_object(status: &'static str, mut object: Value) -> Problem {
    if let Value::Object(fields) = &mut object {
        fields.insert("status".to_owned(), json!(status));
    }
    Problem::new(status, status).with(object)
}
