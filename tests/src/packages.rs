//! Packages that can be published: what a registry shows of them, and what is in them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};
use statemark_harness::{files, root};

/// What users name in their manifest or in `cargo install`; whatever these need is published with them.
const ROOTS: [&str; 2] = ["statemark", "statemark-cli"];

/// Slugs of crates.io's categories that fit here. Source: <https://crates.io/category_slugs>.
const CATEGORIES: [&str; 14] = [
    "command-line-utilities",
    "compilers",
    "database-implementations",
    "development-tools",
    "development-tools::procedural-macro-helpers",
    "embedded",
    "filesystem",
    "network-programming",
    "no-std",
    "parser-implementations",
    "rust-patterns",
    "text-editors",
    "text-processing",
    "web-programming::http-server",
];

/// Most keywords of a package. Source: crates.io.
const MAX_KEYWORDS: usize = 5;

/// Longest keyword. Unit: bytes. Source: crates.io.
const MAX_KEYWORD: usize = 20;

fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .expect("cargo metadata")
}

fn is_published(package: &Package) -> bool {
    package.publish.as_ref().is_none_or(|to| !to.is_empty())
}

/// Returns the packages of the workspace that users need, by name.
fn needed(metadata: &Metadata) -> BTreeSet<String> {
    let all = metadata.packages.iter();
    let all: BTreeMap<&str, &Package> = all.map(|it| (it.name.as_str(), it)).collect();
    let mut found = BTreeSet::new();
    let mut open = Vec::from(ROOTS);
    while let Some(name) = open.pop() {
        if !found.insert(name.to_owned()) {
            continue;
        }
        let used = all[name].dependencies.iter();
        let used = used.filter(|it| it.kind != DependencyKind::Development);
        open.extend(used.filter_map(|it| all.get(it.name.as_str()).map(|it| it.name.as_str())));
    }
    found
}

#[test]
fn what_users_need_is_published_and_nothing_else() {
    let metadata = metadata();
    let published = metadata.packages.iter().filter(|it| is_published(it));
    let published: BTreeSet<String> = published.map(|it| it.name.to_string()).collect();
    assert_eq!(published, needed(&metadata));
}

