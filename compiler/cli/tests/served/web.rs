//! The pack `web` against servers of the tests: pages, redirects, searches, and what isn't visited.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use serde_json::{Value, json};

use super::client::{Client, serve};
use crate::shell::Scratch;

/// A server that answers by path, on an address of its own.
fn site() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream));
        }
    });
    address
}

fn answer(mut stream: TcpStream) {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
        request.extend(byte);
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let lower = request.to_ascii_lowercase();
    let length = lower
        .split("content-length: ")
        .nth(1)
        .unwrap_or("0")
        .split("\r\n")
        .next();
    // What isn't read would break the connection off.
    let mut sent = vec![0; length.and_then(|it| it.parse().ok()).unwrap_or(0)];
    drop(stream.read_exact(&mut sent));
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    let page = "<html><head><title>Plans &amp; <i>more</i></title><script>steal()</script></head>\
                <body><h1>Plans</h1><p>Read the <a href='/b'>second page</a>.</p></body></html>";
    let (head, body): (String, String) = match path.split('?').next().unwrap_or_default() {
        "/page" => ("200 OK\r\nContent-Type: text/html; charset=utf-8".into(), page.into()),
        "/data.json" => ("200 OK\r\nContent-Type: application/json".into(), "{\"a\": 1}".into()),
        "/picture" => ("200 OK\r\nContent-Type: image/png".into(), "png".into()),
        "/long" => ("200 OK\r\nContent-Type: text/plain".into(), "é".repeat(100_000)),
        "/huge" => ("200 OK\r\nContent-Type: text/plain".into(), "x".repeat(6_000_000)),
        "/gone" => ("404 Not Found\r\nContent-Type: text/plain".into(), "not here".into()),
        "/to-page" => ("302 Found\r\nLocation: /page".into(), String::new()),
        "/to-metadata" => (
            "302 Found\r\nLocation: http://169.254.169.254/latest/meta-data/".into(),
            String::new(),
        ),
        "/to-localhost" => ("302 Found\r\nLocation: http://localhost:1/".into(), String::new()),
        "/to-file" => ("302 Found\r\nLocation: file:///etc/passwd".into(), String::new()),
        "/round" => ("302 Found\r\nLocation: /round".into(), String::new()),
        "/search" if lower.contains("authorization: bearer k2") => (
            "200 OK\r\nContent-Type: application/json".into(),
            json!({"results": [{"title": "T", "url": "https://t.example.org/", "content": String::from_utf8_lossy(&sent)}]}).to_string(),
        ),
        "/search" if path.contains("q=state+machines") || path.contains("q=state%20machines") => (
            "200 OK\r\nContent-Type: application/json".into(),
            json!({"results": [
                {"title": "One", "url": "https://one.example.org/", "content": "The <b>first</b> one"},
                {"title": "Two", "url": "https://two.example.org/", "content": "The second"},
            ]})
            .to_string(),
        ),
        "/res/v1/web/search" if lower.contains("x-subscription-token: k1") => (
            "200 OK\r\nContent-Type: application/json".into(),
            json!({"web": {"results": [{"title": "B", "url": "https://b.example.org/", "description": "<strong>Brave</strong>"}]}})
                .to_string(),
        ),
        _ => ("500 Wrong\r\nContent-Type: text/plain".into(), format!("no {path}")),
    };
    let length = body.len();
    let answer =
        format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    // A client that has read enough goes away.
    drop(stream.write_all(answer.as_bytes()));
}

/// A project with a pack `web`, and a client of its server; `allowed` is what a person allows.
fn client(
    name: &str,
    search: &str,
    allowed: &str,
    variables: &[(&str, String)],
) -> (Scratch, Client) {
    let scratch = Scratch::new(name);
    scratch.write(
        "statemark.toml",
        &format!("[packs.web]\nsearch = \"{search}\"\n"),
    );
    scratch.write("config/statemark/places", allowed);
    let mut server = serve(&scratch.path, &[]);
    server.env("XDG_CONFIG_HOME", scratch.path.join("config"));
    server.envs(variables.iter().map(|(name, value)| (name, value)));
    let client = Client::try_start(server).unwrap();
    (scratch, client)
}

fn visit(client: &mut Client, arguments: &Value) -> Value {
    let call = json!({"name": "visit_url", "arguments": arguments});
    client.ask("tools/call", &call)["result"].clone()
}

