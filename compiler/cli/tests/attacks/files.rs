//! Files in the way: links, pipes, folders that can't be read, and places outside of the project.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use super::{DOOR, PATIENCE, attacked, done, in_time, make_pipe};
use crate::shell::{Scratch, statemark};

/// A file of the user's that nobody may touch.
const PRECIOUS: &str = "a precious file\n";

/// A project with a spec, and beside it a folder of the user's with a file.
fn project(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.write("door.md", DOOR);
    scratch.write("elsewhere/file", PRECIOUS);
    scratch
}

fn is_untouched(scratch: &Scratch) {
    let folder = scratch.path.join("elsewhere");
    assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), PRECIOUS);
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
}

/// A clone's lock, store or folder leads to another file of the user: nothing is written there.
#[test]
fn m6_links_in_the_place_of_our_files_are_not_followed() {
    for name in ["runs.db-lock", "runs.db", "runs.db-wal", "runs.db-shm"] {
        let scratch = project("m6-link");
        let link = scratch.path.join(".statemark").join(name);
        symlink("../elsewhere/file", &link).unwrap();
        let said = attacked(&scratch, &["start", "door", "--run-id", "d1"]);
        is_untouched(&scratch);
        assert!(!said.stderr.contains("panicked"), "{}", said.stderr);
    }
    let scratch = project("m6-link");
    symlink(
        "../elsewhere/file",
        scratch.path.join(".statemark/runs.db-lock"),
    )
    .unwrap();
    let said = attacked(&scratch, &["start", "door", "--run-id", "d1"]);
    assert!(said.stderr.contains("it is a link"), "{}", said.stderr);
}

/// A store of a clone that is a link to another store of the user: no run is put there.
#[test]
fn m6_a_link_to_another_store_is_not_written_through() {
    let scratch = project("m6-store");
    done(
        &scratch,
        &["start", "door", "--run-id", "d1", "--store", "mine.db"],
    );
    symlink("../mine.db", scratch.path.join(".statemark/runs.db")).unwrap();
    let said = attacked(&scratch, &["start", "door", "--run-id", "d2"]);
    assert_eq!(said.code, 2, "{}", said.stdout);
    let listed = done(&scratch, &["runs", "--store", "mine.db"]).stdout;
    assert!(listed.contains("d1") && !listed.contains("d2"), "{listed}");
}

/// A clone's folder of runs leads elsewhere: nothing is made there.
#[test]
fn m6_a_folder_of_runs_that_is_a_link_is_refused() {
    let scratch = project("m6-folder");
    fs::remove_dir(scratch.path.join(".statemark")).unwrap();
    symlink("elsewhere", scratch.path.join(".statemark")).unwrap();
    for words in [
        ["start", "door"].as_slice(),
        &["token", "create", "bot", "--role", "agent"],
    ] {
        let said = attacked(&scratch, words);
        assert_eq!(said.code, 2, "{words:?}: {}", said.stdout);
        assert!(said.stderr.contains("is a link"), "{}", said.stderr);
    }
    is_untouched(&scratch);
}

/// The store that a clone's configuration names lies elsewhere: only a person's own word leads there.
#[test]
fn low_a_clones_store_stays_in_the_project() {
    let scratch = project("low-store");
    fs::create_dir(scratch.path.join("clone")).unwrap();
    scratch.write("clone/door.md", DOOR);
    let clone = scratch.path.join("clone");
    symlink("../elsewhere", clone.join("data")).unwrap();
    let start = |variable: Option<(&str, &str)>| {
        let mut command = statemark(&clone);
        command.args(["start", "door"]).envs(variable);
        in_time(command)
    };
    for store in [
        "../elsewhere/runs.db",
        "data/runs.db",
        "no/../../elsewhere/x.db",
    ] {
        scratch.write("clone/statemark.toml", &format!("store = \"{store}\"\n"));
        let said = start(None);
        assert_eq!(said.code, 2, "{store}: {}", said.stdout);
        assert!(
            said.stderr.contains("outside of its project"),
            "{}",
            said.stderr
        );
        is_untouched(&scratch);
    }
    // The person's own words: the environment, and a line in the person's own configuration.
    assert_eq!(start(Some(("STATEMARK_STORE", "../mine.db"))).code, 0);
    assert!(scratch.path.join("mine.db").is_file());
    scratch.write("clone/statemark.toml", "store = \"../elsewhere/runs.db\"\n");
    let folder = scratch.path.join("elsewhere");
    scratch.write(
        "clone/own/statemark/places",
        &format!("{}\n", folder.display()),
    );
    let said = start(None);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(folder.join("runs.db").is_file());
}

