//! Every topic is listed and can be read, and what the code reads is on a page.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use statemark_harness::{files, mentions, relative, root};

use super::*;
use crate::commands::program;
use crate::environment::VARIABLES;
use crate::project::Config;

fn pages() -> Vec<Page> {
    docs::pages(program())
}

fn found(topic: &str) -> String {
    found_in(&pages(), topic)
}

fn found_in(pages: &[Page], topic: &str) -> String {
    let words: Vec<&str> = topic.split(' ').collect();
    find(&words, pages).unwrap_or_else(|failure| panic!("{topic}: {failure}"))
}

#[test]
fn every_topic_is_listed_and_can_be_read() {
    let pages = pages();
    let listed = list(
        &pages,
        Printer::new(crate::printer::ColorWhen::Never).palette(),
    );
    let mut names = BTreeSet::new();
    for page in &pages {
        let topic = name(page);
        assert!(
            names.insert(topic.to_lowercase()),
            "two pages are the topic `{topic}`"
        );
        let words: Vec<&str> = topic.split(' ').collect();
        assert_eq!(find(&words, &pages).unwrap(), page.text, "{topic}");
        assert!(!page.text.trim().is_empty(), "{topic}");
        assert!(!page.text.contains("\n{{"), "{topic} has a hole");
        if page.listed {
            let line = format!("  {topic} ");
            assert!(listed.contains(&line), "{topic} isn't listed in\n{listed}");
        }
    }
    let folder = root().join("compiler/cli/src/commands/docs");
    for entry in fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        if let Some(page) = file.strip_suffix(".md") {
            assert!(names.contains(page), "{file} is no topic");
        }
    }
}

#[test]
fn commands_and_findings_are_topics() {
    let pages = pages();
    for command in COMMANDS {
        assert!(
            found_in(&pages, command.name).contains("Usage: statemark"),
            "{}",
            command.name
        );
    }
    assert!(found_in(&pages, "store verify").contains("Usage: statemark store verify"));
    for code in Code::ALL {
        assert_eq!(found_in(&pages, code.id()), code.page());
        assert_eq!(found_in(&pages, code.name()), code.page());
    }
}

#[test]
fn the_help_lists_every_command_once() {
    let help = program().render_help().to_string();
    for command in COMMANDS {
        let line = format!("\n  {} ", command.name);
        assert_eq!(help.matches(&line).count(), 1, "{}", command.name);
    }
    // A group is written once, so its commands stand next to each other.
    for command in COMMANDS {
        let title = format!("\n{}:\n", command.group);
        assert_eq!(help.matches(&title).count(), 1, "{}", command.group);
    }
}

#[test]
fn a_part_of_a_page_is_found_by_its_heading_or_row() {
    let pages = pages();
    let row = found_in(&pages, "configuration STATEMARK_LOG");
    assert!(
        row.contains("| variable | means |") && row.contains("| `STATEMARK_LOG` |"),
        "{row}"
    );
    assert!(!row.contains("STATEMARK_STORE"), "{row}");
    let section = found_in(&pages, "proxies nginx");
    assert!(
        section.starts_with("## nginx\n") && !section.contains("Caddy"),
        "{section}"
    );
    assert!(found_in(&pages, "systemd service").contains("ExecStart="));
    for (topic, help) in [
        ("confguration", "`statemark help configuration`"),
        ("stroe verify", "`statemark help store verify`"),
        ("unreachable stat", "`statemark help unreachable-state`"),
        (
            "configuration STATEMARK_STOR",
            "`statemark help configuration STATEMARK_STORE`",
        ),
        ("reverse proxy with TLS", "`statemark help proxies`"),
        ("xyzzyqwv", "`statemark help topics` lists them"),
    ] {
        let words: Vec<&str> = topic.split(' ').collect();
        let failure = find(&words, &pages).unwrap_err();
        let said = failure.help().unwrap_or_default();
        assert!(said.contains(help), "{topic}: {failure}: {said}");
    }
}

/// Returns the names of variables that a source reads: what stands in quotes behind a call that reads one.
fn read_by(source: &str) -> BTreeSet<String> {
    let calls = ["env::var(", "env::var_os(", "variable(", "own(", "said("];
    let is_name = |text: &str| {
        !text.is_empty() && text.bytes().all(|it| it.is_ascii_uppercase() || it == b'_')
    };
    let mut names = BTreeSet::new();
    for line in source.lines() {
        for call in calls.iter().flat_map(|call| line.split(call).skip(1)) {
            let arguments = call.split(')').next().unwrap_or_default();
            let quoted = arguments.split('"').skip(1).step_by(2);
            names.extend(quoted.filter(|it| is_name(it)).map(str::to_owned));
        }
    }
    names
}

