//! `why`: why a run stands where it does, and what would move it.

use statemark_runs::{Call, Loaded, Reason, shell_word};

use super::shown;
use crate::args::{TextFormat, WhyArgs};
use crate::failure::Failure;
use crate::palette::Palette;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(in crate::commands) fn run(
    args: &WhyArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let all = runs::open(&args.store)?;
    let loaded = runs::load(&all, &args.run)?;
    let why = loaded.why(args.event.as_deref())?;
    if args.store.format() == TextFormat::Json {
        printer.result(&shown::json(&why));
        return Ok(ExitStatus::Clean);
    }
    let palette = printer.palette();
    printer.result(&format!(
        "{} is {}\n",
        palette.strong(loaded.run.as_str()),
        shown::status(why.status, palette)
    ));
    for reason in &why.reasons {
        printer.result(&told(reason, &loaded, all.now(), palette));
    }
    Ok(ExitStatus::Clean)
}

fn told(reason: &Reason, loaded: &Loaded, now: u64, palette: Palette) -> String {
    let next = reason.next.as_ref();
    let next = next.map(|call| words(call, loaded, now));
    let next = next.map_or_else(String::new, |it| palette.dim(&format!("  ({it})")));
    format!("  {}{next}\n", reason.text)
}

/// What to do, as one would type it.
pub(super) fn words(call: &Call, loaded: &Loaded, now: u64) -> String {
    let run = shell_word(loaded.run.as_str());
    match call {
        Call::Send { event, fields } if fields.is_empty() => {
            format!("statemark send {run} {}", shell_word(event))
        }
        Call::Send { event, fields } => {
            let fields: Vec<String> = fields.iter().map(|it| format!("\"{it}\": …")).collect();
            let data = format!("{{{}}}", fields.join(", "));
            let (event, data) = (shell_word(event), shell_word(&data));
            format!("statemark send {run} {event} --data {data}")
        }
        Call::Approve { request } => format!("statemark approve {}", shell_word(request)),
        Call::Answer { request } => format!("statemark answer {} …", shell_word(request)),
        Call::Deny { request } => format!("statemark deny {}", shell_word(request)),
        Call::SendBack { request } => {
            format!("statemark deny {} --comment …", shell_word(request))
        }
        Call::AskReview => format!("statemark ask {run} 'Is it good?' --kind review"),
        Call::Continue => format!("statemark continue {run}"),
        Call::Report { step } => {
            let (workflow, step) = (shell_word(loaded.workflow.id()), shell_word(step));
            format!(
                "statemark emit --type status_change --workflow {workflow} --run-id {run} --step {step} …"
            )
        }
        Call::Look { run } => format!("statemark state {}", shell_word(run.as_str())),
        Call::Wait { until } => match until.checked_sub(now) {
            None | Some(0) => "now".to_owned(),
            Some(left) => format!("in {}", runs::length(left)),
        },
        Call::SubmitArtifact { artifact } => {
            let artifact = shell_word(artifact);
            format!("statemark artifacts put {run} {artifact} FILE --final")
        }
        Call::RunCheck { check } => {
            format!("statemark run-check {} --run {run}", shell_word(check))
        }
        Call::FinalizeArtifact { artifact, revision } => {
            let artifact = shell_word(artifact);
            format!("statemark artifacts final {run} {artifact} --revision {revision}")
        }
        Call::Start { workflow } => format!("statemark start {}", shell_word(workflow)),
        Call::Effect { key } => {
            let key = shell_word(key);
            format!("statemark effect report {run} {key} succeeded (or failed)")
        }
        Call::Rewind { to, force: false } => format!("statemark rewind {run} --to {to}"),
        Call::Rewind { to, force: true } => format!("statemark rewind {run} --to {to} --force"),
        Call::Restore => format!("statemark checkpoint restore {run} --finish"),
    }
}
