//! What `store` does with stores that documents can't make: damaged ones, ones that others read, and ones on a server.

use std::fs;
use std::process::Stdio;

use rusqlite::Connection;

use crate::shell::{Run, Said, Scratch, perform, statemark};

const SPEC: &str = "## STATE-MACHINE: door\n\n```mermaid\nstateDiagram-v2\n    [*] --> shut\n    shut --> open : push\n    open --> shut : pull\n```\n";

/// A folder with a spec, and a store with a run of it that has some events behind it.
pub(crate) fn filled(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.write("door.md", SPEC);
    scratch.write("statemark.toml", "store = \"runs.db\"\n");
    said(&scratch, "statemark start door --run-id d1", 0);
    for event in ["push", "pull", "push"] {
        said(&scratch, &format!("statemark send d1 {event}"), 0);
    }
    scratch
}

/// What a command says, and that it ends so.
pub(crate) fn said(scratch: &Scratch, command: &str, code: i32) -> Said {
    let said = perform(&Run::new(command), &scratch.path);
    assert_eq!(said.code, code, "{command}: {}{}", said.stdout, said.stderr);
    said
}

#[test]
fn damage_is_named_with_its_run_and_record() {
    let scratch = filled("damaged");
    let file = Connection::open(scratch.path.join("runs.db")).unwrap();
    let change = "UPDATE records SET body = replace(body, 'pull', 'push') WHERE seq = 3";
    assert_eq!(file.execute(change, []).unwrap(), 1);
    drop(file);
    let text = said(&scratch, "statemark store verify", 1);
    assert_eq!(
        (text.stdout.as_str(), text.stderr.as_str()),
        (
            "run `d1` at record 3: it isn't as it was written\n1 difference in 1 run, 4 records, 1 blob\n",
            ""
        )
    );
    let json = said(&scratch, "statemark store verify --json", 1);
    assert_eq!(
        json.stdout,
        "{\"runs\":1,\"records\":4,\"blobs\":1,\"differences\":[{\"run\":\"d1\",\"seq\":3,\"what\":\"it isn't as it was written\"}]}\n"
    );
    // Nobody gets a damaged run, and half of one least of all.
    let refused = said(&scratch, "statemark store export out.jsonl", 2);
    assert_eq!(
        refused.stderr,
        "error: the store is damaged in run `d1` at record 4: the record before it isn't the one that it was written after\n"
    );
    said(
        &scratch,
        "AS=ann statemark store migrate runs.db other.db",
        2,
    );
    let names = fs::read_dir(&scratch.path).unwrap();
    let mut names = names.map(|it| it.unwrap().file_name().into_string().unwrap());
    assert!(!names.any(|name| name.contains("out.jsonl") || name.ends_with(".tmp")));
    let replayed = said(&scratch, "statemark replay d1", 1);
    assert!(
        replayed.stdout.starts_with("d1: different at record 3"),
        "{}",
        replayed.stdout
    );
}

#[test]
fn a_file_that_is_no_store_is_a_finding() {
    let scratch = Scratch::new("no_store");
    scratch.write("runs.db", &"nobody's database ".repeat(100));
    let found = said(&scratch, "statemark store verify --store runs.db", 1);
    assert_eq!(
        found.stdout,
        "the store is damaged: file is not a database\n"
    );
    let json = said(&scratch, "statemark store verify --store runs.db --json", 1);
    assert_eq!(
        json.stdout,
        "{\"unreadable\":\"the store is damaged: file is not a database\"}\n"
    );
}

#[test]
fn an_export_goes_through_a_pipe_and_may_be_cut() {
    let scratch = filled("pipe");
    let export = said(&scratch, "statemark store export -", 0);
    let import = Run {
        stdin: Some(export.stdout.clone()),
        ..Run::new("AS=ann statemark store import - --store other.db --json")
    };
    // Hashes are masked in what is said here, so that it can't be what was written.
    assert_eq!(perform(&import, &scratch.path).code, 2);
    let mut child = statemark(&scratch.path)
        .args(["store", "export", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let mut export = statemark(&scratch.path)
        .args(["store", "export", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let ann = fs::read_to_string(scratch.path.join("own/ann-other.db")).unwrap();
    let import = statemark(&scratch.path)
        .args(["store", "import", "-", "--store", "other.db"])
        .env("STATEMARK_TOKEN", ann)
        .stdin(export.stdout.take().unwrap())
        .output()
        .unwrap();
    assert!(export.wait().unwrap().success());
    assert_eq!(String::from_utf8_lossy(&import.stdout), "1 run new\n");
    said(&scratch, "statemark store verify --store other.db", 0);
}

#[cfg(unix)]
#[test]
fn what_is_written_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = filled("private");
    said(&scratch, "statemark store export runs.jsonl", 0);
    said(&scratch, "statemark store backup copy.db", 0);
    for name in ["runs.jsonl", "copy.db"] {
        let mode = fs::metadata(scratch.path.join(name)).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600, "{name}");
    }
}

/// A store that somebody has open has a log beside it, which would be read as that of the copy.
#[test]
fn a_backup_never_takes_the_place_of_a_store_in_use() {
    let scratch = filled("in_use");
    said(
        &scratch,
        "statemark start door --run-id e1 --store used.db",
        0,
    );
    let file = Connection::open(scratch.path.join("used.db")).unwrap();
    let count = |file: &Connection| -> i64 {
        let sql = "SELECT count(*) FROM runs WHERE run <> '$store'";
        file.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(count(&file), 1);
    let refused = said(&scratch, "statemark store backup used.db --overwrite", 2);
    assert_eq!(
        refused.stderr,
        "error: `used.db` is a store that is in use\n  help: choose another name; nothing was written\n"
    );
    assert_eq!(count(&file), 1);
    drop(file);
    said(&scratch, "statemark store backup used.db --overwrite", 0);
    assert!(
        said(&scratch, "statemark runs --store used.db", 0)
            .stdout
            .starts_with("d1 ")
    );
}
