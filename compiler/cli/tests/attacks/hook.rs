//! An agent's own tools, held by a hook: no line, folder or path gets around what a state grants.

use std::fs;
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use super::git::git;
use super::{attacked, done};
use crate::shell::{Scratch, statemark, untouched};

/// A project with a repository, and a run whose state grants some tools.
fn project(name: &str, granted: &[&str]) -> Scratch {
    let scratch = Scratch::new(name);
    git(&scratch.path, &["init", "-q"]);
    let workflow = json!({"id": "wf", "initial": "x", "states": {
        "x": {"allowed_tools": granted, "on": {"ended": "y"}}, "y": {"type": "final"},
    }});
    scratch.write("wf.workflow.json", &workflow.to_string());
    scratch.write("src/a", "a\n");
    done(&scratch, &["start", "wf", "--run-id", "r"]);
    scratch
}

/// Asks the hook about a call in a folder, as a client does.
fn is_granted(client: &str, tool: &str, input: &Value, cwd: &Path) -> bool {
    let event = match client {
        "gemini" => "BeforeTool",
        _ => "PreToolUse",
    };
    let message = json!({
        "hook_event_name": event, "session_id": "s", "cwd": cwd, "tool_name": tool, "tool_input": input,
    });
    let mut command = statemark(cwd);
    command
        .args(["hook", client])
        .env("STATEMARK_RUN", "r")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(message.to_string().as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}");
    !said.contains("deny")
}

/// Runs a command in a folder, if the hook grants it, as a client does. Reports whether it did.
fn run(client: &str, call: (&str, &Value), line: &str, session: &Path, folder: &Path) -> bool {
    let (tool, input) = call;
    let is_granted = is_granted(client, tool, input, session);
    if is_granted {
        let mut bash = untouched("bash", folder);
        bash.args(["-c", line])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        bash.status().unwrap();
    }
    is_granted
}

/// Runs a line of Claude Code's in the project, if the hook grants it.
fn run_line(scratch: &Scratch, line: &str) -> bool {
    let call = json!({ "command": line });
    let root = &scratch.path;
    run("claude", ("Bash", &call), line, root, root)
}

/// Files with the names of options don't become options.
#[test]
fn f4_a_glob_becomes_no_option() {
    let granted = ["Bash(cd:*)", "Bash(git:*)", "Bash(tar:*)", "Bash(sort:*)"];
    let scratch = project("f4-globs", &granted);
    let owned = scratch.path.join("owned");
    let touch = format!("touch {}", owned.display());
    scratch.write("src/-c", "");
    scratch.write("src/--to-command=touch owned", "");
    scratch.write("evil", &format!("#!/bin/sh\n{touch}\n"));
    for line in [
        format!("cd src && git -? alias.x='!{touch}' x"),
        format!("cd src && git -[c] alias.x='!{touch}' x"),
        format!("cd src && git -* alias.x='!{touch}' x"),
        "cd src && tar -cf x.tar a && tar -xf x.tar --to-comman[d]=*".to_owned(),
        "cd src && tar -cf x.tar a && tar -xf x.tar --to-c*".to_owned(),
        "cd src && git log --outpu[t]=../owned".to_owned(),
        "sort --compress-progra[m]=./evil src/a".to_owned(),
    ] {
        assert!(!run_line(&scratch, &line), "{line}");
    }
    assert!(!owned.exists() && !scratch.path.join("src/owned").exists());
    for line in [
        "git add src/*",
        "git commit -qm \"fix: [x] *\" -- src/a",
        "cd src && git log HEAD^ -- ./*",
        "tar --exclude=*.o -cf x.tar src",
        "sort src/a*",
    ] {
        assert!(run_line(&scratch, line), "{line}");
    }
}

/// Each client's way to say in which folder a command runs.
const FOLDERS: [(&str, &str, &str); 5] = [
    ("codex", "Bash", "workdir"),
    ("gemini", "run_shell_command", "dir_path"),
    ("gemini", "run_shell_command", "directory"),
    ("opencode", "bash", "workdir"),
    ("claude", "Bash", "cwd"),
];

