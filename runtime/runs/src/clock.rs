//! Clocks.

use std::time::{SystemTime, UNIX_EPOCH};

/// The most by which clocks differ without a word. Unit: milliseconds.
///
/// Why: the clocks of machines that share a store differ by less, and what synchronizes a clock moves it by less. A record
/// that is written within that time has the time of the one before it.
pub const MAX_SKEW: u64 = 60_000;

/// Returns the time of a record that is written now, after one of another time.
///
/// A clock that was set back by more than [`MAX_SKEW`] is believed: timers that are armed by it mustn't wait for a time
/// that was a mistake.
pub(crate) const fn time_after(now: u64, before: u64) -> u64 {
    match before.checked_sub(now) {
        Some(skew) if skew <= MAX_SKEW => before,
        _ => now,
    }
}

/// A source of the current time.
pub trait Clock: Send + Sync {
    /// Returns the time. Unit: milliseconds since 1970.
    fn now(&self) -> u64;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| {
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        })
    }
}

impl<C: Clock + ?Sized> Clock for std::sync::Arc<C> {
    fn now(&self) -> u64 {
        (**self).now()
    }
}

/// A clock that only its methods move: for tests, and for times in the past.
#[derive(Debug, Default)]
pub struct ManualClock(std::sync::atomic::AtomicU64);

impl ManualClock {
    /// Makes a clock that shows a time.
    #[must_use]
    pub const fn new(now: u64) -> Self {
        Self(std::sync::atomic::AtomicU64::new(now))
    }

    /// Moves the clock forward.
    pub fn advance(&self, milliseconds: u64) {
        self.0
            .fetch_add(milliseconds, std::sync::atomic::Ordering::SeqCst);
    }
}

impl ManualClock {
    /// Sets the clock, also back.
    pub fn set(&self, now: u64) {
        self.0.store(now, std::sync::atomic::Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> u64 {
        self.0.load(std::sync::atomic::Ordering::SeqCst)
    }
}
