//! From the statements of a diagram to states and transitions of the draft.
//!
//! One walk in the order of the text: every mention places a state in its scope, every arrow becomes a transition, every
//! description becomes a title, an action or an internal transition. The owners of states and the triggers of transitions
//! without a label are resolved afterwards, when the whole diagram is known.

use std::borrow::Cow;
use std::collections::BTreeMap;

mod branches;
mod choice;
mod fork;
mod history;
mod messages;
mod region;
mod scope;

use super::draft::{Draft, DraftTransition, ROOT, StateHandle};
use super::messages::{acting_history, history_of_the_root};
use super::spec::Context;
use super::transition::{apply_label, intern_actions};
use crate::diag::{Code, Diagnostic, Severity};
use crate::front::definition::ast::Kind;
use crate::front::label::ast::{Description, DescriptionKind, Flaw, Item, Label, Parts};
use crate::front::label::{missing_slash, unnamed_action};
use crate::front::mermaid::ast::{
    Body, Declaration, Diagram, Endpoint, EndpointKind, Statement, StatementKind, Transition,
};
use crate::front::mermaid::{ast, entity};
use crate::front::words::to_nfc;
use crate::ir::Initial;
use crate::source::{Span, Spanned};
use choice::Beginning;
use history::Histories;
use messages::{acting_pseudo_state, composite_pseudo_state};
use region::{Composites, has_states};
use scope::{Mention, Mentions};

/// Adds a diagram to the draft.
pub(super) fn add_diagram(diagram: &Diagram, draft: &mut Draft, context: &mut Context<'_>) {
    let mut walk = Walk {
        draft,
        context,
        mentions: Mentions::default(),
        composites: Composites::default(),
        pseudo: BTreeMap::new(),
        histories: Histories::default(),
        beginnings: Vec::new(),
        unread_labels: BTreeMap::new(),
    };
    walk.composites.find(&diagram.body);
    walk.find_pseudo(&diagram.body);
    walk.statements(&diagram.body.statements, ROOT);
    let Walk {
        mentions,
        histories,
        beginnings,
        unread_labels,
        ..
    } = walk;
    for (source, labels) in unread_labels {
        let state = draft.get(source);
        let word = state.pseudo.map_or("", ast::Stereotype::word);
        if let Some(found) = unread_label(word, &state.ir.id, &labels) {
            context.diags.push(found);
        }
    }
    mentions.set_parents(draft, context.diags);
    histories.drop_empty(draft);
    region::report_crossings(draft, context.diags);
    choice::add_decisions(&beginnings, draft, context);
    fork::resolve_forks(draft, context);
    choice::resolve_choices(draft, context);
}

struct Walk<'w, 'c, 'd> {
    draft: &'w mut Draft,
    context: &'w mut Context<'c>,
    mentions: Mentions,
    composites: Composites,
    /// The ids that are declared as a choice, a fork or a join anywhere in the diagram.
    pseudo: BTreeMap<String, ast::Stereotype>,
    histories: Histories,
    /// Every `[*] -->`.
    beginnings: Vec<Beginning<'d>>,
    /// The labels on ways out of a fork or a join that say an event.
    unread_labels: BTreeMap<StateHandle, Vec<Span>>,
}

impl<'d> Walk<'_, '_, 'd> {
    fn find_pseudo(&mut self, body: &Body) {
        for statement in &body.statements {
            let StatementKind::Declaration(declaration) = &statement.kind else {
                continue;
            };
            let id = &declaration.id;
            if let Some(stereotype) = &declaration.stereotype {
                if self.composites.has_states(&id.value) == Some(true) {
                    let diagnostic = composite_pseudo_state(id, stereotype.span);
                    self.context.diags.push(diagnostic);
                    continue;
                }
                self.pseudo
                    .entry(to_nfc(&id.value).into_owned())
                    .or_insert(stereotype.value);
            }
            if let Some(inner) = &declaration.body {
                self.find_pseudo(inner);
            }
        }
    }

    fn statements(&mut self, statements: &'d [Statement], scope: StateHandle) {
        for statement in statements {
            self.statement(statement, scope);
        }
    }

