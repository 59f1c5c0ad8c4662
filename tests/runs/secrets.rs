//! Secrets: what is taken for one, and that none reaches the disk.

mod canary;

use std::borrow::Cow;

use proptest::prelude::*;
use serde_json::json;
use statemark_runs::Redactor;

/// A secret that has nothing in common with any other text, by its variable.
const KNOWN: [(&str, &str); 3] = [
    ("DEPLOY_TOKEN", "Zq7!canary\"quoted\\and\nbroken"),
    ("VAULT_PASSWORD", "hunter2-canary-7731"),
    ("LONG_SECRET", "hunter2-canary-7731-and-more"),
];

const GITHUB: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
const JWT: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N";
const PEM: &str =
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEcanary\nAAAA\n-----END RSA PRIVATE KEY-----";

fn redactor() -> Redactor {
    let known = KNOWN.iter();
    Redactor::new(known.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
}

#[test]
fn secrets_differ_from_plain_strings() {
    let twice = [GITHUB, JWT].map(|it| it.repeat(2));
    let token = format!("smk_{}", "0123456789abcdef".repeat(4));
    let cases: [(&str, &str); 35] = [
        ("hunter2-canary-7731", "[redacted:VAULT_PASSWORD]"),
        // The longer of two that begin alike.
        ("(hunter2-canary-7731-and-more)", "([redacted:LONG_SECRET])"),
        ("xhunter2-canary-7731x", "x[redacted:VAULT_PASSWORD]x"),
        ("AKIAIOSFODNN7EXAMPLE and", "[redacted:aws_key] and"),
        ("ASIAIOSFODNN7EXAMPLE", "[redacted:aws_key]"),
        ("AKIAIOSFODNN7EXAMPL", "AKIAIOSFODNN7EXAMPL"),
        (GITHUB, "[redacted:github_token]"),
        ("ghp_tooshort", "ghp_tooshort"),
        (&token, "[redacted:statemark_token]"),
        ("smk_0123456789abcdef", "smk_0123456789abcdef"),
        (
            "github_pat_11ABCDEFG0123456789abcdef_x",
            "[redacted:github_token]",
        ),
        (
            "url=https://ghs_0123456789abcdefghijABCDEFGHIJ012345@host/",
            "url=https://[redacted:github_token]@host/",
        ),
        (
            "postgres://u:p%40w@h/db, http://:pw@p:80",
            "postgres[redacted:address_password]@h/db, http[redacted:address_password]@p:80",
        ),
        (
            "x=amqps://a.b:c:d$1@h",
            "x=amqps[redacted:address_password]@h",
        ),
        ("http://localhost:80/a@b", "http://localhost:80/a@b"),
        ("ssh://git@host:22/x", "ssh://git@host:22/x"),
        ("postgres://u:${PW}@h", "postgres://u:${PW}@h"),
        ("postgres://u:$PW@h", "postgres://u:$PW@h"),
        ("postgres://u:***@h", "postgres://u:***@h"),
        (
            "postgres://user:password@host",
            "postgres://user:password@host",
        ),
        ("http://[::1]:80/@", "http://[::1]:80/@"),
        ("xoxb-123456789012-abcdefABCDEF", "[redacted:slack_token]"),
        ("sk-ant-api03-abcdefghijklmnop1", "[redacted:anthropic_key]"),
        ("sk-proj-abcdefghijklmnop1234", "[redacted:api_key]"),
        (
            "the risk-abcdefghijklmnop1234 stays",
            "the risk-abcdefghijklmnop1234 stays",
        ),
        (
            "sk-words-with-hyphens-and-no-number",
            "sk-words-with-hyphens-and-no-number",
        ),
        (JWT, "[redacted:jwt]"),
        (&twice[0], "[redacted:github_token]"),
        (&twice[1], "[redacted:jwt]"),
        (
            "AKIAIOSFODNN7EXAMPLEAKIAIOSFODNN7EXAMPLE",
            "[redacted:aws_key][redacted:aws_key]",
        ),
        (
            "eyJhbGciOiJIUzI1NiJ9.nothing",
            "eyJhbGciOiJIUzI1NiJ9.nothing",
        ),
        (
            "-----BEGIN PUBLIC KEY-----\nx\n",
            "-----BEGIN PUBLIC KEY-----\nx\n",
        ),
        (
            "-----BEGIN PRIVATE KEY-----\ncut off",
            "[redacted:private_key]",
        ),
        (
            "[redacted:jwt] and [redacted:other]",
            "[redacted:jwt] and [redacted:other]",
        ),
        (
            "äöü [redacted:hunter2-canary-7731] é",
            "äöü [redacted:[redacted:VAULT_PASSWORD]] é",
        ),
    ];
    let redactor = redactor();
    for (text, expected) in cases {
        assert_eq!(redactor.redact_str(text), expected);
        assert_eq!(
            redactor.find(text.as_bytes()).is_some(),
            text != expected,
            "{text}"
        );
    }
    let pem = format!("key:\n{PEM}\nend");
    assert_eq!(
        redactor.redact_str(&pem),
        "key:\n[redacted:private_key]\nend"
    );
    assert_eq!(
        redactor.redact_bytes(b"\xff hunter2-canary-7731\xfe"),
        &b"\xff [redacted:VAULT_PASSWORD]\xfe"[..]
    );
}

#[test]
fn names_and_values_of_json_are_redacted() {
    let value = json!({
        "hunter2-canary-7731": [{"a": GITHUB}, 1, null],
        (JWT): {"b": KNOWN[0].1},
        "in json": json!({"deep": KNOWN[0].1}).to_string(),
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5M": 2
    });
    let expected = json!({
        "[redacted:VAULT_PASSWORD]": [{"a": "[redacted:github_token]"}, 1, null],
        "[redacted:jwt]": 2,
        "[redacted:jwt]'": {"b": "[redacted:DEPLOY_TOKEN]"},
        "in json": "{\"deep\":\"[redacted:DEPLOY_TOKEN]\"}"
    });
    let clean = redactor().redact_value(&value);
    assert_eq!(clean, expected);
    assert_eq!(redactor().redact_value(&clean), clean);
}

#[test]
fn what_differs_from_words_is_secret() {
    let taken = |value: &str| {
        let redactor = Redactor::new([("A_KEY".to_owned(), value.to_owned())]);
        redactor.names().count() > 0
    };
    let all = [
        ("", false),
        ("1", false),
        ("s3cret!", false),
        ("s3cret!!", true),
        ("  s3cret!!\n", true),
        ("completed", false),
        ("not_started", false),
        ("correcthorsebattery", true),
        ("pre [redacted:x]", false),
    ];
    for (value, expected) in all {
        assert_eq!(taken(value), expected, "{value}");
    }
}

/// Pieces that secrets and marks are made of, whole and cut.
fn texts() -> impl Strategy<Value = String> {
    let mut pieces: Vec<String> = [
        GITHUB,
        JWT,
        PEM,
        "AKIAIOSFODNN7EXAMPLE",
        "sk-proj-abcdefghijklmnop1234",
        "xoxb-123456789012",
        "[redacted:jwt]",
        "[redacted:VAULT_PASSWORD]",
        "[redacted:",
        "]",
        "sk-",
        "eyJ",
        "-----BEGIN PRIVATE KEY-----",
        "-----END",
        "é",
        " ",
        "\n",
        "a",
        "_",
        "7",
        ".",
        "\\n",
        "\"",
    ]
    .map(str::to_owned)
    .to_vec();
    pieces.extend(KNOWN.iter().map(|(_, value)| (*value).to_owned()));
    let piece = (prop::sample::select(pieces), 0_usize..80).prop_map(|(piece, cut)| {
        piece
            .chars()
            .take(if cut < 40 { cut } else { 999 })
            .collect::<String>()
    });
    prop::collection::vec(prop_oneof![piece, "[ -~]{0,6}"], 0..12).prop_map(|it| it.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn what_was_redacted_stays_as_it_is(text in texts()) {
        let redactor = redactor();
        let once = redactor.redact_str(&text).into_owned();
        prop_assert!(matches!(redactor.redact_str(&once), Cow::Borrowed(_)), "{:?} -> {:?}", once, redactor.redact_str(&once));
        prop_assert_eq!(redactor.find(once.as_bytes()), None);
        for (_, value) in KNOWN {
            prop_assert!(!once.contains(value));
        }
    }

    #[test]
    fn other_texts_are_left_alone(text in "[a-z0-9 .,;:/{}()äé\\n_-]{0,200}") {
        let text = text.replace("sk-", "").replace("gh", "").replace("xox", "").replace("xapp", "");
        prop_assert!(matches!(redactor().redact_str(&text), Cow::Borrowed(_)));
    }
}
