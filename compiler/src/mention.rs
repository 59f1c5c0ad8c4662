//! Every place where a spec names a state, an event, a guard or an action.
//!
//! The IR knows where something is declared; an editor wants each place that names it, in the diagram, the definition and the
//! prose between them. [`mentions`] lists them, in the order of the text.
//!
//! What to rely on: a mention has the name that it stands for, whatever its spelling, and the span of the author's words;
//! in a definition the span has the quotes of the JSON string. Deliberately not here: whether something of that name is
//! there, and events that a machine gets without being told (`to_b`, `done.state.a`).

use crate::front::definition::ast::{
    ActionDeclaration, Branch, BranchKind, Definition, Guard, GuardUse, Initial, Named, State,
};
use crate::front::label::ast::{DescriptionKind, Guard as LabelGuard, Item, Label, Parts, Trigger};
use crate::front::mermaid::ast::{Endpoint, Statement, StatementKind};
use crate::front::words::{is_identifier, slug, to_nfc};
use crate::lower::Spec;
use crate::source::{Span, Spanned};

/// The kind of thing that a name is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameKind {
    /// A state, a choice, a fork or a join.
    State,
    /// An event.
    Event,
    /// A guard.
    Guard,
    /// An action.
    Action,
}

/// A place that names something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The kind of thing.
    pub kind: NameKind,
    /// The name that the words stand for: of the text `card is charged` it is `card_is_charged`.
    pub name: String,
    /// The author's words.
    pub span: Span,
    /// True if this place says what it is; false if it only uses it.
    pub declares: bool,
}

/// Lists the places of a spec that name something, in the order of the text.
///
/// ```
/// use statemark_compiler::{NameKind, Options, mentions, read_specs, source::Sources};
///
/// let mut sources = Sources::new();
/// sources.add("door.mmd", "stateDiagram-v2\n[*] --> shut\nshut --> open : push [free]");
/// let spec = &read_specs(&sources, &Options::default())[0];
/// let names: Vec<String> = mentions(spec).into_iter().map(|it| it.name).collect();
/// assert_eq!(names, ["shut", "shut", "open", "push", "free"]);
/// ```
#[must_use]
pub fn mentions(spec: &Spec) -> Vec<Mention> {
    let mut list = List {
        actions: Vec::new(),
        found: Vec::new(),
    };
    if let Some(definition) = &spec.definition {
        let names = definition.actions.iter().map(|it| it.name.value.as_str());
        list.actions = names.collect();
        list.definition(definition);
    }
    if let Some(diagram) = &spec.diagram {
        diagram.body.visit(&mut |it| list.statement(it));
    }
    for instructions in &spec.instructions {
        list.add(NameKind::State, &instructions.state, false);
    }
    list.found.sort_by_key(|it| (it.span.start, it.span.end));
    list.found.dedup();
    list.found
}

/// The places that were found so far.
struct List<'s> {
    /// The names of declared actions, which decide how a label is read.
    actions: Vec<&'s str>,
    found: Vec<Mention>,
}

impl<'s> List<'s> {
    fn add(&mut self, kind: NameKind, name: &Spanned<String>, declares: bool) {
        if name.value.is_empty() {
            return;
        }
        self.found.push(Mention {
            kind,
            name: to_nfc(&name.value).into_owned(),
            span: name.span,
            declares,
        });
    }

    fn uses(&mut self, kind: NameKind, names: &[Spanned<String>]) {
        for name in names {
            self.add(kind, name, false);
        }
    }

    /// Adds the event that prose stands for.
    fn prose(&mut self, text: &Spanned<String>) {
        let name = match is_identifier(&text.value) {
            true => text.value.clone(),
            false => slug(&text.value),
        };
        self.add(NameKind::Event, &Spanned::new(name, text.span), false);
    }

    fn statement(&mut self, statement: &'s Statement) {
        match &statement.kind {
            StatementKind::Mention(state) => self.endpoint(state, false),
            StatementKind::Description { state, description } => {
                self.endpoint(state, false);
                match &description.kind {
                    DescriptionKind::Actions { items, .. } => items.iter().for_each(|item| {
                        if let Item::Action(name) = item {
                            self.add(NameKind::Action, name, false);
                        }
                    }),
                    // Without an action it is a title.
                    DescriptionKind::Label(label) if !self.parts(label).actions.is_empty() => {
                        self.label(label);
                    }
                    DescriptionKind::Label(_) | DescriptionKind::MissingSlash { .. } => {}
                }
            }
            StatementKind::Transition(transition) => {
                self.endpoint(&transition.source, false);
                self.endpoint(&transition.target, false);
                if let Some(label) = &transition.label {
                    self.label(label);
                }
            }
            StatementKind::Declaration(declaration) => {
                self.add(NameKind::State, &declaration.id, true);
            }
            StatementKind::Note(note) if note.left.is_some() => {
                self.add(NameKind::State, &note.state, false);
            }
            StatementKind::Note(_)
            | StatementKind::Divider
            | StatementKind::Direction(_)
            | StatementKind::Drawing(_)
            | StatementKind::Accessibility { .. } => {}
        }
    }

