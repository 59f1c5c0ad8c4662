//! Choices, and decisions: waiting states from which an event leads on.
//!
//! A choice whose branches have only guards is no state: it is inlined into each transition that leads to it, with the
//! guards of both, in the order of the text, `[else]` last. `[*] -->` and history have no guards, so a choice that they lead
//! to stays, as a state that is left at once; with words for people in brackets it waits for the event of these words.
//!
//! A choice with a branch that waits for an event is a *decision*. A transition without a label into it is replaced by its
//! branches; any other enters it as a state. A scope with several `[*] -->` to different states begins in a decision, too.

use std::collections::{BTreeMap, BTreeSet};

use super::messages::single_way;
use crate::diag::{Code, Diagnostic, machine_too_large, quoted_list};
use crate::front::label::ast::{Label, Trigger};
use crate::front::mermaid::ast::Stereotype;
use crate::front::words::slug;
use crate::lower::draft::{Draft, DraftTransition, DraftTrigger, ROOT, StateHandle};
use crate::lower::guard::is_prose;
use crate::lower::spec::Context;
use crate::lower::transition::{apply_label, bracketed_event};
use crate::lower::trigger::can_complete;
use crate::source::Span;

/// Most transitions after choices are inlined. Unit: transitions and guards. Why: the runtime's limit.
///
/// A chain of choices doubles them at each.
const MOST: usize = statemark_runtime::MAX_TRANSITIONS;

/// Turns all choices into transitions and states.
pub(super) fn resolve_choices(draft: &mut Draft, context: &mut Context<'_>) {
    let choices: BTreeSet<StateHandle> = draft
        .named_states()
        .filter(|&state| draft.get(state).pseudo == Some(Stereotype::Choice))
        .collect();
    if choices.is_empty() {
        return;
    }
    let mut choosing = Choosing::new(choices, draft);
    for choice in choosing.decisions.clone() {
        choosing.make_prose_events(choice, draft, context);
    }
    choosing.report(draft, context);
    let Some(order) = choosing.order(draft, context) else {
        return;
    };
    choosing.keep_entered(draft);
    for choice in order {
        let branches = choosing.branches.remove(&choice).unwrap_or_default();
        let mut resolved = Vec::with_capacity(branches.len());
        for branch in branches {
            choosing.expand(branch, draft, &mut resolved);
        }
        resolved.sort_by_key(|branch| branch.otherwise);
        choosing.branches.insert(choice, resolved);
    }
    choosing.rebuild(draft, context);
}

struct Choosing {
    choices: BTreeSet<StateHandle>,
    /// The choices with a branch that waits for an event.
    decisions: BTreeSet<StateHandle>,
    /// The choices that stay as states.
    kept: BTreeSet<StateHandle>,
    /// The branches of each choice; once it is resolved, none leads to another choice without events.
    branches: BTreeMap<StateHandle, Vec<DraftTransition>>,
    /// The number of transitions made.
    made: usize,
}

impl Choosing {
    fn new(choices: BTreeSet<StateHandle>, draft: &Draft) -> Self {
        let mut branches: BTreeMap<StateHandle, Vec<DraftTransition>> = BTreeMap::new();
        for transition in &draft.transitions {
            if choices.contains(&transition.ir.source) {
                let list = branches.entry(transition.ir.source).or_default();
                list.push(transition.clone());
            }
        }
        let decides = |choice: &StateHandle| {
            let mut all = branches.get(choice).into_iter().flatten();
            all.any(waits)
        };
        Self {
            decisions: choices.iter().copied().filter(decides).collect(),
            kept: BTreeSet::new(),
            choices,
            branches,
            made: 0,
        }
    }

    /// Makes words alone in brackets the events of these words, and returns whether there are any.
    ///
    /// The choice waits, and they have no event beside them.
    fn make_prose_events(
        &mut self,
        choice: StateHandle,
        draft: &mut Draft,
        context: &mut Context<'_>,
    ) -> bool {
        let mut found = false;
        for branch in self.branches.get_mut(&choice).into_iter().flatten() {
            let [guard] = branch.label_guards.as_slice() else {
                continue;
            };
            let text = draft.guard_texts.at(*guard).clone();
            if waits(branch) || !is_prose(&text, draft, context) {
                continue;
            }
            if let Some(event) = bracketed_event(&text.text, draft, context.diags) {
                branch.trigger = DraftTrigger::Events(vec![event]);
                branch.label_guards.clear();
                if let Some(label) = &mut branch.ir.label {
                    label.guard = None;
                }
                found = true;
            }
        }
        found
    }