/// Runs a line in a folder in every way that a client has. Returns those that the hook grants.
fn run_in(scratch: &Scratch, line: &str, folder: &str) -> Vec<String> {
    let (root, whole) = (&scratch.path, scratch.path.join(folder));
    let mut granted = Vec::new();
    for (client, tool, key) in FOLDERS {
        let paths = [folder.to_owned(), whole.display().to_string()];
        for path in paths {
            let call = json!({"command": line, key: path});
            if run(client, (tool, &call), line, root, &whole) {
                granted.push(format!("{client}: {call}"));
            }
        }
        // The folder of the session, in which an earlier command may have left it.
        let call = json!({ "command": line });
        if run(client, (tool, &call), line, &whole, &whole) {
            granted.push(format!("{client}: in {folder}: {call}"));
        }
    }
    granted
}

/// A folder that an agent wrote may be a repository with programs in its configuration.
#[test]
fn f5_no_command_runs_in_a_folder_that_no_state_grants() {
    let scratch = project("f5-folders", &["Write(src/**)", "Bash(git status)"]);
    let owned = scratch.path.join("owned");
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = \"..\"\n\tfsmonitor = \"touch {}; false\"\n",
        owned.display()
    );
    for (file, text) in [
        ("HEAD", "ref: refs/heads/main\n"),
        ("objects/x", ""),
        ("refs/x", ""),
        ("config", &config),
    ] {
        let file = format!("src/b/{file}");
        let call = json!({"file_path": scratch.path.join(&file), "content": text});
        // No agent makes a folder a repository by its file tools. A program that is granted could.
        let is_granted = is_granted("claude", "Write", &call, &scratch.path);
        assert_eq!(is_granted, file != "src/b/HEAD", "{file}");
        scratch.write(&file, text);
    }
    assert_eq!(run_in(&scratch, "git status", "src/b"), [""; 0]);
    assert!(!owned.exists());
    assert_eq!(run_in(&scratch, "git status", "").len(), 15);
    // What is granted is that folder, or going anywhere.
    for place in ["Bash(cd src/b)", "Bash(cd:*)"] {
        let scratch = project("f5-granted", &["Bash(git status)", place]);
        scratch.write("src/b/x", "");
        assert_eq!(run_in(&scratch, "git status", "src/b").len(), 15, "{place}");
        assert!(run_line(&scratch, "cd src/b && git status"));
    }
}

/// A program is the one of the folder that it runs in.
#[test]
fn f6_a_program_of_another_folder_is_another_program() {
    let granted = [
        "Bash(./check.sh)",
        "Bash(cd:*)",
        "Bash(./tools/run.sh)",
        "Bash(timeout:*)",
    ];
    let scratch = project("f6-programs", &granted);
    let owned = scratch.path.join("owned");
    let script = |name: &str, text: &str| {
        scratch.write(name, &format!("#!/bin/sh\n{text}\n"));
        git(&scratch.path, &["add", name]);
        git(&scratch.path, &["update-index", "--chmod=+x", name]);
        fs::remove_file(scratch.path.join(name)).unwrap();
        git(&scratch.path, &["checkout", "--", name]);
    };
    script("scratch/check.sh", &format!("touch {}", owned.display()));
    script("check.sh", "true");
    script("tools/run.sh", "true");
    assert_eq!(run_in(&scratch, "./check.sh", "scratch"), [""; 0]);
    assert_eq!(run_in(&scratch, "timeout 9 ./check.sh", "scratch"), [""; 0]);
    for line in [
        "cd scratch && ./check.sh",
        "cd scratch; ./check.sh",
        "cd scratch && timeout 9 ./check.sh",
    ] {
        assert!(!run_line(&scratch, line), "{line}");
    }
    assert!(!owned.exists());
    assert_eq!(run_in(&scratch, "./check.sh", "").len(), 15);
    assert_eq!(run_in(&scratch, "./run.sh", "tools").len(), 15);
    assert!(run_line(&scratch, "cd tools && ./run.sh"));
}

