//! Internal events: those that transitions wait for, and that nobody sends.
//!
//! Runs raise some of them, the engine the others. A test holds the names to what runs raise.

/// An internal event, for people.
#[derive(Clone, Copy, Debug)]
pub struct InternalEvent {
    /// Its name; `*` stands for a state or a number.
    pub name: &'static str,
    /// The occasion on which it is raised.
    pub raised: &'static str,
    /// The fields of its data.
    pub data: &'static str,
    /// The use that a spec makes of it.
    pub used: &'static str,
}

/// The events that a run raises itself, in any state.
pub const RAISED_BY_RUNS: [&str; 3] = ["approval_denied", "changes_requested", "request.expired"];

/// The events by which a child's run ends, in states that invoke one.
pub(crate) const RAISED_BY_CHILDREN: [&str; 2] = ["done", "error"];

/// Every internal event.
pub const INTERNAL_EVENTS: [InternalEvent; 9] = [
    InternalEvent {
        name: "changes_requested",
        raised: "a person denies an approval with a comment, or sends a review back (`statemark ask --kind review`)",
        data: "`request`, its id; `comments`, what the person wrote; of an approval, `event`, the one that waited",
        used: "draw where the work goes on: `review --> drafting : changes_requested`",
    },
    InternalEvent {
        name: "approval_denied",
        raised: "a person denies an approval, and `changes_requested` isn't taken instead",
        data: "`request`, its id; `event`, the one that waited; `comment`, what the person wrote",
        used: "draw it out of the state whose transition has `requires_approval`; without it the run stays where it is",
    },
    InternalEvent {
        name: "request.expired",
        raised: "nobody answers a request in time",
        data: "`request`, its id",
        used: "name it under `on` of the state in which people are asked",
    },
    InternalEvent {
        name: "error.unknown_event",
        raised: "an event is sent that the machine doesn't have",
        data: "none",
        used: "`\"safe_next\": \"triage\"` in a state says where it leads",
    },
    InternalEvent {
        name: "error.execution",
        raised: "an assignment has no value: an absent field, a division by zero, an integer beyond its bounds",
        data: "none",
        used: "draw where that leads; without it the step fails, and nothing has changed",
    },
    InternalEvent {
        name: "done",
        raised: "the workflow that a state invokes has ended well (elsewhere, `done` is an event like any other)",
        data: "what the workflow's `outcome` and context are",
        used: "`\"invoke\": {\"src\": \"tests\", \"on_done\": \"shipping\"}`",
    },
    InternalEvent {
        name: "error",
        raised: "the workflow that a state invokes has failed, or a branch of a `fork` has (elsewhere, `error` is an event like any other)",
        data: "what is known of the failure",
        used: "`on_error` of `invoke`, `on_fail` of `fork`",
    },
    InternalEvent {
        name: "done.state.*",
        raised: "a state has reached its end: its own `[*]`, or those of all its regions",
        data: "none",
        used: "lead out of the state by an arrow without a label, or by `on_done`",
    },
    InternalEvent {
        name: "after.*",
        raised: "the time of a delay has passed",
        data: "none",
        used: "write the delay: `waiting --> late : after 30s`",
    },
];

impl InternalEvent {
    /// Returns the internal event of a name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        let is_it = |event: &Self| match event.name.strip_suffix('*') {
            Some(begin) => event.name == name || name.starts_with(begin),
            None => event.name == name,
        };
        INTERNAL_EVENTS.into_iter().find(is_it)
    }

    /// Returns its page, as Markdown.
    #[must_use]
    pub fn page(&self) -> String {
        let Self {
            name,
            raised,
            data,
            used,
        } = self;
        format!(
            "# {name}\n\nAn internal event: transitions wait for it, and nobody sends it.\n\n\
             - Raised when {raised}.\n- Its data: {data}.\n- In a spec: {used}.\n"
        )
    }
}
