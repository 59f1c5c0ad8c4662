//! The stream of one run: its records; the id of each is its number.

use std::sync::Arc;

use serde_json::{Value, json};
use statemark_runs::{Record, RunId};
use statemark_tools::Dispatcher;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::{Sender, Update};
use crate::notifications::Notification;

/// Most records that are read at once.
const PAGE: usize = 100;

/// Sends that unknown records may be missing. Returns whether anybody reads on.
pub(super) async fn send_missed(end: u64, sender: &Sender) -> bool {
    let update = Update {
        name: Some("missed"),
        id: Some(end.to_string()),
        data: "{}".to_owned(),
    };
    sender.send(update).await.is_ok()
}

/// Sends the records after one, until nobody reads.
pub(super) async fn send_records(
    dispatcher: &Arc<Dispatcher>,
    run: RunId,
    mut after: u64,
    mut notifications: Receiver<Notification>,
    sender: &Sender,
) {
    loop {
        loop {
            let (dispatcher, own) = (Arc::clone(dispatcher), run.clone());
            let read = move || dispatcher.runs().store().records(&own, after, PAGE);
            let Ok(Ok(records)) = tokio::task::spawn_blocking(read).await else {
                return;
            };
            let Some(last) = records.last() else { break };
            after = last.seq;
            for record in &records {
                if sender.send(event(&run, record)).await.is_err() {
                    return;
                }
            }
        }
        loop {
            match notifications.recv().await {
                Ok(Notification::Run { run: changed, .. }) if changed == run => break,
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => break,
                Err(RecvError::Closed) => return,
            }
        }
    }
}

fn event(run: &RunId, record: &Record) -> Update {
    let body: Value = serde_json::from_str(&record.body).unwrap_or_default();
    let data = json!({
        "run_id": run,
        "seq": record.seq,
        "time": record.time,
        "kind": record.kind,
        "actor": record.actor,
        "body": body,
    });
    Update {
        name: Some("record"),
        id: Some(record.seq.to_string()),
        data: data.to_string(),
    }
}
