//! What a repository does to whoever has cloned it, and another user to whoever works beside them, before anything was
//! accepted: it is linted, formatted, built, imported, and its clients are set up.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

use super::git::git;
use super::{DOOR, attacked, done};
use crate::shell::Scratch;

/// A user that is nobody's.
const OTHER: u32 = 65_534;

/// A repository below a folder of the test.
fn clone(name: &str) -> Scratch {
    let outer = Scratch::new(name);
    outer.write("clone/door.md", DOOR);
    git(&outer.path, &["init", "-q", "clone"]);
    outer
}

/// The same, as the program is run in it.
fn inside(outer: &Scratch) -> Scratch {
    Scratch {
        path: outer.path.join("clone"),
    }
}

#[test]
fn eighth_f1_another_users_folder_above_configures_nothing() {
    if !rustix::process::geteuid().is_root() {
        // Only root can make a file another user's.
        return;
    }
    let outer = clone("attack-eighth-above");
    let clone = inside(&outer);
    clone.write(
        "bad.md",
        "## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n[*]-->a\nb-->c:go\n```\n",
    );
    let config = "project = \"evil\"\n[lint]\nignore = [\"SM3\", \"SM2\", \"SM1\"]\n[checks.tests]\ncommand = [\"touch\", \"ran\"]\n";
    outer.write("statemark.toml", config);
    let theirs = |names: &[&str]| {
        for name in names {
            chown(outer.path.join(name), Some(OTHER), None).unwrap();
        }
    };
    let in_force = || done(&clone, &["config", "--json"]).stdout.contains("evil");
    assert!(in_force(), "one of our own above counts");
    theirs(&["statemark.toml"]);
    assert!(!in_force());
    assert_ne!(attacked(&clone, &["lint", "bad.md"]).code, 0);
    let said = attacked(&clone, &["run-check", "tests"]);
    assert_ne!(said.code, 0, "{}", said.stdout);
    assert!(!outer.path.join("ran").exists());
    // Nor is a store made in their folder: the nearest of one's own is further up.
    outer.write("shared/mine/door.md", DOOR);
    fs::create_dir(outer.path.join("shared/.statemark")).unwrap();
    theirs(&["shared/.statemark"]);
    let mine = Scratch {
        path: outer.path.join("shared/mine"),
    };
    done(&mine, &["start", "door"]);
    let left = fs::read_dir(outer.path.join("shared/.statemark")).unwrap();
    assert_eq!(left.count(), 0);
    assert!(outer.path.join(".statemark/runs.db").exists());
}

#[test]
fn eighth_f3_prose_is_no_program_of_cargo_test() {
    let scratch = Scratch::new("attack-eighth-prose");
    scratch.write(
        "gate.workflow.json",
        r#"{"id": "gate", "title": "<script>RAN</script>", "description": "A gate.\n\n    RAN_description();\n", "initial": "a",
            "states": {"a": {"on": {"GO": "b"}, "description": "It is a.\n\n```\nRAN_state();\n```"},
                       "b": {"type": "final", "description": "- b\n\n  -     RAN_list();"}}}"#,
    );
    scratch.write(
        "door.md",
        &format!("{DOOR}\n### `shut`\n\nShut, as here:\n~~~\nRAN_instructions();\n~~~\n\n### `open`\n\n<script>RAN</script> It's open.\n"),
    );
    for (file, count) in [("gate.workflow.json", 3), ("door.md", 1)] {
        let built = done(&scratch, &["build", file, "--emit", "rust", "-o", "out"]);
        let name = file.split('.').next().unwrap();
        let text = fs::read_to_string(scratch.path.join(format!("out/{name}.rs"))).unwrap();
        let kept = text.matches("not(doctest)").count();
        assert_eq!(kept, count, "{}{text}", built.stderr);
        for line in text.lines().filter(|it| it.trim_start().starts_with("///")) {
            assert!(
                !line.contains("RAN_") && !line.contains(" <script"),
                "{line}"
            );
        }
    }
}

