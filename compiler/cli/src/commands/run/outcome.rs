//! What came of an order: the same for all commands that change a run.

use serde::Serialize;
use statemark_runs::body::{Event, Opened, Refused, Subject};
use statemark_runs::{Body, Loaded, Remedy, RunView, Runs, Written};

use super::{shown, why};
use crate::args::{StoreArgs, TextFormat};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::status::ExitStatus;

/// What to do where a person is wanted.
const NO_PERSON: &str = "whoever decides makes a token of their own, once: `statemark token create NAME --role person --save`";

/// What `--json` prints.
#[derive(Serialize)]
struct Outcome<'a> {
    /// The event that was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    taken: Option<&'a Event>,
    /// The request that was opened, where nothing was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<&'a Opened>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'a Refused>,
    /// Whether the same request was answered before.
    replayed: bool,
    state: &'a RunView,
}

/// Shows what an order has done and the run as it is now. Refusals are said first.
pub(super) fn show<T>(
    written: &Written<T>,
    all: &Runs,
    store: &StoreArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let (mut taken, mut asked, mut refused) = (None, None, None);
    for record in &written.records {
        match record.read() {
            Ok(Body::Event(body)) => taken = taken.or(Some(body)),
            Ok(Body::Opened(body)) => asked = asked.or(Some(body)),
            Ok(Body::Refused(body)) => refused = refused.or(Some(body)),
            _ => {}
        }
    }
    let view = written.loaded.view()?;
    let outcome = Outcome {
        taken: taken.as_ref(),
        asked: asked.as_ref().filter(|_| taken.is_none()),
        refused: refused.as_ref(),
        replayed: written.replayed,
        state: &view,
    };
    match store.format() {
        TextFormat::Json => printer.result(&shown::json(&outcome)),
        TextFormat::Text => {
            outcome.talk(printer);
            let now = all.now();
            let help = outcome
                .refused
                .and_then(|it| help_after(&written.loaded, it, now));
            if let Some(instead) = help {
                let help = printer.talk_palette().dim("help:");
                printer.talk(&format!("  {help} {instead}\n"));
            }
            printer.result(&shown::view(&view, all.now(), printer.palette()));
        }
    }
    Ok(match refused {
        Some(_) => ExitStatus::Findings,
        None => ExitStatus::Clean,
    })
}

/// Returns the help after a refused event. Another event is only on the way there, and the run's view has those.
fn help_after(loaded: &Loaded, refused: &Refused, now: u64) -> Option<String> {
    if !matches!(refused.subject, Subject::Event { .. }) {
        return None;
    }
    let remedy = refused.remedy(loaded)?;
    let is_event = matches!(remedy, Remedy::Send { .. });
    (!is_event).then(|| why::as_command(&remedy, loaded, now))
}

impl Outcome<'_> {
    /// What isn't seen from the run as it is.
    fn talk(&self, printer: &mut Printer) {
        if self.replayed {
            printer.talk("answered before\n");
        }
        if let Some(refused) = self.refused {
            let word = printer.talk_palette().bad("refused:");
            printer.talk(&format!("{word} {}\n", refused.reason));
            if refused.code == "not_a_person" {
                let help = printer.talk_palette().dim("help:");
                printer.talk(&format!("  {help} {NO_PERSON}\n"));
            }
        }
        if let Some(asked) = self.asked.filter(|it| it.event.is_some()) {
            let (request, prompt) = (&asked.request, &asked.prompt);
            printer.talk(&format!("waiting for approval {request}: {prompt}\n"));
        }
        for effect in self.taken.iter().flat_map(|event| &event.step.effects) {
            printer.result(&format!("to do: {} ({})\n", effect.name, effect.key));
        }
    }
}