#[test]
fn packages_say_what_they_are() {
    let metadata = metadata();
    let mut faults = Vec::new();
    for package in metadata.packages.iter().filter(|it| is_published(it)) {
        let mut fault = |what: String| faults.push(format!("{}: {what}", package.name));
        let description = package.description.as_deref().unwrap_or_default();
        if !(30..=200).contains(&description.len()) || !description.ends_with('.') {
            fault(format!("its description is `{description}`"));
        }
        if package.license.is_none() || package.repository.is_none() {
            fault("it has no license or no repository".to_owned());
        }
        let keywords = &package.keywords;
        let is_bad = |word: &String| {
            let is_spelled = |c: char| c.is_ascii_alphanumeric() || "-_+".contains(c);
            word.is_empty() || word.len() > MAX_KEYWORD || !word.chars().all(is_spelled)
        };
        if keywords.is_empty() || keywords.len() > MAX_KEYWORDS || keywords.iter().any(is_bad) {
            fault(format!("its keywords are {keywords:?}"));
        }
        let categories = &package.categories;
        if categories.is_empty()
            || !categories
                .iter()
                .all(|it| CATEGORIES.contains(&it.as_str()))
        {
            fault(format!("its categories are {categories:?}"));
        }
        if package.metadata["docs"]["rs"]["all-features"] != true {
            fault("its documentation doesn't show all features".to_owned());
        }
        let folder = package
            .manifest_path
            .parent()
            .expect("a folder")
            .as_std_path();
        match &package.readme {
            Some(readme) if folder.join(readme).is_file() => {
                let readme = fs::read_to_string(folder.join(readme)).expect("a text");
                if !readme.starts_with(&format!("# {}\n", package.name)) {
                    fault("its README has another title".to_owned());
                }
                faults.extend(broken_links(&package.name, &readme));
            }
            other => fault(format!("its README is {other:?}")),
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Returns faults of a README's links: a registry shows it, where nothing is beside it.
fn broken_links(name: &str, readme: &str) -> Vec<String> {
    let targets = readme.split("](").skip(1);
    let targets = targets.filter_map(|after| after.split_once(')').map(|(target, _)| target));
    let is_broken = |target: &&str| {
        let path = target.strip_prefix(super::readme::REPOSITORY);
        let exists = path.is_some_and(|path| root().join(path).exists());
        let crate_of_ours = target
            .strip_prefix("https://crates.io/crates/")
            .is_some_and(|name| name.starts_with("statemark"));
        !exists && !crate_of_ours && super::readme::REPOSITORY != format!("{target}/blob/main/")
    };
    targets
        .filter(is_broken)
        .map(|target| format!("{name}: its README links to {target}"))
        .collect()
}

/// A package is there without the workspace: it has its licences, its README and the texts that its sources include, and
/// asks for nothing that isn't published.
#[test]
fn packages_are_whole() {
    let metadata = metadata();
    let needed = needed(&metadata);
    let mut faults = Vec::new();
    for package in metadata.packages.iter().filter(|it| is_published(it)) {
        let folder = package
            .manifest_path
            .parent()
            .expect("a folder")
            .as_std_path();
        let listed = list(&package.name);
        for file in ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "Cargo.toml"] {
            if !listed.contains(file) {
                faults.push(format!("{} is packaged without {file}", package.name));
            }
        }
        for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
            if fs::read(folder.join(file)).ok() != fs::read(root().join(file)).ok() {
                faults.push(format!("{}: {file} isn't the project's", package.name));
            }
        }
        let tests = listed
            .iter()
            .find(|it| it.starts_with("tests/") || it.starts_with("benches/"));
        faults.extend(tests.map(|it| format!("{} is packaged with {it}", package.name)));
        for included in included(folder) {
            if !listed.contains(&included) {
                faults.push(format!("{} is packaged without {included}", package.name));
            }
        }
        for used in package.dependencies.iter().filter(|it| it.path.is_some()) {
            let is_test = used.kind == DependencyKind::Development;
            // Cargo leaves a dependency of tests out that has no version.
            let is_left_out = is_test && used.req.to_string() == "*";
            if !is_left_out && !needed.contains(&used.name) {
                faults.push(format!("{} asks for {}", package.name, used.name));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Returns the files that cargo would package.
fn list(package: &str) -> BTreeSet<String> {
    let cargo = std::env::var("CARGO").expect("cargo runs tests");
    let output = Command::new(cargo)
        .current_dir(root())
        .args([
            "package",
            "--list",
            "--allow-dirty",
            "--offline",
            "--locked",
            "-p",
            package,
        ])
        .output()
        .expect("cargo package runs");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{package}: {told}");
    let listed = String::from_utf8(output.stdout).expect("names are UTF-8");
    listed.lines().map(|it| it.replace('\\', "/")).collect()
}

/// Returns the files that the sources of a package include as texts, from its folder on; those of its tests too.
fn included(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in files(&folder.join("src")) {
        if path.extension().is_none_or(|ending| ending != "rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source");
        for after in text.split("include_str!(\"").skip(1) {
            let Some((target, _)) = after.split_once('"') else {
                continue;
            };
            let mut parts: Vec<&str> = Vec::new();
            let beside = path.parent().expect("a folder");
            let beside = beside.strip_prefix(folder).expect("inside");
            let beside = beside.to_str().expect("UTF-8").replace('\\', "/");
            for part in beside.split('/').chain(target.split('/')) {
                match part {
                    ".." => {
                        parts.pop();
                    }
                    part => parts.push(part),
                }
            }
            found.insert(parts.join("/"));
        }
    }
    found
}