#[test]
fn eighth_f4_a_linked_setting_of_a_client_leads_nowhere() {
    let outer = clone("attack-eighth-settings");
    let clone = inside(&outer);
    outer.write("home/.claude.json", "{\"key\": \"sk-SECRET\"}");
    fs::create_dir_all(outer.path.join("home/.cursor")).unwrap();
    symlink("../home/.claude.json", clone.path.join(".mcp.json")).unwrap();
    symlink("../home/.cursor", clone.path.join(".cursor")).unwrap();
    for words in [
        ["mcp", "add", "claude"].as_slice(),
        &["mcp", "add", "cursor"],
        &["hook", "install", "cursor"],
        &["hook", "remove", "cursor"],
    ] {
        let said = attacked(&clone, words);
        assert_eq!(said.code, 2, "{words:?}: {}", said.stderr);
        assert!(
            said.stderr.contains("is a link, which isn't followed"),
            "{}",
            said.stderr
        );
    }
    assert!(clone.path.join(".mcp.json").is_symlink());
    assert_eq!(
        fs::read_dir(outer.path.join("home/.cursor"))
            .unwrap()
            .count(),
        0
    );
    // What is there keeps its permissions.
    let own = clone.path.join(".gemini/settings.json");
    clone.write(".gemini/settings.json", "{\"key\": \"sk-SECRET\"}");
    fs::set_permissions(&own, fs::Permissions::from_mode(0o600)).unwrap();
    done(&clone, &["mcp", "add", "gemini"]);
    let text = fs::read_to_string(&own).unwrap();
    assert!(
        text.contains("sk-SECRET") && text.contains("statemark"),
        "{text}"
    );
    assert_eq!(
        fs::metadata(&own).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn eighth_f6_a_linked_configuration_shows_no_line_of_a_file() {
    let outer = clone("attack-eighth-config");
    let clone = inside(&outer);
    outer.write("secret", "TOKEN_hunter2 = \n");
    clone.write("inside.toml", "TOKEN_hunter2 = \n");
    for (to, said) in [
        ("../secret", "is a link that leads out of its project"),
        (
            "/proc/self/environ",
            "is a link that leads out of its project",
        ),
        ("inside.toml", "can't be read"),
    ] {
        let _ = fs::remove_file(clone.path.join("statemark.toml"));
        symlink(to, clone.path.join("statemark.toml")).unwrap();
        for words in [["lint"].as_slice(), &["fmt", "--check"], &["config"]] {
            let told = attacked(&clone, words);
            let all = format!("{}{}", told.stdout, told.stderr);
            assert!(
                told.code != 0 && all.contains(said),
                "{to} {words:?}: {all}"
            );
            assert!(
                !all.contains("hunter2") && !all.contains("PATH="),
                "{to} {words:?}: {all}"
            );
        }
    }
}

#[test]
fn eighth_f7_a_files_name_is_one_line() {
    let outer = clone("attack-eighth-names");
    let clone = inside(&outer);
    let name = "a\n::set-output name=x::y\n--- b\n+++ c\n::e.md";
    clone.write(name, &DOOR.replace("shut --> open", "shut -->  open"));
    for words in [
        ["fmt", "--check"].as_slice(),
        &["fmt", "--diff"],
        &["lint", "--show-files"],
        &["lint", "--hints"],
        &["lint", "--hints", "--output-format", "junit"],
        &["lint", "--hints", "--output-format", "github"],
        &["lint", "--diff"],
        &[],
    ] {
        let said = attacked(&clone, words);
        for line in said.stdout.lines().chain(said.stderr.lines()) {
            assert!(
                !line.starts_with("::set-output") && !line.starts_with("+++ c"),
                "{words:?}: {}",
                said.stdout
            );
        }
    }
}

#[test]
fn eighth_f8_nothing_is_written_through_a_link_out_of_the_repository() {
    let outer = clone("attack-eighth-outside");
    let clone = inside(&outer);
    let loose = DOOR.replace("shut --> open", "shut -->  open");
    outer.write("outside/mine.md", &loose);
    // Even where the other place is a repository, too.
    git(&outer.path, &["init", "-q", "outside"]);
    symlink("../outside", clone.path.join("docs")).unwrap();
    for words in [
        ["fmt", "docs"].as_slice(),
        &["fmt", "docs/mine.md"],
        &[
            "lint",
            "--output-format",
            "json",
            "--output-file",
            "docs/r.json",
        ],
        &["build", "door.md", "-o", "docs"],
        &["build", "door.md", "-o", "docs/new"],
        &["graph", "door.md", "-o", "docs/d.svg"],
        &["new", "zz", "-o", "docs"],
    ] {
        let said = attacked(&clone, words);
        assert_ne!(said.code, 0, "{words:?}: {}", said.stdout);
        assert!(
            said.stderr.contains("leads out of its repository"),
            "{words:?}: {}",
            said.stderr
        );
    }
    assert_eq!(
        fs::read_to_string(outer.path.join("outside/mine.md")).unwrap(),
        loose
    );
    assert_eq!(fs::read_dir(outer.path.join("outside")).unwrap().count(), 2);
    // One that stays inside is followed.
    clone.write("inner/mine.md", &loose);
    symlink("inner", clone.path.join("also")).unwrap();
    done(&clone, &["fmt", "also/mine.md"]);
    assert_ne!(
        fs::read_to_string(clone.path.join("inner/mine.md")).unwrap(),
        loose
    );
    // What is imported is for this repository.
    outer.write("statemark.toml", "project = \"above\"\n");
    clone.write(
        ".rstn/hooks.yaml",
        "hooks:\n  tests:\n    command: \"true\"\n",
    );
    let said = attacked(&clone, &["import", ".rstn/hooks.yaml", "--write"]);
    let above = fs::read_to_string(outer.path.join("statemark.toml")).unwrap();
    assert_eq!(
        above, "project = \"above\"\n",
        "{}{}",
        said.stdout, said.stderr
    );
    assert_eq!(
        said.code == 0,
        clone.path.join("statemark.toml").exists(),
        "{}",
        said.stderr
    );
}

#[test]
fn eighth_f9_lists_of_ignored_files_have_a_budget() {
    let scratch = Scratch::new("attack-eighth-globs");
    let globs = |bytes: usize| "**/*a*b*c\n".repeat(bytes / 10);
    for folder in 0..12 {
        let name = format!("d{folder:02}");
        scratch.write(&format!("{name}/door.md"), DOOR);
        scratch.write(&format!("{name}/.gitignore"), &globs(110_000));
    }
    let said = attacked(&scratch, &["lint"]);
    let told = "`d09/.gitignore` can't be read: with it, the lists of ignored files have more than 1048576 bytes";
    assert!(said.stderr.contains(told), "{}", said.stderr);
    // One alone is too long.
    let scratch = Scratch::new("attack-eighth-glob");
    scratch.write(".statemarkignore", &globs(200_000));
    let said = attacked(&scratch, &["lint"]);
    assert!(
        said.stderr.contains("more than 131072 bytes"),
        "{}",
        said.stderr
    );
}

#[test]
fn eighth_f9_another_users_list_above_hides_nothing() {
    if !rustix::process::geteuid().is_root() {
        // Only root can make a file another user's.
        return;
    }
    let outer = clone("attack-eighth-lists");
    for name in ["a", "b", "c", "d"] {
        outer.write(&format!("mine/deep/{name}.md"), DOOR);
    }
    let deep = Scratch {
        path: outer.path.join("mine/deep"),
    };
    outer.write("mine/.gitignore", "/deep/b.md\n");
    outer.write("mine/.statemarkignore", "c.md\n");
    outer.write(".ignore", "*.md\n");
    let found = |folder: &str| {
        let said = done(&deep, &["lint", folder, "--show-files"]);
        let mut names: Vec<String> = said.stdout.lines().map(str::to_owned).collect();
        names.retain(|it| it.ends_with(".md"));
        names
    };
    assert!(found(".").is_empty(), "one of our own above counts");
    chown(outer.path.join(".ignore"), Some(OTHER), None).unwrap();
    // Those of the project count on, as they are written: from where they stand.
    assert_eq!(found("."), ["a.md", "d.md"]);
    assert_eq!(found("../deep"), ["../deep/a.md", "../deep/d.md"]);
    // What the folder itself says counts more than what is above it.
    outer.write("mine/deep/.gitignore", "!b.md\nd.md\n");
    assert_eq!(found("."), ["a.md", "b.md"]);
}

#[test]
fn eighth_f10_a_pipe_for_hooks_holds_nobody_up() {
    let outer = clone("attack-eighth-pipe");
    let clone = inside(&outer);
    clone.write("statemark.toml", "[executor]\nlease = \"5s\"\n");
    fs::create_dir(clone.path.join(".codex")).unwrap();
    let pipe = clone.path.join(".codex/hooks.json");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    done(&clone, &["start", "door", "--run-id", "r"]);
    // It ends in time, and says that nobody works here.
    let said = attacked(&clone, &["agent", "run", "r"]);
    assert!(
        said.stderr.contains("executor"),
        "{}{}",
        said.stdout,
        said.stderr
    );
}
