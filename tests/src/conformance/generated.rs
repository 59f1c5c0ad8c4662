//! Generated Rust.
use std::collections::BTreeMap;
use statemark_compiler::valid::Valid;
use super::case::Case;

pub(super) fn run(_cases: &[(Case, Valid)]) -> BTreeMap<String, Result<(), String>> {
    BTreeMap::new()
}
