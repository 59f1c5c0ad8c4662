//! The house rules that a machine can check.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use cargo_metadata::{DependencyKind, MetadataCommand};
use statemark_compiler::diag::Code;
use statemark_harness::{files, mentions, relative, root};

/// A crate may use only what stands left of it.
const ORDER: [&str; 19] = [
    "statemark-runtime",
    "statemark-text",
    "statemark-runs",
    "statemark-stores",
    "statemark-tools",
    "statemark-packs",
    "statemark-profiles",
    "statemark-upstream",
    "statemark-executor",
    "statemark-server",
    "statemark-compiler",
    "statemark-lsp",
    "statemark-cli",
    "statemark-macros",
    "statemark",
    "statemark-examples",
    "statemark-harness",
    "statemark-tests",
    "statemark-tidy",
];

/// Longest source file. Unit: lines. Why: past it a file holds more than one idea.
const MAX_LINES: usize = 1_000;

fn metadata() -> cargo_metadata::Metadata {
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .expect("cargo metadata")
}

/// The project's own source files: not what was built or fetched.
fn sources() -> Vec<std::path::PathBuf> {
    let skipped = ["/target/", "/.git/", "/node_modules/"];
    let mut all = Vec::new();
    for folder in [
        "runtime", "compiler", "macros", "examples", "tests", "skills",
    ] {
        all.extend(files(&root().join(folder)));
    }
    all.retain(|path| {
        let path = format!("/{}", relative(path));
        !skipped.iter().any(|part| path.contains(part))
    });
    all
}

