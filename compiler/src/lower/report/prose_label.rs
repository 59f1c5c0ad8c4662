//! SM130: a label in prose.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::Spanned;

/// Free text became an event.
pub(in crate::lower) fn prose_label(text: &Spanned<String>, event: &str) -> Diagnostic {
    if let Some(delay) = delay(&text.value) {
        let message = format!("this text is the event `{event}`, and no delay");
        return Diagnostic::new(Code::ProseLabel, text.span, message)
            .label(format!("sent as `{event}`"))
            .fix(
                Applicability::Unsafe,
                format!("write `{delay}` to leave the state when that time is over"),
                text.span,
                delay,
            );
    }
    let message = format!("this text is the event `{event}`");
    Diagnostic::new(Code::ProseLabel, text.span, message)
        .label(format!("sent as `{event}`"))
        .fix(
            Applicability::Safe,
            format!("write `{event}`"),
            text.span,
            event,
        )
}

/// `after 14 days` as a delay is written.
fn delay(text: &str) -> Option<String> {
    let rest = text.strip_prefix("after ")?.trim_start();
    let (number, unit) = rest.split_once(char::is_whitespace)?;
    let unit = match unit
        .trim()
        .to_ascii_lowercase()
        .trim_end_matches(['s', '.'])
    {
        "millisecond" | "msec" => "ms",
        "second" | "sec" => "s",
        "minute" | "min" => "m",
        "hour" | "hr" => "h",
        "day" => "d",
        _ => return None,
    };
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| format!("after {number}{unit}"))
}
