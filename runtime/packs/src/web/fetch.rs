//! Requests to other servers, within bounds of place, time and size.
//!
//! What to rely on: an address is judged after its name was resolved, for every connection that is made, those of
//! redirects included, and the connection goes to the address that was judged. Nothing inside of the own network or of this
//! machine is reached, unless a person allows the server. Source of the ranges: the IANA special-purpose address
//! registries, read 2026-11.
//!
//! Proxies of the environment aren't used: a proxy would resolve names by itself.

use std::fmt;
use std::io::Read as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, ResponseExt as _};

use statemark_tools::Problem;

/// Time for a request with all its redirects.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Most redirects.
const MAX_REDIRECTS: u32 = 5;

/// Longest address. Unit: bytes.
const MAX_URL: usize = 8 << 10;

/// Largest body, after it was unpacked. Unit: bytes.
pub(super) const MAX_BODY: u64 = 5_000_000;

/// The name by which servers know who asks.
const USER_AGENT: &str = concat!("statemark/", env!("CARGO_PKG_VERSION"));

/// The answer of a server.
pub(super) struct Fetched {
    /// The address that it came from, after redirects.
    pub(super) url: String,
    pub(super) status: u16,
    /// The type of its content, without parameters.
    pub(super) media_type: String,
    pub(super) body: Vec<u8>,
    /// True if the body was longer than is read.
    pub(super) is_cut: bool,
}

/// Creates an agent that reaches public servers, and those that a person allows.
pub(super) fn public_agent(allowed: &[String]) -> Agent {
    let resolver = PublicResolver {
        allowed: allowed.to_vec(),
        inner: DefaultResolver::default(),
    };
    Agent::with_parts(config(), DefaultConnector::new(), resolver)
}

/// Creates an agent for a server that the environment names.
pub(super) fn named_agent() -> Agent {
    Agent::new_with_config(config())
}

fn config() -> Config {
    Config::builder()
        .http_status_as_error(false)
        .max_redirects(MAX_REDIRECTS)
        .max_redirects_will_error(true)
        .proxy(None)
        .save_redirect_history(true)
        .timeout_global(Some(TIMEOUT))
        .user_agent(USER_AGENT)
        .build()
}

/// Reads a page.
///
/// # Errors
///
/// The address is none, or is one that isn't reached; the server doesn't answer as it should.
pub(super) fn fetch(agent: &Agent, url: &str) -> Result<Fetched, Problem> {
    let uri = check_url(url)?;
    let answer = agent
        .get(uri)
        .header(
            "Accept",
            "text/html, text/*, application/json;q=0.9, */*;q=0.1",
        )
        .call();
    read(answer.map_err(|error| describe(url, &error))?, url)
}

/// Reads an answer.
pub(super) fn read(
    mut answer: ureq::http::Response<ureq::Body>,
    url: &str,
) -> Result<Fetched, Problem> {
    let media_type = answer
        .headers()
        .get("content-type")
        .and_then(|value| value.to_str().ok())
        .map(|value| value.split(';').next().unwrap_or_default())
        .unwrap_or_default();
    let media_type = media_type.trim().to_ascii_lowercase();
    let (status, at) = (answer.status().as_u16(), answer.get_uri().to_string());
    let mut body = Vec::new();
    let reader = answer.body_mut().with_config().limit(u64::MAX).reader();
    reader
        .take(MAX_BODY.saturating_add(1))
        .read_to_end(&mut body)
        .map_err(|error| Problem::new("unreachable", format!("`{url}` broke off: {error}")))?;
    let is_cut = u64::try_from(body.len()).unwrap_or(u64::MAX) > MAX_BODY;
    body.truncate(usize::try_from(MAX_BODY).unwrap_or(usize::MAX));
    Ok(Fetched {
        url: at,
        status,
        media_type,
        body,
        is_cut,
    })
}

/// Checks that an address is one of a page.
fn check_url(url: &str) -> Result<Uri, Problem> {
    let wrong = || {
        Problem::argument(
            "url",
            "it is the address of a page, such as https://example.org/page, without a name and a password",
        )
    };
    if url.len() > MAX_URL {
        return Err(wrong());
    }
    // What stands after a `#` is for who reads the page.
    let url = url.split('#').next().unwrap_or(url);
    let uri: Uri = url.parse().map_err(|_| wrong())?;
    let scheme = uri.scheme_str().unwrap_or_default();
    let authority = uri.authority().ok_or_else(wrong)?;
    if !matches!(scheme, "http" | "https") || authority.as_str().contains('@') {
        return Err(wrong());
    }
    Ok(uri)
}

