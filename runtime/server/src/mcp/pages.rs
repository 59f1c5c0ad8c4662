//! Lists in pages.
//!
//! A cursor names the last item of the page before it, so it stays valid when items come or go.

use rmcp::ErrorData;
use rmcp::model::PaginatedRequestParams;

/// Most items of a page. Why: all tools of a server fit, and a list of resources stays small.
const PAGE: usize = 100;

/// The beginning of a cursor.
const AFTER: &str = "after ";

/// Returns a page of a list that is sorted by the key, and the next cursor.
pub(super) fn page<T>(
    items: Vec<T>,
    key: impl Fn(&T) -> &str,
    asked: Option<PaginatedRequestParams>,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    ranked(items, key, |_| 0, asked)
}

/// Returns a page of a list that is sorted by rank, then by the key.
pub(super) fn ranked<T>(
    items: Vec<T>,
    key: impl Fn(&T) -> &str,
    rank: impl Fn(&str) -> u8,
    asked: Option<PaginatedRequestParams>,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let cursor = asked.and_then(|it| it.cursor);
    let after = match cursor.as_deref() {
        None => None,
        Some(text) => Some(text.strip_prefix(AFTER).ok_or_else(|| {
            let message = "`cursor`: use the one from the page before";
            ErrorData::invalid_params(message, None)
        })?),
    };
    let mut rest = items
        .into_iter()
        .filter(|it| after.is_none_or(|after| (rank(key(it)), key(it)) > (rank(after), after)));
    let shown: Vec<T> = rest.by_ref().take(PAGE).collect();
    let more = rest.next().is_some();
    let last = shown.last().filter(|_| more);
    let next = last.map(|it| format!("{AFTER}{}", key(it)));
    Ok((shown, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(cursor: Option<&str>) -> Result<(Vec<String>, Option<String>), ErrorData> {
        let all = (0..250).map(|it| format!("{it:03}")).collect();
        let mut asked = PaginatedRequestParams::default();
        asked.cursor = cursor.map(str::to_owned);
        page(all, String::as_str, Some(asked))
    }

    #[test]
    fn pages_follow_each_other_to_the_end() {
        let (first, next) = numbers(None).unwrap();
        assert_eq!((first.len(), next.as_deref()), (100, Some("after 099")));
        let (second, next) = numbers(next.as_deref()).unwrap();
        assert_eq!(second[0], "100");
        let (third, next) = numbers(next.as_deref()).unwrap();
        assert_eq!((third.len(), next), (50, None));
        assert!(numbers(Some("100")).is_err());
    }

    #[test]
    fn what_ranks_behind_comes_behind() {
        // Even numbers first.
        let rank = |key: &str| u8::from(!key.ends_with(['0', '2', '4', '6', '8']));
        let mut all: Vec<String> = (0..250).map(|it| format!("{it:03}")).collect();
        all.sort_by(|one, other| (rank(one), one).cmp(&(rank(other), other)));
        let mut found = Vec::new();
        let mut cursor = None;
        loop {
            let mut asked = PaginatedRequestParams::default();
            asked.cursor = cursor;
            let (shown, next) = ranked(all.clone(), String::as_str, rank, Some(asked)).unwrap();
            found.extend(shown);
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(found, all);
    }
}
