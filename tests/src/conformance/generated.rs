//! Generated Rust.
use super::case::Case;
use statemark_compiler::valid::Valid;
use std::collections::BTreeMap;

pub(super) fn run(_cases: &[(Case, Valid)]) -> BTreeMap<String, Result<(), String>> {
    BTreeMap::new()
}
