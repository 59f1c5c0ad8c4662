//! The shapes of secrets that are known anywhere: keys and tokens.
//!
//! Here, below compiler and store, so that what one warns of is what the other takes out.
//!
//! Deliberately not here: values that only their owner knows to be secret, and what is done about one that was found.

/// The names of the shapes.
pub const NAMES: [&str; 9] = [
    "aws_key",
    "github_token",
    "slack_token",
    "anthropic_key",
    "api_key",
    "jwt",
    "private_key",
    "statemark_token",
    "address_password",
];

/// Words in the place of a password that stand for one.
const NO_PASSWORDS: [&str; 2] = ["password", "PASSWORD"];

/// Finds the first secret in a string, and returns the name of its shape.
///
/// ```
/// use statemark_text::secret;
///
/// assert_eq!(secret::find("the key is AKIAIOSFODNN7EXAMPLE"), Some("aws_key"));
/// assert_eq!(secret::find("the key is under the mat"), None);
/// ```
#[must_use]
pub fn find(text: &str) -> Option<&'static str> {
    let bytes = text.as_bytes();
    let mut before = None;
    let mut scan = Scan::new(bytes);
    bytes.iter().enumerate().find_map(|(at, byte)| {
        let is_free = !before.replace(*byte).is_some_and(is_url);
        scan.token(at, is_free).map(|(name, _)| name)
    })
}

/// A look for secrets in a text, from its beginning to its end.
///
/// It takes time in proportion to the text: where the characters of a token have been read to their end and were none,
/// they are none from any later beginning within them, and aren't read again.
#[derive(Clone, Debug)]
pub struct Scan<'t> {
    text: &'t [u8],
    /// The end of characters that are no API key.
    no_key: usize,
    /// The end of characters that are no header of a JWT.
    no_header: usize,
}

impl<'t> Scan<'t> {
    /// Begins a look at a text.
    #[must_use]
    pub const fn new(text: &'t [u8]) -> Self {
        Self {
            text,
            no_key: 0,
            no_header: 0,
        }
    }

    /// Matches a secret at a place, and returns the name of its shape and its length.
    ///
    /// Places come in order.
    ///
    /// `is_free` says that the bytes before aren't part of the same word.
    pub fn token(&mut self, at: usize, is_free: bool) -> Option<(&'static str, usize)> {
        let text = self.text.get(at..)?;
        match text.first()? {
            b'A' => aws(text),
            b'g' => github(text),
            b'x' => slack(text),
            b's' => statemark(text).or_else(|| {
                let may_be = is_free && at >= self.no_key;
                may_be.then(|| api_key(text, at, &mut self.no_key))?
            }),
            b'e' if is_free && at >= self.no_header => jwt(text, at, &mut self.no_header),
            b'-' => private_key(text),
            b':' => address_password(text),
            _ => None,
        }
    }
}