/// Options and subcommands by which a granted program runs what it is told.
#[test]
fn f7_no_granted_program_runs_what_it_is_told() {
    let granted = [
        "Bash(git:*)",
        "Bash(git mergetool:*)",
        "Bash(gcc:*)",
        "Bash(npm:*)",
    ];
    let scratch = project("f7-options", &granted);
    git(&scratch.path, &["init", "-q", "sub"]);
    git(
        &scratch.path.join("sub"),
        &["commit", "-q", "--allow-empty", "-m", "x"],
    );
    git(
        &scratch.path,
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            "./sub",
        ],
    );
    let owned = scratch.path.join("owned");
    let foreach = format!("git submodule--helper foreach 'touch {}'", owned.display());
    for line in [
        &foreach,
        "git difftool -y -t ../../../../../../../../$PWD/src/a HEAD",
        "git mergetool -y --tool=../../../../src/a",
        "gcc -Wl,@opts m.c",
        "npm exe evil",
        "npm c set script-shell ./evil",
    ] {
        assert!(!run_line(&scratch, line), "{line}");
    }
    assert!(!owned.exists());
    for line in ["git submodule status", "git status"] {
        assert!(run_line(&scratch, line), "{line}");
    }
}

/// Returns the file that clients write for a path: they resolve it by its text.
fn written(path: &str, folder: &Path, home: &Path) -> PathBuf {
    let path = match path.strip_prefix("~/") {
        Some(below) => home.join(below),
        None => folder.join(path),
    };
    let mut resolved = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(resolved.pop()),
            part => resolved.push(part),
        }
    }
    resolved
}

/// What works in a worktree changes nothing outside of it, however the path is spelled.
#[test]
fn f10_no_path_leads_out_of_a_worktree() {
    let scratch = Scratch::new("f10-paths");
    let root = scratch.path.clone();
    let workflow = json!({"id": "inner", "initial": "x", "meta": {"executor": "step", "workspace": "worktree"}, "states": {
        "x": {"on": {"ended": "z"}},
        "z": {"allowed_tools": ["Write", "Edit"], "executor": "none", "on": {"e": "y"}},
        "y": {"type": "final"},
    }});
    scratch.write("inner.workflow.json", &workflow.to_string());
    scratch.write(
        "statemark.toml",
        "[executor]\n[executor.commands.step]\ncommand = [\"true\"]\nsuccess = \"ended\"\n",
    );
    scratch.write("src/a", "x\n");
    git(&root, &["init", "-q"]);
    git(
        &root,
        &["add", "src", "inner.workflow.json", "statemark.toml"],
    );
    git(&root, &["commit", "-qm", "all"]);
    // It ends where a person is to go on.
    attacked(&scratch, &["agent", "run", "inner", "--run-id", "r"]);
    let work = root.join(".statemark-worktrees/r");
    assert!(work.join("src/a").exists());
    let home = root.join("home");
    let write = |path: &str| {
        let patch = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n");
        let calls = [
            (
                "claude",
                "Write",
                json!({"file_path": path, "content": "x"}),
            ),
            ("codex", "apply_patch", json!({ "command": patch })),
        ];
        calls.map(|(client, tool, call)| is_granted(client, tool, &call, &work))
    };
    let up = "../".repeat(work.components().count() + 3);
    for path in [
        "../../src/b".to_owned(),
        root.join("src/b").display().to_string(),
        "none/../../../src/b".to_owned(),
        "src/a/../../../../src/b".to_owned(),
        format!("none/{up}{}", root.join("src/b").display()),
        " ../../src/b".to_owned(),
        "~/.bashrc".to_owned(),
        " ~/.bashrc".to_owned(),
        "~root/.bashrc".to_owned(),
    ] {
        let file = written(&path, &work, &home);
        assert_eq!(write(&path), [false, false], "{path} is {}", file.display());
    }
    for path in ["src/b", "src/../src/b", "src/~b", "new/b"] {
        let file = written(path, &work, &home);
        assert!(file.starts_with(&work));
        assert_eq!(write(path), [true, true], "{path}");
    }
}

