//! Command lines that try to get around a grant, and those that shouldn't have to.

use serde_json::json;

use super::lex::MAX_LINE;
use super::*;
use crate::policy::pattern::{Pattern, check_granted};

/// What a state grants in these tests.
const GRANTED: [&str; 12] = [
    "Bash(cargo test:*)",
    "Bash(cargo build)",
    "Bash(git diff:*)",
    "Bash(git log:*)",
    "Bash(git -c color.ui=never status:*)",
    "Bash(ls:*)",
    "Bash(find:*)",
    "Bash(grep:*)",
    "Bash(xargs:*)",
    "Bash(npm run *)",
    "Bash(sh:*)",
    "Bash(ssh host uptime:*)",
];

fn check(line: &str) -> Result<(), String> {
    let patterns: Vec<Pattern> = GRANTED
        .iter()
        .map(|it| Pattern::parse(it).unwrap())
        .collect();
    check_granted(&patterns, "Bash", &json!({ "command": line }))
}

#[test]
fn what_is_granted_can_be_run() {
    for line in [
        "cargo test",
        "cargo test --workspace -- --nocapture",
        "cargo  test\t-q",
        "cargo 'test' \"--lib\"",
        "cargo build",
        "cargo test && cargo build",
        "cargo test; git diff HEAD~1 -- src",
        "cargo test\ncargo build\n",
        "cargo test 2>&1 | grep -c FAILED",
        "cargo test >/dev/null 2>&1",
        "cargo test &> /dev/null",
        "cargo test || git log -p --oneline -3",
        "cargo test &",
        "ls *.rs ./*",
        "ls ~/src",
        "grep -rn 'a; b && $(c)' src",
        "grep -n \"it's\" README.md",
        "grep a\\;b x",
        "timeout 60 cargo test",
        "timeout -k 5 --signal=INT 60s nice -n 10 cargo test",
        "time cargo test",
        "nohup cargo test &",
        "stdbuf -oL cargo test",
        "find . -name '*.rs' -exec grep -l word {} +",
        "find . -name '*.rs' -print0 | xargs -0 grep -l word",
        "npm run lint",
        "sh -c 'cargo test && ls'",
        "bash -lc 'cargo test'",
        "git -c color.ui=never status -s",
        "git diff HEAD@\\{1\\}",
        "ssh host uptime -p",
        "cargo test $",
    ] {
        let expected = if line.starts_with("bash") {
            // Another shell than the one that is granted.
            Err("; `bash -lc 'cargo test'` matches none of them".to_owned())
        } else {
            Ok(())
        };
        assert_eq!(check(line), expected, "{line}");
    }
}