/// Measures a prefix and the bytes of a kind after it, if there are at least `least` of those.
fn run(text: &[u8], prefix: &[u8], least: usize, is: fn(u8) -> bool) -> Option<usize> {
    let rest = text.strip_prefix(prefix)?;
    let length = rest.iter().take_while(|it| is(**it)).count();
    (length >= least).then_some(prefix.len() + length)
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Matches the id of an AWS access key: `AKIA` or `ASIA`, and 16 capitals or digits.
fn aws(text: &[u8]) -> Option<(&'static str, usize)> {
    let is = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let text = text.get(..20)?;
    let kinds: [&[u8]; 2] = [b"AKIA", b"ASIA"];
    let mut kinds = kinds.iter();
    kinds.find_map(|it| run(text, it, 16, is))?;
    Some(("aws_key", 20))
}

/// Matches a GitHub token: `ghp_` or its relatives with 36 letters or digits, or `github_pat_`.
fn github(text: &[u8]) -> Option<(&'static str, usize)> {
    let kinds: [&[u8]; 5] = [b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"];
    let mut kinds = kinds.iter();
    let found = kinds.find_map(|it| run(text, it, 36, is_letter));
    let found = found.or_else(|| run(text, b"github_pat_", 22, is_url))?;
    // What continues without a gap may be the next one.
    let more = run(text.get(found..)?, b"", 0, is_url)?;
    Some(("github_token", found + more))
}

/// Matches a Slack token: `xoxb-` and its relatives, or `xapp-`.
fn slack(text: &[u8]) -> Option<(&'static str, usize)> {
    let kinds: [&[u8]; 8] = [
        b"xoxa-", b"xoxb-", b"xoxe-", b"xoxo-", b"xoxp-", b"xoxr-", b"xoxs-", b"xapp-",
    ];
    let mut kinds = kinds.iter();
    let found = kinds.find_map(|it| run(text, it, 10, is_url));
    Some(("slack_token", found?))
}

/// Matches an API key: `sk-` and at least 20 characters with a digit, which words with hyphens lack.
///
/// It begins at a place of the whole text. `no_key` becomes the end of characters that have no digit.
fn api_key(text: &[u8], at: usize, no_key: &mut usize) -> Option<(&'static str, usize)> {
    let length = run(text, b"sk-", 20, is_url)?;
    let token = text.get(..length)?;
    if !token.iter().any(u8::is_ascii_digit) {
        *no_key = at + length;
        return None;
    }
    let name = if token.starts_with(b"sk-ant-") {
        "anthropic_key"
    } else {
        "api_key"
    };
    Some((name, length))
}

/// Matches a token of ours: `smk_` and its 64 hexadecimal digits.
///
/// 40 digits are enough, since the rest of such a token could be guessed.
fn statemark(text: &[u8]) -> Option<(&'static str, usize)> {
    let is = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let length = run(text, b"smk_", 40, is)?;
    Some(("statemark_token", length))
}

/// Matches the part of an address with a password between scheme and server.
///
/// That is `://user:password`.
///
/// Names of variables (`$PASSWORD`) and stars stand for one.
fn address_password(text: &[u8]) -> Option<(&'static str, usize)> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%!$&*+,;=".contains(&byte);
    let is = |byte: u8| {
        byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"-._~%!$&*+,;=:()#?^|".contains(&byte)
    };
    let name = run(text, b"://", 0, is_name)?;
    let rest = text.get(name..)?;
    let length = run(rest, b":", 1, is)?;
    let password = rest.get(1..length)?;
    let has_only = |is: fn(u8) -> bool| password.iter().all(|it| is(*it));
    let is_variable = password.first() == Some(&b'$')
        && has_only(|it| it == b'$' || it == b'_' || it.is_ascii_uppercase());
    let is_placeholder = has_only(|it| it == b'*')
        || is_variable
        || NO_PASSWORDS.iter().any(|it| it.as_bytes() == password);
    let is_whole = rest.get(length) == Some(&b'@');
    (is_whole && !is_placeholder).then_some(("address_password", name + length))
}

/// Matches a JWT: two JSON objects and a signature in base 64, with dots between them.
///
/// It begins at a place of the whole text. `no_header` becomes the end of characters that aren't followed by the others.
fn jwt(text: &[u8], at: usize, no_header: &mut usize) -> Option<(&'static str, usize)> {
    let header = run(text, b"eyJ", 10, is_url)?;
    let rest = text.get(header..)?;
    let more = run(rest, b".eyJ", 10, is_url)
        .and_then(|claims| Some(claims + run(rest.get(claims..)?, b".", 10, is_url)?));
    let Some(more) = more else {
        *no_header = at + header;
        return None;
    };
    let mut length = header + more;
    // What continues without a gap may be the next one.
    while let Some(more) = run(text.get(length..)?, b".", 10, is_url) {
        length += more;
    }
    Some(("jwt", length))
}

/// Matches a private key in PEM; one without an end extends to the end of the string.
fn private_key(text: &[u8]) -> Option<(&'static str, usize)> {
    let is = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ';
    let begin = run(text, b"-----BEGIN ", 11, is)?;
    let is_private = text.get(..begin)?.ends_with(b"PRIVATE KEY");
    let body = text.get(begin..)?.strip_prefix(b"-----")?;
    if !is_private {
        return None;
    }
    let end: &[u8] = b"PRIVATE KEY-----";
    let found = body.windows(end.len()).position(|it| it == end);
    let length = found.map_or(text.len(), |at| begin + 5 + at + end.len());
    Some(("private_key", length))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beginnings of tokens, their separators, and what a whole one has.
    const PARTS: [&str; 12] = [
        "sk-",
        "eyJ",
        "-",
        ".",
        "a",
        "7",
        "AKIA",
        "ABCDEFGHIJKL",
        "eyJhbGciOiJ",
        ".eyJzdWIiOiI",
        ".c2lnbmF0dXJl",
        " ",
    ];

    /// What was remembered of places before changes nothing.
    #[test]
    fn a_scan_finds_what_each_place_has() {
        let mut seed = 1_usize;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..8 {
                seed = seed
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                text += PARTS[(seed >> 33) % PARTS.len()];
            }
            let bytes = text.as_bytes();
            let mut scan = Scan::new(bytes);
            for at in 0..bytes.len() {
                for is_free in [false, true] {
                    let alone = Scan::new(&bytes[at..]).token(0, is_free);
                    assert_eq!(scan.token(at, is_free), alone, "{text}, {at}");
                }
            }
        }
    }
}