/// However a clone's configuration writes an address, no server is reached that nobody has allowed.
#[test]
fn seventh_f1_no_address_leads_where_nobody_allowed() {
    let scratch = project("seventh-address");
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let port = server.local_addr().unwrap().port().to_string();
    let runs = |store: &str| {
        scratch.write("statemark.toml", &format!("store = \"{store}\"\n"));
        let mut command = statemark(&scratch.path);
        // The user's own server, where an address names none.
        command.env("PGHOST", "127.0.0.1").env("PGPORT", &port);
        command.arg("runs");
        command
    };
    scratch.write("own/statemark/places", "postgres://127.0.0.1:1\n");
    for address in [
        "postgres://127.0.0.1:PORT/db",
        "postgres:///x@127.0.0.1:PORT/${HOME}",
        "postgres://127.0.0.1:1/x@127.0.0.1:PORT/db",
        "postgres://127.0.0.1:1?x=@127.0.0.1:PORT/db",
        "postgres:///db?h%6fst=127.0.0.1&p%6frt=PORT",
        "postgres:///db?hostaddr=127.0.0.1&port=PORT",
        // A database of the user's own, in which it would make tables.
        "postgres:///db",
        "postgresql://",
    ] {
        let said = in_time(runs(&address.replace("PORT", &port)));
        assert_eq!(said.code, 2, "{address}: {}", said.stdout);
        assert!(
            said.stderr.contains("nobody has allowed"),
            "{}",
            said.stderr
        );
        let reached = server.accept().map(|(_, from)| from);
        assert!(reached.is_err(), "{address} reached it: {reached:?}");
    }
    // A server that is allowed isn't checked less than its user wants.
    let allowed = format!("postgres://127.0.0.1:{port}?sslmode=verify-full&sslrootcert=system");
    scratch.write("own/statemark/places", &allowed);
    for (checks, lacks) in [
        (
            "sslmode=disable",
            "its address has to say `sslrootcert=system`",
        ),
        (
            "sslmode=require&sslrootcert=system",
            "its address has to say `sslmode=verify-full`",
        ),
        (
            "sslmode=verify-full&sslrootcert=evil.crt",
            "its address has to say `sslrootcert=system`",
        ),
    ] {
        let address = format!("postgres://127.0.0.1:{port}/db?{checks}");
        let said = in_time(runs(&address));
        assert!(said.stderr.contains(lacks), "{checks}: {}", said.stderr);
        assert!(server.accept().is_err(), "{checks} reached it");
    }
    scratch.write("own/statemark/places", "postgres:///db\n");
    // It says nothing, and is waited for.
    let mut allowed = runs("postgres:///db");
    let allowed = allowed.stdout(Stdio::null()).stderr(Stdio::null());
    let mut waiting = allowed.spawn().unwrap();
    let begun = Instant::now();
    let is_reached = || server.accept().is_ok();
    while !is_reached() && begun.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(20));
    }
    waiting.kill().unwrap();
    waiting.wait().unwrap();
    assert!(begun.elapsed() < PATIENCE, "what is allowed isn't reached");
}

/// A pipe in the place of any file is told at once.
#[test]
fn low_a_pipe_hangs_no_command() {
    let pipes: &[(&str, &[&str])] = &[
        ("statemark.toml", &["runs"]),
        ("statemark.toml", &["run-check", "tests"]),
        (".statemark/tokens.json", &["token", "adopt"]),
        (".statemark/runs.db", &["runs"]),
        (".statemark/runs.db-lock", &["start", "door"]),
        ("own/statemark/places", &["runs", "--store", "x.db"]),
        ("pipe.md", &["lint", "pipe.md"]),
        ("pipe.md", &["show", "pipe.md"]),
        ("pipe.md", &["build", "pipe.md"]),
        (
            "events.txt",
            &["simulate", "door.md", "--events", "events.txt"],
        ),
    ];
    for (pipe, words) in pipes {
        let scratch = project("low-pipe");
        let path = scratch.path.join(pipe);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        make_pipe(&path);
        let said = attacked(&scratch, words);
        assert_ne!(said.code, 0, "{pipe} {words:?}: {}", said.stdout);
        assert!(!said.stderr.contains("panicked"), "{}", said.stderr);
    }
    // One that is met isn't a spec, and is no reason to stop.
    let scratch = project("low-pipe");
    make_pipe(&scratch.path.join("pipe.md"));
    done(&scratch, &["lint"]);
    done(&scratch, &["start", "door"]);
}

