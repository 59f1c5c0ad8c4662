//! Durations: `30s`, `1.5 h`.
//!
//! ```text
//! duration = number ( "ms" | "s" | "m" | "h" | "d" )
//! number   = digits [ "." digits ]
//! ```
//!
//! Clocks of hosts count milliseconds, so a delay is a whole number of them; nothing is rounded.

/// Longest delay. Unit: milliseconds. Why: every reader of JSON holds integers up to 2^53 exactly.
///
/// It is 285,000 years.
const LONGEST: u128 = 1 << 53;

/// Most digits before or after the point. Unit: digits. Why: products of more don't fit into 128 bits.
///
/// With any unit, numbers of more digits are too long, or finer than a millisecond.
const MOST_DIGITS: usize = 18;

/// A duration that is no whole number of milliseconds within the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// Longer than any clock counts.
    TooLong,
    /// A fraction of a millisecond.
    TooFine {
        /// The milliseconds as they are, in words where the number is too long.
        exact: String,
        /// The milliseconds rounded, one at least.
        rounded: u64,
    },
}

/// Returns the number of a duration, and the milliseconds of its unit.
fn split_unit(text: &str) -> Option<(&str, u128)> {
    let text = text.trim();
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text.get(number.len()..)? {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    Some((number.trim_end(), unit))
}

/// Returns the milliseconds of a duration; `None` if the text is no duration.
pub(crate) fn milliseconds(text: &str) -> Option<Result<u64, Misfit>> {
    let (number, unit) = split_unit(text)?;
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) if is_digits(fraction) => (whole, fraction),
        Some(_) => return None,
        None => (number, ""),
    };
    is_digits(whole).then(|| count(whole, fraction, unit))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn count(whole: &str, fraction: &str, unit: u128) -> Result<u64, Misfit> {
    let whole = whole.trim_start_matches('0');
    let fraction = fraction.trim_end_matches('0');
    if whole.len() > MOST_DIGITS {
        return Err(Misfit::TooLong);
    }
    if fraction.len() > MOST_DIGITS {
        let exact = "less than 1".to_owned();
        return Err(Misfit::TooFine { exact, rounded: 1 });
    }
    let mut digits: u128 = 0;
    let mut parts: u128 = 1;
    for digit in whole.bytes().chain(fraction.bytes()) {
        digits = digits * 10 + u128::from(digit - b'0');
    }
    for _ in fraction.bytes() {
        parts *= 10;
    }
    let product = digits.checked_mul(unit).ok_or(Misfit::TooLong)?;
    if product / parts > LONGEST {
        return Err(Misfit::TooLong);
    }
    if product % parts != 0 {
        return Err(too_fine(product, parts, fraction.len()));
    }
    u64::try_from(product / parts).map_err(|_| Misfit::TooLong)
}

/// Describes a number of milliseconds with a fraction: `product` divided by `parts`.
///
/// `parts` is ten to the power of `digits`.
fn too_fine(product: u128, parts: u128, digits: usize) -> Misfit {
    let rest = format!("{:0digits$}", product % parts);
    let rounded = u64::try_from((product + parts / 2) / parts).unwrap_or(u64::MAX);
    Misfit::TooFine {
        exact: format!("{}.{}", product / parts, rest.trim_end_matches('0')),
        rounded: rounded.max(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fine_durations_are_rounded() {
        for (text, exact, rounded) in [
            ("1.2345s", "1234.5", 1235),
            ("0.5ms", "0.5", 1),
            ("0.0001 s", "0.1", 1),
            ("1.00001m", "60000.6", 60001),
            ("1.5ms", "1.5", 2),
            ("0.0000000000000000000001d", "less than 1", 1),
        ] {
            let exact = exact.to_owned();
            let expected = Some(Err(Misfit::TooFine { exact, rounded }));
            assert_eq!(milliseconds(text), expected, "{text}");
        }
    }

    #[test]
    fn durations_are_exact() {
        for (text, expected) in [
            ("30s", Some(Ok(30_000))),
            ("1.5 h", Some(Ok(5_400_000))),
            ("0.001s", Some(Ok(1))),
            ("2d", Some(Ok(172_800_000))),
            ("000.0500s", Some(Ok(50))),
            ("0ms", Some(Ok(0))),
            ("9007199254740992ms", Some(Ok(1 << 53))),
            ("9007199254740993ms", Some(Err(Misfit::TooLong))),
            ("999999999999999999d", Some(Err(Misfit::TooLong))),
            (
                "99999999999999999999999999999999999999999d",
                Some(Err(Misfit::TooLong)),
            ),
            ("hours", None),
            ("30", None),
            ("-3s", None),
            ("1e3s", None),
            (".5s", None),
            ("1.s", None),
            ("s", None),
            ("30 sec", None),
        ] {
            assert_eq!(milliseconds(text), expected, "{text}");
        }
    }
}