    fn endpoint(&mut self, endpoint: &Endpoint, declares: bool) {
        if let Some(id) = endpoint.id() {
            let name = Spanned::new(id.to_owned(), endpoint.span);
            self.add(NameKind::State, &name, declares);
        }
    }

    fn parts<'l>(&self, label: &'l Label) -> &'l Parts {
        label.parts(|name| self.actions.contains(&name))
    }

    fn label(&mut self, label: &Label) {
        let parts = self.parts(label);
        match &parts.trigger {
            Some(Trigger::Events(names)) => self.uses(NameKind::Event, names),
            Some(Trigger::Commented { name, .. } | Trigger::Prose(name)) => self.prose(name),
            Some(Trigger::Delay { .. } | Trigger::Condition(_)) | None => {}
        }
        if let Some(LabelGuard::Text(guard)) = &parts.guard
            && is_identifier(&guard.text.value)
        {
            self.add(NameKind::Guard, &guard.text, false);
        }
        for action in &parts.actions {
            self.add(NameKind::Action, &action.name, false);
        }
    }

    fn definition(&mut self, definition: &'s Definition) {
        self.initial(definition.initial.as_ref());
        for event in &definition.events {
            self.add(NameKind::Event, &event.name, true);
        }
        for guard in &definition.guards {
            self.add(NameKind::Guard, &guard.name, true);
            self.guard(&guard.value);
        }
        for action in &definition.actions {
            self.add(NameKind::Action, &action.name, true);
            if let ActionDeclaration::Raise(event) = &action.value {
                self.add(NameKind::Event, event, false);
            }
        }
        definition.states.iter().for_each(|state| self.state(state));
        for interrupt in &definition.interrupts {
            let target = interrupt.value.target.as_ref();
            if let Some(target) = target.filter(|it| it.value != "$return") {
                self.add(NameKind::State, target, false);
            }
        }
        self.events(&definition.on);
    }

    fn state(&mut self, state: &'s Named<State>) {
        self.add(NameKind::State, &state.name, true);
        let state = &state.value;
        self.initial(state.initial.as_ref());
        self.events(&state.on);
        self.branches(&state.always);
        for delay in &state.after {
            self.branches(&delay.value);
        }
        self.branches(&state.on_done);
        if let Some(invocation) = &state.invoke {
            self.branches(&invocation.on_done);
            self.branches(&invocation.on_error);
        }
        self.uses(NameKind::Action, &state.entry);
        self.uses(NameKind::Action, &state.exit);
        self.uses(NameKind::Event, &state.while_waiting);
        self.uses(NameKind::Event, &state.requires);
        if let Some(event) = &state.on_max_iterations {
            self.add(NameKind::Event, event, false);
        }
        if let Some(target) = &state.safe_next {
            self.add(NameKind::State, target, false);
        }
        state.states.iter().for_each(|inner| self.state(inner));
    }

    fn initial(&mut self, initial: Option<&'s Initial>) {
        if let Some(initial) = initial {
            self.uses(NameKind::State, &initial.targets);
            self.uses(NameKind::Action, &initial.actions);
        }
    }

    fn events(&mut self, on: &'s [Named<Vec<Branch>>]) {
        for event in on {
            self.add(NameKind::Event, &event.name, false);
            self.branches(&event.value);
        }
    }

    fn branches(&mut self, branches: &'s [Branch]) {
        for branch in branches {
            self.branch(branch);
        }
    }

    fn branch(&mut self, branch: &'s Branch) {
        let targets: Vec<&Spanned<String>> = match &branch.kind {
            BranchKind::Target(targets) => targets.iter().collect(),
            BranchKind::Invoke {
                on_complete,
                on_fail,
                ..
            } => std::iter::once(on_complete).chain(on_fail).collect(),
            BranchKind::Fork(fork) => {
                let mut targets: Vec<&Spanned<String>> = Vec::new();
                for branch in &fork.branches {
                    targets.extend(&branch.value.initial);
                    targets.extend(&branch.value.terminal);
                }
                targets.extend(&fork.on_complete);
                targets.extend(&fork.on_fail);
                targets
            }
        };
        for target in targets {
            self.add(NameKind::State, target, false);
        }
        self.uses(NameKind::Action, &branch.actions);
        for guard in &branch.guards {
            match &guard.value {
                GuardUse::Name(name) => {
                    let name = Spanned::new(name.clone(), guard.span);
                    self.add(NameKind::Guard, &name, false);
                }
                GuardUse::Inline(inline) => self.guard(inline),
            }
        }
    }

    /// Adds the guards that a guard is made of.
    fn guard(&mut self, guard: &'s Guard) {
        match guard {
            Guard::All(parts) | Guard::Any(parts) => {
                parts.iter().for_each(|part| self.guard(&part.value));
            }
            Guard::Not(inner) => self.guard(&inner.value),
            Guard::Text(text) if is_identifier(&text.value) => {
                self.add(NameKind::Guard, text, false);
            }
            Guard::Text(_) | Guard::Compare { .. } => {}
        }
    }
}
