//! The dashboard: its page and the modules that it loads, embedded in the binary.
//!
//! A file of `dashboard/` is a row of [`FILES`]; a test fails for one that isn't. Nothing is built: what a browser gets is what
//! stands there.
//!
//! What to rely on: no answer here says anything about runs. The page asks the API for all that it shows, with the token that
//! a person has given it. It loads nothing from elsewhere, runs no script but these files, can be shown in no frame, and tells
//! nobody where somebody came from: its headers say so to the browser.

use axum::Router;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use statemark_runs::Hash;

/// The headers of all pages.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// A file of the dashboard.
struct File {
    path: &'static str,
    media: &'static str,
    bytes: &'static [u8],
}

macro_rules! files {
    ($($path:literal $media:literal,)*) => {
        &[$(File {
            path: $path,
            media: $media,
            bytes: include_bytes!(concat!("../../dashboard/", $path)),
        }),*]
    };
}

/// The files, the page first.
const FILES: &[File] = files! {
    "index.html" "text/html; charset=utf-8",
    "style.css" "text/css; charset=utf-8",
    "icon.svg" "image/svg+xml",
    "app.js" "text/javascript; charset=utf-8",
    "api.js" "text/javascript; charset=utf-8",
    "exact.js" "text/javascript; charset=utf-8",
    "live.js" "text/javascript; charset=utf-8",
    "parts.js" "text/javascript; charset=utf-8",
    "drawing.js" "text/javascript; charset=utf-8",
    "form.js" "text/javascript; charset=utf-8",
    "diff.js" "text/javascript; charset=utf-8",
    "runs.js" "text/javascript; charset=utf-8",
    "run.js" "text/javascript; charset=utf-8",
    "steps.js" "text/javascript; charset=utf-8",
    "journal.js" "text/javascript; charset=utf-8",
    "artifacts.js" "text/javascript; charset=utf-8",
    "attempts.js" "text/javascript; charset=utf-8",
    "travel.js" "text/javascript; charset=utf-8",
    "inbox.js" "text/javascript; charset=utf-8",
    "workflows.js" "text/javascript; charset=utf-8",
    "vendor/preact.js" "text/javascript; charset=utf-8",
    "vendor/hooks.js" "text/javascript; charset=utf-8",
    "vendor/htm.js" "text/javascript; charset=utf-8",
    "vendor/LICENSE-preact.txt" "text/plain; charset=utf-8",
    "vendor/LICENSE-htm.txt" "text/plain; charset=utf-8",
};

/// Creates the router of the dashboard: the page at `/`, its files below `/dashboard/`.
pub(super) fn router() -> Router {
    let mut router = Router::new();
    for file in FILES {
        let tag = format!("\"{}\"", Hash::digest(file.bytes));
        let answer = move |headers: HeaderMap| {
            let answer = answer(file, &tag, &headers);
            async move { answer }
        };
        let path = match file.path {
            "index.html" => "/".to_owned(),
            path => format!("/dashboard/{path}"),
        };
        router = router.route(&path, get(answer));
    }
    router
}

/// Answers with a file, or that the browser has it already.
fn answer(file: &'static File, tag: &str, headers: &HeaderMap) -> Response {
    let known = headers.get(header::IF_NONE_MATCH);
    let mut response = if known.is_some_and(|it| it.as_bytes() == tag.as_bytes()) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(header::CONTENT_TYPE, file.media)], file.bytes).into_response()
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // A new binary has other files under the same names: the browser asks each time, and is told that nothing changed.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Files beside those that are served: they are for whoever reads the repository.
    const NOT_SERVED: [&str; 1] = ["vendor/README.md"];

    #[test]
    fn every_file_is_served() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("dashboard");
        let mut found = BTreeSet::new();
        for part in ["", "vendor/"] {
            for entry in fs::read_dir(folder.join(part)).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_file() {
                    found.insert(format!("{part}{}", entry.file_name().display()));
                }
            }
        }
        let served = FILES.iter().map(|file| file.path).chain(NOT_SERVED);
        assert_eq!(found, served.map(str::to_owned).collect());
    }

    #[test]
    fn no_file_names_a_place_elsewhere() {
        for file in FILES.iter().filter(|it| !it.path.contains("LICENSE")) {
            let text = str::from_utf8(file.bytes).unwrap();
            for rest in text.split("://").skip(1) {
                // Names of namespaces of XML, which nobody fetches; minified code has them in parts.
                let rest: String = rest.chars().take(40).collect();
                assert!(rest.starts_with("www.w"), "{}: {rest}", file.path);
            }
        }
    }
}
