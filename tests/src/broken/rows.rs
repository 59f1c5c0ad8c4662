//! Rows that decode and must not be stepped.

use statemark_runtime::{
    ActionId, ActionKind, ActionRow, AmbiguityRow, AssignRow, BinaryOperator, ClaimRow, Constant,
    EventId, EventKind, EventRow, FieldId, GuardId, Instruction, MAX_ASSIGNS, MAX_CALLS,
    MAX_DATUM_DEPTH, MAX_DEPTH, MAX_EVENTS, MAX_LEVELS, MAX_PROGRAM, MergeKind, MergeRow, Operator,
    Sections, StateId, StateKind, StateRow, TextId, TimerId, TimerRow, TransitionRow, Verdict,
};

/// Returns a row of a merge rule.
const fn claim(guard: u16, words: u32) -> ClaimRow {
    ClaimRow {
        guard: GuardId::new(guard),
        text: TextId::new(words),
    }
}

const fn merge(event: Option<u16>, kind: MergeKind, field: Option<u32>) -> MergeRow {
    MergeRow {
        event: match event {
            Some(event) => Some(EventId::new(event)),
            None => None,
        },
        kind,
        field: match field {
            Some(field) => Some(TextId::new(field)),
            None => None,
        },
    }
}

/// Returns a row that says what a label may mean in a state.
const fn ambiguity(state: u16, label: u16, event: u16) -> AmbiguityRow {
    AmbiguityRow {
        state: StateId::new(state),
        label: EventId::new(label),
        event: EventId::new(event),
    }
}

/// Adds an event of a kind, and returns its number.
fn add_event(rows: &mut Sections, kind: EventKind) -> u16 {
    let name = TextId::from_index(rows.texts.len()).unwrap();
    rows.texts.push("review".into());
    rows.events.push(EventRow {
        name,
        kind,
        metadata: None,
    });
    u16::try_from(rows.events.len() - 1).unwrap()
}

/// Returns the texts' numbers in the order of the texts.
fn sorted_texts(rows: &Sections) -> Vec<Option<u32>> {
    let mut all: Vec<(u32, &str)> = (0..).zip(rows.texts.iter().map(|text| &**text)).collect();
    all.sort_by_key(|(_, text)| *text);
    all.into_iter().map(|(number, _)| Some(number)).collect()
}

/// Appends a program whose value the first action assigns to the field.
fn assign(rows: &mut Sections, code: &[Instruction]) {
    let start = u32::try_from(rows.code.len()).unwrap();
    rows.code.extend_from_slice(code);
    rows.assigns.push(AssignRow {
        field: FieldId::new(0),
        value: start..u32::try_from(rows.code.len()).unwrap(),
    });
    rows.actions[0].kind = ActionKind::Assign(0..u32::try_from(rows.assigns.len()).unwrap());
}

/// Breaks rows.
pub(super) type BreakRows = fn(&mut Sections);