#[test]
fn nothing_gets_around_a_grant() {
    let mut wrong = Vec::new();
    for (line, why) in [
        // Other commands beside a granted one.
        ("cargo test; rm -rf x", "; `rm -rf x` matches none of them"),
        (
            "cargo test && rm -rf x",
            "; `rm -rf x` matches none of them",
        ),
        (
            "cargo test || rm -rf x",
            "; `rm -rf x` matches none of them",
        ),
        ("cargo test | rm -rf x", "; `rm -rf x` matches none of them"),
        ("cargo test |& rm x", "; `rm x` matches none of them"),
        ("cargo test & rm x", "; `rm x` matches none of them"),
        ("cargo test\nrm x", "; `rm x` matches none of them"),
        ("cargo test;\\\nrm x", "; `rm x` matches none of them"),
        ("cargo test;rm x", "; `rm x` matches none of them"),
        ("rm x;cargo test", "; `rm x` matches none of them"),
        ("cargo test 2>&1;rm x", "; `rm x` matches none of them"),
        ("cd /tmp && cargo test", "; `cd /tmp` matches none of them"),
        // Other programs with the name of a granted one.
        ("./cargo test", "; `./cargo test` matches none of them"),
        (
            "/tmp/cargo test",
            "; `/tmp/cargo test` matches none of them",
        ),
        ("Cargo test", "; `Cargo test` matches none of them"),
        ("cargo tests", "; `cargo tests` matches none of them"),
        ("cargo testx", "; `cargo testx` matches none of them"),
        ("cargo", "; `cargo` matches none of them"),
        (
            "cargo +nightly test",
            "; `cargo +nightly test` matches none of them",
        ),
        (
            "c\u{430}rgo test",
            "; `c\u{430}rgo test` matches none of them",
        ),
        (
            "cargo\u{a0}test",
            "; `'cargo\u{a0}test'` matches none of them",
        ),
        ("'cargo test'", "; `'cargo test'` matches none of them"),
        (
            "cargo build --release",
            "; `cargo build --release` matches none of them",
        ),
        ("c*go test", "; `c*go test` matches none of them"),
        ("~/cargo test", "; `~/cargo test` matches none of them"),
        ("=cargo test", "; `=cargo test` matches none of them"),
        // What a shell makes of a line.
        (
            "cargo test $(rm x)",
            "; a substitution (`$(`) at byte 11 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test `rm x`",
            "; a substitution (`` ` ``) at byte 11 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test \"$(rm x)\"",
            "; a substitution (`$(`) at byte 12 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test \"`rm x`\"",
            "; a substitution (`` ` ``) at byte 12 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test <(rm x)",
            "; a redirection at byte 11 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test $X",
            "; a variable (`$`) at byte 11 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test ${X@P}",
            "; a variable (`$`) at byte 11 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test \"$X\"",
            "; a variable (`$`) at byte 12 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test $'\\x3b'",
            "; a variable (`$`) at byte 11 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test > src/main.rs",
            "; a redirection at byte 11 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test >> x",
            "; a redirection at byte 11 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test 2>x",
            "; a redirection at byte 12 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test &>x",
            "; a redirection at byte 11 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test >&x",
            "; a redirection at byte 11 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test >/dev/nullx",
            "; a redirection at byte 11 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test >/dev/null'x'",
            "; a redirection at byte 11 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test <x",
            "; a redirection at byte 11 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test <<X\nrm\nX",
            "; a redirection at byte 11 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test <<<x",
            "; a redirection at byte 11 of the command isn't read, so that nothing grants it",
        ),
        (
            "(cargo test)",
            "; `(` at byte 0 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo() { rm x; }; cargo test",
            "; `(` at byte 5 of the command isn't read, so that nothing grants it",
        ),
        (
            "{ cargo test; }",
            "; `{` at byte 0 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo {test,build}",
            "; `{` at byte 6 of the command isn't read, so that nothing grants it",
        ),
        (
            "if cargo test; then ls; fi",
            "; a compound command (`if`) at byte 0 of the command isn't read, so that nothing grants it",
        ),
        (
            "! cargo test",
            "; a compound command (`!`) at byte 0 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test # \nrm x",
            "; a comment at byte 11 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test 'x",
            "; a quote that isn't closed at byte 11 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test \"x",
            "; a quote that isn't closed at byte 11 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test \\",
            "; a `\\` at the end at byte 11 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test\rrm x",
            "; a control character at byte 10 of the command isn't read, so that nothing grants it",
        ),
        (
            "cargo test\0rm",
            "; a control character at byte 10 of the command isn't read, so that nothing grants it",
        ),
        ("", "; the call has no command"),
        (" \n ", "; the call has no command"),
        (
            ";",
            "; an operator without a command at byte 0 of the command isn't read, so that nothing grants it",
        ),
        // A digit that is a word, and no number of a stream.
        ("cargo test; \\2>&1", "; `2` matches none of them"),
        // Variables that make a granted program another one.
        ("X=1 cargo test", "; `X=1 cargo test` matches none of them"),
        (
            "PATH=/tmp cargo test",
            "; `PATH=/tmp cargo test` matches none of them",
        ),
        (
            "PATH+=:/tmp cargo test",
            "; `PATH+=:/tmp cargo test` matches none of them",
        ),
        (
            "export PATH=/tmp; cargo test",
            "; `export PATH=/tmp` matches none of them",
        ),
        (
            "timeout 9 LD_PRELOAD=x cargo test",
            "; `LD_PRELOAD=x cargo test` matches none of them",
        ),
        // Commands that run others.
        ("env cargo test", "; `env cargo test` matches none of them"),
        ("env -S 'rm x'", "; `env -S 'rm x'` matches none of them"),
        (
            "sudo cargo test",
            "; `sudo cargo test` matches none of them",
        ),
        ("command rm x", "; `command rm x` matches none of them"),
        (
            "builtin eval ls",
            "; `builtin eval ls` matches none of them",
        ),
        (
            "eval 'cargo test'",
            "; `eval 'cargo test'` matches none of them",
        ),
        ("exec rm x", "; `exec rm x` matches none of them"),
        (". ./x", "; `. ./x` matches none of them"),
        ("ssh host rm x", "; `ssh host rm x` matches none of them"),
        ("timeout 60 rm x", "; `rm x` matches none of them"),
        ("timeout 60", "; `timeout 60` matches none of them"),
        (
            "timeout --weird 60 cargo test",
            "; `timeout --weird 60 cargo test` matches none of them",
        ),
        (
            "timeout 6* cargo test",
            "; `timeout 6* cargo test` matches none of them",
        ),
        ("nice timeout 5 nohup rm x", "; `rm x` matches none of them"),
        (
            "time -o x cargo test",
            "; `time -o x cargo test` matches none of them",
        ),
        ("xargs rm", "; `rm *` matches none of them"),
        ("xargs -0 -n1 rm", "; `rm *` matches none of them"),
        (
            "xargs -i rm ls",
            "; what `xargs` runs isn't known, so that only a pattern that says more than `xargs` matches",
        ),
        ("ls | xargs sh -c 'rm x'", "; `rm x` matches none of them"),
        (
            "xargs * grep",
            "; what `xargs` runs isn't known, so that only a pattern that says more than `xargs` matches",
        ),
        ("find . -exec rm {} \\;", "; `rm {}` matches none of them"),
        (
            "find . -exec grep x {} \\; -exec rm {} +",
            "; `rm {}` matches none of them",
        ),
        (
            "find . -execdir sh -c 'rm x' \\;",
            "; `rm x` matches none of them",
        ),
        ("find . -ok rm {} ';'", "; `rm {}` matches none of them"),
        (
            "find . -exec git log + --output=x \\;",
            "; `--output=x` in `git log + --output=x` lets it run or write what it is told, so that only a pattern that names it matches",
        ),
        (
            "echo --output=x | xargs git diff",
            "; `echo --output=x` matches none of them",
        ),
        (
            "ls | xargs git diff",
            "; `*` in `git diff *` lets it run or write what it is told, so that only a pattern that names it matches",
        ),
        (
            "find . -delete",
            "; what `find -delete` changes isn't known, so that only a pattern that says more than `find` matches",
        ),
        (
            "find . -fprint x",
            "; what `find -fprint` changes isn't known, so that only a pattern that says more than `find` matches",
        ),
        (
            "find *",
            "; what `*` stands for isn't known, so that only a pattern that says more than `find` matches",
        ),
        ("sh -c 'cargo test; rm x'", "; `rm x` matches none of them"),
        (
            "sh -c \"cargo test; $X\"",
            "; a variable (`$`) at byte 19 of the command isn't read, so that nothing grants it",
        ),
        (
            "sh -c 'cargo test; $X'",
            "; a variable (`$`) isn't known, so that only a pattern that says more than `sh` matches",
        ),
        (
            "sh x.sh",
            "; what `sh` runs isn't known, so that only a pattern that says more than `sh` matches",
        ),
        (
            "sh",
            "; what `sh` runs isn't known, so that only a pattern that says more than `sh` matches",
        ),
        (
            "sh -xo x -c ls",
            "; what `sh` runs isn't known, so that only a pattern that says more than `sh` matches",
        ),
        ("npm run lint; rm x", "; `rm x` matches none of them"),
        ("npm run", "; `npm run` matches none of them"),
        // Options by which a granted program runs or writes what it is told.
        (
            "git -c core.pager=x diff",
            "; `git -c core.pager=x diff` matches none of them",
        ),
        ("git -C /x diff", "; `git -C /x diff` matches none of them"),
        (
            "git diff --output=src/main.rs",
            "; `--output=src/main.rs` in `git diff --output=src/main.rs` lets it run or write what it is told, so that only a pattern that names it matches",
        ),
        (
            "git diff --outp x",
            "; `--outp` in `git diff --outp x` lets it run or write what it is told, so that only a pattern that names it matches",
        ),
        (
            "git log --ext-diff",
            "; `--ext-diff` in `git log --ext-diff` lets it run or write what it is told, so that only a pattern that names it matches",
        ),
        (
            "git -c color.ui=never -c core.pager=x status",
            "; `git -c color.ui=never -c core.pager=x status` matches none of them",
        ),
        (
            "cargo test --config 'build.rustc-wrapper=\"x\"'",
            "; `--config` in `cargo test --config 'build.rustc-wrapper=\"x\"'` lets it run or write what it is told, so that only a pattern that names it matches",
        ),
    ] {
        let judged = check(line);
        if judged != Err(why.to_owned()) {
            wrong.push(format!("{line}\n  {judged:?}\n  not {why}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_forbidden_is_found_wherever_it_stands() {
    let forbids = |pattern: &str, line: &str| {
        Pattern::parse(pattern)
            .unwrap()
            .forbids("Bash", &json!({ "command": line }))
    };
    for line in [
        "rm x",
        "RM x",
        "/bin/rm x",
        "ls; rm x",
        "timeout 5 rm x",
        "xargs rm",
        "find . -exec rm {} +",
        "sh -c 'ls; rm x'",
        "r[m] x",
        "sudo rm x",
        "X=1 rm x",
        "$X x",
        "eval ls",
    ] {
        assert!(forbids("Bash(rm:*)", line), "{line}");
    }
    for line in ["ls", "git rm x", "echo rm x", "rmdir x", "sh -c 'echo rm'"] {
        assert!(!forbids("Bash(rm:*)", line), "{line}");
    }
    for line in ["git push", "git -C x push", "git push -f", "git p* x"] {
        assert!(forbids("Bash(git push:*)", line), "{line}");
    }
    for line in ["git pull", "git status", "cargo push"] {
        assert!(!forbids("Bash(git push:*)", line), "{line}");
    }
    assert!(forbids("Bash(git push *)", "/usr/bin/git push -f"));
    assert!(!forbids("Bash(git push *)", "git pull"));
    assert!(forbids("Bash(git push)", "git push") && !forbids("Bash(git push)", "git push -f"));
}

#[test]
fn a_call_without_a_shell_has_one_command() {
    let patterns = [Pattern::parse("exec(cargo test:*)").unwrap()];
    let granted = |call: Value| check_granted(&patterns, "exec", &call);
    for call in [
        json!({"command": "cargo test --lib"}),
        json!({"command": "cargo", "args": ["test", "a; b", "$(x)"]}),
        json!({"command": ["cargo", "test"]}),
        json!({"argv": ["cargo", "test", "*"]}),
        json!({"argv": ["cargo", "test"], "args": null}),
        json!({"command": "cargo test $HOME '*'"}),
    ] {
        assert_eq!(granted(call.clone()), Ok(()), "{call}");
    }
    for call in [
        json!({"command": "cargo test | rm"}),
        json!({"command": "cargo test; rm"}),
        json!({"command": "cargo", "args": "test"}),
        json!({"command": ["cargo", "test"], "args": ["x"]}),
        json!({"command": "cargo test", "argv": ["rm"]}),
        json!({"argv": ["cargo", 7]}),
        json!({"argv": "cargo test", "args": ["rm"]}),
        json!({"command": ["bash", "-c", "cargo test; rm x"]}),
        json!({}),
    ] {
        assert!(granted(call.clone()).is_err(), "{call}");
    }
}

/// Other shells have other quotes: what is one word here is several commands there.
#[test]
fn lines_for_shells_that_read_otherwise_are_no_commands() {
    let patterns = [Pattern::parse("Bash(echo:*)").unwrap()];
    let granted = |tool: &str, call: &Value| check_granted(&patterns, tool, call).is_ok();
    for (tool, line, expected) in [
        ("PowerShell", "echo a-b_c ./d:e=f+1", true),
        ("Bash", "echo 'a; b'", true),
        ("PowerShell", "echo 'a; b'", false),
        ("PowerShell", "echo \"\\\" ; rm -rf x ; echo \"", false),
        ("PowerShell", "echo \u{2019}; rm -rf x; \u{2018}", false),
        ("PowerShell", "echo `; rm", false),
        ("PowerShell", "echo a,b", false),
        ("PowerShell", "echo @x", false),
        ("PowerShell", "echo é", false),
    ] {
        assert_eq!(
            granted(tool, &json!({ "command": line })),
            expected,
            "{tool}: {line}"
        );
    }
    let patterns = ["Bash(echo:*)", "Bash(fish:*)"].map(|it| Pattern::parse(it).unwrap());
    let granted = |call: &Value| check_granted(&patterns, "exec_command", call).is_ok();
    for shell in ["bash", "/bin/zsh"] {
        assert!(
            granted(&json!({"cmd": "echo a", "shell": shell})),
            "{shell}"
        );
    }
    for shell in ["fish", "/usr/bin/fish", "nu", "pwsh", "csh"] {
        assert!(
            !granted(&json!({"cmd": "echo a", "shell": shell})),
            "{shell}"
        );
        let line = format!("{shell} -c 'echo a'");
        assert!(!granted(&json!({ "cmd": line })), "{line}");
    }
}

#[test]
fn words_are_split_as_they_are_quoted() {
    let words = |line: &str| split_words(line).map_err(|unread| unread.to_string());
    let of = |words: &[&str]| Ok(words.iter().map(ToString::to_string).collect::<Vec<_>>());
    for (line, expected) in [
        ("python -m pytest", of(&["python", "-m", "pytest"])),
        (
            "a 'b c' \"d \\\" e\" f\\ g",
            of(&["a", "b c", "d \" e", "f g"]),
        ),
        ("a ''", of(&["a", ""])),
        (
            "a $HOME *.rs ~ (b) {c} #d",
            of(&["a", "$HOME", "*.rs", "~", "(b)", "{c}", "#d"]),
        ),
        ("a\n b", of(&["a", "b"])),
        ("", of(&[])),
        ("a | b", Err("`|` at byte 2".to_owned())),
        ("a && b", Err("`&&` at byte 2".to_owned())),
        ("é; b", Err("`;` at byte 2".to_owned())),
        ("a > b", Err("`>` at byte 2".to_owned())),
        ("a < b", Err("`<` at byte 2".to_owned())),
        (
            "a `b`",
            Err("a substitution (`` ` ``) at byte 2".to_owned()),
        ),
        (
            "a \"$(b)\"",
            Err("a substitution (`$(`) at byte 3".to_owned()),
        ),
        (
            "a 'b",
            Err("a quote that isn't closed at byte 2".to_owned()),
        ),
    ] {
        assert_eq!(words(line), expected, "{line}");
    }
    let long = "a".repeat(MAX_LINE + 1);
    assert!(split_words(&long).is_err());
}

#[test]
fn what_a_builtin_evaluates_is_granted_by_no_pattern() {
    let granted = |line: &str| {
        let program = line.split(' ').next().unwrap();
        let patterns = [Pattern::parse(&format!("Bash({program}:*)")).unwrap()];
        check_granted(&patterns, "Bash", &json!({ "command": line }))
    };
    for line in [
        "printf -v 'a[$(x)]' 1",
        "printf %d 'a[`x`]'",
        "printf '%*s' 'a[$(x)]' y",
        "test -v a*",
        "test -v 'a[0]'",
        "test a -eq 1",
        "read b*",
        "declare -i a=b",
        "export 'A=$(x)'",
        "let x",
        "exit a",
        "mapfile -C x",
    ] {
        let told = granted(line).unwrap_err();
        assert!(told.contains("evaluates ("), "{line}: {told}");
    }
    for line in [
        "printf '[%s] %-5.2s%%\\n' 'a[0]' '$HOME'",
        "printf -v a %s b",
        "printf %d 7",
        "test -f src/main.rs",
        "test 1 -eq -2",
        "test a = b",
        "read -r line",
        "export A=b",
        "declare -a a",
        "exit 1",
        "unset a",
        "grep '[$]' x",
    ] {
        assert_eq!(granted(line), Ok(()), "{line}");
    }
}

/// Commands by which a granted program runs or writes what it is told, below the pattern that grants the program.
const ESCAPING: &str = include_str!("escaping.txt");

#[test]
fn a_granted_program_runs_and_writes_nothing_that_it_is_told() {
    let mut wrong = Vec::new();
    let mut pattern = Pattern::parse("Bash(none)").unwrap();
    let mut is_granted = false;
    for line in ESCAPING.lines() {
        match line.split_once(": ") {
            _ if line.is_empty() || line.starts_with('#') => {}
            Some(("grants" | "refuses", text)) if !line.starts_with(' ') => {
                is_granted = line.starts_with("grants");
                pattern = Pattern::parse(&format!("Bash({text})")).unwrap();
            }
            _ => {
                let command = line.trim_start();
                for tool in ["Bash", "exec"] {
                    let pattern = pattern.to_string().replace("Bash", tool);
                    let patterns = [Pattern::parse(&pattern).unwrap()];
                    let judged = check_granted(&patterns, tool, &json!({ "command": command }));
                    let is_right = match &judged {
                        Ok(()) => is_granted,
                        Err(why) => !is_granted && !why.contains("matches none of them"),
                    };
                    if !is_right {
                        wrong.push(format!("{pattern} {command}: {judged:?}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns names of files that are an option of [`ESCAPES`].
fn names_of(option: &str) -> Vec<String> {
    let names = match option {
        "VAR=" => vec!["A=z".to_owned()],
        _ if option.contains(['*', '?']) => ["", "z"]
            .map(|any| option.replace('*', any).replace('?', "-"))
            .to_vec(),
        _ if option.starts_with("--") => vec![option.to_owned(), format!("{option}=z")],
        _ if option.starts_with('-') && option.chars().count() == 2 => {
            vec![option.to_owned(), format!("{option}z")]
        }
        _ if option.starts_with('-') => vec![option.to_owned(), format!("-{option}=z")],
        _ => vec![option.trim_start_matches('=').to_owned()],
    };
    names
        .into_iter()
        .filter(|it| !it.is_empty() && !it.contains('/'))
        .collect()
}

/// Returns globs of which each matches a name.
fn globs_of(name: &str) -> Vec<String> {
    let mut globs = Vec::new();
    for (at, letter) in name.char_indices() {
        let (before, rest) = name.split_at(at);
        let after = rest.strip_prefix(letter).unwrap();
        globs.extend([format!("{before}?{after}"), format!("{before}*")]);
        if after.is_empty() || before.is_empty() {
            globs.push(format!("{before}[{letter}]{after}"));
        }
    }
    globs.push(format!("./{name}*"));
    globs
}

/// Returns the words that bash makes of each line, in a folder that has files with these names alone.
fn ask_bash(names: &[String], lines: &[String]) -> Vec<Vec<String>> {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let folder = std::env::temp_dir().join(format!("statemark-globs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for name in names {
        std::fs::write(folder.join(name), "").unwrap();
    }
    let script =
        r#"while IFS= read -r line; do eval "set -- $line"; printf '%s\1' "$@"; printf '\2'; done"#;
    let mut child = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", script])
        .current_dir(&folder)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = lines.join("\n") + "\n";
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let words = |line: &str| line.split_terminator('\u{1}').map(str::to_owned).collect();
    text.split_terminator('\u{2}').map(words).collect()
}

/// A line with a glob is granted only if whatever bash makes of it is: the files have the names of all options.
#[test]
fn f4_a_glob_becomes_no_option() {
    let (mut wrong, mut expanded) = (Vec::new(), 0);
    for (programs, place, options) in ESCAPES {
        let program = programs.split_whitespace().next().unwrap();
        let before = match place {
            Place::After(name) => format!("{program} {name}"),
            _ => program.to_owned(),
        };
        let names: Vec<String> = options.split_whitespace().flat_map(names_of).collect();
        let globs = names.iter().flat_map(|name| globs_of(name));
        let lines: Vec<String> = globs.map(|glob| format!("{before} {glob} a")).collect();
        let begun = ask_bash(&names, &lines);
        assert_eq!(begun.len(), lines.len(), "{program}");
        for (line, words) in lines.iter().zip(begun) {
            let granted = |tool: &str, call: Value| {
                let pattern = Pattern::parse(&format!("{tool}({program}:*)")).unwrap();
                check_granted(&[pattern], tool, &call).is_ok()
            };
            let becomes_option = !granted("exec", json!({ "argv": words }));
            expanded += usize::from(becomes_option);
            if becomes_option && granted("Bash", json!({ "command": line })) {
                wrong.push(format!("{line}: {words:?}"));
            }
        }
    }
    assert!(expanded > 4_000, "{expanded} of them became options");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A glob that begins as no option does stands for files.
#[test]
fn a_glob_that_begins_as_no_option_is_granted() {
    for line in [
        "git add src/*.rs",
        "git log HEAD^..HEAD --stat -- src/*.rs",
        "git commit -m \"fix: [x] *\"",
        "git log --grep=fix*",
        "tar --exclude=*.o -czf x.tgz src",
        "tar -czf ~/x.tgz src/*",
        "sort data/*.txt",
        "rg 'a*b' src/*.rs",
        "rg -g*.rs a",
        "gcc -O2 -o m src/*.c",
        "find . -name '*.rs' -newer src/[a-z]*",
        "npm run lint -- src/*.ts",
        "rsync -a src/*.rs to",
        "sed -n 1,5p src/*.rs",
        "curl -s https://example.com/?a=b",
        "cargo fmt -- src/*.rs",
    ] {
        let program = line.split(' ').next().unwrap();
        let patterns = [Pattern::parse(&format!("Bash({program}:*)")).unwrap()];
        let judged = check_granted(&patterns, "Bash", &json!({ "command": line }));
        assert_eq!(judged, Ok(()), "{line}");
    }
}

#[test]
fn f5_a_call_in_another_folder_is_granted_as_a_line_that_goes_there() {
    let granted = |patterns: &[&str], call: Value| {
        let patterns: Vec<Pattern> = patterns
            .iter()
            .map(|it| Pattern::parse(it).unwrap())
            .collect();
        ["Bash", "exec"].map(|tool| check_granted(&patterns, tool, &call))
    };
    for folder in FOLDER_ARGUMENTS {
        let call = json!({"command": "git status", folder: "src/b"});
        for judged in granted(&["Bash(git status)"], call.clone()) {
            assert_eq!(judged, Err("; `cd src/b` matches none of them".to_owned()));
        }
        for place in ["Bash(cd:*)", "Bash(cd src/b)", "Bash(cd src/*)"] {
            assert_eq!(
                granted(&["Bash(git status)", place], call.clone()),
                [Ok(()), Ok(())]
            );
        }
        for root in [
            json!("."),
            json!(""),
            json!("./"),
            json!("./."),
            Value::Null,
        ] {
            let call = json!({"command": "git status", folder: root});
            assert_eq!(
                granted(&["Bash(git status)"], call.clone()),
                [Ok(()), Ok(())]
            );
        }
        for other in [
            json!(7),
            json!(["."]),
            json!("/"),
            json!(".."),
            json!("a/.."),
        ] {
            let call = json!({"command": "git status", folder: other});
            let judged = granted(&["Bash(git status)"], call.clone());
            assert!(judged.iter().all(Result::is_err), "{call}");
        }
        let forbids = Pattern::parse("Bash(cd:*)").unwrap();
        assert!(forbids.forbids("Bash", &call));
        assert!(!forbids.forbids("Bash", &json!({"command": "ls", folder: "."})));
    }
}

#[test]
fn f6_a_program_is_the_one_of_the_folder_that_it_runs_in() {
    const GRANTED: [&str; 11] = [
        "Bash(cd:*)",
        "Bash(./check.sh)",
        "Bash(./tools/*)",
        "Bash(scripts/check.sh:*)",
        "Bash(pushd:*)",
        "Bash(ls:*)",
        "Bash(find:*)",
        "Bash(env:*)",
        "Bash(sh -c:*)",
        "Bash(time:*)",
        "Bash(./crate/run.sh --all)",
    ];
    let patterns = GRANTED.map(|it| Pattern::parse(it).unwrap());
    let in_folder = |line: &str, folder: &str| {
        let call = json!({"command": line, "cwd": folder});
        check_granted(&patterns, "Bash", &call)
    };
    for (folder, line) in [
        (".", "./check.sh"),
        (".", "timeout 5 ./check.sh && scripts/check.sh -v"),
        (".", "./tools/x -v"),
        (".", "ls && cd crate && ./run.sh --all"),
        (".", "cd ./crate/ && time ./run.sh --all"),
        (".", "ls; cd crate && ls && sh -c './run.sh --all'"),
        (".", "find src -exec ./check.sh ';'"),
        (".", "env ./check.sh"),
        ("crate", "./run.sh --all"),
        ("tools", "./x -v"),
        ("", "cd scripts && ls"),
    ] {
        assert_eq!(in_folder(line, folder), Ok(()), "{folder}: {line}");
    }
    for (folder, line) in [
        (".", "cd scratch && ./check.sh"),
        (".", "cd scratch; ./check.sh"),
        (".", "cd scratch || ls; ./check.sh"),
        (".", "cd scratch | ls && ./check.sh"),
        (".", "cd scratch && ls; ./check.sh"),
        (".", "cd scratch && timeout 5 ./check.sh"),
        (".", "cd scratch && find . -exec ./check.sh ';'"),
        (".", "cd scratch && sh -c ./check.sh"),
        (".", "sh -c 'cd scratch && ./check.sh'"),
        (".", "find scratch -execdir ./check.sh ';'"),
        (".", "env -C scratch ./check.sh"),
        (".", "env --chdir=scratch ./check.sh"),
        (".", "time cd scratch && ./check.sh"),
        (".", "pushd scratch && ./check.sh"),
        (".", "cd scratch && ./tools/x"),
        (".", "cd -- && ./check.sh"),
        (".", "cd && ./check.sh"),
        (".", "cd scratch/.. && ./check.sh"),
        (".", "cd scr* && ./check.sh"),
        (".", "ls || cd crate && ./run.sh --all"),
        (".", "ls & cd crate && ./run.sh --all"),
        (".", "cd crate; ./run.sh --all"),
        ("scratch", "./check.sh"),
        ("scratch", "timeout 5 ./check.sh"),
        ("scratch", "scripts/check.sh"),
        ("/tmp", "./check.sh"),
        ("scratch", "../check.sh"),
    ] {
        let told = in_folder(line, folder).unwrap_err();
        let is_told = told.contains("matches none of them") || told.contains("isn't known");
        assert!(is_told, "{folder}: {line}: {told}");
    }
    assert_eq!(
        in_folder("./check.sh", "scratch"),
        Err("; `./scratch/check.sh` matches none of them".to_owned())
    );
    assert_eq!(
        in_folder("cd x; ./check.sh", "."),
        Err("; `./check.sh` runs in a folder that isn't known for certain, so that none of them matches".to_owned())
    );
    let forbids = |pattern: &str, line: &str| {
        let pattern = Pattern::parse(pattern).unwrap();
        pattern.forbids("Bash", &json!({ "command": line }))
    };
    assert!(forbids("Bash(./deploy.sh:*)", "./deploy.sh"));
    assert!(forbids("Bash(./deploy.sh:*)", "cd a && ../deploy.sh -f"));
    assert!(!forbids("Bash(./deploy.sh:*)", "./check.sh"));
}

/// Who may go to a folder, and may use some programs, does the usual things there.
#[test]
fn what_people_do_every_day_is_granted() {
    const GRANTED: [&str; 8] = [
        "Bash(cd:*)",
        "Bash(cargo:*)",
        "Bash(npm:*)",
        "Bash(git:*)",
        "Bash(ls:*)",
        "Bash(rg:*)",
        "Bash(tail:*)",
        "Bash(make:*)",
    ];
    let patterns = GRANTED.map(|it| Pattern::parse(it).unwrap());
    for line in [
        "cd crate && cargo test",
        "cd crates/core && cargo test --lib -- --nocapture 2>&1 | tail -20",
        "cd .. && ls",
        "git commit -m \"fix: [x] *\"",
        "git --no-pager log --oneline -5 HEAD^ -- src/*.rs",
        "git --no-pager diff -p HEAD~1",
        "git add src/*.rs && git status",
        "git checkout -b feature/x && git push -u origin feature/x",
        "git stash && git pull --rebase && git stash pop",
        "ls src/*.rs; ls -la ~/src",
        "rg 'a*b' src",
        "rg -n -g '*.rs' word src/[a-z]*",
        "npm run build",
        "npm install --save-dev typescript && npm test -- --watch",
        "npm --silent run lint && npm ci",
        "cargo fmt --all && cargo clippy --workspace -- -D warnings",
        "make -j4 check",
    ] {
        let call = json!({ "command": line });
        assert_eq!(check_granted(&patterns, "Bash", &call), Ok(()), "{line}");
        let call = json!({"command": line, "workdir": "crates/core"});
        assert_eq!(check_granted(&patterns, "Bash", &call), Ok(()), "{line}");
    }
}
