//! The command line from end to end: the built binary, in folders made for it.
//! What is compared with a file is in `cases.rs`.

#[cfg(test)]
#[cfg(unix)]
mod attacks;
#[cfg(test)]
mod doors;
#[cfg(test)]
mod editor;
#[cfg(test)]
#[cfg(unix)]
mod executor;
#[cfg(test)]
mod growth;
#[cfg(test)]
mod instructions;
#[cfg(test)]
mod keeping;
#[cfg(test)]
mod killed;
#[cfg(test)]
mod long;
#[cfg(test)]
mod picture;
#[cfg(test)]
mod place;
#[cfg(test)]
mod served;
#[cfg(test)]
mod shell;
#[cfg(test)]
#[cfg(unix)]
mod top;
#[cfg(test)]
#[cfg(unix)]
mod watch;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use shell::{BINARY, Run, Scratch, perform, statemark};
use statemark_harness::is_update;

#[test]
fn the_readme_of_the_example_tells_the_truth() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("examples/bugfix_agent/README.md")).unwrap();
    let command = "statemark simulate examples/bugfix_agent/SKILL.md --events examples/bugfix_agent/events.txt";
    let shown = readme.split("```text\n").nth(1).unwrap();
    let shown = shown.split("```").next().unwrap();
    assert!(readme.contains(&command.replacen("statemark", "cargo run --release --", 1)));
    let said = perform(&Run::new(command), &root);
    assert_eq!(
        (said.stdout.as_str(), said.stderr.as_str(), said.code),
        (shown, "", 0)
    );
    let lint = perform(
        &Run::new("statemark lint --fail-on hint examples/bugfix_agent"),
        &root,
    );
    assert_eq!(lint.code, 0, "{}", lint.stdout);
}

/// Colors are kept out of files, and nothing else.
#[test]
fn what_is_handed_in_comes_out_byte_for_byte() {
    let scratch = Scratch::new("bytes");
    let text = "# Title\n\n\u{1b}[31mred\u{1b}[0m \u{1b}]8;;x\u{7}link\n";
    let run = Run {
        stdin: Some(text.to_owned()),
        ..Run::new("statemark fmt - --stdin-filename a.md")
    };
    let said = perform(&run, &scratch.path);
    assert_eq!(
        (said.stdout.as_str(), said.code),
        (text, 0),
        "{}",
        said.stderr
    );
}

/// A text on standard input that can't be formatted is said to be none, and results on a full disk are said to be lost.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_lost_without_a_word() {
    let scratch = Scratch::new("lost");
    scratch.write(
        "a.md",
        "## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n[*] --> a\na --> [*] : go\n```\n",
    );
    scratch.write("latin.md", "");
    fs::write(scratch.path.join("latin.md"), b"# \xe4\n").unwrap();
    for (words, input, expected) in [
        (
            ["fmt", "-"],
            "latin.md",
            "error: `stdin.md` is no text of UTF-8\n",
        ),
        (
            ["fmt", "-"],
            "a.md",
            "error: standard output can't be written: no space left on device\n",
        ),
        (
            ["show", "a.md"],
            "a.md",
            "error: standard output can't be written: no space left on device\n",
        ),
        (
            ["schema", "definition"],
            "a.md",
            "error: standard output can't be written: no space left on device\n",
        ),
    ] {
        let mut command = statemark(&scratch.path);
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let input = fs::File::open(scratch.path.join(input)).unwrap();
        let output = command
            .args(words)
            .stdin(input)
            .stdout(full)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (said.as_str(), output.status.code()),
            (expected, Some(2)),
            "{words:?}"
        );
    }
}