#[test]
fn pages_are_read_as_texts() {
    let site = site();
    let (_scratch, mut client) = client("web-pages", "searxng", &format!("http://{site}\n"), &[]);
    let at = |path: &str| format!("http://{site}{path}");
    let page = visit(&mut client, &json!({"url": at("/page#part")}));
    assert_eq!(
        page["structuredContent"],
        json!({
            "url": at("/page"), "http_status": 200, "content_type": "text/html", "title": "Plans & more",
            "content": "# Plans\n\nRead the [second page][1].\n\n[1]: /b\n", "start": 0, "total_chars": 45, "truncated": false,
        })
    );
    let redirected = visit(&mut client, &json!({"url": at("/to-page")}));
    assert_eq!(redirected["structuredContent"]["url"], json!(at("/page")));
    let data = visit(&mut client, &json!({"url": at("/data.json")}));
    assert_eq!(data["structuredContent"]["content"], "{\"a\": 1}");
    let part = visit(
        &mut client,
        &json!({"url": at("/long"), "start": 99_998, "max_chars": 5}),
    );
    assert_eq!(part["structuredContent"]["content"], "éé");
    assert_eq!(part["structuredContent"]["truncated"], false);
    let huge = visit(&mut client, &json!({"url": at("/huge"), "max_chars": 1}));
    assert_eq!(huge["structuredContent"]["total_chars"], 5_000_000);
    assert_eq!(huge["structuredContent"]["truncated"], true);
    for (url, said) in [
        (at("/gone"), "\"http_status\":404"),
        (at("/picture"), "is no text, but 3 bytes of `image/png`"),
        (at("/round"), "redirects more than 5 times"),
        (
            at("/to-metadata"),
            "`169.254.169.254` is a server of this machine or of the own network",
        ),
        (
            at("/to-localhost"),
            "`localhost` is a server of this machine or of the own network",
        ),
        // What isn't an address of the web is a path of the same server.
        (at("/to-file"), "no /file:///etc/passwd"),
    ] {
        let answer = visit(&mut client, &json!({"url": url}));
        assert_eq!(answer["isError"], true, "{url}: {answer}");
        let text = answer["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(said), "{url}: {text}");
    }
}

#[test]
fn nothing_inside_is_visited_that_nobody_allows() {
    let site = site();
    let port = site.port();
    let (_scratch, mut client) = client("web-inside", "searxng", "", &[]);
    for url in [
        format!("http://{site}/page"),
        format!("http://localhost:{port}/page"),
        format!("http://[::1]:{port}/page"),
        format!("http://[::ffff:127.0.0.1]:{port}/page"),
        format!("http://0.0.0.0:{port}/page"),
        format!("http://0:{port}/page"),
        format!("http://127.1:{port}/page"),
        format!("http://2130706433:{port}/page"),
        format!("http://0x7f000001:{port}/page"),
        format!("http://017700000001:{port}/page"),
        format!("http://LOCALHOST.:{port}/page"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://10.0.0.1/".to_owned(),
        "http://[fd00::1]/".to_owned(),
        "file:///etc/passwd".to_owned(),
        format!("http://someone@{site}/page"),
    ] {
        let answer = visit(&mut client, &json!({"url": url}));
        assert_eq!(answer["isError"], true, "{url}: {answer}");
        assert!(!answer.to_string().contains("Plans"), "{url}: {answer}");
    }
}

#[test]
fn services_search_the_web() {
    let site = site();
    let searched = |name: &str, service: &str, variables: &[(&str, String)], arguments: Value| {
        let (_scratch, mut client) = client(name, service, "", variables);
        let call = json!({"name": "web_search", "arguments": arguments});
        client.ask("tools/call", &call)["result"].clone()
    };
    let at = format!("http://{site}");
    let query = json!({"query": "state machines", "max_results": 1});
    let named = [("SEARXNG_URL", at.clone())];
    let found = searched("web-searxng", "searxng", &named, query.clone());
    assert_eq!(
        found["structuredContent"],
        json!({
            "query": "state machines", "service": "searxng",
            "results": [{"title": "One", "url": "https://one.example.org/", "snippet": "The first one"}],
        })
    );
    let named = [
        ("BRAVE_URL", at.clone()),
        ("BRAVE_API_KEY", "k1".to_owned()),
    ];
    let found = searched("web-brave", "brave", &named, query.clone());
    assert_eq!(found["structuredContent"]["results"][0]["snippet"], "Brave");
    let named = [("TAVILY_URL", at), ("TAVILY_API_KEY", "k2".to_owned())];
    let found = searched("web-tavily", "tavily", &named, json!({"query": "a"}));
    let sent = found["structuredContent"]["results"][0]["snippet"]
        .as_str()
        .unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(sent).unwrap(),
        json!({"query": "a", "max_results": 5})
    );
    let unset = searched("web-unset", "tavily", &[], query);
    assert!(unset.to_string().contains("TAVILY_API_KEY"), "{unset}");
}
