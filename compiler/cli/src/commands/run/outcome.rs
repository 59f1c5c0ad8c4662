//! What came of an order: the same for all commands that change a run.

use serde::Serialize;
use statemark_store::body::{Opened, Refused};
use statemark_store::{Body, RunView, Runs, Written};

use super::shown;
use crate::args::{StoreArgs, TextFormat};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::status::ExitStatus;

/// What to do where a person is wanted.
const NO_PERSON: &str = "whoever decides makes a token of their own, once: `statemark token create NAME --role person --save`";

/// What `--json` prints.
#[derive(Serialize)]
struct Outcome<'a> {
    /// The request that was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<&'a Opened>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'a Refused>,
    /// Whether the same request was answered before.
    replayed: bool,
    state: &'a RunView,
}

/// Shows what an order has done and the run as it is now. Refusals are said first.
pub(super) fn show(
    written: &Written,
    all: &Runs,
    store: &StoreArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let (mut asked, mut refused) = (None, None);
    for record in &written.records {
        match record.read() {
            Ok(Body::Refused(body)) => refused = refused.or(Some(body)),
            Ok(Body::Opened(body)) => asked = asked.or(Some(body)),
            _ => {}
        }
    }
    let view = written.loaded.view()?;
    match store.format() {
        TextFormat::Json => printer.result(&shown::json(&Outcome {
            asked: asked.as_ref(),
            refused: refused.as_ref(),
            replayed: written.replayed,
            state: &view,
        })),
        TextFormat::Text => {
            if written.replayed {
                printer.talk("answered before\n");
            }
            if let Some(refused) = &refused {
                let word = printer.talk_palette().bad("refused:");
                printer.talk(&format!("{word} {}\n", refused.reason));
                if refused.code == "not_a_person" {
                    let help = printer.talk_palette().dim("help:");
                    printer.talk(&format!("  {help} {NO_PERSON}\n"));
                }
            }
            printer.result(&shown::view(&view, all.now(), printer.palette()));
        }
    }
    Ok(match refused {
        Some(_) => ExitStatus::Findings,
        None => ExitStatus::Clean,
    })
}