/// A list of what isn't looked at that has no end is not read: neither a pipe, nor a device, nor a terabyte.
#[test]
fn second_no_list_of_ignored_files_hangs_a_command() {
    let lists = [
        ".gitignore",
        ".ignore",
        ".statemarkignore",
        ".git/info/exclude",
        "deep/.gitignore",
    ];
    let ends: [fn(&std::path::Path); 3] = [
        |path| make_pipe(path),
        |path| symlink("/dev/zero", path).unwrap(),
        |path| fs::File::create(path).unwrap().set_len(1 << 40).unwrap(),
    ];
    for list in lists {
        for end in ends {
            let scratch = project("second-list");
            fs::create_dir(scratch.path.join("deep")).unwrap();
            fs::create_dir_all(scratch.path.join(".git/info")).unwrap();
            end(&scratch.path.join(list));
            let said = attacked(&scratch, &["lint"]);
            let told = format!("`{list}` can't be read");
            let name = list.rsplit('/').next().unwrap();
            assert!(
                said.stderr.contains("can't be read") && said.stderr.contains(name),
                "{told}: {}{}",
                said.stdout,
                said.stderr
            );
            attacked(&scratch, &["start", "door"]);
        }
    }
    // Those above the folder count as well.
    let scratch = project("second-list");
    scratch.write("deep/door.md", DOOR);
    make_pipe(&scratch.path.join(".gitignore"));
    let said = attacked(&scratch, &["lint", "deep"]);
    assert_eq!(said.code, 2, "{}", said.stderr);
}

/// Whatever a user lets others do with new files, what is ours is for its owner alone.
#[test]
fn second_our_folders_are_for_their_owner_alone() {
    let scratch = project("second-modes");
    fs::remove_dir_all(scratch.path.join(".statemark")).unwrap();
    // The project is here, and not where a folder above has runs.
    scratch.write("statemark.toml", "store = \".statemark/runs.db\"\n");
    for words in [
        "lint",
        "start door --run-id d1",
        "ask d1 well --kind confirm",
        "store backup copy.db",
    ] {
        let mut command = std::process::Command::new("sh");
        let program = statemark(&scratch.path);
        command
            .args(["-c", "umask 000; exec \"$0\" \"$@\""])
            .arg(program.get_program())
            .args(words.split(' '));
        command.current_dir(&scratch.path);
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let said = in_time(command);
        assert_eq!(said.code, 0, "{words}: {}", said.stderr);
    }
    let is_open = |path: &std::path::Path| {
        let facts =
            fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mode = facts.permissions().mode();
        (mode & 0o077 != 0).then(|| format!("{}: {mode:o}", path.display()))
    };
    let folder = scratch.path.join(".statemark");
    assert_eq!(is_open(&folder), None);
    let store = ["runs.db", "runs.db-lock", "runs.db-mark"];
    for path in store.map(|name| folder.join(name)) {
        assert_eq!(is_open(&path), None);
    }
    assert_eq!(is_open(&scratch.path.join("copy.db")), None);
}

/// One folder that can't be read ends neither `lint` nor `start`.
#[test]
fn low_an_unreadable_folder_ends_nothing() {
    let scratch = project("low-unreadable");
    scratch.write("private/other.md", DOOR);
    scratch.write("secret.md", DOOR);
    let private = [scratch.path.join("private"), scratch.path.join("secret.md")];
    for path in &private {
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    }
    let as_nobody = |words: &[&str]| {
        let mut command = statemark(&scratch.path);
        command.args(words);
        // Root can read everything.
        if is_root() {
            for name in ["", ".statemark", "elsewhere"] {
                std::os::unix::fs::chown(scratch.path.join(name), Some(NOBODY), Some(NOBODY))
                    .unwrap();
            }
            command.uid(NOBODY).gid(NOBODY);
        }
        in_time(command)
    };
    let lint = as_nobody(&["lint"]);
    let start = as_nobody(&["start", "door"]);
    for path in &private {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
    }
    assert_eq!(lint.code, 0, "{}", lint.stderr);
    for name in ["private", "secret.md"] {
        let told = format!("`{name}` can't be read: permission denied; it isn't checked");
        assert!(lint.stderr.contains(&told), "{}", lint.stderr);
    }
    assert!(lint.stderr.contains("in 1 machine"), "{}", lint.stderr);
    assert_eq!(start.code, 0, "{}", start.stderr);
}

