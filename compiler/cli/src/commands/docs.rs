//! The documentation in the program: README and book, guides, pages of profiles, findings and commands.
//!
//! Two indexes list findings and commands. `docs/` has pages that stand nowhere else; the build script finds them, so that a
//! file there is a page. `docs/linked` has links to guides from elsewhere in the project, so that they are in a published
//! package, too.

use statemark_compiler::diag::Code;
use statemark_compiler::keys_page;
use statemark_tools::Page;

use crate::environment;

/// Weights of pages relative to a guide.
///
/// Why: there are hundreds of pages of findings, each with words from everywhere; the README says briefly what the book
/// says at length; a skill tells again what agents do with it; the map of the code is for those who change it.
const LANGUAGE: f64 = 1.4;
const GUIDE: f64 = 1.0;
const README: f64 = 0.8;
const EXAMPLE: f64 = 0.8;
const SKILL: f64 = 0.6;
const PROFILE: f64 = 0.3;
const KEYS: f64 = 0.6;
const HELP: f64 = 0.75;
const RULE: f64 = 0.45;
const MAP: f64 = 0.3;

/// The guides: id, weight and text.
const GUIDES: &[(&str, f64, &str)] = &[
    ("readme", README, include_str!("docs/linked/readme.md")),
    (
        "book/install",
        GUIDE,
        include_str!("docs/linked/book/install.md"),
    ),
    (
        "book/specs",
        GUIDE,
        include_str!("docs/linked/book/specs.md"),
    ),
    (
        "book/findings",
        GUIDE,
        include_str!("docs/linked/book/findings.md"),
    ),
    (
        "book/proofs",
        GUIDE,
        include_str!("docs/linked/book/proofs.md"),
    ),
    (
        "book/editors",
        GUIDE,
        include_str!("docs/linked/book/editors.md"),
    ),
    ("book/rust", GUIDE, include_str!("docs/linked/book/rust.md")),
    (
        "book/dashboard",
        GUIDE,
        include_str!("docs/linked/book/dashboard.md"),
    ),
    (
        "book/packs",
        GUIDE,
        include_str!("docs/linked/book/packs.md"),
    ),
    ("book/runs", GUIDE, include_str!("docs/linked/book/runs.md")),
    (
        "book/decisions",
        GUIDE,
        include_str!("docs/linked/book/decisions.md"),
    ),
    (
        "book/stores",
        GUIDE,
        include_str!("docs/linked/book/stores.md"),
    ),
    (
        "book/agents",
        GUIDE,
        include_str!("docs/linked/book/agents.md"),
    ),
    (
        "book/executors",
        GUIDE,
        include_str!("docs/linked/book/executors.md"),
    ),
    (
        "book/hooks",
        GUIDE,
        include_str!("docs/linked/book/hooks.md"),
    ),
    (
        "book/servers",
        GUIDE,
        include_str!("docs/linked/book/servers.md"),
    ),
    (
        "book/trust",
        GUIDE,
        include_str!("docs/linked/book/trust.md"),
    ),
    (
        "book/comparison",
        GUIDE,
        include_str!("docs/linked/book/comparison.md"),
    ),
    (
        "skills/write-state-machine",
        GUIDE,
        include_str!("docs/linked/write-state-machine.md"),
    ),
    (
        "skills/write-state-machine/references/language",
        LANGUAGE,
        include_str!("docs/linked/language.md"),
    ),
    ("skills", SKILL, include_str!("docs/linked/skills.md")),
    (
        "skills/fix-diagnostic",
        SKILL,
        include_str!("docs/linked/fix-diagnostic.md"),
    ),
    (
        "skills/fix-diagnostic/references/causes",
        SKILL,
        include_str!("docs/linked/causes.md"),
    ),
    (
        "skills/drive-run",
        SKILL,
        include_str!("docs/linked/drive-run.md"),
    ),
    (
        "skills/drive-run/references/refusals",
        SKILL,
        include_str!("docs/linked/refusals.md"),
    ),
    (
        "skills/drive-run/references/command-line",
        SKILL,
        include_str!("docs/linked/command-line.md"),
    ),
    ("mermaid", GUIDE, include_str!("docs/linked/mermaid.md")),
    (
        "examples/bugfix_agent",
        EXAMPLE,
        include_str!("docs/linked/bugfix_agent.md"),
    ),
    (
        "examples/night_shift",
        EXAMPLE,
        include_str!("docs/linked/night_shift.md"),
    ),
    (
        "examples/order",
        EXAMPLE,
        include_str!("docs/linked/order.md"),
    ),
    (
        "examples/paper",
        EXAMPLE,
        include_str!("docs/linked/paper.md"),
    ),
    (
        "examples/player",
        EXAMPLE,
        include_str!("docs/linked/player.md"),
    ),
    (
        "examples/release_notes",
        EXAMPLE,
        include_str!("docs/linked/release_notes.md"),
    ),
    (
        "examples/traffic_light",
        EXAMPLE,
        include_str!("docs/linked/traffic_light.md"),
    ),
    (
        "examples/triage",
        EXAMPLE,
        include_str!("docs/linked/triage.md"),
    ),
    (
        "examples/turnstile",
        EXAMPLE,
        include_str!("docs/linked/turnstile.md"),
    ),
    (
        "architecture",
        MAP,
        include_str!("docs/linked/architecture.md"),
    ),
];

