//! One-line summaries of records.

use crate::body::{Body, Cause, Resolution, Scope, Stage, StepStatus, Subject, ToolVerdict};
use crate::record::Record;
use crate::runs::list;

impl Record {
    /// Describes the record in one line. Says so if its body can't be read.
    #[must_use]
    pub fn summary(&self) -> String {
        match self.read() {
            Ok(body) => summarize(body),
            Err(error) => format!("can't be read: {error}"),
        }
    }
}

fn summarize(body: Body) -> String {
    match body {
        Body::Started(it) => format!("began `{}` in {}", it.workflow, list(&it.step.leaves)),
        Body::Forked(it) => format!("forked from `{}` at record {}", it.from, it.at),
        Body::Event(it) => {
            let cause = it.cause.map(|cause| because(&cause)).unwrap_or_default();
            if it.step.steps.is_empty() {
                return format!("`{}`{cause} came, and nothing took it", it.event);
            }
            let mut text = format!("`{}`{cause} → {}", it.event, list(&it.step.leaves));
            if let Some(success) = it.step.ended {
                text += if success {
                    ", ended"
                } else {
                    ", ended in failure"
                };
            }
            text
        }
        Body::Queued(it) => {
            let cause = because(&it.cause);
            format!("`{}`{cause} waits until nothing is in the way", it.event)
        }
        Body::Refused(it) => format!("{} refused: {}", subject(&it.subject), it.reason),
        Body::Step(it) => {
            let unit = it.unit.map(|unit| format!(" ({unit})")).unwrap_or_default();
            let words = it
                .message
                .map(|text| format!(": {text}"))
                .unwrap_or_default();
            format!("`{}`{unit} is {}{words}", it.step, status(it.status))
        }
        Body::Progress(it) => {
            let unit = it.unit.map_or_else(String::new, |unit| format!("{unit}: "));
            // Whole percents: nobody means more by it.
            let done = it.done.map(|done| format!(" ({:.0} %)", done * 100.0));
            format!("{unit}{}{}", it.message, done.unwrap_or_default())
        }
        Body::Message(it) => format!("{}: {}", it.role, it.text),
        Body::Tool(it) => {
            let reason = it.reason.map(|why| format!(": {why}")).unwrap_or_default();
            let verdict = match it.verdict {
                ToolVerdict::Allowed if it.reserved => "may run",
                ToolVerdict::Allowed => "has run",
                ToolVerdict::Denied => "denied",
                ToolVerdict::Failed => "failed",
            };
            format!("`{}` {verdict}{reason}", it.name)
        }
        Body::Opened(it) => format!("asks `{}`: {}", it.request, it.prompt),
        Body::Resolved(it) => {
            let words = it
                .comment
                .map(|text| format!(": {text}"))
                .unwrap_or_default();
            let way = match (it.relayed, it.elicited) {
                (true, _) => ", passed on",
                (_, true) => ", through the asker's client",
                _ => "",
            };
            let how = resolution(it.resolution);
            format!("`{}` {how}{way}{words}", it.request)
        }
        Body::Artifact(it) => {
            let stage = match it.stage {
                Stage::Draft => "draft",
                Stage::Final => "final",
                Stage::Discarded => "discarded",
            };
            format!("artifact `{}`, revision {}, {stage}", it.name, it.revision)
        }
        Body::Check(it) => {
            let arguments = if it.arguments.is_empty() {
                String::new()
            } else {
                format!(" with {}", list(&it.arguments))
            };
            format!("check `{}`{arguments} {}", it.name, it.ran.outcome())
        }
        Body::CheckpointTaken(it) => format!("checkpoint `{}` of {}", it.name, it.repository),
        Body::CheckpointRestored(it) if it.done => format!("checkpoint `{}` restored", it.name),
        Body::CheckpointRestored(it) => format!("about to restore checkpoint `{}`", it.name),
        Body::Effect(it) => format!("effect `{}` {} ({})", it.name, it.status.name(), it.key),
        Body::Paused(it) => with("paused", it.reason.as_ref()),
        Body::Continued(it) => with("goes on", it.reason.as_ref()),
        Body::Cancelled(it) => with("cancelled", it.reason.as_ref()),
        Body::Forced(it) => with(&format!("forced to `{}`", it.to), it.reason.as_ref()),
        Body::Rewound(it) => {
            let what = match it.scope {
                Scope::State => "",
                Scope::Workspace => " with the files only",
                Scope::Both => " with the files",
            };
            let crossed = if it.crossed.is_empty() {
                String::new()
            } else {
                format!(", leaving {} behind", list(&it.crossed))
            };
            let text = format!("back to record {}{what}{crossed}", it.to);
            with(&text, it.reason.as_ref())
        }
        Body::Migrated(it) => {
            let workflow = it.workflow.map(|it| format!(" as `{it}`"));
            let renamed = it
                .mapping
                .iter()
                .map(|(old, new)| format!(", `{old}` as `{new}`"));
            let renamed: String = renamed.collect();
            format!(
                "goes on{} under table {}{renamed}",
                workflow.unwrap_or_default(),
                it.to
            )
        }
        Body::Closed(it) => {
            let outcome = if it.success { "completed" } else { "failed" };
            with(&format!("closed as {outcome}"), it.reason.as_ref())
        }
        Body::Usage(it) => format!("{} tokens in, {} out", it.input_tokens, it.output_tokens),
        Body::ChildStarted(it) => format!("child `{}` began `{}`", it.run, it.workflow),
        Body::ChildEnded(it) => {
            let outcome = if it.success { "well" } else { "badly" };
            with(
                &format!("child `{}` ended {outcome}", it.run),
                it.reason.as_ref(),
            )
        }
        Body::Subflow(it) => format!("steps of `{}` under `{}`", it.name, it.parent),
        Body::Note(it) => it.text,
        Body::Annotation(it) => format!("on `{}`: {}", it.document, it.text),
        Body::Unknown { kind, v, .. } => format!("`{kind}` in version {v}, unknown here"),
    }
}