/// Who can't look into a store's folder isn't one who has no store.
#[test]
fn third_a_hook_that_cant_look_for_the_store_refuses() {
    let scratch = project("third-other-user");
    done(&scratch, &["start", "door", "--run-id", "r1"]);
    let folder = scratch.path.join(".statemark");
    // Root may look into it nevertheless, and asks as another user.
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o000)).unwrap();
    let message = r#"{"session_id": "s", "cwd": ".", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}"#;
    scratch.write("message", message);
    let as_other = |words: &[&str]| {
        let mut command = statemark(&scratch.path);
        command.args(words);
        command.stdin(fs::File::open(scratch.path.join("message")).unwrap());
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        // It answers in its own time, and reads the message from its input.
        let said = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (said.status.code(), text(&said.stdout), text(&said.stderr))
    };
    let (hook, runs) = (as_other(&["hook", "claude"]), as_other(&["runs"]));
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    assert!(hook.1.contains("\"deny\""), "{hook:?}");
    assert!(hook.1.contains("permission denied"), "{hook:?}");
    assert_eq!(runs.0, Some(2), "{runs:?}");
    assert!(runs.2.contains("permission denied"), "{runs:?}");
}

fn is_root() -> bool {
    let facts = fs::metadata("/proc/self");
    facts.is_ok_and(|facts| std::os::unix::fs::MetadataExt::uid(&facts) == 0)
}

/// A user without rights, as most systems have one.
const NOBODY: u32 = 65_534;

/// A result takes the place of nothing that holds agents.
#[test]
fn third_no_result_replaces_what_holds_agents() {
    let scratch = Scratch::new("attack-third-output");
    scratch.write("door.md", DOOR);
    scratch.write("statemark.toml", "hook = \"required\"\n");
    scratch.write(".claude/settings.json", "{}");
    done(&scratch, &["start", "door", "--run-id", "r1"]);
    let kept = [
        ".statemark/runs.db",
        "statemark.toml",
        ".claude/settings.json",
        "door.md",
    ];
    let before = kept.map(|name| fs::read(scratch.path.join(name)).unwrap());
    fs::create_dir(scratch.path.join("sub")).unwrap();
    symlink("../.statemark/runs.db", scratch.path.join("sub/link.svg")).unwrap();
    for words in [
        &["lint", "door.md", "-o", ".statemark/runs.db"][..],
        &["lint", "door.md", "-o", "sub/../Statemark.toml"],
        &["lint", "door.md", "--output-file=statemark.toml"],
        &["lint", "door.md", "-o", "./door.md"],
        &["lint", ".", "-o", "door.md"],
        &["graph", "door.md", "-o", "sub/link.svg"],
        &["graph", "door.md", "-o", ".claude/new.svg"],
        &["report", "r1", "-o", ".claude/settings.html"],
        &["store", "export", "--overwrite", ".statemark/runs.db"],
        &["store", "export", ".statemark/runs.db-wal"],
    ] {
        let said = attacked(&scratch, words);
        if words.contains(&"sub/../Statemark.toml") && said.code == 0 {
            // A system that tells the cases apart has one more file.
            continue;
        }
        assert_eq!(said.code, 2, "{words:?}: {}{}", said.stdout, said.stderr);
        let after = kept.map(|name| fs::read(scratch.path.join(name)).unwrap());
        assert!(before == after, "{words:?}");
    }
    // A file that isn't there yet, by a link and from within.
    symlink(".claude", scratch.path.join("link")).unwrap();
    fs::create_dir(scratch.path.join(".codex")).unwrap();
    for (folder, words) in [
        (".", &["lint", "door.md", "-o", "link/hooks.json"][..]),
        (".", &["report", "r1", "-o", "link/r.html"]),
        (".", &["man", "link"]),
        (".", &["store", "backup", "link/copy.db"]),
        (".", &["store", "anchor", ".vscode/tasks.json"]),
        (".codex", &["lint", "-o", "hooks.json", "../door.md"]),
        (".", &["graph", "door.md", "-o", "link/../.git/x.svg"]),
    ] {
        let mut command = statemark(&scratch.path.join(folder));
        let said = in_time({
            command.args(words);
            command
        });
        assert_eq!(said.code, 2, "{words:?}: {}{}", said.stdout, said.stderr);
        assert!(
            said.stderr.contains("isn't replaced by a result"),
            "{words:?}: {}",
            said.stderr
        );
    }
    assert_eq!(
        fs::read_dir(scratch.path.join(".claude")).unwrap().count(),
        1
    );
    assert_eq!(
        fs::read_dir(scratch.path.join(".codex")).unwrap().count(),
        0
    );
    done(&scratch, &["lint", "door.md", "-o", "findings.txt"]);
    done(&scratch, &["lint", "door.md", "-o", "findings.txt"]);
}
