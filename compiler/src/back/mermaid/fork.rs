//! Transitions into several regions, which Mermaid draws as forks.

use super::Writer;
use crate::arena::Handle;
use crate::ir::State;

impl Writer<'_> {
    /// Writes an arrow to a fork, with its label, and from there one to each target.
    ///
    /// Without targets it writes nothing.
    pub(super) fn fork(&mut self, source: &str, label: &str, targets: &[Handle<State>]) {
        if targets.is_empty() {
            return;
        }
        for &target in targets {
            self.introduce(target);
        }
        let fork = self.fork_id();
        self.line(&format!("state {fork} <<fork>>"));
        self.line(&format!("{source} --> {fork}{label}"));
        for &target in targets {
            let target = self.name(target);
            self.line(&format!("{fork} --> {target}"));
        }
    }

    /// Returns an id that no state has.
    fn fork_id(&mut self) -> String {
        loop {
            self.forks += 1;
            let id = format!("fork_{}", self.forks);
            if self.machine.states.iter().all(|(_, state)| state.id != id) {
                return id;
            }
        }
    }
}