    /// Reports choices that can't decide.
    fn report(&self, draft: &Draft, context: &mut Context<'_>) {
        for &choice in &self.choices {
            let state = draft.get(choice);
            let branches = self.branches.get(&choice).map_or(&[][..], Vec::as_slice);
            let Some(last) = branches.last() else {
                let diagnostic = choice_without_way_out(&state.ir.id, state.ir.span);
                context.diags.push(diagnostic);
                continue;
            };
            if self.decisions.contains(&choice) {
                continue;
            }
            let guards: Vec<&str> = branches
                .iter()
                .filter_map(|branch| branch.label_guards.first())
                .map(|&guard| draft.guard_texts.at(guard).text.value.as_str())
                .collect();
            if guards.len() < branches.len() {
                let into = draft.transitions.iter();
                let into = into.filter(|it| it.ir.targets.contains(&choice));
                // Where several ways come together, one out of it is a merge.
                if branches.len() == 1 && into.count() < 2 {
                    let diagnostic = single_way("choice", &state.ir.id, "out of", last.ir.span);
                    context.diags.push(diagnostic);
                }
            } else if !covers(&guards) {
                let diagnostic = uncovered_choice(&state.ir.id, &guards, last.ir.span);
                context.diags.push(diagnostic);
            }
        }
    }

    /// Returns the choices, each after those that it leads to without an event. Reports circles.
    fn order(&self, draft: &Draft, context: &mut Context<'_>) -> Option<Vec<StateHandle>> {
        let mut order = Vec::with_capacity(self.choices.len());
        let mut done: BTreeSet<StateHandle> = BTreeSet::new();
        for &start in &self.choices {
            // The open choices, with how many of their branches were followed, and by which way.
            let mut open: Vec<(StateHandle, usize)> = Vec::new();
            let mut is_open: BTreeSet<StateHandle> = BTreeSet::new();
            if !done.contains(&start) {
                open.push((start, 0));
                is_open.insert(start);
            }
            while let Some((choice, next)) = open.last_mut() {
                let (choice, at) = (*choice, *next);
                *next += 1;
                let Some(branch) = self.branches.get(&choice).and_then(|all| all.get(at)) else {
                    done.insert(choice);
                    is_open.remove(&choice);
                    order.push(choice);
                    open.pop();
                    continue;
                };
                let Some(inner) = branch.ir.target().filter(|target| self.is_plain(*target)) else {
                    continue;
                };
                if is_open.contains(&inner) {
                    let from = open.iter().position(|&(open, _)| open == inner);
                    let circle = from.and_then(|from| open.get(from..));
                    self.report_circle(circle.unwrap_or(&[]), draft, context);
                    return None;
                }
                if !done.contains(&inner) {
                    open.push((inner, 0));
                    is_open.insert(inner);
                }
            }
        }
        Some(order)
    }

    fn report_circle(
        &self,
        circle: &[(StateHandle, usize)],
        draft: &Draft,
        context: &mut Context<'_>,
    ) {
        let ids: Vec<&str> = circle
            .iter()
            .map(|&(choice, _)| draft.get(choice).ir.id.as_str())
            .collect();
        let span = |&(choice, next): &(StateHandle, usize)| -> Option<Span> {
            let branch = self.branches.get(&choice)?.get(next.checked_sub(1)?)?;
            Some(branch.ir.span)
        };
        let places: Vec<Span> = circle.iter().filter_map(span).collect();
        if let Some(diagnostic) = circle_of_choices(&ids, &places) {
            context.diags.push(diagnostic);
        }
    }

    /// Returns whether a state is a choice whose branches have only guards.
    fn is_plain(&self, state: StateHandle) -> bool {
        self.choices.contains(&state) && !self.decisions.contains(&state)
    }

