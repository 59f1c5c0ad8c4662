//! Lists of targets.

use super::{Lowering, plain};
use crate::arena::Handle;
use crate::diag::{Code, Diagnostic};
use crate::ir::{State, StateKind};
use crate::lower::messages::unknown_target;
use crate::source::{Span, Spanned};

impl Lowering<'_, '_> {
    /// Resolves the states that a list names.
    ///
    /// Those that don't exist, are outside of `scope`, or can't be active with those before them are reported and left
    /// out.
    pub(super) fn targets(
        &mut self,
        names: &[Spanned<String>],
        scope: Option<Handle<State>>,
    ) -> Vec<Handle<State>> {
        let mut found: Vec<(Handle<State>, &Spanned<String>)> = Vec::new();
        for name in names {
            let Some(&state) = self.by_id.get(&plain(name)) else {
                let known = self.by_id.keys().map(String::as_str);
                let suggestion = self.diags.nearest(&name.value, known);
                self.diags.push(unknown_target(name, suggestion));
                continue;
            };
            let outside = scope.filter(|&scope| state == scope || !self.is_within(state, scope));
            if let Some(scope) = outside {
                let outer = if scope.index() == 0 {
                    "scxml"
                } else {
                    self.id_of(scope)
                };
                let finding = target_outside(name, outer, self.place_of(state));
                self.diags.push(finding);
                continue;
            }
            let apart = found
                .iter()
                .find(|(other, _)| !self.are_orthogonal(*other, state));
            if let Some(&(other, earlier)) = apart {
                let within = self.is_within(state, other) || self.is_within(other, state);
                self.diags.push(conflicting_targets(earlier, name, within));
                continue;
            }
            found.push((state, name));
        }
        found.into_iter().map(|(state, _)| state).collect()
    }

    /// Returns true if two states are in different regions of one parallel state.
    fn are_orthogonal(&self, one: Handle<State>, other: Handle<State>) -> bool {
        if self.is_within(one, other) || self.is_within(other, one) {
            return false;
        }
        let ancestors = |state| {
            std::iter::successors(Some(state), |&at| {
                self.node(at).and_then(|node| node.parent)
            })
        };
        // The states of both lines right below their nearest common ancestor.
        let below = |from, to| {
            ancestors(from)
                .take_while(|&at| !self.is_within(to, at))
                .last()
        };
        let outer = ancestors(one).find(|&at| self.is_within(other, at));
        let is_region =
            |state: Option<Handle<State>>| state.is_some_and(|at| !self.kind(at).is_history());
        outer.is_some_and(|outer| self.kind(outer) == StateKind::Parallel)
            && is_region(below(one, other))
            && is_region(below(other, one))
    }
}

/// Reports two states of one list that can't be active together, or of which one implies the other.
fn conflicting_targets(one: &Spanned<String>, other: &Spanned<String>, within: bool) -> Diagnostic {
    let message = format!(
        "`{}` and `{}` can't both be targets",
        one.value, other.value
    );
    let found = Diagnostic::new(Code::IllegalTargets, other.span, message)
        .related(one.span, "the other one");
    if within {
        return found
            .label("one is inside the other")
            .help("name only the inner one: the states around it are entered with it");
    }
    found
        .label("not in another region of the same parallel state")
        .help("name one state, or one for each region of a `<parallel>`")
}

/// Reports that a state begins, or a history leads, outside of where it may.
fn target_outside(target: &Spanned<String>, scope: &str, declared: Span) -> Diagnostic {
    let message = format!("`{}` isn't inside `{scope}`", target.value);
    Diagnostic::new(Code::IllegalTargets, target.span, message)
        .label(format!("must be a state inside `{scope}`"))
        .related(declared, format!("`{}` is here", target.value))
        .help(format!("name a state inside `{scope}`"))
}
