//! An agent's tool for commands: no line gets around what a state grants, and nothing outlives its command.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::DOOR;
use crate::served::client::{Client, serve};
use crate::shell::Scratch;

/// A state that grants some harmless commands, and the programs by which others could be run.
const NARROW: &str = r##"## STATE-MACHINE: narrow

```mermaid
stateDiagram-v2
    [*] --> looking
    looking --> [*] : done
```

```json definition
{"states": {"looking": {"allowed_tools": [
  "exec(echo:*)", "exec(cat:*)", "exec(find:*)", "exec(xargs:*)", "exec(env:*)", "exec(sh -c:*)", "exec(git log:*)", "exec(git diff:*)",
  "exec(sort:*)", "exec(tar:*)", "exec(timeout:*)", "exec(sed -n:*)"
]}}}
```
"##;

/// Everything that must be as it was, whatever an agent has run.
fn state(work: &Path) -> (String, bool, bool) {
    let kept = fs::read_to_string(work.join("kept")).unwrap_or_default();
    (kept, work.join("owned").exists(), work.join("x").exists())
}

/// The lines of commands, each of which would make `owned` or change `kept` if it got around.
fn lines() -> Vec<Value> {
    let texts = [
        "touch owned",
        "echo a; touch owned",
        "echo a && touch owned",
        "echo a || touch owned",
        "echo a | touch owned",
        "echo a |& touch owned",
        "echo a & touch owned",
        "echo a\ntouch owned",
        "echo a \\\n touch owned ; touch owned",
        "echo $(touch owned)",
        "echo `touch owned`",
        "echo \"$(touch owned)\"",
        "echo \"`touch owned`\"",
        "echo a > owned",
        "echo a >> kept",
        "echo a >| owned",
        "echo a &> owned",
        "cat < kept > owned",
        "echo <(touch owned)",
        "cat <<E\nE\ntouch owned",
        "'touch' owned",
        "\"touch\" owned",
        "to''uch owned",
        "\\touch owned",
        "/usr/bin/touch owned",
        "/bin/../bin/touch owned",
        "./kept",
        "env touch owned",
        "env -S 'touch owned'",
        "env -S touch\\_owned",
        "env --split-string='touch owned'",
        "env -i touch owned",
        "env -u X touch owned",
        "env A=b touch owned",
        "env PATH=. echo",
        "env -C . touch owned",
        "xargs touch owned",
        "xargs -I% touch owned",
        "xargs -n1 touch owned",
        "xargs --max-args=1 touch owned",
        "xargs -a kept touch owned",
        "xargs sh -c 'touch owned'",
        "xargs -i touch owned",
        "find . -exec touch owned ;",
        "find . -exec touch owned {} +",
        "find . -execdir touch owned ;",
        "find . -ok touch owned ;",
        "find . -exec sh -c 'touch owned' ;",
        "find . -name kept -delete",
        "find . -fprint owned",
        "find . -fprintf owned %p",
        "find . -fls owned",
        "sh -c 'touch owned'",
        "sh -c 'echo a; touch owned'",
        "sh -c 'echo a && touch owned'",
        "sh -c 'echo $(touch owned)'",
        "sh -c 'echo `touch owned`'",
        "sh -c 'echo a > owned'",
        "sh -c 'eval touch owned'",
        "sh -c '. ./kept'",
        "sh -c 'exec touch owned'",
        "sh -c 'command touch owned'",
        "sh -c 'X=touch; $X owned'",
        "sh -c 'trap \"touch owned\" EXIT'",
        "sh -c '(touch owned)'",
        "sh -c '{ touch owned; }'",
        "sh -c 'if true; then touch owned; fi'",
        "sh -c 'f() { touch owned; }; f'",
        "sh -c '! touch owned'",
        "sh -c 'touch owned #'",
        "sh -c 'sh -c \"touch owned\"'",
        "sh -c 'echo a\ntouch owned'",
        "sh kept",
        "sh -x -c 'touch owned'",
        "bash -c 'touch owned'",
        "git -c core.pager='touch owned' log",
        "git -c core.fsmonitor='touch owned' diff",
        "git -c alias.log='!touch owned' log",
        "git --exec-path=. log",
        "git -p log",
        "git diff --output=owned",
        "git diff --outpu owned",
        "git log --output=owned",
        "git diff --ext-diff",
        "git -C . diff --no-index --output=owned kept kept",
        "git grep -Otouch a",
        "git submodule foreach 'touch owned'",
        "sort -o owned kept",
        "sort --output=owned kept",
        "sort --outp owned kept",
        "sort --compress-program=touch kept",
        "tar -cf owned kept --checkpoint=1 --checkpoint-action=exec='touch owned'",
        "tar -I 'touch owned' -cf x kept",
        "tar --to-command='touch owned' -xf kept",
        "tar --use-compress-prog='touch owned' -cf x kept",
        "timeout 5 touch owned",
        "timeout -k 1 5 touch owned",
        "timeout 5 timeout 5 touch owned",
        "timeout 5 sh -c 'touch owned'",
        "sed -n -i d kept",
        "nice touch owned",
        "nohup touch owned",
        "sudo touch owned",
        "busybox touch owned",
        "python3 -c 'open(\"owned\",\"w\")'",
        "perl -e 'open F,\">owned\"'",
        "awk 'BEGIN{system(\"touch owned\")}'",
        "\u{ff54}ouch owned",
        "t\u{043e}uch owned",
        "echo\u{2028}touch owned",
        "touch\u{00a0}owned",
        "LD_PRELOAD=./kept echo a",
        "PATH=. echo a",
    ];
    let mut calls: Vec<Value> = texts.iter().map(|text| json!({"command": text})).collect();
    calls.extend([
        json!({"argv": ["touch", "owned"]}),
        json!({"command": "touch", "args": ["owned"]}),
        json!({"command": ["touch", "owned"]}),
        json!({"command": "echo a", "argv": ["touch", "owned"]}),
        json!({"command": ["echo"], "args": ["a"], "argv": ["touch", "owned"]}),
        json!({"cmd": "echo a", "argv": ["touch", "owned"]}),
        json!({"argv": ["sh", "-c", "touch owned"]}),
        json!({"argv": ["./kept"], "cwd": "."}),
        json!({"argv": ["echo"], "cwd": "/"}),
        json!({"argv": ["find", ".", "-exec", "touch", "owned", ";"]}),
    ]);
    calls
}

