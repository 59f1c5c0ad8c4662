//! CHANGELOG.md names everything that a user can name: a thing without a line there came without a word to its users.
//!
//! Flags stand in a line of their command, which begins with it: `` - `statemark send`: `--data`, … ``. A name elsewhere
//! might be another command's. Those that mean the same for every command that has them stand in the line of `statemark`.

use std::collections::BTreeSet;
use std::fs;

use statemark_harness::mentions;
use statemark_tools::own_tools;

use super::{leaves, program, root};

fn changelog() -> String {
    fs::read_to_string(root().join("../../CHANGELOG.md")).unwrap()
}

/// Fails if any name isn't in the changelog.
#[track_caller]
fn assert_named(kind: &str, names: impl IntoIterator<Item = String>) {
    let changelog = changelog();
    let names: BTreeSet<String> = names.into_iter().collect();
    assert!(!names.is_empty(), "no {kind} was found");
    let missing: Vec<&String> = names
        .iter()
        .filter(|it| !mentions(&changelog, it))
        .collect();
    assert!(
        missing.is_empty(),
        "CHANGELOG.md doesn't name these {kind}: {missing:#?}"
    );
}

#[test]
fn every_command_is_in_the_changelog() {
    let names = program();
    let names = names.get_subcommands().map(|it| it.get_name().to_owned());
    let changelog = changelog();
    for name in names {
        let is_named = [format!("`{name}"), format!("statemark {name}")];
        let is_named = is_named.iter().any(|words| mentions(&changelog, words));
        assert!(is_named, "CHANGELOG.md doesn't name `{name}`");
    }
}

#[test]
fn every_flag_is_in_the_changelog() {
    let changelog = changelog();
    let lines = |path: &str| -> Vec<&str> {
        let begin = format!("- `{path}`:");
        let lines = changelog.lines();
        lines.filter(|line| line.starts_with(&begin)).collect()
    };
    let is_named = |path: &str, flag: &str| lines(path).iter().any(|it| mentions(it, flag));
    let program = program();
    let mut missing = Vec::new();
    let root = [(String::new(), program.clone())];
    for (path, command) in leaves(&program, "").into_iter().chain(root) {
        let path = format!("statemark {path}").trim_end().to_owned();
        let flags = command.get_arguments().filter(|it| !it.is_hide_set());
        let flags = flags.filter_map(|it| Some(format!("--{}", it.get_long()?)));
        let mut lost: BTreeSet<String> = flags.filter(|it| it != "--help").collect();
        lost.retain(|flag| !is_named(&path, flag) && !is_named("statemark", flag));
        if !lost.is_empty() {
            let lost: Vec<String> = lost.iter().map(|it| format!("`{it}`")).collect();
            missing.push(format!("- `{path}`: {}", lost.join(", ")));
        }
    }
    assert!(
        missing.is_empty(),
        "CHANGELOG.md lacks these lines, or their flags:\n{}",
        missing.join("\n")
    );
}

#[test]
fn every_tool_is_in_the_changelog() {
    let all = own_tools().into_iter();
    let all = all.chain(statemark_profiles::all());
    let all = all.chain(statemark_packs::all());
    assert_named("tools", all.map(|tool| tool.name.to_string()));
}

#[test]
fn every_route_is_in_the_changelog() {
    let changelog = changelog();
    let all = own_tools();
    let routes = all.iter().flat_map(|tool| tool.routes.iter());
    let routes: BTreeSet<String> = routes
        .map(|route| format!("`{} /api{}`", route.method.name(), route.shown_path()))
        .collect();
    let missing: Vec<&String> = routes
        .iter()
        .filter(|it| !changelog.contains(*it))
        .collect();
    assert!(
        routes.len() > 5 && missing.is_empty(),
        "CHANGELOG.md doesn't name {missing:#?}"
    );
}

/// The page lists all of them: tests of `project.rs` and of `environment.rs` see to it.
#[test]
fn every_setting_is_in_the_changelog() {
    let page = fs::read_to_string(root().join("src/commands/docs/configuration.md")).unwrap();
    let cells = page.lines().filter_map(|line| line.strip_prefix("| "));
    let cells = cells.filter_map(|line| line.split(" | ").next());
    let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let variables = crate::environment::VARIABLES.iter().map(|it| it.name);
    let all = names.chain(variables).map(str::to_owned);
    assert_named("settings", all);
}