/// Both show a run of the example as somebody types it: every answer is what is answered.
#[test]
fn runs_in_texts_tell_the_truth() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for readme in ["compiler/docs/src/runs.md", "examples/paper/README.md"] {
        let path = root.join(readme);
        let text = fs::read_to_string(&path).unwrap();
        let (_, shown) = text.split_once("```text\n$ ").unwrap();
        let shown = format!("$ {}", shown.split("```").next().unwrap());
        let scratch = Scratch::new("papers");
        scratch.write(
            "paper.md",
            &fs::read_to_string(root.join("examples/paper/paper.md")).unwrap(),
        );
        let mut told = String::new();
        for part in shown.split("$ ").filter(|part| !part.is_empty()) {
            let (command, answer) = part.split_once('\n').unwrap();
            // What somebody types ends the line of a question.
            let typed: Vec<(&str, &str)> = answer
                .lines()
                .filter_map(|line| {
                    let (question, typed) = line.rsplit_once(": ").or(line.rsplit_once("? "))?;
                    let is_question = question.ends_with("to go on");
                    let typed = typed
                        .strip_prefix("[y/N] ")
                        .or(is_question.then_some(typed))?;
                    Some((line.strip_suffix(typed)?, typed))
                })
                .collect();
            let real = |text: &str| text.replace("papers/", "cli-papers/");
            let lines = typed.iter().map(|(_, typed)| real(typed) + "\n");
            let run = Run {
                typed: (!typed.is_empty()).then(|| lines.collect::<String>()),
                ..Run::new(&format!("STATEMARK_NOW=1800000000000 {command}"))
            };
            let said = perform(&run, &scratch.path);
            let mut answer = (said.stderr + &said.stdout).replace("cli-papers/", "papers/");
            for (question, typed) in typed {
                answer = answer.replacen(question, &format!("{question}{typed}\n"), 1);
            }
            told += &format!("$ {command}\n{}", answer.replace("own/", "~/.config/"));
        }
        if told != shown && is_update() {
            fs::write(&path, text.replace(&shown, &told)).unwrap();
        } else {
            assert_eq!(told, shown, "{readme}; UPDATE=1 rewrites it");
        }
    }
}

/// A person who decides in two projects keeps a token for each, in one file.
#[test]
fn tokens_of_several_projects_are_kept() {
    let scratch = Scratch::new("two-projects");
    for project in ["one", "two"] {
        fs::create_dir_all(scratch.path.join(project).join(".statemark")).unwrap();
    }
    let run = |project: &str, command: &str, typed: &str| {
        let run = Run {
            typed: Some(typed.to_owned()),
            ..Run::new(&format!("XDG_CONFIG_HOME=../own {command}"))
        };
        perform(&run, &scratch.path.join(project))
    };
    for project in ["one", "two"] {
        let create = "statemark token create ann --role person --save";
        let made = run(project, create, &format!("{project}/.statemark/runs.db\n"));
        assert_eq!(made.code, 0, "{}", made.stderr);
    }
    for project in ["one", "two", "one"] {
        // Who keeps one makes no other, and is a person still.
        let again = run(
            project,
            "statemark token create ben --role person --save",
            "y\n",
        );
        assert!(
            again
                .stderr
                .contains("you keep a token for this store already"),
            "{}",
            again.stderr
        );
        let create = "statemark token create bot --role agent";
        let not_meant = run(project, create, "n\n");
        assert_eq!(not_meant.code, 2, "{}", not_meant.stdout);
        let made = run(project, create, "y\n");
        assert_eq!(made.code, 0, "{}", made.stderr);
        let revoked = run(project, "statemark token revoke bot", "y\n");
        assert_eq!(revoked.code, 0, "{}", revoked.stderr);
    }
    let kept = fs::read_to_string(scratch.path.join("own/statemark/token")).unwrap();
    assert_eq!(kept.lines().count(), 2);
}