/// One for each invariant at least; the name begins with its number.
pub(super) const BROKEN_ROWS: &[(&str, BreakRows)] = &[
    ("V01-too-many-events", |rows| {
        let event = rows.events[0].clone();
        rows.events.resize(MAX_EVENTS + 1, event);
    }),
    ("V02-machine-without-name", |rows| {
        rows.name = TextId::new(99)
    }),
    ("V02-state-metadata", |rows| {
        rows.states[1].metadata = Some(TextId::new(14))
    }),
    ("V02-constant", |rows| {
        rows.constants[0] = Constant::Text(TextId::new(14))
    }),
    ("V03-turned-around", |rows| rows.states[3].entry.start = 2),
    ("V03-past-the-end", |rows| rows.transitions[0].guard = 0..4),
    ("V03-constants", |rows| {
        rows.code[2] = Instruction::Compare(FieldId::new(0), Operator::Gt, 1..2);
    }),
    ("V04-target", |rows| rows.targets[2] = StateId::new(7)),
    ("V04-trigger", |rows| rows.triggers[0] = EventId::new(3)),
    ("V04-guard", |rows| {
        rows.code[0] = Instruction::Ask(GuardId::new(1))
    }),
    ("V04-raises", |rows| {
        rows.actions[1].kind = ActionKind::Raise(EventId::new(3))
    }),
    ("V05-no-states", |rows| {
        rows.states.clear();
        rows.transitions.clear();
        rows.targets.clear();
    }),
    ("V05-root-has-parent", |rows| {
        rows.states[0].parent = Some(StateId::new(1))
    }),
    ("V05-root-is-atomic", |rows| {
        rows.states[0].kind = StateKind::Atomic
    }),
    ("V05-root-ends-early", |rows| rows.states[0].end = 6),
    ("V06-two-roots", |rows| rows.states[6].parent = None),
    ("V06-parent-behind", |rows| {
        rows.states[1].parent = Some(StateId::new(2))
    }),
    ("V06-own-parent", |rows| {
        rows.states[1].parent = Some(StateId::new(1))
    }),
    ("V07-wrong-parent", |rows| {
        rows.states[3].parent = Some(StateId::new(0))
    }),
    ("V07-ends-before-it-begins", |rows| rows.states[4].end = 4),
    ("V07-reaches-out", |rows| rows.states[4].end = 7),
    ("V08-nested-too-deep", |rows| {
        let leaf = rows.states[6].clone();
        rows.states.pop();
        let count = u16::try_from(MAX_DEPTH + 1).unwrap();
        for depth in 0..count {
            let parent = if depth == 0 { 0 } else { 5 + depth };
            let parent = Some(StateId::new(parent));
            rows.states.push(StateRow {
                parent,
                end: 6 + count,
                ..leaf.clone()
            });
        }
        rows.states[0].end = 6 + count;
    }),
    ("V09-empty-name", |rows| rows.texts[12] = "".into()),
    ("V09-same-state", |rows| {
        rows.states[6].name = rows.states[5].name
    }),
    ("V09-same-event", |rows| {
        rows.events[1].name = rows.events[0].name
    }),
    ("V10-compound-without-children", |rows| {
        rows.states[1].kind = StateKind::Compound
    }),
    ("V10-atomic-with-children", |rows| {
        rows.states[2].kind = StateKind::Atomic
    }),
    ("V11-failure-goes-on", |rows| {
        rows.states[1].verdict = Verdict::Failure
    }),
    ("V12-no-initial", |rows| rows.states[2].initial = 0..0),
    ("V33-two-initials", |rows| rows.states[2].initial = 3..5),
    ("V12-initial-outside", |rows| {
        rows.targets[1] = StateId::new(1)
    }),
    ("V12-initial-itself", |rows| {
        rows.targets[1] = StateId::new(2)
    }),
    ("V12-initial-of-atomic", |rows| {
        rows.states[3].initial_calls = 0..1
    }),
    ("V13-root-entry", |rows| rows.states[0].entry = 0..1),
    ("V13-root-exit", |rows| rows.states[0].exit = 0..1),
    ("V14-final-goes-on", |rows| {
        rows.states[4].transitions = 4..4;
        rows.states[5].transitions = 4..5;
        rows.transitions[4].source = StateId::new(5);
    }),
    ("V15-gap", |rows| rows.states[3].transitions = 4..4),
    ("V15-nobodys", |rows| {
        let row = rows.transitions[4].clone();
        rows.transitions.push(row);
    }),
    ("V16-source-of-another", |rows| {
        rows.transitions[3].source = StateId::new(4)
    }),
    ("V17-no-target", |rows| rows.transitions[0].targets = 0..0),
    ("V33-two-targets", |rows| rows.transitions[0].targets = 3..5),
    ("V33-internal-two-targets", |rows| {
        rows.transitions[2] = TransitionRow {
            internal: true,
            targets: 3..5,
            ..rows.transitions[2].clone()
        };
    }),
    ("V18-internal-leads-out", |rows| {
        rows.transitions[2].internal = true
    }),
    ("V18-internal-to-itself", |rows| {
        rows.transitions[1].targets = 0..1
    }),
    ("V19-to-the-root", |rows| rows.targets[5] = StateId::new(0)),
    ("V20-twice-the-same", |rows| {
        rows.triggers[1] = EventId::new(0);
        rows.transitions[0].triggers = 0..2;
    }),
    ("V21-endless-guard", |rows| {
        let start = u32::try_from(rows.code.len()).unwrap();
        rows.code
            .resize(rows.code.len() + MAX_PROGRAM + 1, Instruction::Not);
        rows.transitions[4].guard = start..u32::try_from(rows.code.len()).unwrap();
    }),
    ("V22-operands-too-far", |rows| {
        rows.code[0] = Instruction::All(3)
    }),
    ("V22-operands-behind-the-last", |rows| {
        rows.code.push(Instruction::Any(1));
        rows.code.push(Instruction::Not);
        rows.transitions[4].guard = 3..4;
    }),
    ("V23-shared-guard", |rows| rows.transitions[1].guard = 0..3),
    ("V23-overlapping-guards", |rows| {
        rows.transitions[4].guard = 2..3
    }),
    ("V23-assignment-in-a-guard", |rows| {
        assign(rows, &[Instruction::Ask(GuardId::new(0))]);
        rows.assigns[0].value = 1..2;
    }),
    ("V24-no-constant", |rows| {
        rows.code[2] = Instruction::Compare(FieldId::new(0), Operator::Gt, 0..0);
    }),
    ("V24-exists-what", |rows| {
        rows.code[2] = Instruction::Compare(FieldId::new(0), Operator::Exists, 0..1);
    }),
    ("V24-push-nothing", |rows| {
        rows.code[0] = Instruction::Push(0..0)
    }),
    ("V25-too-large", |rows| {
        rows.constants[0] = Constant::Int(1 << 64)
    }),
    ("V25-too-small", |rows| {
        rows.constants[0] = Constant::Int(i128::from(i64::MIN) - 1)
    }),
    ("V25-not-a-number", |rows| {
        rows.constants[0] = Constant::Float(f64::NAN)
    }),
    ("V25-infinite", |rows| {
        rows.constants[0] = Constant::Float(f64::INFINITY)
    }),
    ("V26-done-of-atomic", |rows| {
        rows.states[1].done = Some(EventId::new(2))
    }),
    ("V26-done-of-the-root", |rows| {
        rows.states[0].done = Some(EventId::new(2))
    }),
    ("V26-done-is-named", |rows| {
        rows.events[2].kind = EventKind::Named
    }),
    ("V27-too-many-calls", |rows| {
        let start = u32::try_from(rows.calls.len()).unwrap();
        rows.calls
            .resize(rows.calls.len() + MAX_CALLS + 1, ActionId::new(0));
        rows.states[3].exit = start..u32::try_from(rows.calls.len()).unwrap();
    }),
    ("V27-too-many-in-conditions", |rows| {
        for _ in 0..8 {
            nest(rows);
        }
        let last = u16::try_from(rows.actions.len() - 1).unwrap();
        rows.calls[0] = ActionId::new(last);
    }),
    ("V28-too-many-targets", |rows| {
        rows.targets.resize(1 << 12, StateId::new(1));
        rows.transitions[4].targets = 0..1 << 12;
        let row = rows.transitions[4].clone();
        rows.transitions.resize(300, row);
    }),
    ("V28-too-many-actions", |rows| {
        rows.calls.resize(1 << 12, ActionId::new(0));
        rows.transitions[4].calls = 0..1 << 12;
        let row = rows.transitions[4].clone();
        rows.transitions.resize(300, row);
    }),
    ("V28-too-many-constants", |rows| {
        rows.constants.resize(1 << 10, Constant::Null);
        let compare = Instruction::Compare(FieldId::new(0), Operator::In, 0..1 << 10);
        rows.code = vec![compare; (1 << 10) + 1];
        rows.transitions[0].guard = 0..0;
    }),
    ("V29-self-loop", |rows| rows.transitions[1].triggers = 0..0),
    ("V29-there-and-back", |rows| {
        rows.targets[4] = StateId::new(3);
        rows.transitions[3].triggers = 0..0;
        rows.transitions[4].triggers = 0..0;
    }),
    ("V29-out-and-in-again", |rows| {
        rows.targets[5] = StateId::new(2);
        rows.transitions[2].triggers = 0..0;
    }),
    ("V40-nothing-to-negate", |rows| {
        rows.code[2] = Instruction::Not
    }),
    ("V40-one-operand", |rows| {
        let code = [
            Instruction::Binary(BinaryOperator::Add),
            Instruction::Load(FieldId::new(0)),
        ];
        assign(rows, &code);
    }),
    ("V40-too-deep", |rows| {
        let mut code = vec![Instruction::Not; MAX_LEVELS];
        code.push(Instruction::Load(FieldId::new(0)));
        assign(rows, &code);
    }),
    ("V41-operand-past-the-end", |rows| {
        let code = [
            Instruction::Binary(BinaryOperator::Equal),
            Instruction::All(2),
            Instruction::Has(FieldId::new(0)),
            Instruction::Not,
            Instruction::Load(FieldId::new(0)),
        ];
        assign(rows, &code);
    }),
    ("V42-two-values", |rows| {
        rows.code[0] = Instruction::Has(FieldId::new(0))
    }),
    ("V42-assigns-nothing", |rows| assign(rows, &[])),
    ("V42-condition-without-program", |rows| {
        rows.actions[0].kind = ActionKind::If {
            guard: 3..3,
            then: 0..0,
            otherwise: 0..0,
        };
    }),
    ("V43-assigns-the-event", |rows| {
        rows.texts[11] = "event.tries".into();
        assign(rows, &[Instruction::Ask(GuardId::new(0))]);
    }),
    ("V02-merge-without-a-name", |rows| {
        rows.merges.push(merge(None, MergeKind::Only, Some(999)));
    }),
    ("V04-merge-of-no-event", |rows| {
        rows.merges.push(merge(Some(999), MergeKind::Only, Some(0)));
    }),
    ("V46-merge-of-an-earlier-event", |rows| {
        rows.merges.push(merge(Some(1), MergeKind::Only, Some(0)));
        rows.merges.push(merge(None, MergeKind::Only, Some(0)));
    }),
    ("V46-merge-of-two-kinds", |rows| {
        let names = sorted_texts(rows);
        rows.merges.push(merge(None, MergeKind::Only, names[0]));
        rows.merges.push(merge(None, MergeKind::Except, names[1]));
    }),
    ("V46-merge-names-repeat", |rows| {
        rows.merges.push(merge(None, MergeKind::Only, Some(3)));
        rows.merges.push(merge(None, MergeKind::Only, Some(3)));
    }),
    ("V46-merge-out-of-order", |rows| {
        let names = sorted_texts(rows);
        rows.merges.push(merge(None, MergeKind::Only, names[1]));
        rows.merges.push(merge(None, MergeKind::Only, names[0]));
    }),
    ("V46-merge-of-nothing-and-more", |rows| {
        rows.merges.push(merge(Some(0), MergeKind::Only, None));
        rows.merges.push(merge(Some(0), MergeKind::Only, Some(3)));
    }),
    ("V04-ambiguity-of-no-state", |rows| {
        rows.ambiguities.push(ambiguity(999, 0, 1));
    }),
    ("V04-ambiguity-of-no-event", |rows| {
        rows.ambiguities.push(ambiguity(1, 999, 1));
    }),
    ("V50-ambiguity-out-of-order", |rows| {
        let label = add_event(rows, EventKind::Named);
        rows.ambiguities = vec![ambiguity(1, label, 1), ambiguity(1, label, 0)];
    }),
    ("V50-ambiguity-twice", |rows| {
        let label = add_event(rows, EventKind::Named);
        rows.ambiguities = vec![ambiguity(1, label, 0), ambiguity(1, label, 0)];
    }),
    ("V50-one-meaning", |rows| {
        let label = add_event(rows, EventKind::Named);
        rows.ambiguities.push(ambiguity(1, label, 0));
    }),
    ("V51-internal-label", |rows| {
        let label = add_event(rows, EventKind::Internal);
        rows.ambiguities = vec![ambiguity(1, label, 0), ambiguity(1, label, 1)];
    }),
    ("V51-internal-meaning", |rows| {
        let label = add_event(rows, EventKind::Named);
        rows.ambiguities = vec![ambiguity(1, label, 0), ambiguity(1, label, 2)];
    }),
    ("V51-label-that-triggers", |rows| {
        let event = add_event(rows, EventKind::Named);
        rows.ambiguities = vec![ambiguity(1, 0, 1), ambiguity(1, 0, event)];
    }),
    ("V51-meaning-of-another-state", |rows| {
        let label = add_event(rows, EventKind::Named);
        rows.ambiguities = vec![ambiguity(3, label, 0), ambiguity(3, label, 1)];
    }),
    ("V02-claim-without-words", |rows| {
        rows.claims.push(claim(0, 999));
    }),
    ("V04-claim-of-no-guard", |rows| {
        rows.claims.push(claim(999, 0))
    }),
    ("V47-claim-twice", |rows| {
        rows.claims.extend([claim(0, 10), claim(0, 10)]);
    }),
    ("V48-claim-in-an-assignment", |rows| {
        rows.claims.push(claim(0, 10));
        assign(rows, &[Instruction::Ask(GuardId::new(0))]);
    }),
    ("V48-claim-of-an-eventless-transition", |rows| {
        rows.claims.push(claim(0, 10));
        rows.transitions[0].triggers = 0..0;
    }),
    ("V48-claim-of-an-internal-event", |rows| {
        rows.claims.push(claim(0, 10));
        rows.events[0].kind = EventKind::Internal;
    }),
    ("V48-claim-of-a-timer", |rows| {
        rows.claims.push(claim(0, 10));
        add_timer(rows);
    }),
    ("V45-endless-path", |rows| {
        rows.texts[11] = vec!["a"; MAX_DATUM_DEPTH + 1].join(".").into();
    }),
    ("V44-too-many-assignments", |rows| {
        for _ in 0..=MAX_ASSIGNS {
            assign(rows, &[Instruction::Ask(GuardId::new(0))]);
        }
    }),
    ("V09-same-timer", |rows| {
        add_timer(rows);
        rows.timers.push(rows.timers[0].clone());
    }),
    ("V04-timer", |rows| {
        rows.actions[0].kind = ActionKind::Schedule(TimerId::new(0), 1)
    }),
    ("V10-parallel-without-children", |rows| {
        rows.states[1].kind = StateKind::Parallel
    }),
    ("V12-initial-of-parallel", |rows| {
        rows.states[2].kind = StateKind::Parallel
    }),
    ("V30-final-region", |rows| {
        rows.states[2].kind = StateKind::Parallel;
        rows.states[2].initial = 0..0;
    }),
    ("V30-no-region", |rows| {
        rows.states[2].kind = StateKind::Parallel;
        rows.states[2].initial = 0..0;
        for index in 3..6 {
            rows.states[index].kind = StateKind::History;
        }
    }),
    ("V31-history-with-transitions", |rows| {
        rows.states[4].kind = StateKind::History;
        rows.states[4].initial = 1..2;
    }),
    ("V31-history-with-entry", |rows| {
        add_history(rows, StateKind::History);
        rows.states[5].entry = 0..1;
    }),
    ("V32-history-without-default", |rows| {
        add_history(rows, StateKind::History);
        rows.states[5].initial = 0..0;
    }),
    ("V32-default-outside", |rows| {
        add_history(rows, StateKind::DeepHistory);
        rows.states[5].initial = 5..6;
    }),
    ("V32-default-itself", |rows| {
        add_history(rows, StateKind::DeepHistory);
        rows.states[5].initial = 4..5;
    }),
    ("V33-same-target-twice", |rows| {
        rows.targets[3] = StateId::new(4);
        rows.transitions[0].targets = 3..5;
        rows.targets[4] = StateId::new(4);
    }),
    ("V34-timer-completes", |rows| {
        add_timer(rows);
        rows.timers[0].event = EventId::new(2);
    }),
    ("V35-condition-in-itself", |rows| {
        nest(rows);
        rows.calls[2] = ActionId::new(2);
    }),
    ("V35-condition-behind", |rows| {
        nest(rows);
        nest(rows);
        rows.calls[2] = ActionId::new(3);
    }),
    ("V36-too-much-to-record", |rows| {
        let leaf = StateRow {
            transitions: 5..5,
            ..rows.states[1].clone()
        };
        rows.states.truncate(3);
        rows.transitions.clear();
        rows.events[2].kind = EventKind::Named;
        for row in &mut rows.states {
            row.transitions = 0..0;
        }
        rows.states[2] = StateRow {
            kind: StateKind::Parallel,
            initial: 0..0,
            done: None,
            ..rows.states[2].clone()
        };
        rows.targets = vec![StateId::new(1), StateId::new(3)];
        rows.texts.truncate(14);
        for count in 0..2_100_u16 {
            rows.texts.push(format!("more{count}").into());
            let history = count % 2 == 1;
            rows.states.push(StateRow {
                name: TextId::new(14 + u32::from(count)),
                kind: if history {
                    StateKind::DeepHistory
                } else {
                    StateKind::Atomic
                },
                initial: if history { 1..2 } else { 0..0 },
                parent: Some(StateId::new(2)),
                end: 4 + count,
                transitions: 0..0,
                ..leaf.clone()
            });
        }
        rows.states[0].end = 2_103;
        rows.states[2].end = 2_103;
    }),
];

/// Adds a timer whose event is that of state 2's completion.
fn add_timer(rows: &mut Sections) {
    rows.timers.push(TimerRow {
        name: TextId::new(12),
        event: EventId::new(0),
    });
}

/// Makes a history of the final state in state 2, by default the state before it.
fn add_history(rows: &mut Sections, kind: StateKind) {
    rows.states[5].kind = kind;
    rows.states[5].initial = 3..4;
}

/// Adds a conditional action that does the last action twice.
fn nest(rows: &mut Sections) {
    let start = u32::try_from(rows.calls.len()).unwrap();
    let last = u16::try_from(rows.actions.len() - 1).unwrap();
    rows.calls
        .extend([ActionId::new(last), ActionId::new(last)]);
    rows.texts.push(format!("if{last}").into());
    rows.actions.push(ActionRow {
        name: TextId::from_index(rows.texts.len() - 1).unwrap(),
        kind: ActionKind::If {
            guard: 0..0,
            then: start..start + 2,
            otherwise: start..start,
        },
        metadata: None,
    });
}