#[test]
fn no_line_gets_around_a_state() {
    let scratch = Scratch::new("exec-lines");
    let work = scratch.path.join("work");
    scratch.write("work/narrow.md", NARROW);
    scratch.write("work/kept", "touch owned\n");
    for words in [
        &["init", "-q", "-b", "main"][..],
        &["add", "."],
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.org",
            "commit",
            "-qm",
            "a",
        ],
    ] {
        let mut git = std::process::Command::new("git");
        assert!(
            git.current_dir(&work)
                .args(words)
                .status()
                .unwrap()
                .success()
        );
    }
    let mut client = Client::start(&work, &["--toolsets", "runs,exec"]);
    let started = json!({"name": "start_run", "arguments": {"workflow": "narrow"}});
    client.ask("tools/call", &started);
    let exec = |client: &mut Client, arguments: &Value| {
        client.ask(
            "tools/call",
            &json!({"name": "exec", "arguments": arguments}),
        )
    };
    // What is granted is run, or the rest would prove nothing.
    for granted in [
        json!({"command": "echo a"}),
        json!({"argv": ["find", ".", "-name", "kept", "-exec", "cat", "{}", ";"]}),
        json!({"argv": ["sh", "-c", "echo a && cat kept"]}),
        json!({"command": "timeout 5 git log --oneline"}),
    ] {
        let answer = exec(&mut client, &granted);
        assert_eq!(
            answer["result"]["structuredContent"]["exit_code"], 0,
            "{granted}: {answer}"
        );
    }
    let before = state(&work);
    let lines = lines();
    assert!(lines.len() >= 100);
    for arguments in lines {
        let answer = exec(&mut client, &arguments);
        assert_eq!(state(&work), before, "{arguments}: {answer}");
    }
}

/// Returns whether a process with these words runs.
fn runs(words: &str) -> bool {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|it| fs::read(it.path().join("cmdline")).ok());
    lines.into_iter().any(|line| {
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(words) && !line.contains("launch-check")
    })
}

#[test]
fn what_a_command_leaves_behind_is_ended() {
    let scratch = Scratch::new("exec-children");
    let work = scratch.path.join("work");
    scratch.write("work/.git/HEAD", "ref: refs/heads/main\n");
    // Each leaves its parent in another way, and sleeps for a time that is its name.
    let script = "import os, sys, time\n\
                  for turn in range(2):\n\
                  \x20   if os.fork():\n\
                  \x20       os._exit(0) if turn else time.sleep(60)\n\
                  \x20   os.setsid()\n\
                  open('ready', 'w').close()\n\
                  os.execvp('sleep', ['sleep', '98765'])\n";
    scratch.write("work/leave.py", script);
    let mut client = Client::start(&work, &["--toolsets", "exec"]);
    let began = Instant::now();
    let call =
        json!({"name": "exec", "arguments": {"argv": ["python3", "leave.py"], "timeout": 3}});
    let answer = client.ask("tools/call", &call);
    assert!(work.join("ready").exists(), "{answer}");
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(
        answer.to_string().contains("it took longer than 3s"),
        "{answer}"
    );
    assert!(began.elapsed() < Duration::from_secs(50), "{answer}");
    assert!(!runs("sleep 98765"));
}