/// Files without findings are remembered; what is changed, damaged or of another program is compiled again.
#[test]
fn clean_files_are_remembered() {
    let scratch = Scratch::new("cache");
    let spec = "## STATE-MACHINE\n```mermaid\nstateDiagram-v2\n[*] --> a\na --> [*] : end\n```\n";
    scratch.write("door.md", spec);
    let lint = |flags: &str| {
        let command = format!("XDG_CACHE_HOME=own statemark lint {flags}");
        perform(&Run::new(&command), &scratch.path)
    };
    let clean = "no findings in 1 machine (1 file)\n";
    let folder = scratch.path.join("own/statemark/lint");
    assert_eq!(lint("--no-cache").stderr, clean);
    assert!(!folder.exists());
    assert_eq!(lint("").stderr, clean);
    let entry = fs::read_dir(&folder).unwrap().next().unwrap().unwrap();
    let file = entry.path();
    let written = fs::read(&file).unwrap();

    // A number that only the cache has shows that it is read: behind the key, with its complement.
    let mut forged = written.clone();
    forged.splice(32..40, [7, 0, 0, 0, !7, !0, !0, !0]);
    fs::write(&file, &forged).unwrap();
    assert_eq!(lint("").stderr, "no findings in 7 machines (1 file)\n");
    assert_eq!(
        lint("door.md").stderr,
        "no findings in 7 machines (1 file)\n"
    );
    assert_eq!(lint("--no-cache").stderr, clean);

    for position in 0..written.len() {
        let mut damaged = forged.clone();
        damaged[position] ^= 64;
        fs::write(&file, damaged).unwrap();
        assert_eq!(lint("").stderr, clean, "{position}");
    }
    fs::write(&file, &written[..9]).unwrap();
    assert_eq!(lint("").stderr, clean);
    assert_eq!(fs::read(&file).unwrap(), written);

    scratch.write("door.md", &spec.replace("end", "end\na --> b : go"));
    for _ in 0..2 {
        assert_eq!(lint("").code, 1);
    }
    scratch.write("door.md", spec);
    assert_eq!(lint("").code, 0);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(BINARY)
        .args(["explain", "--all"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    assert_eq!((status.code(), stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn color_is_asked_for_or_left_out() {
    let scratch = Scratch::new("color");
    scratch.write("near.md", "## STATE MACHINE\n");
    let colored = |command: &str| {
        let said = perform(&Run::new(command), &scratch.path);
        [
            said.stdout.contains('\u{1b}'),
            said.stderr.contains('\u{1b}'),
        ]
    };
    assert_eq!(colored("statemark lint near.md"), [false, false]);
    assert_eq!(
        colored("statemark lint near.md --color always"),
        [true, true]
    );
    assert_eq!(
        colored("NO_COLOR=1 statemark lint near.md --color always"),
        [true, true]
    );
    assert_eq!(
        colored("statemark lint near.md --color never"),
        [false, false]
    );
    assert_eq!(
        colored("CLICOLOR_FORCE=1 statemark lint near.md"),
        [true, true]
    );
    assert_eq!(
        colored("NO_COLOR=1 CLICOLOR_FORCE=1 statemark lint near.md"),
        [false, false]
    );
}

#[test]
fn files_that_are_no_text_are_findings() {
    let scratch = Scratch::new("no_text");
    fs::write(scratch.path.join("latin.md"), b"# \xe9t\xe9\n").unwrap();
    fs::write(scratch.path.join("utf16.mmd"), b"\xff\xfes\0t\0").unwrap();
    fs::write(scratch.path.join("large.md"), vec![b'a'; (8 << 20) + 1]).unwrap();
    let run = Run::new("statemark lint --output-format concise large.md latin.md utf16.mmd");
    let said = perform(&run, &scratch.path);
    let expected = "large.md:1:1: error[SM112] the file has 8.1 MiB, which is too much\n\
                    latin.md:1:3: error[SM113] the file isn't UTF-8: byte 0xE9 has no meaning here\n\
                    utf16.mmd:1:1: error[SM113] the file is UTF-16\n";
    assert_eq!((said.stdout.as_str(), said.code), (expected, 1));
    // Met in a folder, only the one that looks like a spec counts.
    let said = perform(
        &Run::new("statemark lint --output-format concise"),
        &scratch.path,
    );
    assert_eq!((said.stdout.as_str(), said.code), ("", 0));
}

#[test]
fn a_crate_that_new_makes_has_a_spec_next_to_its_program() {
    let scratch = Scratch::new("new_crate");
    perform(&Run::new("statemark new my-gate --rust"), &scratch.path);
    let program = fs::read_to_string(scratch.path.join("my-gate/src/main.rs")).unwrap();
    assert!(
        program.contains("machine!(\"my_gate.md\" as my_gate)"),
        "{program}"
    );
    assert!(scratch.path.join("my-gate/src/my_gate.md").is_file());
    assert!(
        !program.contains("NAME") && !program.contains("MODULE"),
        "{program}"
    );
}