/// The page of rp1, which is no profile of the server: where `emit` departs from its document.
const RP1: (&str, &str) = ("rp1", include_str!("run/emit/rp1.md"));

/// The pages of the folder `docs/`: id and text.
const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The service for systemd, which the page of that name shows.
const SERVICE: &str = include_str!("../../deploy/statemark.service");

/// The recipe for an image, which the page about containers shows.
const CONTAINERFILE: &str = include_str!("../../deploy/Containerfile");

/// Returns all pages; `program` is the command line.
pub(super) fn pages(mut program: clap::Command) -> Vec<Page> {
    let rules: Vec<Page> = Code::ALL.iter().map(|&code| rule(code)).collect();
    let mut commands = Vec::new();
    program.build();
    for command in program.get_subcommands_mut() {
        add_help(command, "", &mut commands);
    }
    let mut pages: Vec<Page> = GUIDES.iter().map(guide).collect();
    let topics = PAGES.iter();
    pages.extend(topics.map(|(id, text)| guide(&(*id, GUIDE, filled(text).as_str()))));
    let profiles = statemark_profiles::PAGES.into_iter().chain([RP1]);
    pages.extend(profiles.map(profile));
    pages.push(keys());
    pages.push(index("rules", "Rules", &rules));
    pages.push(index("commands", "Commands", &commands));
    pages.extend(rules);
    pages.extend(commands);
    pages
}

/// Makes the reference of a definition's keys.
fn keys() -> Page {
    let text = keys_page();
    Page {
        id: "keys".to_owned(),
        title: title(&text).unwrap_or_default().to_owned(),
        text,
        whole: false,
        weight: KEYS,
        listed: true,
    }
}

/// Makes a page that lists others. It has no weight: a search finds the others themselves.
fn index(id: &str, title: &str, pages: &[Page]) -> Page {
    let mut text = format!("# {title}\n\n");
    for page in pages {
        text += &format!("- [{}](statemark://docs/{})\n", page.title, page.id);
    }
    Page {
        id: id.to_owned(),
        title: title.to_owned(),
        text,
        whole: true,
        weight: 0.0,
        listed: true,
    }
}

fn guide((id, weight, text): &(&str, f64, &str)) -> Page {
    Page {
        id: (*id).to_owned(),
        title: title(text).unwrap_or(id).to_owned(),
        text: (*text).to_owned(),
        whole: false,
        weight: *weight,
        listed: true,
    }
}

/// Makes the page that says where a system's tools or commands depart from its document.
fn profile((name, text): (&str, &str)) -> Page {
    guide(&(&format!("profile/{name}"), PROFILE, text))
}

/// Returns a page with what is said elsewhere: a line `{{NAME}}` stands for it.
fn filled(text: &str) -> String {
    let mut filled = String::with_capacity(text.len());
    for line in text.lines() {
        match line {
            "{{variables}}" => {
                for variable in environment::VARIABLES {
                    filled += &format!("| `{}` | {} |\n", variable.name, variable.meaning);
                }
            }
            "{{service}}" => filled += SERVICE,
            "{{containerfile}}" => filled += CONTAINERFILE,
            line => {
                filled += line;
                filled.push('\n');
            }
        }
    }
    filled
}

/// Returns the first heading of a text.
fn title(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("# "))
}

fn rule(code: Code) -> Page {
    Page {
        id: code.id().to_owned(),
        title: format!("{} {}", code.id(), code.name()),
        text: code.page().to_owned(),
        whole: true,
        weight: RULE,
        listed: false,
    }
}

/// Adds the help of a command and of its subcommands.
fn add_help(command: &mut clap::Command, parent: &str, pages: &mut Vec<Page>) {
    let name = command.get_name().to_owned();
    // The program's own `help` has a page; those that clap makes say nothing more.
    if (name == "help" && !parent.is_empty()) || command.is_hide_set() {
        return;
    }
    let path = format!("{parent}{name}");
    let text = command.clone().render_help().to_string();
    pages.push(Page {
        id: format!("command/{path}"),
        title: format!("statemark {}", path.replace('/', " ")),
        text,
        whole: true,
        weight: HELP,
        listed: false,
    });
    for subcommand in command.get_subcommands_mut() {
        add_help(subcommand, &format!("{path}/"), pages);
    }
}

#[cfg(test)]
mod tests;
