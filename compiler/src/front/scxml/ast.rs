//! The syntax tree of an SCXML document, element by element.
//!
//! Texts are as written, names unresolved, places kept. What the document leaves to defaults is `None` here.

use crate::excerpt::Excerpt;
use crate::source::{Span, Spanned};

pub use statemark_runtime::{Operator, Verdict};

/// A document: the element `<scxml>`.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Its tag.
    pub span: Span,
    /// The machine's name.
    pub name: Option<Spanned<String>>,
    /// True if its expressions are ECMAScript's.
    pub ecmascript: bool,
    /// True if its expressions are ours, so that nothing is added that it doesn't say.
    pub native: bool,
    /// `<statemark:event>`.
    pub events: Vec<DeclaredEvent>,
    /// `<statemark:timer>`: ids, and the events that they would send.
    pub timers: Vec<(Spanned<String>, Spanned<String>)>,
    /// `<statemark:label>`.
    pub labels: Vec<AmbiguousLabel>,
    /// Its content, as in a state.
    pub body: State,
}

/// `<statemark:event>`: an event that nothing else names, or that hosts can't send.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredEvent {
    /// Its name.
    pub name: Spanned<String>,
    /// True if only timers send it.
    pub delayed: bool,
}

/// `<statemark:label>`: a label that leads to several places from one state.
///
/// Each way has an event of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct AmbiguousLabel {
    /// The label.
    pub name: Spanned<String>,
    /// The state.
    pub state: Spanned<String>,
    /// The events that it may mean there.
    pub events: Vec<Spanned<String>>,
}

/// A kind of state, by its element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `<state>`, and the document itself.
    State,
    /// `<parallel>`.
    Parallel,
    /// `<final>`.
    Final,
    /// `<history>`: deep or shallow.
    History {
        /// True for `type="deep"`.
        deep: bool,
    },
}

/// A state with its content.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The kind of state.
    pub kind: Kind,
    /// The name of its element in its opening tag.
    pub tag: Span,
    /// Its id.
    pub id: Option<Spanned<String>>,
    /// Of a final state: how the run ends there.
    pub verdict: Verdict,
    /// Its beginning.
    pub initial: Option<Initial>,
    /// `<onentry>`, all of them, each a block of its own.
    pub entry: Vec<Vec<Content>>,
    /// `<onexit>`.
    pub exit: Vec<Vec<Content>>,
    /// `<transition>`; of a history, its default.
    pub transitions: Vec<Transition>,
    /// `<data>`.
    pub data: Vec<Data>,
    /// `<statemark:guard>`.
    pub guards: Vec<Guard>,
    /// The states inside, in order.
    pub children: Vec<State>,
}

impl State {
    /// Returns its blocks of content: on entry, on exit, at its beginning, and of its transitions.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &Vec<Content>> {
        let initial = self.initial.iter().map(|initial| &initial.content);
        let transitions = self.transitions.iter().map(|it| &it.content);
        let handlers = self.entry.iter().chain(&self.exit);
        handlers.chain(initial).chain(transitions)
    }
}

/// Visits the content of a block, that of conditions included.
pub(crate) fn visit_content<'c>(list: &'c [Content], visit: &mut impl FnMut(&'c ContentKind)) {
    for content in list {
        visit(&content.kind);
        if let ContentKind::If(branches) = &content.kind {
            for branch in branches {
                visit_content(&branch.content, visit);
            }
        }
    }
}

/// The beginning of a state: the attribute `initial`, or the element.
#[derive(Clone, Debug, PartialEq)]
pub struct Initial {
    /// The attribute's value, or the tag of the element's transition.
    pub span: Span,
    /// The states that it names.
    pub targets: Vec<Spanned<String>>,
    /// The content of its transition.
    pub content: Vec<Content>,
}

/// `<transition>`.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// Its opening tag.
    pub span: Span,
    /// Its event descriptors; `None` where it has no `event`.
    pub events: Option<Vec<Spanned<String>>>,
    /// True if a descriptor matches only its own name, which SCXML has no way to say.
    pub exact: bool,
    /// Of a copy of one of the root's transitions: which.
    pub of_root: Option<Spanned<String>>,
    /// Its condition.
    pub condition: Option<Excerpt>,
    /// The states that it leads to; none if it only acts.
    pub targets: Vec<Spanned<String>>,
    /// True for `type="internal"`.
    pub internal: bool,
    /// Its content.
    pub content: Vec<Content>,
}

/// `<data>`.
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    /// Its id.
    pub id: Spanned<String>,
    /// Its initial value: `expr`, or the text inside.
    pub value: Option<Excerpt>,
}