#[test]
fn arrows_point_left() {
    let metadata = metadata();
    let mut faults = Vec::new();
    for package in &metadata.packages {
        let Some(place) = ORDER.iter().position(|name| *name == package.name.as_str()) else {
            faults.push(format!("{} has no place in the order", package.name));
            continue;
        };
        for dependency in package
            .dependencies
            .iter()
            .filter(|d| d.kind != DependencyKind::Development)
        {
            if let Some(used) = ORDER.iter().position(|name| *name == dependency.name)
                && used >= place
            {
                faults.push(format!("{} uses {}", package.name, dependency.name));
            }
        }
        if ["statemark-tools", "statemark-packs", "statemark-profiles"]
            .contains(&package.name.as_str())
        {
            let all = package.dependencies.iter();
            let protocols = all.filter(|d| ["axum", "rmcp", "tokio"].contains(&d.name.as_str()));
            faults.extend(protocols.map(|d| format!("{} uses {}", package.name, d.name)));
        }
        if package.name.as_str() == "statemark-runtime" {
            let all = package
                .dependencies
                .iter()
                .filter(|d| d.kind == DependencyKind::Normal && !d.optional);
            faults.extend(all.map(|d| format!("the runtime uses {}", d.name)));
            let default = package.features.get("default").into_iter().flatten();
            faults.extend(default.map(|feature| format!("the runtime's default is `{feature}`")));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Most packages of other people in a clean build of a crate that uses `machine!`.
///
/// Unit: packages. Why: each of them is built before a user's first line is. It may only shrink.
const MAX_MACRO_PACKAGES: usize = 22;

#[test]
fn a_macro_user_builds_few_packages() {
    let cargo = std::env::var("CARGO").expect("cargo runs tests");
    let output = std::process::Command::new(cargo)
        .current_dir(root())
        .args(["tree", "--offline", "--locked", "-p", "statemark"])
        .args(["-e", "normal,build", "--prefix", "none", "-f", "{p}"])
        .output()
        .expect("cargo tree runs");
    let listed = String::from_utf8(output.stdout).expect("names are UTF-8");
    let packages: BTreeSet<&str> = listed
        .lines()
        .filter_map(|line| line.split(' ').next())
        .filter(|name| !name.starts_with("statemark"))
        .collect();
    assert_eq!(packages.len(), MAX_MACRO_PACKAGES, "{packages:#?}");
}

#[test]
fn lints_and_versions_are_inherited() {
    let mut faults = Vec::new();
    for package in metadata().packages {
        let manifest = fs::read_to_string(&package.manifest_path).expect("a manifest");
        if !manifest.contains("[lints]\nworkspace = true") {
            faults.push(format!("{} doesn't inherit the lints", package.name));
        }
        for line in manifest.lines() {
            if line.contains("version = \"") && !line.contains("workspace") {
                faults.push(format!("{} names a version: {line}", package.name));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn files_hold_one_idea() {
    let mut faults = Vec::new();
    for path in sources() {
        let ending = path
            .extension()
            .and_then(|ending| ending.to_str())
            .unwrap_or("");
        if !["rs", "js", "mjs", "py", "sh"].contains(&ending)
            || relative(&path).starts_with("tests/rust/")
        {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a readable source");
        let lines = text.lines().count();
        if lines > MAX_LINES {
            let most = format!("{lines} lines, more than {MAX_LINES}");
            faults.push(format!("{} has {most}", relative(&path)));
        }
        let stem = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or("");
        if ["utils", "helpers", "common", "core", "manager", "misc"].contains(&stem) {
            faults.push(format!("{} is named after nothing", relative(&path)));
        }
        let is_module = ending == "rs" && relative(&path).contains("/src/");
        if is_module && !text.trim_start().starts_with("//!") {
            faults.push(format!("{} doesn't say what is in it", relative(&path)));
        }
        // Spelled in halves, so that this file passes its own test.
        for marker in [["TO", "DO"], ["FIX", "ME"]].map(|halves| halves.concat()) {
            let found = text.lines().find(|line| line.contains(&marker));
            faults.extend(found.map(|line| format!("{}: {line}", relative(&path))));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// One diagnostic = one code, one page, one corpus folder, named in one file.
#[test]
fn every_diagnostic_has_its_file_page_and_corpus() {
    let mut users: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in sources() {
        let name = relative(&path);
        let in_source =
            name.starts_with("compiler/") && name.ends_with(".rs") && name.contains("/src/");
        if !in_source || name.ends_with("diag/codes.rs") || name.contains("/tests") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a readable source");
        let code = text.split("#[cfg(test)]").next().unwrap_or("");
        let named = Code::ALL.iter();
        for code in named.filter(|c| mentions(code, &format!("Code::{c:?}"))) {
            let files = users.entry(code.id().to_owned()).or_default();
            files.insert(name.clone());
        }
    }
    let corpus = root().join("tests/corpus");
    let mut faults = Vec::new();
    let mut folders: BTreeSet<String> = BTreeSet::new();
    for code in Code::ALL {
        let users = users.get(code.id()).cloned().unwrap_or_default();
        if users.len() != 1 {
            let place = "not in the one file of compiler/src/ that finds it";
            faults.push(format!(
                "{code}: `Code::{code:?}` is named in {users:?}, {place}"
            ));
        }
        if code.page().lines().count() < 10 {
            faults.push(format!("{code}: its page is empty"));
        }
        let folder = format!("{}-{}", code.id(), code.name());
        // The cases of these are with the command line and with the macro: what is no text, and what a feature turns off.
        let at_the_door = matches!(
            code,
            Code::FileTooLarge | Code::InvalidUtf8 | Code::ScxmlDisabled
        );
        if !at_the_door && files(&corpus.join(&folder)).is_empty() {
            faults.push(format!("{code}: no case in tests/corpus/{folder}"));
        }
        folders.insert(folder);
    }
    for entry in fs::read_dir(&corpus).expect("a corpus") {
        let name = entry
            .expect("a readable folder")
            .file_name()
            .to_string_lossy()
            .into_owned();
        if !folders.contains(&name) {
            faults.push(format!("tests/corpus/{name} belongs to no code"));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(Code::ALL.len() >= 35, "only {} codes", Code::ALL.len());
}

#[test]
fn codes_are_distinct() {
    let ids: BTreeSet<&str> = Code::ALL.iter().map(|code| code.id()).collect();
    let names: BTreeSet<&str> = Code::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(ids.len(), Code::ALL.len());
    assert_eq!(names.len(), Code::ALL.len());
    for code in Code::ALL {
        assert!(
            !code.name().starts_with("no-unused") && code.id().len() == 5,
            "{code}"
        );
        assert_eq!(Code::from_words(code.name()), Some(*code));
    }
}

/// Every code is in the changelog: by its id, or in a range (`SM101–SM114`) of those that were there from the start.
#[test]
fn the_changelog_names_every_code() {
    let changelog = fs::read_to_string(root().join("CHANGELOG.md")).expect("a changelog");
    let number = |id: &str| id.strip_prefix("SM").and_then(|id| id.parse::<u32>().ok());
    let mut named: BTreeSet<u32> = BTreeSet::new();
    let words = changelog.split(|c: char| !(c.is_ascii_alphanumeric() || c == '–'));
    for word in words {
        let (first, last) = word.split_once('–').unwrap_or((word, word));
        if let (Some(first), Some(last)) = (number(first), number(last)) {
            named.extend(first..=last);
        }
    }
    let missing: Vec<&str> = Code::ALL
        .iter()
        .map(|code| code.id())
        .filter(|id| !number(id).is_some_and(|number| named.contains(&number)))
        .collect();
    assert!(missing.is_empty(), "CHANGELOG.md doesn't name {missing:?}");
}
