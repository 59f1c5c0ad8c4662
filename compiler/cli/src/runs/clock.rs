//! The time that runs go by.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use statemark_runs::{Clock, ManualClock, SystemClock};

use crate::failure::{Failure, FailureKind};

/// Sets the clock, in milliseconds since 1970, so that a script gives the same output twice.
const VARIABLE: &str = "STATEMARK_NOW";

/// The machine's clock, or one that stands where the environment says.
pub(super) fn clock() -> Result<Either, Failure> {
    match std::env::var(VARIABLE) {
        Err(_) => Ok(Either::System),
        Ok(value) => match moment(&value) {
            Some(now) => Ok(Either::Fixed(ManualClock::new(now))),
            None => Err(FailureKind::BadVariable {
                name: VARIABLE,
                value,
                values: "a time like 2026-11-21T15:04:05Z, or a number of milliseconds since 1970",
            }
            .into()),
        },
    }
}

/// A moment as it is shown, or in milliseconds since 1970.
fn moment(text: &str) -> Option<u64> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let time = humantime::parse_rfc3339(text).ok()?;
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}

/// One of two clocks.
pub(super) enum Either {
    System,
    Fixed(ManualClock),
}

impl Clock for Either {
    fn now(&self) -> u64 {
        match self {
            Self::System => SystemClock.now(),
            Self::Fixed(clock) => clock.now(),
        }
    }
}

/// A time as people write it: `2026-11-21T15:04:05Z`.
pub(crate) fn shown(milliseconds: u64) -> String {
    let time: SystemTime = UNIX_EPOCH + Duration::from_millis(milliseconds);
    humantime::format_rfc3339_seconds(time).to_string()
}

/// A length of time as people write it, to the second: `2 days 5s`.
pub(crate) fn length(milliseconds: u64) -> String {
    let text = humantime::format_duration(Duration::from_secs(milliseconds / 1000)).to_string();
    // Whole words stand apart from their number; `2h` doesn't.
    let apart = text.replace("day", " day").replace("month", " month");
    apart.replace("year", " year")
}