fn with(what: &str, reason: Option<&String>) -> String {
    match reason {
        Some(reason) => format!("{what}: {reason}"),
        None => what.to_owned(),
    }
}

fn because(cause: &Cause) -> String {
    match cause {
        Cause::Timer { .. } => " by its timer".to_owned(),
        Cause::Request { request } => format!(" by request `{request}`"),
        Cause::Advance { step, .. } => format!(" by a report on `{step}`"),
        Cause::Limit { limit, state } => format!(" by `{limit}` of `{state}`"),
        Cause::Interrupt {
            interrupt, path, ..
        } => format!(" by interrupt `{interrupt}` ({path})"),
        Cause::Child { run, .. } => format!(" by child `{run}`"),
        Cause::SafeNext { sent } => format!(" for `{sent}`, which the machine doesn't have"),
    }
}

/// What was refused, in words.
pub(crate) fn subject(subject: &Subject) -> String {
    match subject {
        Subject::Event { name, .. } => format!("event `{name}`"),
        Subject::Step { name, status } => format!("`{name}` as {status}"),
        Subject::Tool { name } => format!("tool `{name}`"),
        Subject::Request { name, reply } => format!("`{reply}` of `{name}`"),
        Subject::Operation { name, on: None } => format!("`{name}`"),
        Subject::Operation { name, on: Some(on) } => format!("`{name}` ({on})"),
    }
}

const fn status(status: StepStatus) -> &'static str {
    match status {
        StepStatus::NotStarted => "not started",
        other => other.name(),
    }
}

const fn resolution(resolution: Resolution) -> &'static str {
    match resolution {
        Resolution::Approved => "approved",
        Resolution::Denied => "denied",
        Resolution::Answered => "answered",
        Resolution::SentBack => "sent back",
        Resolution::Expired => "expired",
        Resolution::Withdrawn => "withdrawn",
    }
}
