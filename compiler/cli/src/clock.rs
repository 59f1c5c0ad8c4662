//! The clock that runs go by, and times as people write them.
//!
//! The clock is the machine's. `STATEMARK_NOW` is another one, so that a script prints the same twice; it counts in stores
//! that were made under it, and nowhere else: whoever could move the clock of somebody's store could have its timers fire,
//! its requests expire and its tokens live on.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use statemark_runs::authority::{MarkForTesting, load_authority};
use statemark_runs::{Actor, Clock, ManualClock, Role, Runs, SystemClock};

use crate::environment;
use crate::failure::Failure;

/// The last second that is written as a date. Source: RFC 3339 has years of four digits.
const LAST_SECOND: u64 = 253_402_300_799;

/// The values that the variable may have.
const ALLOWED: &str = "a time like 2026-11-21T15:04:05Z, or a number of milliseconds since 1970";

/// Returns the machine's clock, or one that stands at the time of the environment.
pub(crate) fn clock() -> Result<CommandClock, Failure> {
    let Some(value) = environment::NOW.text() else {
        return Ok(CommandClock::System);
    };
    match parse_time(&value) {
        Some(now) => Ok(CommandClock::Fixed(ManualClock::new(now))),
        None => Err(Failure::bad_variable(&environment::NOW, &value, ALLOWED)),
    }
}

/// Parses a time in RFC 3339, or in milliseconds since 1970.
fn parse_time(text: &str) -> Option<u64> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let time = humantime::parse_rfc3339(text).ok()?;
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}

/// The clock of a command.
#[derive(Debug)]
pub(crate) enum CommandClock {
    System,
    Fixed(ManualClock),
}

impl Clock for CommandClock {
    fn now(&self) -> u64 {
        match self {
            Self::System => SystemClock.now(),
            Self::Fixed(clock) => clock.now(),
        }
    }
}

impl CommandClock {
    /// Checks that it may be the clock of a store: it is the machine's, or the store was made for testing.
    ///
    /// A store without anything in it is marked, if `marks`, so that it is one for testing from now on.
    pub(crate) fn check_for(&self, runs: &Runs, marks: bool) -> Result<(), Failure> {
        if matches!(self, Self::System) {
            return Ok(());
        }
        let store = runs.store();
        let authority = load_authority(store)?;
        if authority.is_for_testing() {
            return Ok(());
        }
        if authority.is_empty() && store.status_counts()?.is_empty() {
            if !marks {
                return Ok(());
            }
            runs.execute(&Actor::new(Role::Agent), &MarkForTesting)?;
        }
        // Read anew: somebody else may have been quicker, to mark it or to begin a run in it.
        if load_authority(store)?.is_for_testing() {
            return Ok(());
        }
        let name = environment::NOW.name;
        Err(Failure::new(format!(
            "{name} is set, and this store wasn't made for testing: nobody sets its clock"
        ))
        .with_help(format!(
            "unset {name}; a store that is made while it is set is one for testing, for as long as it exists"
        )))
    }
}

/// Formats a time: `2026-11-21T15:04:05Z`. One after the year 9999 is told as such.
pub(crate) fn format_time(milliseconds: u64) -> String {
    if milliseconds / 1000 > LAST_SECOND {
        return format!("after the year 9999 ({milliseconds} ms)");
    }
    let time: SystemTime = UNIX_EPOCH + Duration::from_millis(milliseconds);
    humantime::format_rfc3339_seconds(time).to_string()
}

/// Formats a length of time to the second: `2 days 5s`.
pub(crate) fn format_length(milliseconds: u64) -> String {
    let text = humantime::format_duration(Duration::from_secs(milliseconds / 1000)).to_string();
    // A whole word is set apart from its number; the `h` of `2h` isn't.
    let text = text.replace("day", " day").replace("month", " month");
    text.replace("year", " year")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::{Arc, Barrier};
    use std::thread::scope;

    use statemark_runs::{ManualClock, Runs};
    use statemark_stores::MemoryStore;

    use super::CommandClock;

    /// Each finds the store empty, or sees what the other one has made of it; neither is refused.
    #[test]
    fn stores_are_marked_by_several_at_once() {
        for _ in 0..500 {
            let store = Arc::new(MemoryStore::new(Arc::new(ManualClock::new(0))));
            let (both, store) = (&Barrier::new(2), &store);
            let open = move || {
                let clock = Arc::new(CommandClock::Fixed(ManualClock::new(0)));
                let nothing = Arc::new(BTreeMap::new());
                let runs = Runs::new(
                    Arc::clone(store) as Arc<_>,
                    nothing,
                    Arc::clone(&clock) as _,
                );
                both.wait();
                clock.check_for(&runs, true)
            };
            scope(|scope| {
                for opened in [scope.spawn(open), scope.spawn(open)] {
                    opened.join().unwrap().unwrap();
                }
            });
        }
    }
}