/// `<statemark:guard>`: a guard that conditions call by its id.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// Its id in conditions.
    pub id: Spanned<String>,
    /// The kind of guard.
    pub kind: GuardKind,
}

/// A kind of declared guard.
#[derive(Clone, Debug, PartialEq)]
pub enum GuardKind {
    /// The host answers: its name, if that isn't the id.
    Host(Option<Spanned<String>>),
    /// The sender of an event claims it, or doesn't.
    Claim {
        /// Its name, if that isn't the id.
        name: Option<Spanned<String>>,
        /// The author's words.
        words: Spanned<String>,
    },
    /// A field compares with constants, as in a definition.
    Compare {
        /// The field.
        field: Spanned<String>,
        /// The comparison.
        operator: Operator,
        /// With what: a JSON list.
        constants: Option<Excerpt>,
    },
}

/// One element of executable content.
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    /// Its opening tag.
    pub span: Span,
    /// The name that our namespace gives it, where a host or a record calls it.
    pub name: Option<Spanned<String>>,
    /// The kind of content.
    pub kind: ContentKind,
}

/// A kind of executable content.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentKind {
    /// `<raise>`, or `<send target="#_internal">`.
    Raise(Spanned<String>),
    /// `<send>`: an event from outside, after some milliseconds.
    Send {
        /// The event.
        event: Spanned<String>,
        /// The id by which it can be cancelled.
        id: Option<Spanned<String>>,
        /// Milliseconds.
        delay: u64,
    },
    /// `<cancel>`.
    Cancel(Spanned<String>),
    /// `<log>`.
    Log {
        /// Its label.
        label: Option<String>,
        /// Its expression, which nobody evaluates.
        text: Option<String>,
    },
    /// `<assign>`; several that are one action only in our namespace.
    Assign(Vec<Assign>),
    /// `<if>`, with the content after its `<elseif>` and `<else>`.
    If(Vec<Branch>),
    /// `<statemark:action>`: what the host makes of its name.
    Host {
        /// `fails`: whether that can fail.
        fails: Option<bool>,
    },
    /// An element that fails whenever it is executed.
    Failure,
}

/// One assignment.
#[derive(Clone, Debug, PartialEq)]
pub struct Assign {
    /// The place that changes.
    pub location: Spanned<String>,
    /// Its new value.
    pub value: Excerpt,
}

/// A part of an `<if>`.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// The place of its element.
    pub span: Span,
    /// Its condition; `None` for `<else>`.
    pub condition: Option<Excerpt>,
    /// Its content.
    pub content: Vec<Content>,
}

impl Transition {
    /// Describes it without spans: copies must be equal.
    #[must_use]
    pub fn words(&self) -> String {
        let names = |names: &[Spanned<String>]| {
            let names: Vec<&str> = names.iter().map(|name| name.value.as_str()).collect();
            names.join(" ")
        };
        let events = self.events.as_deref().map(names);
        let condition = self.condition.as_ref().map(|text| text.text().trim());
        let targets = names(&self.targets);
        let content = ContentKind::If(vec![Branch {
            span: self.span,
            condition: None,
            content: self.content.clone(),
        }]);
        let (exact, internal) = (self.exact, self.internal);
        format!(
            "{events:?} {exact} {condition:?} {targets} {internal} {}",
            content.words()
        )
    }
}

impl ContentKind {
    /// Describes it without spans: two elements with one name must be equal.
    #[must_use]
    pub fn words(&self) -> String {
        let list = |list: &[Content]| {
            let words = list.iter().map(|content| {
                let name = content.name.as_ref().map_or("", |name| name.value.as_str());
                format!("{name} {}", content.kind.words())
            });
            words.collect::<Vec<_>>().join("; ")
        };
        match self {
            Self::Raise(event) => format!("raise {}", event.value),
            Self::Send { event, id, delay } => {
                let id = id.as_ref().map(|id| &id.value);
                format!("send {} {id:?} {delay}", event.value)
            }
            Self::Cancel(id) => format!("cancel {}", id.value),
            Self::Log { label, text } => format!("log {label:?} {text:?}"),
            Self::Assign(assigns) => {
                let words = assigns.iter().map(|assign| {
                    format!("{} = {}", assign.location.value, assign.value.text().trim())
                });
                words.collect::<Vec<_>>().join("; ")
            }
            Self::If(branches) => {
                let words = branches.iter().map(|branch| {
                    let condition = branch.condition.as_ref().map(|text| text.text().trim());
                    format!("if {condition:?} {{ {} }}", list(&branch.content))
                });
                words.collect::<Vec<_>>().join(" ")
            }
            Self::Host { fails } => format!("action {fails:?}"),
            Self::Failure => "failure".to_owned(),
        }
    }
}