/// Describes why a server didn't answer.
pub(super) fn describe(url: &str, error: &ureq::Error) -> Problem {
    let url = without_query(url);
    match error {
        ureq::Error::Other(cause) if cause.is::<NotPublic>() => {
            Problem::new("not_public", format!("`{url}`: {cause}"))
        }
        ureq::Error::TooManyRedirects => {
            let message = format!("`{url}` redirects more than {MAX_REDIRECTS} times");
            Problem::new("unreachable", message)
        }
        ureq::Error::Timeout(_) => {
            let message = format!("`{url}` didn't answer within {} s", TIMEOUT.as_secs());
            Problem::new("unreachable", message)
        }
        error => Problem::new("unreachable", format!("`{url}` can't be read: {error}")),
    }
}

/// Returns an address without what may be a secret in it.
fn without_query(url: &str) -> &str {
    url.split('?').next().unwrap_or(url)
}

/// The reason for which a server isn't reached.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{host}` is a server of this machine or of the own network, which isn't visited; a person allows it by a line `{server}` in ~/.config/statemark/places"
)]
struct NotPublic {
    host: String,
    server: String,
}

/// Resolves names to public addresses alone.
struct PublicResolver {
    /// Servers that a person allows, as `http://HOST:PORT`.
    allowed: Vec<String>,
    inner: DefaultResolver,
}

impl fmt::Debug for PublicResolver {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("PublicResolver")
    }
}

impl Resolver for PublicResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.inner.resolve(uri, config, timeout)?;
        let (scheme, authority) = (uri.scheme_str().unwrap_or_default(), uri.authority());
        let server = authority.map(|it| format!("{scheme}://{it}"));
        let server = server.unwrap_or_default().to_ascii_lowercase();
        if self
            .allowed
            .iter()
            .any(|allowed| allowed.eq_ignore_ascii_case(&server))
        {
            return Ok(found);
        }
        // One address inside is enough: who answers for the name chooses among them.
        if found.iter().all(|address| is_public(address.ip())) {
            return Ok(found);
        }
        let host = uri.host().unwrap_or_default().to_owned();
        Err(ureq::Error::Other(Box::new(NotPublic { host, server })))
    }
}

/// Reports whether an address is one of a server that anybody may reach.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        || a >= 240
        // Shared by the customers of a provider.
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        // Measurements of networks.
        || (a == 198 && (18..20).contains(&b));
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match (a, b) {
        // An address of the fourth version in one of the sixth: mapped, compatible, translated, or a tunnel's.
        (0, 0) if (c, d, e, f) == (0, 0, 0, 0xffff) => embedded(g, h),
        (0x64, 0xff9b) if (c, d, e, f) == (0, 0, 0, 0) => embedded(g, h),
        (0x2002, _) => embedded(b, c),
        // Other translations, tunnels, documentation, measurements, and what belongs to protocols.
        (0x2001, 0..0x200 | 0xdb8) | (0x3fff, 0..0x1000) | (0x5f00, _) => false,
        // What is assigned to the public.
        _ => (0x2000..0x4000).contains(&a),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_own_network_are_told() {
        for inside in [
            "0.0.0.0",
            "0.1.2.3",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:20::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:a00:1::1",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(inside.parse().unwrap()), "{inside}");
        }
        for outside in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2002:808:808::1",
            "2001:4860:4860::8888",
            "2606:4700::1111",
        ] {
            assert!(is_public(outside.parse().unwrap()), "{outside}");
        }
    }

    #[test]
    fn only_pages_are_asked_for() {
        for url in [
            "ftp://example.org/",
            "file:///etc/passwd",
            "gopher://x",
            "https://",
            "https://name:word@example.org/",
            "//example.org",
            "example.org",
            "javascript:1",
            "http://user@127.0.0.1/",
            "",
            "http:///x",
        ] {
            assert!(check_url(url).is_err(), "{url}");
        }
        for url in [
            "https://example.org",
            "http://example.org:8080/a?b=c#d",
            "https://[2606:4700::1111]/",
        ] {
            assert!(check_url(url).is_ok(), "{url}");
        }
    }
}
