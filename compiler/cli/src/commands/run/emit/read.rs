//! What the arguments of `emit` report: each type has its own fields in `--data`.

use serde_json::{Map, Value};
use statemark_runs::body::{Annotation, Note, StepStatus, Subflow};
use statemark_runs::{Registered, Report};

use crate::args::EmitArgs;
use crate::failure::{Failure, FailureKind};
use crate::runs;

/// The types, in the order of their help.
const TYPES: [&str; 6] = [
    "status_change",
    "artifact_registered",
    "annotation_updated",
    "waiting_for_user",
    "btw_update",
    "subflow_registered",
];

/// What is reported, and the fields of the data that nobody reads.
pub(super) fn report(args: &EmitArgs) -> Result<(Report, Vec<String>), Failure> {
    let kind = args.kind.as_str();
    let Some(kind) = TYPES.into_iter().find(|it| *it == kind) else {
        return Err(bad_word("--type", kind, TYPES));
    };
    if matches!(kind, "status_change" | "subflow_registered") && args.step.is_none() {
        return Err(missing("--step", kind));
    }
    let fields = match runs::json("--data", args.data.as_deref())? {
        Some(Value::Object(fields)) => fields,
        None => Map::new(),
        Some(other) => return Err(bad_word("--data", &other.to_string(), ["a JSON object"])),
    };
    let mut data = Data { kind, fields };
    let report = match kind {
        "status_change" => {
            let status = status(&data.required("status")?)?;
            let message = data.text(&["message"])?;
            let data = match std::mem::take(&mut data.fields) {
                rest if rest.is_empty() => Value::Null,
                rest => Value::Object(rest),
            };
            Report::Status {
                status,
                message,
                data,
            }
        }
        "artifact_registered" => Report::Artifact(Registered {
            path: data.required("path")?,
            storage_root: data.text(&["storageRoot", "storage_root"])?,
            feature: data.text(&["feature"])?,
            kind: data.text(&["type"])?,
            subflow: data.take(&["subflow"]) == Value::Bool(true),
        }),
        "annotation_updated" => Report::Annotation(Annotation {
            document: data.required("docId")?,
            text: data.required("content")?,
            parent: data.text(&["parentId"])?,
            data: data.take(&["data"]),
        }),
        "waiting_for_user" => Report::Waiting {
            prompt: data.required("prompt")?,
            data: data.take(&["context"]),
        },
        "btw_update" => Report::Note(Note {
            text: data.required("message")?,
            data: data.take(&["metadata"]),
        }),
        _ => subflow(args, &mut data)?,
    };
    Ok((report, data.fields.into_iter().map(|it| it.0).collect()))
}

fn subflow(args: &EmitArgs, data: &mut Data) -> Result<Report, Failure> {
    let steps = data.take(&["steps"]);
    let steps = steps.as_array().into_iter().flatten();
    // A step is its name, or an object with one.
    let name = |it: &Value| {
        let id = it.get("id").or_else(|| it.get("name")).unwrap_or(it);
        id.as_str().map(str::to_owned)
    };
    let parent = data.text(&["parentStepId"])?;
    Ok(Report::Subflow(Subflow {
        parent: parent
            .or_else(|| args.step.clone())
            .ok_or_else(|| missing("--step", data.kind))?,
        name: data.required("subflowName")?,
        steps: steps.filter_map(name).collect(),
        diagram: data.text(&["diagram"])?,
    }))
}

/// The fields of `--data` that weren't read yet.
struct Data {
    kind: &'static str,
    fields: Map<String, Value>,
}

impl Data {
    /// The first of these fields, or null.
    fn take(&mut self, names: &[&str]) -> Value {
        let mut found = names.iter().filter_map(|name| self.fields.remove(*name));
        found.next().unwrap_or_default()
    }

    /// The first of these fields, as a text.
    fn text(&mut self, names: &[&'static str]) -> Result<Option<String>, Failure> {
        let name = names.first().copied().unwrap_or_default();
        match self.take(names) {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text)),
            other => Err(bad_word(name, &other.to_string(), ["a text"])),
        }
    }

    /// A field that must be there.
    fn required(&mut self, name: &'static str) -> Result<String, Failure> {
        let text = self.text(&[name])?;
        text.filter(|text| !text.is_empty())
            .ok_or_else(|| missing(name, self.kind))
    }
}

fn status(name: &str) -> Result<StepStatus, Failure> {
    let mut all = StepStatus::ALL.into_iter();
    let found = all.find(|status| status.name() == name);
    found.ok_or_else(|| bad_word("status", name, StepStatus::ALL.map(StepStatus::name)))
}

fn bad_word<const N: usize>(name: &'static str, word: &str, words: [&str; N]) -> Failure {
    FailureKind::BadWord {
        name,
        word: word.to_owned(),
        words: words.join(", "),
    }
    .into()
}

fn missing(name: &'static str, kind: &'static str) -> Failure {
    FailureKind::MissingPart { name, kind }.into()
}
