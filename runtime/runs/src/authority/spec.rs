//! The writing of specs: which an agent may add, and which a person alone writes.

use serde::Serialize;

use super::Right;
use crate::actor::Actor;
use crate::legible::{are_confusable, describe_oddity};
use crate::runs::RunError;
use crate::runs::operation::{Execution, Operation};

/// Asks whether a spec may be written. Whoever is allowed to writes it then.
///
/// Agents add workflows. A person alone declares what has programs run, changes or replaces what a person has accepted or
/// written, and chooses an id that can be taken for another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WriteSpec {
    /// The file.
    pub path: String,
    /// The ids of its workflows, and of those that it takes the place of.
    pub ids: Vec<String>,
    /// The ids of all workflows that are there.
    pub others: Vec<String>,
    /// The keys by which it has programs run, or says what they get.
    pub declares: Vec<&'static str>,
    /// True if it replaces a file that agents of this server haven't written, or not last.
    pub replaces: bool,
}

/// [`RunError::PersonWrites`] if only a person may write it.
impl Operation for WriteSpec {
    const NAME: &'static str = "write_spec";
    const RIGHT: Right = Right::Author;
    type Order = Actor;
    type Response = ();

    fn carry_out(&self, execution: &Execution<'_, Actor>) -> Result<(), RunError> {
        if Right::Accept.is_granted(execution.order().role) {
            return Ok(());
        }
        let authority = execution.runs().authority()?;
        let accepted = self
            .ids
            .iter()
            .find(|id| authority.acceptance(id).is_some());
        let why = match (self.declares.first(), accepted) {
            (Some(key), _) => Some(format!(
                "only a person may declare `{key}`, by which programs run"
            )),
            (None, Some(id)) => Some(format!(
                "a person has accepted the workflow `{id}`, and only one changes it or takes its place"
            )),
            (None, None) if self.replaces => Some(format!(
                "only a person replaces `{}`: an agent may replace what agents of this server have written, as long as nobody else has changed it",
                self.path
            )),
            (None, None) => self.describe_odd_id(),
        };
        why.map_or(Ok(()), |why| Err(RunError::PersonWrites { why }))
    }
}

impl WriteSpec {
    /// Tells which new id can be taken for another.
    fn describe_odd_id(&self) -> Option<String> {
        let mut new = self.ids.iter().filter(|id| !self.others.contains(*id));
        new.find_map(|id| {
            let other = self.others.iter().find(|other| are_confusable(id, other));
            let why = match (describe_oddity(id), other) {
                (Some(why), _) => why.to_owned(),
                (None, Some(other)) => format!("looks like `{other}`"),
                (None, None) => return None,
            };
            Some(format!(
                "the workflow id `{id}` {why}; only a person chooses such a one"
            ))
        })
    }
}