#[test]
fn a_command_has_no_secret_and_writes_in_its_project_alone() {
    let scratch = Scratch::new("exec-bounds");
    let work = scratch.path.join("work");
    scratch.write("work/.git/HEAD", "ref: refs/heads/main\n");
    scratch.write("elsewhere/file", "as it was\n");
    let mut server = serve(&work, &["--toolsets", "exec"]);
    server
        .env("DEPLOY_TOKEN", "hush-hush")
        .env("STATEMARK_NOTE", "ours")
        .env("HARMLESS", "seen");
    let mut client = Client::try_start(server).unwrap();
    let mut exec = |argv: &[&str]| {
        let call = json!({"name": "exec", "arguments": {"argv": argv}});
        client.ask("tools/call", &call).to_string()
    };
    let said = exec(&["env"]);
    assert!(said.contains("HARMLESS=seen"), "{said}");
    assert!(
        !said.contains("hush-hush") && !said.contains("STATEMARK_"),
        "{said}"
    );
    // Inside, or what is refused outside would prove nothing.
    let said = exec(&["cp", ".git/HEAD", "copy"]);
    assert!(work.join("copy").exists(), "{said}");
    for argv in [
        &["cp", "copy", "../elsewhere/file"][..],
        &["rm", "../elsewhere/file"],
        &["mv", "../elsewhere/file", "file"],
        &["touch", "../elsewhere/new"],
        &["ln", "copy", "../elsewhere/linked"],
        &["rm", "-rf", ".git"],
    ] {
        let said = exec(argv);
        let file = fs::read_to_string(scratch.path.join("elsewhere/file"));
        assert_eq!(file.unwrap(), "as it was\n", "{argv:?}: {said}");
        let others = fs::read_dir(scratch.path.join("elsewhere"))
            .unwrap()
            .count();
        assert_eq!(others, 1, "{argv:?}: {said}");
        assert!(work.join(".git/HEAD").exists(), "{argv:?}: {said}");
    }
}

/// What decides in a person's name isn't read by what an agent has run.
#[test]
fn seventh_f9_a_command_reads_no_token() {
    let scratch = Scratch::new("exec-token");
    let work = scratch.path.join("work");
    scratch.write("home/.config/statemark/token", "smk_of_ann\n");
    scratch.write("home/.config/statemark/signing-key", "~/.ssh/id.pub\n");
    scratch.write("home/.ssh/id", "the key of ann\n");
    scratch.write("home/.pgpass", "the password of ann\n");
    scratch.write("home/plain", "what anybody reads\n");
    scratch.write("work/door.md", DOOR);
    let home = scratch.path.join("home");
    let mut server = serve(&work, &["--toolsets", "exec"]);
    server.env("HOME", &home);
    server.env("XDG_CONFIG_HOME", home.join(".config"));
    let mut client = Client::try_start(server).unwrap();
    let mut cat = |name: &str| {
        let argv = ["cat".to_owned(), home.join(name).display().to_string()];
        let call = json!({"name": "exec", "arguments": {"argv": argv}});
        client.ask("tools/call", &call).to_string()
    };
    let said = cat("plain");
    assert!(said.contains("what anybody reads"), "{said}");
    for name in [".config/statemark/token", ".ssh/id", ".pgpass"] {
        let said = cat(name);
        assert!(!said.contains("ann"), "{said}");
        let kept = fs::read_to_string(home.join(name)).unwrap();
        assert!(kept.contains("ann"), "{kept}");
    }
}

/// What an answer leaves out is in a file that the agent's tools read, and that opens nothing else of ours to them.
#[test]
fn a_long_output_is_in_a_file() {
    let scratch = Scratch::new("exec-long");
    let work = scratch.path.join("work");
    scratch.write("work/.git/HEAD", "ref: refs/heads/main\n");
    scratch.write("work/.statemark/precious", "as it was\n");
    let mut client = Client::start(&work, &["--toolsets", "exec,fs"]);
    let mut call = |name: &str, arguments: Value| {
        client.ask("tools/call", &json!({"name": name, "arguments": arguments}))
    };
    let answer = call("exec", json!({"argv": ["seq", "1", "20000"]}));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    let result: Value = serde_json::from_str(text).unwrap();
    assert_eq!(result["truncated"], true, "{text}");
    let shown = result["stdout"].as_str().unwrap();
    assert!(
        !shown.contains("\n10000\n") && shown.ends_with("\n20000\n"),
        "{shown}"
    );
    let file = result["output_file"].as_str().unwrap();
    // The lines of both outputs, each with a title and an empty line.
    for (tool, arguments, found) in [
        ("read_file", json!({"path": file}), "12321"),
        ("exec", json!({"argv": ["grep", "-c", "", file]}), "20004"),
    ] {
        let read = call(tool, arguments).to_string();
        assert!(read.contains(found), "{tool}: {read}");
    }
    for path in [
        ".statemark/precious",
        ".statemark/output/../precious",
        ".statemark/output",
        ".STATEMARK/output/x",
    ] {
        let read = call("read_file", json!({"path": path}));
        assert_eq!(read["result"]["isError"], true, "{path}: {read}");
    }
}
