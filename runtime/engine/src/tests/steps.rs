//! Steps of small machines, each observed call by call.
//!
//! A trace has a word for each call: `#2` transition 2 is taken, `-a` left, `act` an action, `+a` entered, `!e` raised,
//! `?f` a field is absent; at its end what became of the event.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::notation::{sections, table};
use crate::{
    ActionId, AmbiguityRow, Configuration, EventId, FieldId, GuardId, Host, Machine, Observer,
    Outcome, StateId, StepError, Table, TransitionId, Value, decode, dump, encode, verify,
};

struct Trace<'t> {
    table: &'t Table,
    words: Vec<String>,
}

impl Observer for Trace<'_> {
    fn transition(&mut self, transition: TransitionId) {
        self.words.push(format!("#{}", transition.raw()));
    }

    fn exited(&mut self, state: StateId) {
        self.words
            .push(format!("-{}", self.table.state_name(state)));
    }

    fn action(&mut self, action: ActionId) {
        self.words.push(self.table.action_name(action).to_owned());
    }

    fn entered(&mut self, state: StateId) {
        self.words
            .push(format!("+{}", self.table.state_name(state)));
    }

    fn raised(&mut self, event: EventId) {
        self.words
            .push(format!("!{}", self.table.event_name(event)));
    }

    fn absent(&mut self, field: FieldId) {
        self.words
            .push(format!("?{}", self.table.field_name(field)));
    }
}

/// Answers every guard `yes` or `no`, by its name; has a field `three`.
pub(super) struct ByName<'t>(pub(super) &'t Table);

impl Host for ByName<'_> {
    fn guard(&mut self, guard: GuardId) -> bool {
        self.0.guard_name(guard) == "yes"
    }

    fn field(&self, field: FieldId) -> Value<'_> {
        if self.0.field_name(field) == "three" {
            Value::Int(3)
        } else {
            Value::Absent
        }
    }
}

/// Starts the machine, sends the events, and compares what was observed, a line for each.
#[track_caller]
pub(super) fn check(machine: &str, expected: &[(&str, &str)]) {
    let table = table(machine);
    let mut trace = Trace {
        table: &table,
        words: Vec::new(),
    };
    let mut machine = None;
    for &(event, expected) in expected {
        let outcome = match &mut machine {
            None => {
                assert_eq!(event, "start");
                match Machine::start_observed(&table, ByName(&table), &mut trace) {
                    Ok(started) => {
                        machine = Some(started);
                        "started".to_owned()
                    }
                    Err(fault) => fault.to_string(),
                }
            }
            Some(machine) => {
                machine.set_step_limit(5);
                let id = table.event_named(event).unwrap_or(EventId::new(999));
                let can = machine.can(id);
                let result = machine.send_observed(id, &mut trace);
                let taken = matches!(result, Ok(Outcome::Taken | Outcome::Ended));
                assert!(can == taken || matches!(result, Err(StepError::StepLimit { .. })));
                result.map_or_else(|fault| fault.to_string(), |outcome| format!("{outcome:?}"))
            }
        };
        trace.words.push(outcome);
        assert_eq!(trace.words.join(" "), expected, "{event}");
        trace.words.clear();
    }
}

#[test]
fn exit_runs_inside_out_and_entry_outside_in() {
    check(
        "
root to=a initially=boot
  a to=aa initially=ia entry=ea exit=xa
    - on=go do=t to=b
    aa entry=eaa exit=xaa1,xaa2
  b to=bb initially=ib entry=eb exit=xb
    bb entry=ebb1,ebb2 exit=xbb
",
        &[
            ("start", "boot +a ea ia +aa eaa started"),
            (
                "go",
                "#0 xaa1 xaa2 -aa xa -a t +b eb ib +bb ebb1 ebb2 Taken",
            ),
            ("go", "Ignored"),
        ],
    );
}

