//! The pack `web`: a page as text, and searches.
//!
//! What to rely on: only public servers are visited ([`fetch`]); the service that searches, and its key, come from the
//! environment of who serves, never from a file of the project.

mod fetch;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use statemark_tools::project::current_project;
use statemark_tools::{Annotations, Ctx, Outcome, Problem, Set, Tool};

use crate::settings::Settings;
use crate::{Spec, error_object, tool};
use fetch::{Fetched, MAX_BODY, describe, fetch, named_agent, public_agent, read};

/// The set of these tools.
pub(crate) const SET: Set = Set::Pack("web");

/// Characters of a page that a call gets which asks for no number.
const DEFAULT_CHARACTERS: usize = 20_000;

/// Most characters of one answer.
const MAX_CHARACTERS: usize = 200_000;

/// Characters in a line of a page's text. Why: as wide as people write.
const WIDTH: usize = 120;

/// Deepest nesting of a page's elements. Why: no page that people write has a tenth of it.
const MAX_DEPTH: usize = 1_000;

/// Most elements of a page that are read.
///
/// Why: each takes some 2 KiB while it is read, and all of them a second; pages that people write have a few thousand.
const MAX_ELEMENTS: usize = 40_000;

/// Most elements of a title or an excerpt that are read. Why: it is one line.
const MAX_PIECE_ELEMENTS: usize = 1_000;

/// Elements that a reader of HTML begins again in each block, until they end.
const FORMATS: [&str; 14] = [
    "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
];

/// Results that a search gets which asks for no number.
const DEFAULT_RESULTS: usize = 5;

/// Most results of a search.
const MAX_RESULTS: usize = 20;

/// Longest query. Unit: bytes.
const MAX_QUERY: usize = 2_000;

/// A service that searches the web.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Service {
    /// An instance of SearXNG; SEARXNG_URL is its address.
    Searxng,
    /// Tavily; TAVILY_API_KEY is the key.
    Tavily,
    /// Brave's API; BRAVE_API_KEY is the key.
    Brave,
}

