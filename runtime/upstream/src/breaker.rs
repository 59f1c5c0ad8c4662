//! The breaker, by which a server that fails again and again is left alone for a while.
//!
//! Its callers get an error at once meanwhile.

use std::time::{Duration, Instant};

use crate::fault::Fault;

/// Failures in a row after which a server is left alone.
///
/// Why: one is an accident, and each may take a caller minutes.
const MOST: u32 = 3;

/// The time for which it is left alone. Why: a server that was started again is back by then.
const PAUSE: Duration = Duration::from_secs(30);

/// The failures of a server since it last answered.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    failures: u32,
    last: Option<(Instant, Fault)>,
}

/// A server that is left alone.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Open {
    pub(crate) failures: u32,
    pub(crate) left: Duration,
    pub(crate) fault: Fault,
}

impl Breaker {
    /// Checks that the server may be asked. After the pause one caller tries, and a failure begins another.
    pub(crate) fn check(&self, now: Instant) -> Result<(), Open> {
        let Some((at, fault)) = self.last.as_ref().filter(|_| self.failures >= MOST) else {
            return Ok(());
        };
        let left = PAUSE.saturating_sub(now.saturating_duration_since(*at));
        if left.is_zero() {
            return Ok(());
        }
        Err(Open {
            failures: self.failures,
            left,
            fault: fault.clone(),
        })
    }

    /// Returns the failure that came after a time: whoever waited for that attempt shares its outcome.
    pub(crate) fn failed_since(&self, began: Instant) -> Option<&Fault> {
        let (at, fault) = self.last.as_ref()?;
        (*at > began).then_some(fault)
    }

    /// Notes a failure. Returns whether the server is left alone from now on.
    pub(crate) fn fail(&mut self, now: Instant, fault: Fault) -> bool {
        self.failures = self.failures.saturating_add(1);
        self.last = Some((now, fault));
        self.failures >= MOST
    }

    /// Notes an answer.
    pub(crate) fn succeed(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_fails_is_left_alone_for_a_while() {
        let mut breaker = Breaker::default();
        let now = Instant::now();
        assert!(!breaker.fail(now, Fault::TooLong));
        assert!(!breaker.fail(now, Fault::TooLong));
        assert_eq!(breaker.check(now), Ok(()));
        assert!(breaker.fail(now, Fault::Undeclared));
        let open = breaker.check(now + Duration::from_secs(10)).unwrap_err();
        assert_eq!((open.failures, open.left.as_secs()), (3, 20));
        assert_eq!(open.fault, Fault::Undeclared);
        // One try, and its failure begins another pause.
        let later = now + PAUSE;
        assert_eq!(breaker.check(later), Ok(()));
        assert!(breaker.fail(later, Fault::TooLong));
        assert!(breaker.check(later).is_err());
        breaker.succeed();
        assert_eq!(breaker.check(later), Ok(()));
        assert!(
            !breaker.fail(later, Fault::TooLong),
            "the count begins anew"
        );
    }
}