#[test]
fn external_transitions_leave_their_source_and_internal_ones_do_not() {
    check(
        "
root to=a
  a to=aa
    - on=self to=a
    - on=out to=ab
    - on=in internal to=ab
    - on=stay internal do=act
    aa
      - on=own to=aa
      - on=up to=a
    ab
",
        &[
            ("start", "+a +aa started"),
            ("self", "#0 -aa -a +a +aa Taken"),
            ("own", "#4 -aa +aa Taken"),
            ("up", "#5 -aa -a +a +aa Taken"),
            ("stay", "#3 act Taken"),
            ("out", "#1 -aa -a +a +ab Taken"),
            ("in", "#2 -ab +ab Taken"),
            ("own", "Ignored"),
        ],
    );
}

#[test]
fn states_on_the_way_to_a_target_are_entered_without_their_initial_transitions() {
    check(
        "
root to=deep initially=boot
  - on=top to=b
  a to=aa initially=never entry=ea
    aa to=ab initially=never entry=eaa
      ab
      deep entry=ed
  b to=bbb initially=ib
    bb to=bc initially=never
      bbb
      bc
",
        &[
            ("start", "boot +a ea +aa eaa +deep ed started"),
            ("top", "#0 -deep -aa -a +b ib +bb +bbb Taken"),
        ],
    );
}

#[test]
fn the_innermost_transition_whose_guard_holds_is_taken() {
    check(
        "
root to=a
  - on=e|f do=root to=c
  a to=b
    - on=e if=no do=a1 to=c
    - on=e if=!no do=a2 internal
    - on=e do=a3 to=c
    b
      - on=e if=no do=b1 to=c
      - on=f if=no do=b2 to=c
      - on=g if=missing>1 to=c
      - on=g if=missing? to=c
      - on=g if=three>2 internal do=big
  c
",
        &[
            ("start", "+a +b started"),
            ("e", "#2 a2 Taken"),
            ("g", "?missing #8 big Taken"),
            ("f", "#0 -b -a root +c Taken"),
            ("f", "#0 -c root +c Taken"),
            ("g", "Ignored"),
        ],
    );
}

#[test]
fn eventless_transitions_come_before_raised_events_and_those_in_order() {
    check(
        "
root to=a
  a
    - on=go do=raise.one,plain,raise.two to=b
  b exit=raise.three
    - if=yes to=c
  c
    - on=one|two|three internal do=raise.four
    - on=four if=no to=a
",
        &[
            ("start", "+a started"),
            (
                "go",
                "#0 -a raise.one !one plain raise.two !two +b #1 raise.three !three -b +c \
                 #2 raise.four !four #2 raise.four !four #2 raise.four !four Taken",
            ),
            ("two", "#2 raise.four !four Taken"),
            ("four", "Ignored"),
        ],
    );
}

#[test]
fn a_final_child_completes_its_parent_and_one_of_the_root_ends_the_machine() {
    check(
        "
root to=work
  work to=one
    - on=done.state.work do=next to=over
    - on=done.state.inner do=inner internal
    one
      - on=go to=last
    inner to=last
      last final entry=el
    over1 final
  over failure entry=raise.go exit=never
",
        &[
            ("start", "+work +one started"),
            (
                "done.state.work",
                "event number 1 can't be sent to this machine",
            ),
            (
                "go",
                "#2 -one +inner +last el !done.state.inner #1 inner Taken",
            ),
            ("go", "Ignored"),
        ],
    );
    check(
        "
root to=work
  work to=one
    - on=done.state.work do=next to=over
    one
      - on=go to=last
    last final entry=el
  over final entry=raise.go
",
        &[
            ("start", "+work +one started"),
            (
                "go",
                "#1 -one +last el !done.state.work #0 -last -work next +over raise.go !go Ended",
            ),
            ("go", "the machine has ended and takes no more events"),
            ("nothing", "the machine has ended and takes no more events"),
        ],
    );
    check(
        "
root to=over
  over final
  a
    - on=go to=a
",
        &[
            ("start", "+over started"),
            ("go", "the machine has ended and takes no more events"),
        ],
    );
}

