//! Actions that fail: the step is undone, and its error lists what had run.

use alloc::borrow::ToOwned as _;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use super::notation::table;
use crate::{
    ActionId, Cause, Host, Machine, Outcome, StepError, StepFailure, Table, TimerId, Timers,
};

/// Carries actions out, up to the one of that number; keeps timers.
#[derive(Clone, Debug, Default)]
struct Failing {
    left: usize,
    done: Vec<ActionId>,
    timers: Timers,
}

impl Host for Failing {
    fn action(&mut self, action: ActionId) {
        self.done.push(action);
    }

    fn try_action(&mut self, action: ActionId) -> Result<(), Cause> {
        if self.left == 0 {
            return Err("no more".into());
        }
        self.left -= 1;
        self.done.push(action);
        Ok(())
    }

    fn schedule(&mut self, timer: TimerId, delay: u64) {
        self.timers.schedule(timer, delay);
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

const MACHINE: &str = "
root to=work
  work to=busy entry=say exit=try.leave,schedule.nap
    - on=go do=say to=away
    past history to=busy
    busy entry=try.begin exit=try.rest
      - on=next do=try.hand,raise.on to=calm
    calm entry=cancel.nap
      - on=on do=say,try.on to=busy
  away entry=try.lock
    - on=back to=past
";

/// A host that fails at nothing yet.
fn host() -> Failing {
    Failing {
        left: usize::MAX,
        ..Failing::default()
    }
}

/// All that the machine owns, as a text.
fn owned(machine: &Machine<'_, &mut Failing>) -> String {
    let timers: Vec<_> = machine.host().timers.iter().collect();
    let configuration = machine.configuration();
    let leaves: Vec<_> = configuration.leaves().collect();
    let history: Vec<_> = configuration.history().collect();
    alloc::format!("{leaves:?} {history:?} {timers:?}")
}

fn names(table: &Table, actions: &[ActionId]) -> Vec<String> {
    let names = actions.iter().map(|&action| table.action_name(action));
    names.map(str::to_owned).collect()
}

#[test]
fn a_step_that_fails_at_any_action_changes_nothing_and_says_what_ran() {
    let table = table(MACHINE);
    let events = ["next", "go", "back", "next", "go"];
    let events = events.map(|name| table.event_named(name).unwrap());
    let mut failures = 0;
    for (at, &event) in events.iter().enumerate() {
        // Let the step fail at its first action that can, at its second, and so on until it doesn't.
        for left in 0.. {
            let mut troubled = host();
            let mut machine = Machine::start(&table, &mut troubled).unwrap();
            for &event in events.iter().take(at) {
                assert_eq!(machine.send(event), Ok(Outcome::Taken));
            }
            let before = owned(&machine);
            machine.host_mut().left = left;
            machine.host_mut().done.clear();
            let outcome = machine.send(event);
            if outcome == Ok(Outcome::Taken) {
                assert!(left > 0, "the step has actions that can fail");
                assert!(machine.take_failure().is_none());
                break;
            }
            failures += 1;
            let failure = machine.take_failure().unwrap();
            assert_eq!(outcome, Err(StepError::ActionFailed(failure.action)));
            assert_eq!(failure.cause.to_string(), "no more");
            assert_eq!(failure.done, machine.host().done, "what had run, in order");
            assert_eq!(owned(&machine), before);
            assert!(machine.take_failure().is_none(), "it was taken");
            // The same event does all of it, once the host can.
            machine.host_mut().left = usize::MAX;
            assert_eq!(machine.send(event), Ok(Outcome::Taken));
            let mut untroubled = host();
            let mut other = Machine::start(&table, &mut untroubled).unwrap();
            for &event in events.iter().take(at + 1) {
                assert_eq!(other.send(event), Ok(Outcome::Taken));
            }
            assert_eq!(owned(&machine), owned(&other));
        }
    }
    assert!(failures > 10, "{failures}");
}

#[test]
fn a_start_that_fails_gives_the_host_back() {
    let table = table(MACHINE);
    let failed = Machine::try_start(&table, Failing::default(), &mut ()).unwrap_err();
    let failure = failed.failure.unwrap();
    assert_eq!(failed.error, StepError::ActionFailed(failure.action));
    assert_eq!(table.action_name(failure.action), "try.begin");
    assert_eq!(names(&table, &failure.done), ["say"]);
    assert_eq!(failed.host.done, failure.done);
    let number = failure.action.raw();
    let shown: StepFailure<_, _> = StepFailure::Action(failure);
    assert_eq!(
        shown.to_string(),
        alloc::format!("action `{number}` failed: no more (done before and not undone: `0`)")
    );
}

#[test]
fn a_host_that_knows_no_failure_carries_everything_out() {
    struct Careless;
    impl Host for Careless {}
    let table = table(MACHINE);
    let mut machine = Machine::start(&table, Careless).unwrap();
    let go = table.event_named("go").unwrap();
    assert_eq!(machine.send(go), Ok(Outcome::Taken));
}
