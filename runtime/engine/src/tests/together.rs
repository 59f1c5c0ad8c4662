//! Steps of machines with regions, history and timers, each observed call by call, in the words of `steps.rs`.

use alloc::vec::Vec;

use super::notation::table;
use super::steps::{ByName, check};
use crate::{Configuration, Host, Machine, Outcome, Recorder, StateId, StepError, TimerId, Timers};

const MEAL: &str = "
root to=idle
  idle
    - on=go to=meal
    - on=late to=bread_done|soup_hot
    - on=back to=soup_memory
    - on=deep to=memory
  meal parallel entry=light exit=dark
    - on=alarm to=idle
    - on=done.state.meal do=serve to=over
    soup to=raw exit=soup_out
      raw
        - on=heat to=soup_hot
      soup_hot exit=hot_out
        - on=heat internal do=boil
        - on=eat to=soup_done
      soup_done final
      soup_memory history to=raw initially=fresh
    bread to=dough
      dough
        - on=heat to=baked
        - on=leave to=idle
      baked
        - on=eat to=bread_done
      bread_done final
    memory deep to=soup_hot
  over final
";

#[test]
fn each_region_takes_a_transition_and_all_of_them_end_the_parallel_state() {
    check(
        MEAL,
        &[
            ("start", "+idle started"),
            ("go", "#0 -idle +meal light +soup +raw +bread +dough Taken"),
            ("heat", "#6 #9 -dough -raw +soup_hot +baked Taken"),
            ("heat", "#7 boil Taken"),
            (
                "eat",
                "#8 #11 -baked hot_out -soup_hot +soup_done +bread_done !done.state.meal \
                 #5 -bread_done -bread -soup_done soup_out -soup dark -meal serve +over Ended",
            ),
        ],
    );
}

#[test]
fn one_transition_leads_into_several_regions() {
    check(
        MEAL,
        &[
            ("start", "+idle started"),
            (
                "late",
                "#1 -idle +meal light +soup +soup_hot +bread +bread_done Taken",
            ),
            (
                "alarm",
                "#4 -bread_done -bread hot_out -soup_hot soup_out -soup dark -meal +idle Taken",
            ),
        ],
    );
}

#[test]
fn histories_lead_back_or_by_default() {
    check(
        MEAL,
        &[
            ("start", "+idle started"),
            (
                "back",
                "#2 -idle +meal light +soup fresh +raw +bread +dough Taken",
            ),
            ("heat", "#6 #9 -dough -raw +soup_hot +baked Taken"),
            (
                "alarm",
                "#4 -baked -bread hot_out -soup_hot soup_out -soup dark -meal +idle Taken",
            ),
            (
                "back",
                "#2 -idle +meal light +soup +soup_hot +bread +dough Taken",
            ),
            (
                "leave",
                "#10 -dough -bread hot_out -soup_hot soup_out -soup dark -meal +idle Taken",
            ),
            (
                "deep",
                "#3 -idle +meal light +soup +soup_hot +bread +dough Taken",
            ),
        ],
    );
}

#[test]
fn of_two_ways_out_the_inner_one_is_taken_else_the_first() {
    let text = "
root to=p
  p parallel
    - on=both to=end
    a to=a1
      - on=both to=a2
      a1
        - on=out to=end
      a2
    b to=b1
      b1
        - on=out to=other
  end
  other
";
    check(
        text,
        &[
            ("start", "+p +a +a1 +b +b1 started"),
            ("both", "#1 -b1 -b -a1 -a -p +p +a +a2 +b +b1 Taken"),
        ],
    );
    check(
        text,
        &[
            ("start", "+p +a +a1 +b +b1 started"),
            ("out", "#2 -b1 -b -a1 -a -p +end Taken"),
        ],
    );
}

#[test]
fn a_parallel_state_in_a_region_completes_the_one_around_it() {
    check(
        "
root to=outer
  outer parallel
    - on=done.state.outer internal do=all
    - on=done.state.inner internal do=some
    a to=a1
      a1 final
    inner parallel
      b to=b1
        b1
          - on=go to=b2
        b2 final
",
        &[
            ("start", "+outer +a +a1 +inner +b +b1 started"),
            (
                "go",
                "#2 -b1 +b2 !done.state.inner !done.state.outer #1 some #0 all Taken",
            ),
        ],
    );
}