#[test]
fn a_step_that_does_not_come_to_rest_leaves_the_configuration_as_it_was() {
    let text = "
root to=a
  a
    - on=go to=b
    - on=five do=raise.x1 internal
    - on=x1 do=raise.x2 internal
    - on=x2 do=raise.x3 internal
    - on=x3 do=raise.x4 internal
    - on=x4 internal
  b
    - if=yes to=c
  c
    - if=yes to=b
";
    check(
        text,
        &[
            ("start", "+a started"),
            (
                "go",
                "#0 -a +b #6 -b +c #7 -c +b #6 -b +c #7 -c +b \
                 the machine did not come to rest within 5 microsteps",
            ),
            (
                "five",
                "#1 raise.x1 !x1 #2 raise.x2 !x2 #3 raise.x3 !x3 #4 raise.x4 !x4 #5 Taken",
            ),
            ("other", "event number 999 can't be sent to this machine"),
        ],
    );
    let circle = "
root to=b
  b
    - if=yes to=c
  c
    - if=yes to=b
";
    let table = table(circle);
    let fault = Machine::start(&table, ByName(&table)).err();
    assert_eq!(
        fault,
        Some(StepError::StepLimit {
            limit: crate::DEFAULT_STEP_LIMIT
        })
    );
}

#[test]
fn candidates_are_listed_with_what_their_guards_say() {
    let table = table(
        "
root to=a
  - on=go|other to=b
  a
    - if=no to=b
    - on=go if=no to=b
    - on=go|stop if=yes to=b
    - on=done.x to=b
    - on=go to=b
  b
",
    );
    let mut machine = Machine::start(&table, ByName(&table)).unwrap();
    let listed: Vec<String> = machine
        .candidates()
        .into_iter()
        .map(|it| {
            let event = table.event_name(it.event);
            format!(
                "#{} {event} {} {}",
                it.transition.raw(),
                it.holds,
                it.enabled
            )
        })
        .collect();
    assert_eq!(
        listed,
        [
            "#2 go false false",
            "#3 go true true",
            "#3 stop true true",
            "#5 go true false",
            "#0 go true false",
            "#0 other true true",
        ]
    );
}

#[test]
fn a_configuration_is_kept_and_restored_if_it_is_legal() {
    let table = table(
        "
root to=a
  a to=aa
    aa
      - on=go to=b
  b
",
    );
    let [a, aa, b] = ["a", "aa", "b"].map(|name| table.state_named(name).unwrap());
    let machine = Machine::start(&table, ()).unwrap();
    assert!(machine.is_in(a) && machine.is_in(aa) && machine.is_in(StateId::new(0)));
    assert!(!machine.is_in(b));
    let leaves: Vec<_> = machine.configuration().leaves().collect();
    let configuration = Configuration::from_leaves(&table, &leaves).unwrap();
    let mut machine = Machine::restore(&table, (), configuration).unwrap();
    let _ = machine.send(table.event_named("go").unwrap()).unwrap();
    assert!(machine.is_in(b) && !machine.is_in(a));
    for (leaves, message) in [
        (
            &[][..],
            "a configuration of this machine has one leaf, not 0",
        ),
        (
            &[a],
            "state number 1 is no leaf: it has children, or is a history",
        ),
        (&[StateId::new(9)], "the machine has no state number 9"),
        (
            &[aa, b],
            "a configuration of this machine has one leaf, not 2",
        ),
    ] {
        let fault = Configuration::from_leaves(&table, leaves).unwrap_err();
        assert_eq!(fault.to_string(), message);
    }
}