    /// Keeps the choices that something begins at, and those that nothing leads to.
    ///
    /// The checks of the machine report the latter.
    fn keep_entered(&mut self, draft: &Draft) {
        let initials = draft.states.iter().flat_map(|state| &state.initials);
        let begins: BTreeSet<StateHandle> = initials
            .flat_map(|initial| initial.targets.iter().copied())
            .collect();
        let ends = draft
            .transitions
            .iter()
            .flat_map(|transition| &transition.ir.targets);
        let led_to: BTreeSet<StateHandle> = ends.copied().collect();
        for &choice in &self.choices {
            if begins.contains(&choice) || !led_to.contains(&choice) {
                self.kept.insert(choice);
            }
        }
    }

    /// Leads a transition through the choices on its way.
    fn expand(
        &mut self,
        transition: DraftTransition,
        draft: &mut Draft,
        out: &mut Vec<DraftTransition>,
    ) {
        let target = transition
            .ir
            .target()
            .filter(|to| self.choices.contains(to));
        let Some(choice) = target else {
            out.push(transition);
            return;
        };
        let is_plain = self.is_plain(choice);
        let says_nothing = transition.trigger == DraftTrigger::Missing
            && !self.choices.contains(&transition.ir.source)
            && !can_complete(draft, transition.ir.source);
        if !is_plain && !says_nothing {
            self.kept.insert(choice);
            out.push(transition);
            return;
        }
        let branches = self.branches.get(&choice).cloned().unwrap_or_default();
        for branch in branches {
            if self.made > MOST {
                return;
            }
            self.made += 1 + transition.label_guards.len() + branch.label_guards.len();
            let joined = if is_plain {
                through_choice(&transition, branch)
            } else {
                from_waiting_state(&transition, branch, draft)
            };
            out.push(joined);
        }
    }

    /// Rebuilds the transitions: through the choices, or from those that stay.
    fn rebuild(mut self, draft: &mut Draft, context: &mut Context<'_>) {
        let mut all = Vec::with_capacity(draft.transitions.len());
        for transition in std::mem::take(&mut draft.transitions) {
            if !self.choices.contains(&transition.ir.source) {
                self.expand(transition, draft, &mut all);
            }
        }
        if self.made > MOST {
            let text = format!("more than {MOST} transitions once choices are written out");
            let span = draft.get(ROOT).ir.span;
            context.diags.push(machine_too_large(&text, span));
        }
        for choice in self.choices.clone() {
            if !self.kept.contains(&choice) {
                draft.drop_state(choice);
                continue;
            }
            let is_plain = self.is_plain(choice);
            draft.get_mut(choice).pseudo = None;
            // With words to wait for, the other way is an event, too: else it would be taken at once.
            let has_words = is_plain && self.make_prose_events(choice, draft, context);
            for mut branch in self.branches.remove(&choice).into_iter().flatten() {
                if has_words && branch.label_guards.is_empty() {
                    branch.otherwise = false;
                } else if is_plain {
                    branch.trigger = DraftTrigger::Eventless;
                }
                if has_words
                    && branch.trigger == DraftTrigger::Eventless
                    && branch.label_guards.is_empty()
                {
                    branch.trigger = DraftTrigger::Missing;
                }
                add_timer(&mut branch, draft);
                all.push(branch);
            }
        }
        draft.transitions = all;
    }
}

/// Returns whether a branch waits for an event.
fn waits(branch: &DraftTransition) -> bool {
    matches!(
        branch.trigger,
        DraftTrigger::Events(_) | DraftTrigger::Commented { .. } | DraftTrigger::Delayed(_)
    )
}

/// Returns a transition continued by a branch of a choice.
fn through_choice(into: &DraftTransition, branch: DraftTransition) -> DraftTransition {
    let mut joined = into.clone();
    if joined.trigger == DraftTrigger::Missing {
        joined.trigger = into
            .ir
            .target()
            .map_or(DraftTrigger::Missing, DraftTrigger::Toward);
    }
    // The label no longer has all of the guard and the actions.
    if !branch.label_guards.is_empty() || !branch.ir.actions.is_empty() {
        joined.ir.label = None;
    }
    joined.label_guards.extend(branch.label_guards);
    joined.ir.actions.extend(branch.ir.actions);
    joined.ir.targets = branch.ir.targets;
    joined.ir.span = branch.ir.span;
    joined
}

/// Returns a branch of a decision, moved to the state that leads there without a label.
fn from_waiting_state(
    into: &DraftTransition,
    branch: DraftTransition,
    draft: &mut Draft,
) -> DraftTransition {
    let mut joined = branch;
    joined.ir.source = into.ir.source;
    joined
        .ir
        .actions
        .splice(0..0, into.ir.actions.iter().copied());
    add_timer(&mut joined, draft);
    joined
}

