//! What compiles and what doesn't, with the messages in full. `TRYBUILD=overwrite` rewrites them.

// Not beside this file, but in the package's root: where the second look goes.
statemark::machine!("tests/pass/door.md" as gate);

#[test]
fn the_macro() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/pass/*.rs");
    cases.compile_fail("tests/fail/*.rs");
}

#[test]
fn a_path_may_start_at_the_package() {
    assert_eq!(gate::State::INITIAL.name(), "shut");
}
