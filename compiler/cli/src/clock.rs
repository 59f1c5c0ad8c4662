//! The clock that runs go by, and times as people write them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use statemark_runs::{Clock, ManualClock, SystemClock};

use crate::failure::Failure;

/// The variable that stops the clock, so that a script prints the same twice.
const VARIABLE: &str = "STATEMARK_NOW";

/// The values that the variable may have.
const ALLOWED: &str = "a time like 2026-11-21T15:04:05Z, or a number of milliseconds since 1970";

/// Returns the machine's clock, or one that stands at the time of the environment.
pub(crate) fn clock() -> Result<CommandClock, Failure> {
    let Ok(value) = std::env::var(VARIABLE) else {
        return Ok(CommandClock::System);
    };
    match parse_time(&value) {
        Some(now) => Ok(CommandClock::Fixed(ManualClock::new(now))),
        None => Err(Failure::bad_variable(VARIABLE, &value, ALLOWED)),
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

/// Formats a time: `2026-11-21T15:04:05Z`.
pub(crate) fn format_time(milliseconds: u64) -> String {
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