/// Gives a branch with a delay its timer.
fn add_timer(branch: &mut DraftTransition, draft: &mut Draft) {
    if let DraftTrigger::Delayed(milliseconds) = branch.trigger {
        let event = draft.add_timer(branch.ir.source, milliseconds, branch.ir.span);
        branch.trigger = DraftTrigger::Events(vec![event]);
    }
}

/// Most guards of one choice that are compared. Unit: guards. Why: the work is quadratic.
///
/// More guards count as covering everything, so that nothing is reported.
const MOST_COMPARED: usize = 256;

/// Returns whether some guard always holds, as far as the texts show.
fn covers(guards: &[&str]) -> bool {
    guards.len() > MOST_COMPARED
        || guards.iter().enumerate().any(|(at, one)| {
            *one == "true" || guards.iter().skip(at + 1).any(|two| are_opposite(one, two))
        })
}

/// Returns whether one guard negates the other: `ready` and `!ready`, `x < 1` and `x >= 1`.
fn are_opposite(one: &str, two: &str) -> bool {
    let negates = |one: &str, two: &str| {
        let inner = one.strip_prefix('!').or_else(|| one.strip_prefix("not "));
        inner.map(str::trim).is_some_and(|inner| {
            let bare = inner
                .strip_prefix('(')
                .and_then(|rest| rest.strip_suffix(')'));
            inner == two || bare == Some(two)
        })
    };
    let comparison = |text: &'_ str| {
        let operators = ["<=", ">=", "==", "!=", "<", ">"];
        operators.into_iter().find_map(|operator| {
            let (left, right) = text.split_once(operator)?;
            Some((left.trim().to_owned(), operator, right.trim().to_owned()))
        })
    };
    let opposite = |operator: &str| match operator {
        "<" => ">=",
        ">" => "<=",
        "<=" => ">",
        ">=" => "<",
        "==" => "!=",
        _ => "==",
    };
    let compare = match (comparison(one), comparison(two)) {
        (Some(left), Some(right)) if ![one, two].iter().any(|text| text.contains(['&', '|'])) => {
            let (one, two) = (left, right);
            one.0 == two.0 && one.2 == two.2 && opposite(one.1) == two.1
        }
        _ => false,
    };
    negates(one, two) || negates(two, one) || compare
}

/// One `[*] -->`.
#[derive(Clone, Debug)]
pub(super) struct Beginning<'d> {
    pub(super) scope: StateHandle,
    pub(super) target: StateHandle,
    pub(super) label: Option<&'d Label>,
    pub(super) span: Span,
}

