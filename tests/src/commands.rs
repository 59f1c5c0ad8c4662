//! Bash itself, asked which commands it begins: each of them was read from the line.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use statemark_runs::policy::read_line;

/// Lines whose commands are asked of one bash. Why: starting one takes longer than a hundred lines.
const LINES: usize = 200;

/// Programs that don't exist, so that bash hands each of their commands to `command_not_found_handle`.
const PROGRAMS: [&str; 3] = ["xq", "yq", "zq"];

/// Pieces of lines: what shells give a meaning, and what they don't.
const PIECES: [&str; 45] = [
    "xq",
    "yq",
    "zq",
    "xq ",
    "yq ",
    "a",
    "b1",
    "-o",
    " ",
    " ",
    "  ",
    "\t",
    "\n",
    ";",
    ";;",
    "&",
    "&&",
    "||",
    "|",
    "|&",
    "'",
    "'",
    "\"",
    "\"",
    "\\",
    "\\\n",
    "$",
    "$a",
    "`",
    "(",
    ")",
    "{",
    "}",
    "{}",
    ">",
    ">&2",
    "2>&1",
    "</dev/null",
    ">/dev/null",
    "&>/dev/null",
    "#",
    "!",
    "=",
    "é",
    "\u{a0}",
];

/// Returns the commands that bash begins, each as its words, of every line.
fn ask_bash(lines: &[String]) -> Vec<BTreeSet<Vec<String>>> {
    // Each line has a bash function's worth of its own: what it defines or changes ends with it.
    let script = r#"
        export PATH=/nonexistent
        command_not_found_handle() {
            local said; printf -v said '%s\1' "$@"
            # Bash writes up to each end of a line apart, between which another command may write.
            said=${said//$'\n'/$'\4'}; printf '%s\2' "$said" >&9
        }
        export -f command_not_found_handle
        while IFS= read -r -d '' line; do
            (set -f; eval "$line"; wait) >/dev/null 2>&1 </dev/null
            printf '\3' >&9
        done
    "#;
    let mut child = Command::new("bash")
        .args([
            "--norc",
            "--noprofile",
            "-c",
            &format!("exec 9>&1; {script}"),
        ])
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input: Vec<u8> = lines
        .iter()
        .flat_map(|line| [line.as_bytes(), b"\0"].concat())
        .collect();
    let writer = std::thread::spawn(move || stdin.write_all(&input).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut begun: Vec<BTreeSet<Vec<String>>> = text
        .split('\u{3}')
        .map(|line| {
            let commands = line.split('\u{2}').filter(|it| !it.is_empty());
            let words = |command: &str| {
                command
                    .split_terminator('\u{1}')
                    .map(|word| word.replace('\u{4}', "\n"))
                    .collect()
            };
            commands.map(words).collect()
        })
        .collect();
    begun.pop();
    begun
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_command_that_bash_begins_was_read(
        lines in prop::collection::vec(
            prop::collection::vec(prop::sample::select(&PIECES[..]), 1..9),
            LINES,
        )
    ) {
        let lines: Vec<String> = lines.iter().map(|pieces| pieces.concat()).collect();
        // What isn't read, or sets variables, is granted to nobody.
        let read = lines.iter().filter_map(|line| {
            let commands = read_line(line).ok()?;
            let is_plain = commands.iter().all(|it| it.with_inner().is_ok());
            is_plain.then_some((line, commands))
        });
        let read: Vec<_> = read.collect();
        let asked: Vec<String> = read.iter().map(|(line, _)| (*line).clone()).collect();
        let begun = ask_bash(&asked);
        prop_assert_eq!(begun.len(), asked.len());
        for ((line, commands), begun) in read.iter().zip(begun) {
            let ours: BTreeSet<Vec<String>> = commands
                .iter()
                .map(|it| it.words().map(str::to_owned).collect())
                .collect();
            for command in begun {
                prop_assert!(ours.contains(&command), "{line:?}: bash begins {command:?}, and {ours:?} were read");
            }
        }
    }
}

/// The law above says nothing if bash begins nothing.
#[test]
fn bash_begins_what_is_plain() {
    let lines = PROGRAMS.map(|program| format!("{program} a 'b c'; true && {program} \"d\""));
    for (line, begun) in lines.iter().zip(ask_bash(&lines)) {
        let commands = read_line(line).unwrap();
        let ours: BTreeSet<Vec<String>> = commands
            .iter()
            .map(|it| it.words().map(str::to_owned).collect())
            .filter(|words: &Vec<String>| words[0] != "true")
            .collect();
        assert_eq!(begun, ours, "{line}");
    }
}

/// Words that a builtin evaluates, each hidden from the lexer by single quotes.
const EVALUATED: [&str; 6] = [
    "'a[$(echo >&9)]'",
    "'a[`echo >&9`]'",
    "'a[$(echo >&9)]=1'",
    "'x[a[$(echo >&9)]]'",
    "'$(echo >&9)'",
    "a",
];

/// Commands of which some evaluate the word at `@`. The variable `a` holds a substitution, too.
const BUILTINS: [&str; 48] = [
    "printf -v @ x",
    "printf -v@ x",
    "printf -- -v @ x",
    "printf %d @",
    "printf %n @",
    "printf %s%n x @",
    "printf %%%n @",
    "printf %-5.3s%n x @",
    "printf '%s\\n' @",
    "printf @",
    "test -v @",
    "test ! -v @",
    "test -n x -a -v @",
    "test -R @",
    "test @ -eq 0",
    "test 0 -lt @",
    "test x = x -a @ -eq 0",
    "test -t @",
    "[ -v @ ]",
    "[ 0 -eq @ ]",
    "builtin test -v @",
    "command test -v @",
    "command -p test -v @",
    "builtin command test -v @",
    "time test -v @",
    "time -p printf -v @ x",
    "read @",
    "read -a @",
    "read -n 0 @",
    "declare @",
    "declare -i b=@",
    "declare -ai b=@",
    "declare -n b=@",
    "declare +x -i b=@",
    "typeset -i @",
    "export @",
    "readonly @",
    "readonly -a @",
    "let @",
    "let b=@",
    "unset @",
    "unset -v @",
    "getopts x @",
    "mapfile @",
    "mapfile -C @ -c 1 b",
    "readarray @",
    "wait -n -p @",
    "shift @",
];

/// A quoted word that a builtin of bash evaluates is read from no line.
#[test]
fn what_a_builtin_of_bash_evaluates_was_not_read() {
    let lines: Vec<String> = BUILTINS
        .iter()
        .flat_map(|builtin| EVALUATED.map(|word| builtin.replace('@', word)))
        .collect();
    let prepared: Vec<String> = lines
        .iter()
        .map(|line| {
            // Bash says by a word that isn't a program that it has evaluated.
            let line = line.replace("echo >&9", "xq");
            format!("a='b[$(xq)]'; b=(1); set -- -x -y; {line}")
        })
        .collect();
    let begun = ask_bash(&prepared);
    assert_eq!(begun.len(), lines.len());
    let evaluated = begun.iter().filter(|it| !it.is_empty()).count();
    assert!(evaluated > 60, "bash evaluates {evaluated} of them");
    let missed: Vec<&String> = lines
        .iter()
        .zip(&begun)
        .filter(|(line, begun)| !begun.is_empty() && read_line(line).is_ok())
        .map(|(line, _)| line)
        .collect();
    assert!(missed.is_empty(), "{missed:#?}");
}