pub(crate) fn all() -> Vec<Tool> {
    let annotations = Annotations {
        open_world: true,
        ..Annotations::READ_ONLY
    };
    vec![
        tool(
            SET,
            &Spec {
                name: "visit_url",
                title: "Read a page",
                description: "Reads a page of the web and gives its text. `start` and `max_chars` page through a long one.",
                annotations,
                run: visit_url,
            },
        ),
        tool(
            SET,
            &Spec {
                name: "web_search",
                title: "Search the web",
                description: "Searches the web and gives titles, addresses and excerpts of the results.",
                annotations,
                run: web_search,
            },
        ),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct VisitUrl {
    /// The address of the page.
    url: String,
    /// The first character of its text; 0 without it.
    #[serde(default)]
    start: usize,
    /// Most characters of the answer; 20000 without it.
    #[serde(default)]
    max_chars: Option<usize>,
}

fn visit_url(ctx: &Ctx<'_>, call: &VisitUrl) -> Outcome {
    let allowed = current_project(ctx)?.servers;
    let page = fetch(&public_agent(&allowed), &call.url)?;
    let PageText {
        title,
        text,
        remark,
    } = text_of(&page)?;
    let total = text.chars().count();
    let most = call.max_chars.unwrap_or(DEFAULT_CHARACTERS);
    let most = most.clamp(1, MAX_CHARACTERS);
    let content: String = text.chars().skip(call.start).take(most).collect();
    let end = call.start.saturating_add(content.chars().count());
    let mut answer = json!({
        "url": page.url,
        "http_status": page.status,
        "content_type": page.media_type,
        "content": content,
        "start": call.start,
        "total_chars": total,
        "truncated": end < total || remark.is_some(),
    });
    if let Some(fields) = answer.as_object_mut() {
        let more = [("title", title), ("remark", remark)];
        let more = more
            .into_iter()
            .filter_map(|(name, text)| Some((name.to_owned(), json!(text?))));
        fields.extend(more);
    }
    if page.status >= 400 {
        return Err(error_object("http_error", answer));
    }
    Ok(answer)
}

/// The text of a page.
#[derive(Debug, Default, PartialEq)]
struct PageText {
    title: Option<String>,
    text: String,
    /// The part of the page that wasn't read, if not all was.
    remark: Option<String>,
}

/// Returns the title and the text of a page.
fn text_of(page: &Fetched) -> Result<PageText, Problem> {
    let is_text = |kind: &str| {
        kind.starts_with("text/")
            || ["json", "xml", "javascript", "yaml", "toml"]
                .iter()
                .any(|ending| kind.ends_with(ending))
    };
    let body = String::from_utf8_lossy(&page.body);
    let cut = page
        .is_cut
        .then(|| format!("the rest of the page wasn't read: it has more than {MAX_BODY} bytes"));
    match page.media_type.as_str() {
        "text/html" | "application/xhtml+xml" => {
            let read = readable(&body, MAX_ELEMENTS);
            if is_too_deep(read) {
                let message = format!(
                    "the elements of `{}` are nested too deeply to be read",
                    page.url
                );
                return Err(Problem::new("unreadable", message));
            }
            let text = html2text::config::plain()
                .allow_width_overflow()
                .no_link_wrapping()
                .string_from_read(read.as_bytes(), WIDTH)
                .map_err(|error| {
                    let message = format!("the text of `{}` can't be told: {error}", page.url);
                    Problem::new("unreadable", message)
                })?;
            let left = body.len().saturating_sub(read.len());
            let unread = (left > 0).then(|| {
                format!("the last {left} bytes of the page weren't read: it has more than {MAX_ELEMENTS} elements")
            });
            Ok(PageText {
                title: title_of(read),
                text,
                remark: unread.or(cut),
            })
        }
        kind if kind.is_empty() || is_text(kind) => Ok(PageText {
            title: None,
            text: body.into_owned(),
            remark: cut,
        }),
        kind => {
            let size = page.body.len();
            let message = format!("`{}` is no text, but {size} bytes of `{kind}`", page.url);
            Err(Problem::new("no_text", message))
        }
    }
}

/// Returns the beginning of a page that has at most so many elements, counted high.
///
/// One that formats and doesn't end stands in every block after it, so that each tag counts for all that are open.
fn readable(html: &str, most: usize) -> &str {
    let (mut elements, mut open) = (0_usize, 0_usize);
    for (at, _) in html.match_indices('<') {
        let tag = html
            .as_bytes()
            .get(at.saturating_add(1)..)
            .unwrap_or_default();
        let (is_end, tag) = match tag.strip_prefix(b"/") {
            Some(rest) => (true, rest),
            None => (false, tag),
        };
        if !tag.first().is_some_and(u8::is_ascii_alphabetic) {
            continue;
        }
        elements = elements.saturating_add(1).saturating_add(open);
        if elements > most {
            return html.get(..at).unwrap_or_default();
        }
        let is_format = FORMATS.iter().any(|name| {
            let (own, rest) = tag.split_at(name.len().min(tag.len()));
            let is_whole = rest
                .first()
                .is_none_or(|it| it.is_ascii_whitespace() || matches!(it, b'/' | b'>'));
            own.eq_ignore_ascii_case(name.as_bytes()) && is_whole
        });
        if is_format {
            open = match is_end {
                true => open.saturating_sub(1),
                false => open.saturating_add(1),
            };
        }
    }
    html
}

/// Reports whether elements are nested so deeply that reading them takes time out of proportion.
///
/// Elements that end by themselves, as paragraphs do, don't count.
fn is_too_deep(html: &str) -> bool {
    const LOOSE: [&str; 22] = [
        "area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link",
        "meta", "option", "p", "source", "td", "tfoot", "th", "tr", "track", "wbr",
    ];
    let mut depth = 0_usize;
    for tag in html.split('<').skip(1) {
        let (is_end, name) = match tag.strip_prefix('/') {
            Some(name) => (true, name),
            None => (false, tag),
        };
        // A `<` in a script, as in `i<n.length`, is followed by no such end.
        let end = name.find(|it: char| it.is_ascii_whitespace() || matches!(it, '/' | '>'));
        let Some(name) = end.and_then(|end| name.get(..end)) else {
            continue;
        };
        if !name.starts_with(|it: char| it.is_ascii_alphabetic())
            || LOOSE.iter().any(|it| it.eq_ignore_ascii_case(name))
        {
            continue;
        }
        depth = match is_end {
            true => depth.saturating_sub(1),
            false => depth.saturating_add(1),
        };
        if depth > MAX_DEPTH {
            return true;
        }
    }
    false
}

/// Returns the title of a page, without its entities and markup.
fn title_of(html: &str) -> Option<String> {
    let lower = html.to_ascii_lowercase();
    let begin = lower.find("<title")?;
    let begin = begin
        .saturating_add(lower.get(begin..)?.find('>')?)
        .saturating_add(1);
    let end = begin.saturating_add(lower.get(begin..)?.find("</title")?);
    let title = plain(html.get(begin..end)?);
    (!title.is_empty()).then_some(title)
}

/// Returns a piece of HTML as one line of text.
fn plain(html: &str) -> String {
    let html = readable(html, MAX_PIECE_ELEMENTS);
    let text = html2text::config::plain_no_decorate()
        .allow_width_overflow()
        .string_from_read(html.as_bytes(), usize::from(u16::MAX));
    let text = text.unwrap_or_else(|_| html.to_owned());
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WebSearch {
    /// The words to search for.
    query: String,
    /// Most results; 5 without it.
    #[serde(default, alias = "limit", alias = "count")]
    max_results: Option<usize>,
}

fn web_search(ctx: &Ctx<'_>, call: &WebSearch) -> Outcome {
    let query = call.query.trim();
    if query.is_empty() || query.len() > MAX_QUERY {
        let what = format!("it has some words, at most {MAX_QUERY} bytes");
        return Err(Problem::argument("query", what));
    }
    let most = call.max_results.unwrap_or(DEFAULT_RESULTS);
    let most = most.clamp(1, MAX_RESULTS);
    let service = Settings::web(ctx)?.search.ok_or_else(|| {
        Problem::new(
            "no_search",
            "no service searches the web: `search` in `[packs.web]` of statemark.toml is `searxng`, `tavily` or `brave`",
        )
    })?;
    let (results, summary) = service.search(query, most)?;
    let results: Vec<Value> = results
        .into_iter()
        .filter(|result| !result.url.is_empty())
        .take(most)
        .map(|result| {
            json!({"title": plain(&result.title), "url": result.url, "snippet": plain(&result.snippet)})
        })
        .collect();
    Ok(json!({"query": query, "results": results, "service": summary}))
}

/// A result of a search.
#[derive(Default, Deserialize)]
struct Found {
    #[serde(default)]
    title: String,
    #[serde(default)]
    url: String,
    #[serde(default, alias = "content", alias = "description")]
    snippet: String,
}

/// The results of the services that list them at the top.
#[derive(Deserialize)]
struct Listed {
    #[serde(default)]
    results: Vec<Found>,
}

/// The results of Brave's API.
#[derive(Deserialize)]
struct OfBrave {
    #[serde(default)]
    web: Option<Listed>,
}

impl Service {
    const fn name(self) -> &'static str {
        match self {
            Self::Searxng => "searxng",
            Self::Tavily => "tavily",
            Self::Brave => "brave",
        }
    }

    /// Asks the service.
    fn search(self, query: &str, most: usize) -> Result<(Vec<Found>, &'static str), Problem> {
        let agent = named_agent();
        let count = most.to_string();
        let (url, answer) = match self {
            Self::Searxng => {
                let url = format!("{}/search", variable("SEARXNG_URL")?.trim_end_matches('/'));
                let request = agent.get(&url).query("q", query).query("format", "json");
                (url, request.call())
            }
            Self::Tavily => {
                let url = base("TAVILY_URL", "https://api.tavily.com") + "/search";
                let key = format!("Bearer {}", variable("TAVILY_API_KEY")?);
                let body = json!({"query": query, "max_results": most}).to_string();
                let request = agent.post(&url).header("Authorization", key);
                (
                    url,
                    request
                        .header("Content-Type", "application/json")
                        .send(body),
                )
            }
            Self::Brave => {
                let url = base("BRAVE_URL", "https://api.search.brave.com") + "/res/v1/web/search";
                let request = agent
                    .get(&url)
                    .header("X-Subscription-Token", variable("BRAVE_API_KEY")?)
                    .header("Accept", "application/json")
                    .query("q", query)
                    .query("count", count);
                (url, request.call())
            }
        };
        let answer = read(answer.map_err(|error| describe(&url, &error))?, &url)?;
        let failed = |why: String| {
            let message = format!("{} can't be searched: {why}", self.name());
            Problem::new("search_failed", message)
        };
        if answer.status >= 400 {
            return Err(failed(format!("it answers with status {}", answer.status)));
        }
        let parsed = match self {
            Self::Brave => serde_json::from_slice::<OfBrave>(&answer.body)
                .map(|it| it.web.map(|it| it.results).unwrap_or_default()),
            _ => serde_json::from_slice::<Listed>(&answer.body).map(|it| it.results),
        };
        let found = parsed.map_err(|error| failed(format!("its answer can't be read: {error}")))?;
        Ok((found, self.name()))
    }
}

/// Returns a variable of the environment of who serves.
fn variable(name: &str) -> Result<String, Problem> {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty());
    value.ok_or_else(|| {
        let message = format!("the server's environment has no `{name}`, which the search needs");
        Problem::new("no_search", message)
    })
}

/// Returns the address of a service: another one where the environment names it.
fn base(name: &str, usual: &str) -> String {
    let own = std::env::var(name).ok().filter(|value| !value.is_empty());
    let base = own.unwrap_or_else(|| usual.to_owned());
    base.trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(media_type: &str, body: &str) -> Fetched {
        Fetched {
            url: "https://example.org/".to_owned(),
            status: 200,
            media_type: media_type.to_owned(),
            body: body.as_bytes().to_vec(),
            is_cut: false,
        }
    }

    #[test]
    fn a_page_is_its_text() {
        let html = "<html><head><title>A &amp; <b>b</b></title><style>p{}</style><script>x()</script></head>\
                    <body><h1>Head</h1><p>One <a href=\"/x\">two</a></p><ul><li>three</ul></body>";
        let read = text_of(&page("text/html", html)).unwrap();
        assert_eq!(read.title.as_deref(), Some("A & b"));
        assert_eq!(read.text, "# Head\n\nOne [two][1]\n* three\n\n[1]: /x\n");
        assert_eq!(read.remark, None);
        let json = text_of(&page("application/json", "{}")).unwrap();
        let text = "{}".to_owned();
        assert_eq!(
            json,
            PageText {
                text,
                ..PageText::default()
            }
        );
        assert!(text_of(&page("image/png", "x")).is_err());
    }

    /// What is read of a page takes memory and time in proportion to its elements, which are bounded.
    #[test]
    fn a_page_of_many_elements_is_read_in_part() {
        let begun = std::time::Instant::now();
        let formats: String = (0..900).map(|it| format!("<b x={it}>")).collect();
        let formats_after = format!("{formats}{}", "<p>a".repeat(1_000_000));
        let titled = format!("<title>{}</title>x", "<p>a</p>".repeat(500_000));
        for (html, most) in [
            ("<p>a</p>".repeat(625_000), MAX_ELEMENTS / 2),
            ("<p>a".repeat(1_000_000), MAX_ELEMENTS),
            ("</p>a".repeat(1_000_000), MAX_ELEMENTS),
            (formats_after, MAX_ELEMENTS / 900),
            (titled, MAX_ELEMENTS),
        ] {
            let read = text_of(&page("text/html", &html)).unwrap();
            let remark = read.remark.unwrap();
            assert!(
                remark.contains("weren't read: it has more than 40000 elements"),
                "{remark}"
            );
            let shown = read.text.matches('a').count();
            assert!(shown <= most.saturating_add(1), "{shown} of {most}");
            assert!(read.title.unwrap_or_default().len() < 10_000);
        }
        // As much as it takes without the bound, some times over.
        assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
        let usual = "<p>i<b>x</b> <a href=y>z</a></p>".repeat(MAX_ELEMENTS / 12);
        let script = format!("<script>{}</script>", "if(i<a.length&&x<b){}".repeat(3_000));
        let read = text_of(&page("text/html", &(script + &usual))).unwrap();
        assert_eq!(read.remark, None);
    }

    #[test]
    fn no_page_is_too_deep() {
        let deep = |levels: usize| "<div>".repeat(levels) + "x";
        let read = text_of(&page("text/html", &deep(MAX_DEPTH))).unwrap();
        assert_eq!(read.text.trim(), "x");
        assert!(text_of(&page("text/html", &deep(1_000_000))).is_err());
        let flat = "<p>x<br>".repeat(2 * MAX_DEPTH) + &"<b>x</b>".repeat(2 * MAX_DEPTH);
        assert!(text_of(&page("text/html", &flat)).is_ok());
        for broken in [
            "<title>",
            "<title>x",
            "<tıtle>x</title>",
            "<",
            "<!--",
            "<table><tr><td>",
        ] {
            drop(text_of(&page("text/html", broken)));
        }
    }
}