    fn statement(&mut self, statement: &'d Statement, scope: StateHandle) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Mention(endpoint) => {
                self.endpoint(endpoint, scope, true, span);
            }
            StatementKind::Description { state, description } => {
                self.description(state, description, scope, span);
            }
            StatementKind::Transition(transition) => self.transition(transition, scope, span),
            StatementKind::Declaration(declaration) => self.declaration(declaration, scope, span),
            StatementKind::Note(note) => self.draft.notes.push(note.clone()),
            StatementKind::Direction(direction) => {
                if scope == ROOT {
                    self.draft.direction = Some(direction.value);
                }
            }
            StatementKind::Divider
            | StatementKind::Drawing(_)
            | StatementKind::Accessibility { .. } => {}
        }
    }

    /// Returns the state that an endpoint names; `None` for `[*]`.
    fn endpoint(
        &mut self,
        endpoint: &Endpoint,
        scope: StateHandle,
        strong: bool,
        span: Span,
    ) -> Option<StateHandle> {
        let EndpointKind::Id(id) = &endpoint.target else {
            return None;
        };
        if let Some((composite, deep)) = history::split_id(id) {
            let is_bare = composite.is_empty();
            match self.remembered(composite, scope, endpoint.span) {
                Remembers::Composite(composite) => {
                    if is_bare {
                        let diags = &mut *self.context.diags;
                        self.histories
                            .note_bare(composite, deep, endpoint.span, self.draft, diags);
                    }
                    let span = endpoint.span;
                    return Some(self.histories.intern(composite, deep, span, self.draft));
                }
                Remembers::Nothing => {
                    let diagnostic = history_of_the_root(id, endpoint.span);
                    self.context.diags.push(diagnostic);
                    return None;
                }
                Remembers::Plain => {
                    if self.draft.state(id).is_none() {
                        let diagnostic = plain_history(id, composite, endpoint.span);
                        self.context.diags.push(diagnostic);
                    }
                }
            }
        }
        Some(self.mention(id, endpoint.span, scope, strong, span))
    }

    /// Returns the content of a history, by the name before its brackets.
    fn remembered(&mut self, composite: &str, scope: StateHandle, span: Span) -> Remembers {
        if composite.is_empty() {
            return match scope == ROOT {
                true => Remembers::Nothing,
                false => Remembers::Composite(scope),
            };
        }
        match self.composites.has_states(composite) {
            Some(true) => Remembers::Composite(self.draft.intern_state(composite, span, scope)),
            _ => Remembers::Plain,
        }
    }

    /// Returns the state of an id, and notes that a scope mentions it.
    fn mention(
        &mut self,
        id: &str,
        id_span: Span,
        scope: StateHandle,
        strong: bool,
        span: Span,
    ) -> StateHandle {
        let state = self.draft.intern_state(id, id_span, scope);
        if !self.pseudo.is_empty()
            && let Some(&pseudo) = self.pseudo.get(to_nfc(id).as_ref())
        {
            self.draft.get_mut(state).pseudo = Some(pseudo);
        }
        self.mentions.add(
            state,
            Mention {
                scope,
                strong,
                placed: false,
                span,
            },
        );
        state
    }

    fn declaration(&mut self, declaration: &'d Declaration, scope: StateHandle, span: Span) {
        let id = &declaration.id;
        let state = self.mention(&id.value, id.span, scope, true, span);
        if let Some(title) = declaration
            .title
            .as_ref()
            .filter(|title| title.value != id.value)
        {
            self.title(state, title);
        }
        let Some(body) = &declaration.body else {
            return;
        };
        self.mentions.mark_body(state, scope, span);
        if self.composites.has_states(&id.value) == Some(false) {
            let found = empty_composite(&id.value, body, span);
            self.context.diags.push(found);
        }
        self.draft.get_mut(state).has_body |= has_states(&body.statements);
        self.draft.get_mut(state).ir.span = id.span;
        let diags = &mut *self.context.diags;
        for part in self.composites.parts(body, state, self.draft, diags) {
            self.statements(part.statements, part.scope);
        }
    }

    fn title(&mut self, state: StateHandle, text: &Spanned<String>) {
        let decoded = entity::decode(&text.value);
        let state = self.draft.get_mut(state);
        state.add_title(&decoded, text.span);
    }

    /// Adds `a : title`, `a : entry / action` or the internal transition `a : event [guard] / action()`.
    fn description(
        &mut self,
        state: &Endpoint,
        description: &Description,
        scope: StateHandle,
        span: Span,
    ) {
        let text = &description.text;
        let Some(index) = self.endpoint(state, scope, true, span) else {
            return;
        };
        if self.refuse_actions(index, description) {
            return;
        }
        let label = match &description.kind {
            DescriptionKind::Actions { entry, items } => {
                self.state_actions(index, *entry, items);
                return;
            }
            DescriptionKind::MissingSlash { keyword, slash } => {
                let diagnostic = missing_slash(keyword, text.span, *slash);
                self.context.diags.push(diagnostic);
                return;
            }
            DescriptionKind::Label(label) => label,
        };
        let parts = label.parts(|name| self.context.declares_action(name));
        if parts.actions.is_empty() {
            if EndpointKind::Id(text.value.clone()) != state.target {
                self.title(index, text);
            }
            return;
        }
        let mut transition = DraftTransition::new(span, index, None);
        transition.ir.internal = true;
        apply_label(&mut transition, label, parts, self.draft, self.context);
        self.draft.transitions.push(transition);
    }

    /// Refuses actions on a pseudo-state or a history. Returns whether there are some.
    fn refuse_actions(&mut self, state: StateHandle, description: &Description) -> bool {
        let drafted = self.draft.get(state);
        let is_history = drafted.kind == Some(Kind::History);
        if drafted.pseudo.is_none() && !is_history {
            return false;
        }
        let acts = match &description.kind {
            DescriptionKind::Actions { .. } => true,
            DescriptionKind::MissingSlash { .. } => false,
            DescriptionKind::Label(label) => {
                let parts = label.parts(|name| self.context.declares_action(name));
                !parts.actions.is_empty()
            }
        };
        if acts {
            let span = description.text.span;
            self.context.diags.push(match drafted.pseudo {
                Some(pseudo) => acting_pseudo_state(&drafted.ir.id, pseudo, span),
                None => acting_history(&drafted.ir.id, span),
            });
        }
        acts
    }

    /// Adds the actions after `entry /` or `exit /`.
    fn state_actions(&mut self, state: StateHandle, entry: bool, items: &[Item]) {
        for item in items {
            let name = match item {
                Item::Action(name) => name,
                Item::Unnamed(text) => {
                    self.context.diags.push(unnamed_action(text));
                    continue;
                }
            };
            let action = self.draft.intern_action(&name.value, name.span);
            let state = self.draft.get_mut(state);
            let actions = if entry {
                &mut state.ir.entry
            } else {
                &mut state.ir.exit
            };
            actions.push(action);
        }
    }

    fn transition(&mut self, arrow: &'d Transition, scope: StateHandle, span: Span) {
        let label = arrow.label.as_ref();
        let label = label.filter(|label| !label.text.value.is_empty());
        let from_star = arrow.source.target == EndpointKind::Star;
        let to_star = arrow.target.target == EndpointKind::Star;
        if from_star {
            let Some(target) = self.endpoint(&arrow.target, scope, true, span) else {
                return;
            };
            self.beginnings.push(Beginning {
                scope,
                target,
                label,
                span,
            });
            self.begin(scope, target, label, span);
            return;
        }
        let Some(source) = self.endpoint(&arrow.source, scope, true, span) else {
            // A history of nothing; the other end is still a state.
            let _ = self.endpoint(&arrow.target, scope, false, span);
            return;
        };
        let target = if to_star {
            self.draft.intern_end(scope, source, arrow.target.span)
        } else {
            let Some(target) = self.endpoint(&arrow.target, scope, false, span) else {
                return;
            };
            target
        };
        if self.draft.get(source).kind == Some(Kind::History) {
            self.begin(source, target, label, span);
            return;
        }
        let mut transition = DraftTransition::new(span, source, Some(target));
        if let Some(label) = label {
            let parts = self.label_parts(source, label);
            apply_label(&mut transition, label, &parts, self.draft, self.context);
        }
        self.draft.transitions.push(transition);
    }

    /// Returns the parts of a label.
    ///
    /// A fork and a join wait for no event: the trigger is kept for a finding there, and left out.
    fn label_parts<'l>(&mut self, source: StateHandle, label: &'l Label) -> Cow<'l, Parts> {
        let parts = label.parts(|name| self.context.declares_action(name));
        let pseudo = self.draft.get(source).pseudo;
        let waits_never = matches!(pseudo, Some(ast::Stereotype::Fork | ast::Stereotype::Join));
        if !waits_never || parts.trigger.is_none() {
            return Cow::Borrowed(parts);
        }
        self.unread_labels
            .entry(source)
            .or_default()
            .push(label.text.span);
        let mut parts = parts.clone();
        parts.trigger = None;
        parts
            .flaws
            .retain(|flaw| !matches!(flaw, Flaw::MisplacedGuard { .. } | Flaw::LostCall(_)));
        Cow::Owned(parts)
    }

    /// Begins a scope, or a history, at a state. A label there is a description, or actions after ` / `.
    fn begin(
        &mut self,
        scope: StateHandle,
        target: StateHandle,
        label: Option<&Label>,
        span: Span,
    ) {
        let parts = label.map(|label| label.parts(|name| self.context.declares_action(name)));
        let actions = parts.map_or_else(Vec::new, |parts| intern_actions(parts, self.draft));
        self.draft.get_mut(scope).initials.push(Initial {
            span,
            targets: vec![target],
            actions,
            inferred: false,
        });
    }
}