/// Makes every scope that has several beginnings begin in a decision.
pub(super) fn add_decisions(
    beginnings: &[Beginning<'_>],
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let mut by_scope: BTreeMap<StateHandle, Vec<&Beginning<'_>>> = BTreeMap::new();
    for beginning in beginnings {
        // A beginning outside of its scope is reported elsewhere.
        if draft.is_within(beginning.target, beginning.scope) {
            by_scope.entry(beginning.scope).or_default().push(beginning);
        }
    }
    for (scope, all) in by_scope {
        let targets: BTreeSet<StateHandle> = all.iter().map(|one| one.target).collect();
        if let Some(first) = all.first().filter(|_| targets.len() > 1) {
            add_decision(scope, first, &all, draft, context);
        }
    }
}

fn add_decision(
    scope: StateHandle,
    first: &Beginning<'_>,
    all: &[&Beginning<'_>],
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let wanted = match scope == ROOT {
        true => "start".to_owned(),
        false => format!("{}_start", draft.get(scope).ir.id),
    };
    let start = draft.implied_state(&wanted, first.span, scope, scope);
    let name = |beginning: &Beginning<'_>| draft.get(beginning.target).ir.id.as_str();
    // In a broken diagram, the second beginning may belong elsewhere.
    let other = all.iter().find(|other| other.target != first.target);
    if let Some(other) = other.filter(|_| !context.diags.has_errors()) {
        context.diags.push(several_initial_states(
            [name(first), name(other)],
            &draft.get(start).ir.id,
            [first, other].map(|beginning| awaited(beginning, draft, context)),
            [first.span, other.span],
        ));
    }
    let mut said: BTreeSet<(StateHandle, Option<&str>)> = BTreeSet::new();
    for beginning in all {
        let words = beginning.label.map(|label| label.text.value.as_str());
        if !said.insert((beginning.target, words)) {
            continue;
        }
        let mut transition = DraftTransition::new(beginning.span, start, Some(beginning.target));
        if let Some(label) = beginning.label {
            let parts = label.parts(|name| context.declares_action(name));
            apply_label(&mut transition, label, parts, draft, context);
        }
        draft.transitions.push(transition);
    }
    let scope = draft.get_mut(scope);
    scope.initials.clear();
    scope.add_initial(first.span, start, true);
}

fn choice_without_way_out(id: &str, span: Span) -> Diagnostic {
    let message = format!("nothing leads out of the choice `{id}`");
    Diagnostic::new(Code::BrokenChoice, span, message)
        .label("a choice without a way out")
        .help(format!(
            "add a way for each case, such as `{id} --> done : [ready]` and `{id} --> again : [else]`"
        ))
}

fn circle_of_choices(ids: &[&str], places: &[Span]) -> Option<Diagnostic> {
    let (first, others) = places.split_first()?;
    let message = format!("the choices {} lead to each other", quoted_list(ids));
    let mut diagnostic = Diagnostic::new(Code::BrokenChoice, *first, message)
        .label("from one choice to the next")
        .help("lead out of the circle, or give one of these ways an event to wait for");
    for place in others.iter().take(4) {
        diagnostic = diagnostic.related(*place, "then this way");
    }
    Some(diagnostic)
}

fn uncovered_choice(id: &str, guards: &[&str], span: Span) -> Diagnostic {
    let case = match guards {
        [only] => format!("`{only}` doesn't hold"),
        [one, two] => format!("neither `{one}` nor `{two}` holds"),
        all => format!("none of {} holds", quoted_list(all)),
    };
    let message = format!("the choice `{id}` doesn't say what happens when {case}");
    Diagnostic::new(Code::UncoveredChoice, span, message)
        .label("the last way out of it")
        .note("then no way is taken: the event that led there does nothing")
        .help(format!(
            "add a way for the rest, such as `{id} --> other : [else]`"
        ))
}

/// Returns the event that leads to a beginning: that of its label, else one named after its state.
fn awaited(beginning: &Beginning<'_>, draft: &Draft, context: &Context<'_>) -> String {
    let label = beginning.label;
    let parts = label.map(|label| label.parts(|name| context.declares_action(name)));
    let named = parts.and_then(|parts| match parts.trigger.as_ref()? {
        Trigger::Events(names) => Some(names.first()?.value.clone()),
        Trigger::Commented { name, .. } => Some(slug(&name.value)),
        Trigger::Condition(words) | Trigger::Prose(words) => Some(slug(&words.value)),
        Trigger::Delay { .. } => Some(label?.text.value.clone()),
    });
    named.unwrap_or_else(|| format!("to_{}", slug(&draft.get(beginning.target).ir.id)))
}

/// Reports two beginnings of a scope, each with its state, its event and its place.
fn several_initial_states(
    [first, other]: [&str; 2],
    start: &str,
    [first_event, other_event]: [String; 2],
    [first_span, other_span]: [Span; 2],
) -> Diagnostic {
    let message = format!("`{first}` and `{other}` can't both be the beginning");
    Diagnostic::new(Code::SeveralInitialStates, other_span, message)
        .label(format!("begins at `{other}` here"))
        .related(first_span, format!("begins at `{first}` here"))
        .note(format!(
            "so it begins in a state `{start}`, which waits for `{first_event}` or `{other_event}`"
        ))
        .help("keep one, or draw the state that waits, with an event for each way")
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn opposite_guards_cover_everything() {
        for (guards, expected) in [
            (&["ready", "!ready"][..], true),
            (&["not (x > 1)", "x > 1"], true),
            (&["x < 1", "y", "x >= 1"], true),
            (&["a == \"b\"", "a != \"b\""], true),
            (&["true"], true),
            (&["x < 1", "x > 1"], false),
            (&["x < 1", "y >= 1"], false),
            (&["ready", "steady"], false),
            (&["x < 1 && y", "x >= 1 && y"], false),
        ] {
            assert_eq!(covers(guards), expected, "{guards:?}");
        }
    }
}