#[test]
fn a_configuration_of_several_leaves_is_kept_with_what_histories_recorded() {
    let table = table(MEAL);
    let [go, heat, alarm, back] = ["go", "heat", "alarm", "back"].map(|it| table.event_named(it));
    let mut machine = Machine::start(&table, ByName(&table)).unwrap();
    for event in [go, heat, alarm] {
        assert_eq!(machine.send(event.unwrap()), Ok(Outcome::Taken));
    }
    let kept: Vec<StateId> = machine.configuration().leaves().collect();
    let history = machine.configuration().history();
    let history: Vec<_> = history.map(|(id, states)| (id, states.to_vec())).collect();
    let mut configuration = Configuration::from_leaves(&table, &kept).unwrap();
    for (id, states) in &history {
        configuration = configuration.record(&table, *id, states).unwrap();
    }
    assert_eq!(&configuration, machine.configuration());
    let mut machine = Machine::restore(&table, (), configuration).unwrap();
    let _ = machine.send(back.unwrap()).unwrap();
    assert!(machine.is_in(table.state_named("soup_hot").unwrap()));

    let id = |name| table.state_named(name).unwrap();
    for (leaves, message) in [
        (&[][..], "a leaf in state number 0 is missing"),
        (&[id("raw")], "a leaf in state number 8 is missing"),
        (
            &[id("idle"), id("raw")],
            "states number 1 and 4 can't be active together",
        ),
        (
            &[id("raw"), id("soup_hot"), id("dough")],
            "states number 4 and 5 can't be active together",
        ),
        (
            &[id("soup_memory"), id("dough")],
            "state number 7 is no leaf: it has children, or is a history",
        ),
    ] {
        let fault = Configuration::from_leaves(&table, leaves).unwrap_err();
        assert_eq!(alloc::string::ToString::to_string(&fault), message);
    }
    let idle = || Configuration::from_leaves(&table, &[id("idle")]).unwrap();
    for (history, states) in [
        (id("raw"), &[id("raw")][..]),
        (id("soup_memory"), &[id("dough")]),
        (id("memory"), &[id("raw")]),
    ] {
        assert!(idle().record(&table, history, states).is_err());
    }
}

#[test]
fn candidates_say_what_the_whole_configuration_takes() {
    let table = table(MEAL);
    let mut machine = Machine::start(&table, ByName(&table)).unwrap();
    let _ = machine.send(table.event_named("go").unwrap()).unwrap();
    let listed = machine.candidates();
    let listed: Vec<_> = (listed.iter())
        .map(|it| {
            let event = table.event_name(it.event);
            (it.transition.raw(), event, it.enabled)
        })
        .collect();
    let expected = [
        (6, "heat", true),
        (4, "alarm", true),
        (9, "heat", true),
        (10, "leave", true),
    ];
    assert_eq!(listed, expected);
}

/// Keeps timers, and may be asked what it was told.
#[derive(Default)]
struct Clock {
    now: u64,
    timers: Timers,
}

impl Host for Clock {
    fn schedule(&mut self, timer: TimerId, delay: u64) {
        self.timers.schedule(timer, self.now + delay);
    }

    fn cancel(&mut self, timer: TimerId) {
        self.timers.cancel(timer);
    }

    fn begin(&mut self) {
        self.timers.begin();
    }

    fn rollback(&mut self) {
        self.timers.rollback();
    }
}

#[test]
fn a_timer_sends_its_event_unless_it_is_cancelled() {
    let table = table(
        "
root to=wait
  wait entry=schedule.nap exit=cancel.nap
    - on=after.nap to=awake
    - on=go to=awake
    - on=loop do=schedule.nap to=turn
  awake
    - on=again to=wait
  turn
    - on=after.nap to=awake
    - to=turn2
  turn2
    - if=yes to=turn
",
    );
    let mut machine = Machine::start(&table, Clock::default()).unwrap();
    let [go, again, round] = ["go", "again", "loop"].map(|it| table.event_named(it).unwrap());
    let nap = table.timer_named("nap").unwrap();
    assert_eq!(machine.host().timers.next_due(), Some(100));
    machine.host_mut().now = 100;
    assert_eq!(machine.host_mut().timers.pop_due(100), Some(nap));
    let mut recorder = Recorder::new();
    assert_eq!(
        machine.elapse_observed(nap, &mut recorder),
        Ok(Outcome::Taken)
    );
    assert!(machine.is_in(table.state_named("awake").unwrap()));
    assert_eq!(machine.elapse(nap), Ok(Outcome::Ignored));
    let _ = machine.send(again).unwrap();
    let _ = machine.send(go).unwrap();
    assert_eq!(machine.host().timers.next_due(), None);
    let none = TimerId::new(7);
    assert_eq!(machine.elapse(none), Err(StepError::NotATimer(none)));
    let sent = table.event_named("after.nap").unwrap();
    assert_eq!(machine.send(sent), Err(StepError::NotAnEvent(sent)));

    // A failed step leaves the timers as they were.
    let _ = machine.send(again).unwrap();
    let before = machine.host().timers.iter().collect::<Vec<_>>();
    machine.set_step_limit(1);
    assert_eq!(machine.send(round), Err(StepError::StepLimit { limit: 1 }));
    assert_eq!(machine.host().timers.iter().collect::<Vec<_>>(), before);
}
