//! `send`: an event for a run.

use serde::Serialize;
use statemark_store::body::{Event, Opened, Refused};
use statemark_store::runs::Sent;
use statemark_store::{Order, RunView, Send};

use super::shown;
use crate::args::{SendArgs, TextFormat};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

/// What `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    taken: Option<&'a Event>,
    /// The request that waits for an approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<&'a Opened>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'a Refused>,
    /// Whether the same request was answered before.
    replayed: bool,
    state: &'a RunView,
}

pub(in crate::commands) fn run(
    args: &SendArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let data = runs::json("--data", args.data.as_deref())?;
    let all = runs::open(&args.store)?;
    let run = runs::current(&all, &args.run)?;
    let order = Order {
        expected: args.expected_seq,
        ..runs::order(run, args.key.as_deref())?
    };
    let send = Send {
        event: args.event.clone(),
        data,
    };
    let written = all.send(&order, &send)?;
    let sent = Sent::of(&written)?;
    let view = written.loaded.view()?;
    let (taken, asked, refused) = match &sent {
        Sent::Taken(event) => (Some(event), None, None),
        Sent::Asked(opened) => (None, Some(opened), None),
        Sent::Refused(refused) => (None, None, Some(refused)),
    };
    let palette = printer.palette();
    match args.store.format() {
        TextFormat::Json => printer.result(&shown::json(&Answer {
            taken,
            asked,
            refused,
            replayed: written.replayed,
            state: &view,
        })),
        TextFormat::Text => {
            if written.replayed {
                printer.talk("answered before, under the same key\n");
            }
            if let Some(refused) = refused {
                printer.talk(&format!(
                    "{} {}\n",
                    printer.talk_palette().bad("refused:"),
                    refused.reason
                ));
            }
            if let Some(asked) = asked {
                let (request, prompt) = (&asked.request, &asked.prompt);
                printer.talk(&format!("it waits for an approval ({request}): {prompt}\n"));
            }
            for effect in taken.iter().flat_map(|event| &event.step.effects) {
                printer.result(&format!("to do: {} ({})\n", effect.name, effect.key));
            }
            printer.result(&shown::view(&view, all.now(), palette));
        }
    }
    Ok(match sent {
        Sent::Taken(_) | Sent::Asked(_) => ExitStatus::Clean,
        Sent::Refused(_) => ExitStatus::Findings,
    })
}
