//! Names as people see them: whether two can be told apart.
//!
//! Letters of different scripts may look the same, and so may one letter in several forms. Who chooses a name could so have
//! a person decide about one thing and mean another.
//! Source: *Unicode Technical Standard #39*, 4 *Confusable Detection* and 5.1 *Mixed-Script Detection*.

use statemark_text::visible;
use unicode_security::{MixedScript as _, skeleton};

/// Returns what a reader can tell texts apart by; texts that look alike have the same.
pub(crate) fn compute_shape(text: &str) -> String {
    skeleton(&visible::shape(text)).collect()
}

/// Reports whether two names look alike, and aren't the same.
#[must_use]
pub fn are_confusable(one: &str, other: &str) -> bool {
    one != other && compute_shape(one) == compute_shape(other)
}

/// Tells why readers may take a new name for another one, as a clause about it.
///
/// None if all its letters are of one script, in their usual form. Names of one script that look like those of another are
/// found beside those by [`are_confusable`] alone.
#[must_use]
pub fn describe_oddity(name: &str) -> Option<&'static str> {
    if !name.is_single_script() {
        return Some("mixes letters of several scripts, which look alike");
    }
    if visible::shape(name) != name {
        return Some("has characters that look like others, or like nothing");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_of_one_script_in_its_usual_form() {
        for name in [
            "pay",
            "pay-2",
            "заказ",
            "注文の処理",
            "Größe",
            "a b",
            "../../x",
        ] {
            assert_eq!(describe_oddity(name), None, "{name}");
        }
        for name in [
            "p\u{430}y",
            "\u{ff50}ay",
            "pa\u{200b}y",
            "cafe\u{301}",
            "pay ",
            "a\u{a0}b",
        ] {
            assert!(describe_oddity(name).is_some(), "{name:?}");
        }
    }

    #[test]
    fn names_that_look_alike_are_found() {
        for (one, other, alike) in [
            ("pay", "p\u{430}y", true),
            ("\u{440}\u{430}\u{443}", "pay", true),
            ("l1", "Il", true),
            ("pay", "pay", false),
            ("pay", "Pay", false),
            ("pay", "lay", false),
        ] {
            assert_eq!(are_confusable(one, other), alike, "{one} {other}");
        }
    }
}