/// A path that a tool doesn't read grants nothing of what it does read.
#[cfg(unix)]
#[test]
fn f18_no_argument_of_a_call_goes_unread() {
    let granted = [
        "Read(src/**)",
        "read_many_files(src/**)",
        "Glob(src/**)",
        "Grep(src/**)",
        "mcp__fs__put(src/**)",
        "Bash(ls:*)",
    ];
    let scratch = project("f18-arguments", &granted);
    scratch.write("secret/key", "key\n");
    scratch.write("src/sub/b", "b\n");
    let folder = &scratch.path;
    let calls = [
        (
            "gemini",
            "read_many_files",
            json!({"include": ["src/a"]}),
            json!({"include": ["secret/key"]}),
        ),
        (
            "gemini",
            "read_many_files",
            json!({"include": ["a"], "path": "src/sub"}),
            json!({"include": ["/etc/passwd"], "path": "src/a"}),
        ),
        (
            "gemini",
            "glob",
            json!({"dir_path": "src/sub", "pattern": "**/*"}),
            json!({"dir_path": "src/sub", "pattern": "/etc/**"}),
        ),
        (
            "gemini",
            "grep_search",
            json!({"dir_path": "src/sub", "pattern": "/a", "include_pattern": "*.rs"}),
            json!({"dir_path": "src/sub", "pattern": "a", "include_pattern": "../../secret/*"}),
        ),
        (
            "claude",
            "Glob",
            json!({"path": "src/sub", "pattern": "{a,b}*"}),
            json!({"path": "src/sub", "pattern": "{.,a}./../secret/*"}),
        ),
        (
            "claude",
            "mcp__fs__put",
            json!({"path": "src/a", "content": "../x"}),
            json!({"path": "src/a", "filename": "../secret/key"}),
        ),
        (
            "claude",
            "mcp__fs__put",
            json!({"path": "src/a", "id": 1}),
            json!({"path": "src/a", "Path": "secret/key"}),
        ),
        (
            "codex",
            "exec_command",
            json!({"cmd": "ls", "shell": "/bin/bash"}),
            json!({"cmd": "ls", "shell": "./src/bash"}),
        ),
        (
            "codex",
            "local_shell",
            json!({"command": ["ls"], "env": {}}),
            json!({"command": ["ls"], "env": {"LD_PRELOAD": "./src/a"}}),
        ),
    ];
    for (client, tool, honest, forged) in calls {
        assert!(is_granted(client, tool, &honest, folder), "{tool} {honest}");
        assert!(
            !is_granted(client, tool, &forged, folder),
            "{tool} {forged}"
        );
    }
    // A link leads where it leads, also where nothing is yet.
    for (link, target) in [
        ("src/out", "../secret/new"),
        ("src/settings", "../.claude/new.json"),
    ] {
        std::os::unix::fs::symlink(target, folder.join(link)).unwrap();
    }
    for path in ["src/out", "src/settings"] {
        assert!(
            !is_granted("claude", "Read", &json!({"file_path": path}), folder),
            "{path}"
        );
    }
    // Globs are over the session's folder.
    let glob = |pattern: &str, cwd: &str| {
        is_granted(
            "claude",
            "Glob",
            &json!({"pattern": pattern}),
            &folder.join(cwd),
        )
    };
    assert!(glob("src/**", ""));
    assert!(glob("*", "src/sub"));
    assert!(!glob("src/**", "secret"));
}

/// What a client or this program obeys is no agent's, wherever it lies.
#[test]
fn f19_no_tool_of_an_agent_changes_what_holds_it() {
    let scratch = project("f19-protected", &["Write", "write", "mcp__*"]);
    let write = |path: &Path| {
        let input = json!({"file_path": path, "filePath": path, "content": "x"});
        is_granted("claude", "Write", &input, &scratch.path)
    };
    assert!(write(Path::new("src/a")));
    let of_server = |tool: &str| {
        let input = json!({"path": ".claude/settings.json", "content": "x"});
        is_granted("claude", tool, &input, &scratch.path)
    };
    assert!(of_server("mcp__fs__read_file"));
    assert!(!of_server("mcp__fs__write_file"));
    let own = scratch.path.join("own");
    for path in [
        "statemark/token",
        "statemark/places",
        "statemark/stores/x",
        "statemark/workflows/wf.workflow.json",
        "opencode/plugins/statemark.js",
        "opencode/opencode.json",
    ] {
        assert!(!write(&own.join(path)), "{path}");
    }
    for path in [
        "statemark.lock",
        "CLAUDE.md",
        ".envrc",
        ".claude/skills/a/SKILL.md",
        "/etc/codex/config.toml",
    ] {
        assert!(!write(Path::new(path)), "{path}");
    }
}