#[test]
fn every_variable_is_on_the_page_of_configuration() {
    let page = found("configuration");
    let mut names: BTreeSet<String> = VARIABLES.iter().map(|it| it.name.to_owned()).collect();
    names.extend(statemark_profiles::VARIABLES.map(str::to_owned));
    for path in files(&root().join("runtime")) {
        let is_source = relative(&path).contains("/src/") && relative(&path).ends_with(".rs");
        if is_source {
            let text = fs::read_to_string(&path).unwrap();
            names.extend(read_by(text.split("#[cfg(test)]").next().unwrap()));
        }
    }
    assert!(names.len() > 25 && names.contains("PGSSLMODE"), "{names:?}");
    let missing: Vec<&String> = names
        .iter()
        .filter(|it| !page.contains(&format!("`{it}`")))
        .collect();
    assert!(
        missing.is_empty(),
        "`statemark help configuration` doesn't have {missing:?}"
    );
}

/// Serde names the keys that it reads where it meets another.
fn keys_read(text: &str) -> Vec<String> {
    let error = toml::from_str::<Config>(text).unwrap_err().to_string();
    let expected = error
        .split_once("expected")
        .map(|(_, rest)| rest.to_owned());
    let expected = expected.unwrap_or_else(|| panic!("{error}"));
    quoted(&expected)
}

#[test]
fn every_key_is_on_the_page_of_configuration() {
    let page = found("configuration");
    let mut keys = keys_read("no_such_key = 1");
    keys.extend(keys_read("[checks.a]\ncommand = []\nno_such_key = 1"));
    assert!(keys.len() >= 9, "{keys:?}");
    for key in keys {
        assert!(
            page.contains(&format!("| `{key}` |")),
            "the page doesn't have `{key}`"
        );
    }
}

/// The service, the image and the pages call the program as its parser takes it.
#[test]
fn what_is_deployed_calls_the_program_rightly() {
    let read =
        |name: &str| fs::read_to_string(root().join("compiler/cli/deploy").join(name)).unwrap();
    let words =
        |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
    let mut calls: Vec<Vec<String>> = Vec::new();
    let service = read("statemark.service");
    let starts = service
        .lines()
        .filter_map(|line| line.strip_prefix("ExecStart="));
    calls.extend(starts.map(|line| {
        let program = line.split(' ').next().unwrap();
        assert!(
            program.ends_with("/statemark") && program.starts_with('/'),
            "{line}"
        );
        words(line)
    }));
    assert_eq!(calls.len(), 1);
    let image = read("Containerfile");
    for instruction in ["CMD ", "HEALTHCHECK "] {
        let mut lines = image.lines().filter(|line| line.starts_with(instruction));
        let line = lines.next().unwrap();
        let list = line.get(line.find('[').unwrap()..).unwrap();
        let mut call: Vec<String> = serde_json::from_str(list).unwrap();
        if call.first().is_none_or(|it| it != NAME) {
            call.insert(0, NAME.to_owned());
        }
        calls.push(call);
    }
    assert!(image.contains("\nENTRYPOINT [\"statemark\"]\n"));
    for page in ["proxies", "systemd", "containers", "tokens"] {
        for line in found(page).lines() {
            let call = line.find("statemark ").filter(|at| *at == 0).map(|_| line);
            let call = call.map(|line| line.split(['>', '#', '|']).next().unwrap());
            calls.extend(call.map(words));
        }
    }
    assert!(calls.len() > 8, "{calls:?}");
    for call in calls {
        let parsed = program().try_get_matches_from(&call);
        assert!(parsed.is_ok(), "{call:?}: {}", parsed.unwrap_err());
    }
    // What they set is read.
    let set = service
        .lines()
        .filter_map(|line| line.strip_prefix("Environment="));
    let set = set.chain(image.lines().filter_map(|line| line.strip_prefix("ENV ")));
    for name in set.map(|line| line.split('=').next().unwrap()) {
        assert!(
            VARIABLES.iter().any(|it| it.name == name),
            "{name} is read by nobody"
        );
    }
    // The folder of the build leaves out what a build makes.
    assert!(mentions(&read("Containerfile.dockerignore"), "target"));
    assert!(Path::new(&root()).join("Cargo.lock").is_file());
}
