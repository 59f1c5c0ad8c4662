//! Decoding of entities and line breaks.

use crate::front::mermaid::entity::decode;

#[test]
fn decoding() {
    for (text, decoded) in [
        ("", ""),
        ("plain", "plain"),
        ("a#59;b", "a;b"),
        ("#quot;a#quot;", "\"a\""),
        ("a #lt;= b #amp; c", "a <= b & c"),
        ("#x2192;", "→"),
        ("#9829;", "♥"),
        ("#1114112; #55296;", "#1114112; #55296;"),
        ("#nonsense; #; # 1;", "#nonsense; #; # 1;"),
        ("a<br>b<br/>c<BR />d", "a\nb\nc\nd"),
        ("a\\nb", "a\nb"),
        ("<b>bold</b> \\t", "<b>bold</b> \\t"),
        ("##35;", "##"),
    ] {
        assert_eq!(decode(text), decoded, "{text:?}");
    }
}
