//! Literals: JSON, and ECMAScript's texts and objects as people write them.

use serde_json::Value;

/// Returns the value of a literal. `Some(None)` is ECMAScript's `undefined`.
pub(super) fn literal(text: &str) -> Option<Option<Value>> {
    if text == "undefined" {
        return Some(None);
    }
    if let Ok(value) = serde_json::from_str(text) {
        return Some(Some(value));
    }
    serde_json::from_str(&as_json(text)?).ok().map(Some)
}

/// Rewrites ECMAScript as JSON: quotes are double, and the keys of an object are in quotes.
fn as_json(text: &str) -> Option<String> {
    let mut json = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if matches!(letter, '\'' | '"') {
            rest = quoted(rest, letter, &mut json)?;
            continue;
        }
        let end = rest
            .find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '$')))
            .unwrap_or(rest.len());
        let (word, behind) = rest.split_at_checked(end)?;
        if word.is_empty() {
            json.push(letter);
            rest = rest.get(letter.len_utf8()..)?;
            continue;
        }
        let is_name = behind.trim_start().starts_with(':') && !letter.is_ascii_digit();
        if is_name {
            json.push('"');
            json.push_str(word);
            json.push('"');
        } else {
            json.push_str(word);
        }
        rest = behind;
    }
    Some(json)
}

/// Copies a text in quotes; the content after it.
fn quoted<'t>(text: &'t str, quote: char, json: &mut String) -> Option<&'t str> {
    json.push('"');
    let mut rest = text.get(1..)?;
    loop {
        let letter = rest.chars().next()?;
        rest = rest.get(letter.len_utf8()..)?;
        match letter {
            '\\' => {
                let escaped = rest.chars().next()?;
                rest = rest.get(escaped.len_utf8()..)?;
                if escaped != '\'' {
                    json.push('\\');
                }
                json.push(escaped);
            }
            '"' if quote == '\'' => json.push_str("\\\""),
            letter if letter == quote => {
                json.push('"');
                return Some(rest);
            }
            letter => json.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::literal;

    #[test]
    fn literals_have_values_and_expressions_none() {
        for (text, expected) in [
            ("1", Some(Some(json!(1)))),
            ("undefined", Some(None)),
            ("'it'", Some(Some(json!("it")))),
            (r#"'say "it\'s"'"#, Some(Some(json!("say \"it's\"")))),
            (
                "{p1: 'v1', \"p2\": [1, 'b']}",
                Some(Some(json!({"p1": "v1", "p2": [1, "b"]}))),
            ),
            (
                "{a: {b: true, c: null}}",
                Some(Some(json!({"a": {"b": true, "c": null}}))),
            ),
            ("'a' + 'b'", None),
            ("{a: b}", None),
            ("'it", None),
            ("", None),
            ("1 + 1", None),
            ("'\\", None),
        ] {
            assert_eq!(literal(text), expected, "{text}");
        }
    }
}
