//! What compiles and what doesn't, with the messages in full. `TRYBUILD=overwrite` rewrites them.

#[test]
fn the_macro() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/pass/*.rs");
    cases.compile_fail("tests/fail/*.rs");
}