/// The content of a history.
enum Remembers {
    /// The states of a composite, or of a region.
    Composite(StateHandle),
    /// Nothing: it is outside of any composite.
    Nothing,
    /// Nothing: it is a plain state of that name.
    Plain,
}

fn empty_composite(id: &str, body: &Body, span: Span) -> Diagnostic {
    let message = format!("the body of `{id}` has no state");
    let found = Diagnostic::new(Code::EmptyComposite, span, message)
        .help("put states into it, or take the braces away");
    // Next to another state, a note fills the box.
    let is_drawn = |statement: &Statement| matches!(&statement.kind, StatementKind::Note(note) if note.state.value != id);
    if body.statements.iter().any(is_drawn) {
        return found
            .with_severity(Severity::Warning)
            .label("treated as a state without a body");
    }
    found
        .label("nothing to be in")
        .note("Mermaid gives no shape to a body without states, and draws nothing at all: `No such shape`")
}

fn plain_history(id: &str, composite: &str, span: Span) -> Diagnostic {
    let message = format!("`{id}` is a state of that name, not a history");
    Diagnostic::new(Code::PlainHistory, span, message)
        .label(format!("no state `{composite}` has a body"))
        .help(format!(
            "give `{composite}` a body with states, or the state a name without brackets"
        ))
}

/// Most further labels that a message points at. Unit: labels. Why: more would hide the first.
const MOST_SHOWN: usize = 4;

/// Reports the labels on the ways out of a fork or a join, which wait for nothing.
fn unread_label(word: &str, id: &str, labels: &[Span]) -> Option<Diagnostic> {
    let (first, others) = labels.split_first()?;
    let waits = match word {
        "fork" => "takes all its ways at once",
        _ => "continues as soon as every branch has reached it",
    };
    let message = format!("the {word} `{id}` {waits}, without an event");
    let mut found = Diagnostic::new(Code::UnreadLabel, *first, message)
        .may_follow()
        .label("triggers nothing");
    for other in others.iter().take(MOST_SHOWN) {
        found = found.related(*other, "nor does this");
    }
    Some(found.help(match others {
        [] => "remove the label, or write it on a transition that waits for it",
        _ => "remove the labels, or write each on a transition that waits for it",
    }))
}
