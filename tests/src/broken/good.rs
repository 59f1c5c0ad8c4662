//! The machine that is whole.

use statemark_runtime::{
    ActionId, ActionKind, ActionRow, Constant, EventId, EventKind, EventRow, FieldId, GuardId,
    Instruction, Operator, Sections, StateId, StateKind, StateRow, TextId, TransitionRow, Verdict,
};

/// Rows that make a machine; each entry below breaks one thing about them.
///
/// ```text
/// 0 job: initial idle
///   1 idle: go [ready and tries > 3] / log -> work; next / log (internal)
///   2 work: initial first; done.state.work -> end
///     3 first: entry log; next / ping -> second
///     4 second: next -> over
///     5 over (final)
///   6 end (final)
/// ```
pub(super) fn good() -> Sections {
    let names = [
        "job",
        "idle",
        "work",
        "first",
        "second",
        "over",
        "end",
        "go",
        "next",
        "done.state.work",
        "ready",
        "tries",
        "log",
        "ping",
    ];
    let text = TextId::new;
    let root = StateId::new(0);
    let work = StateId::new(2);
    let state = |name, kind, parent, end| StateRow {
        name: text(name),
        kind,
        verdict: Verdict::Success,
        parent,
        end,
        initial: 0..0,
        initial_calls: 0..0,
        entry: 0..0,
        exit: 0..0,
        transitions: 0..0,
        done: None,
        metadata: None,
    };
    let transition = |source, triggers, targets| TransitionRow {
        source: StateId::new(source),
        internal: false,
        triggers,
        guard: 0..0,
        calls: 0..0,
        targets,
        metadata: None,
    };
    let event = |name, kind| EventRow {
        name: text(name),
        kind,
        metadata: None,
    };
    let action = |name, raises: Option<EventId>| ActionRow {
        name: text(name),
        kind: raises.map_or(ActionKind::Host, ActionKind::Raise),
        metadata: None,
    };
    let (atomic, compound, end) = (StateKind::Atomic, StateKind::Compound, StateKind::Final);
    Sections {
        name: text(0),
        metadata: None,
        texts: names.map(Into::into).to_vec(),
        states: vec![
            StateRow {
                initial: 0..1,
                ..state(0, compound, None, 7)
            },
            StateRow {
                transitions: 0..2,
                ..state(1, atomic, Some(root), 2)
            },
            StateRow {
                initial: 1..2,
                transitions: 2..3,
                done: Some(EventId::new(2)),
                ..state(2, compound, Some(root), 6)
            },
            StateRow {
                entry: 0..1,
                transitions: 3..4,
                ..state(3, atomic, Some(work), 4)
            },
            StateRow {
                transitions: 4..5,
                ..state(4, atomic, Some(work), 5)
            },
            StateRow {
                transitions: 5..5,
                ..state(5, end, Some(work), 6)
            },
            StateRow {
                transitions: 5..5,
                ..state(6, end, Some(root), 7)
            },
        ],
        events: vec![
            event(7, EventKind::Named),
            event(8, EventKind::Named),
            event(9, EventKind::Internal),
        ],
        transitions: vec![
            TransitionRow {
                guard: 0..3,
                calls: 0..1,
                ..transition(1, 0..1, 2..3)
            },
            TransitionRow {
                internal: true,
                calls: 0..1,
                ..transition(1, 1..2, 0..0)
            },
            transition(2, 2..3, 5..6),
            TransitionRow {
                calls: 1..2,
                ..transition(3, 1..2, 3..4)
            },
            transition(4, 1..2, 4..5),
        ],
        guards: vec![text(10)],
        fields: vec![text(11)],
        actions: vec![action(12, None), action(13, Some(EventId::new(1)))],
        timers: vec![],
        assigns: vec![],
        targets: [1, 3, 2, 4, 5, 6].map(StateId::new).to_vec(),
        triggers: [0, 1, 2].map(EventId::new).to_vec(),
        calls: [0, 1].map(ActionId::new).to_vec(),
        code: vec![
            Instruction::All(2),
            Instruction::Ask(GuardId::new(0)),
            Instruction::Compare(FieldId::new(0), Operator::Gt, 0..1),
        ],
        constants: vec![Constant::Int(3)],
        merges: Vec::new(),
        ambiguities: Vec::new(),
        claims: Vec::new(),
    }
}