#[test]
fn a_dump_shows_every_row() {
    let table = table(
        "
root to=a initially=boot
  a entry=hello
    - on=go|run if=three>2 do=log,raise.run to=b
    - on=go if=!no internal
  b to=c
    - on=done.state.b to=a
    c failure
",
    );
    let expected = "\
machine test

states
  0  root   compound        initial a  initially boot
  1    a    atomic                                     entry hello
  2    b    compound        initial c                               done done.state.b
  3      c  final, failure

events
  0  go            named
  1  run           named
  2  done.state.b  internal

transitions
  0  a  on go | run      if three > 2  to b            do log, raise.run
  1  a  on go            if !no              internal
  2  b  on done.state.b                to a

guards
  0  no

fields
  0  three

actions
  0  boot
  1  hello
  2  log
  3  raise.run  raises run
";
    let found = dump(table.sections());
    assert_eq!(found, expected, "\n{found}");
}

/// Returns the table of a machine in which a label may mean two events in a state.
fn ambiguous(machine: &str, state: &str, label: &str, means: [&str; 2]) -> Table {
    let plain = table(machine);
    let event = |name| plain.event_named(name).unwrap();
    let mut rows = sections(machine);
    rows.ambiguities = means
        .map(|name| AmbiguityRow {
            state: plain.state_named(state).unwrap(),
            label: event(label),
            event: event(name),
        })
        .into();
    let bytes = encode(&rows).unwrap();
    assert_eq!(decode(&bytes).as_ref(), Ok(&rows));
    verify(rows).unwrap_or_else(|fault| panic!("{fault}"))
}

#[test]
fn an_ambiguous_label_is_refused_while_its_state_is_active() {
    let table = ambiguous(
        "
root to=a
  a to=aa
    - on=yes to=b
    - on=no to=c
    aa
      - on=review to=ab
      - on=go to=ab
    ab
  b
    - on=review to=a
  c
",
        "a",
        "review",
        ["yes", "no"],
    );
    let event = |name| table.event_named(name).unwrap();
    let [review, yes, go] = ["review", "yes", "go"].map(event);
    let state = table.state_named("a").unwrap();
    let ambiguous = StepError::Ambiguous {
        state,
        label: review,
    };
    let refused = Err(ambiguous);
    let mut machine = Machine::start(&table, ByName(&table)).unwrap();
    // Not even an inner state takes it.
    assert_eq!(machine.send(review), refused);
    assert!(!machine.can(review) && machine.can(yes));
    assert!(ambiguous.to_string().contains("several events"));
    assert_eq!(machine.send(go), Ok(Outcome::Taken));
    assert_eq!(machine.send(review), refused);
    let means: Vec<EventId> = table.meanings(state, review).collect();
    assert_eq!(means, ["yes", "no"].map(event));
    assert_eq!(table.meanings(state, yes).count(), 0);
    assert_eq!(table.ambiguous_states(review).collect::<Vec<_>>(), [state]);
    // Elsewhere it is an event as any other.
    assert_eq!(machine.send(yes), Ok(Outcome::Taken));
    assert_eq!(machine.send(review), Ok(Outcome::Taken));
    assert!(dump(table.sections()).contains("a  review  may mean yes"));
}

#[test]
fn a_label_that_is_ambiguous_in_one_region_moves_no_other() {
    let table = ambiguous(
        "
root to=p
  p parallel
    one to=a
      a
        - on=yes to=b
        - on=no to=b
      b
    two to=c
      c
        - on=review to=d
      d
",
        "a",
        "review",
        ["yes", "no"],
    );
    let event = |name| table.event_named(name).unwrap();
    let is_in =
        |machine: &Machine<'_, ByName<'_>>, name| machine.is_in(table.state_named(name).unwrap());
    let mut machine = Machine::start(&table, ByName(&table)).unwrap();
    let refused = machine.send(event("review"));
    assert!(
        matches!(refused, Err(StepError::Ambiguous { .. })),
        "{refused:?}"
    );
    assert!(is_in(&machine, "c"));
    assert_eq!(machine.send(event("no")), Ok(Outcome::Taken));
    assert!(is_in(&machine, "b") && is_in(&machine, "c"));
    assert_eq!(machine.send(event("review")), Ok(Outcome::Taken));
    assert!(is_in(&machine, "d"));
}
