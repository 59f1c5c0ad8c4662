//! Limits of a document that hold before it is parsed.
//!
//! The parser compares each attribute of an element with those before it, and keeps for each element all namespaces that
//! hold there. So a few hundred kilobytes could ask for minutes, and both are counted by one look over the text.

use std::ops::Range;

/// Most attributes of an element.
///
/// Why: SCXML's elements have fewer than ten, and editors add a few.
const MAX_ATTRIBUTES: usize = 256;

/// Most declarations of namespaces in a document.
///
/// Why: each tool that has touched it adds one.
const MAX_NAMESPACES: usize = 64;

/// Something of which there is too much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Excess {
    /// A part of a document that is one too many.
    pub(super) place: Range<usize>,
    pub(super) message: String,
    pub(super) help: &'static str,
}

/// Finds what the document has too much of.
///
/// The text needn't be XML: what comes after a mistake is counted in any way, in linear time.
pub(super) fn find_excess(text: &str) -> Option<Excess> {
    let mut namespaces = 0;
    let mut at = 0;
    while let Some(open) = find(text, at, "<") {
        let rest = text.get(open..).unwrap_or_default();
        let skipped = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
        let skipped = skipped.iter().find(|(begin, _)| rest.starts_with(begin));
        if let Some((begin, end)) = skipped {
            at = find(text, open + begin.len(), end)? + end.len();
            continue;
        }
        at = open + 1;
        let mut attributes = 0;
        while let Some(name) = next_attribute(text, &mut at) {
            attributes += 1;
            if attributes > MAX_ATTRIBUTES {
                return Some(Excess {
                    place: name,
                    message: format!("an element has more than {MAX_ATTRIBUTES} attributes"),
                    help: "remove those that SCXML doesn't have",
                });
            }
            let is_namespace = text.get(name.clone());
            namespaces += usize::from(is_namespace.is_some_and(|it| it.starts_with("xmlns")));
            if namespaces > MAX_NAMESPACES {
                return Some(Excess {
                    place: name,
                    message: format!("more than {MAX_NAMESPACES} namespaces are declared"),
                    help: "declare each once, on the element `scxml`",
                });
            }
        }
    }
    None
}

fn find(text: &str, from: usize, what: &str) -> Option<usize> {
    Some(from + text.get(from..)?.find(what)?)
}

/// Finds the next attribute of a tag, and goes behind it.
///
/// `None` is behind the tag's end, or the text's if the tag isn't closed.
fn next_attribute(text: &str, at: &mut usize) -> Option<Range<usize>> {
    let from = std::mem::replace(at, text.len());
    let rest = text.get(from..)?;
    let stop = rest.find(['=', '>'])?;
    let (before, after) = rest.split_at_checked(stop)?;
    let end = from + stop + 1;
    if after.starts_with('>') {
        *at = end;
        return None;
    }
    let before = before.trim_end();
    let length = before
        .rsplit(char::is_whitespace)
        .next()
        .map_or(0, str::len);
    let name = from + before.len() - length..from + before.len();
    let value = after.get(1..)?.trim_start();
    let start = text.len() - value.len();
    *at = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let length = value.get(1..)?.find(quote)?;
            start + length + 2
        }
        _ => start.max(end),
    };
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_attributes_of_tags_count() {
        let spare = "<!-- a=1 --><?x a=1?><![CDATA[<a b='1'>]]>a=b".repeat(MAX_ATTRIBUTES);
        let text = format!("<scxml a='<b c=1>' b = \">\">{spare}</scxml>");
        assert_eq!(find_excess(&text), None);
        let elements = "<a b='1' c='2'/>".repeat(MAX_ATTRIBUTES);
        assert_eq!(find_excess(&elements), None);
    }

    #[test]
    fn what_is_one_too_many_is_told() {
        let attributes = |count: usize| -> String {
            let all: Vec<String> = (0..count).map(|at| format!("a{at}=\"1\"")).collect();
            format!("<scxml {}/>", all.join("\n"))
        };
        assert_eq!(find_excess(&attributes(MAX_ATTRIBUTES)), None);
        let text = attributes(MAX_ATTRIBUTES + 1);
        let excess = find_excess(&text).unwrap();
        assert_eq!(text.get(excess.place), Some("a256"));
        let namespaces = |count: usize| -> String {
            (0..count)
                .map(|at| format!("<a xmlns:n{at} = 'x'>"))
                .collect()
        };
        assert_eq!(find_excess(&namespaces(MAX_NAMESPACES)), None);
        let text = namespaces(MAX_NAMESPACES + 1);
        let excess = find_excess(&text).unwrap();
        assert_eq!(text.get(excess.place), Some("xmlns:n64"));
    }

    #[test]
    fn no_text_loops_or_panics() {
        for text in [
            "<",
            "<a",
            "<a =",
            "<a ='",
            "<a b=\u{e9}",
            "<!--",
            "<?",
            "<a b=c d=>",
            "<=>=<",
        ] {
            assert_eq!(find_excess(text), None, "{text}");
            // Quadratic time would show.
            let _ = find_excess(&text.repeat(1 << 16));
        }
    }
}
