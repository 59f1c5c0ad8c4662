//! An agent's tools for files: no path, link or race leads out of the project, or to the repository and the runs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::{DOOR, done, make_pipe};
use crate::served::client::Client;
use crate::shell::Scratch;

/// What nobody may read through these tools, or write.
const SECRET: &str = "a secret that is nobody's business\n";

/// A project with a repository and a store, and beside it a folder of the user's.
fn project(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    for path in [
        "elsewhere/file",
        "work/.git/config",
        "work/.git/HEAD",
        "work/inner/.git/config",
    ] {
        scratch.write(path, SECRET);
    }
    scratch.write("work/door.md", DOOR);
    scratch.write("work/deep/file", "open to everybody\n");
    let work = scratch.path.join("work");
    fs::create_dir(work.join(".statemark")).unwrap();
    done(
        &scratch,
        &[
            "start",
            "door",
            "--specs",
            "work",
            "--run-id",
            "d1",
            "--store",
            "work/.statemark/runs.db",
        ],
    );
    scratch
}

fn serve(scratch: &Scratch) -> Client {
    Client::start(&scratch.path.join("work"), &["--toolsets", "fs"])
}

/// Every file of a folder with what it says.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push((path.display().to_string(), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// What must be as it was, whatever an agent calls.
fn precious(scratch: &Scratch) -> Vec<(String, Vec<u8>)> {
    let folders = ["elsewhere", "work/.git", "work/inner/.git"];
    let mut all: Vec<_> = folders
        .iter()
        .flat_map(|folder| contents(&scratch.path.join(folder)))
        .collect();
    let store = scratch.path.join("work/.statemark/runs.db");
    all.push(("the store".to_owned(), fs::read(store).unwrap()));
    all
}

/// The calls of every tool that could do something with a path.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": path})),
        ("read_file", json!({"path": path, "head": 5})),
        ("read_file", json!({"path": path, "offset": 1})),
        ("read_multiple_files", json!({"paths": [path]})),
        ("stat_path", json!({"path": path})),
        ("list_directory", json!({"path": path})),
        ("list_directory_recursive", json!({"path": path})),
        ("directory_tree", json!({"path": path})),
        ("search_files", json!({"pattern": "*", "path": path})),
        ("grep_files", json!({"pattern": ".", "path": path})),
        (
            "edit_file",
            json!({"path": path, "edits": [{"oldText": "secret", "newText": "x"}]}),
        ),
        ("append_file", json!({"path": path, "content": "x"})),
        ("write_file", json!({"path": path, "content": "x"})),
        (
            "write_file",
            json!({"path": format!("{path}/new"), "content": "x"}),
        ),
        ("create_directory", json!({"path": format!("{path}/new")})),
        (
            "copy_file",
            json!({"source": path, "destination": "copied", "overwrite": true}),
        ),
        ("read_file", json!({"path": "copied"})),
        (
            "copy_file",
            json!({"source": "deep/file", "destination": path, "overwrite": true}),
        ),
        (
            "move_file",
            json!({"source": "deep/file", "destination": path, "overwrite": true}),
        ),
        (
            "write_file",
            json!({"path": "deep/file", "content": "open to everybody\n"}),
        ),
        (
            "move_file",
            json!({"source": path, "destination": "moved", "overwrite": true}),
        ),
        ("read_file", json!({"path": "moved"})),
        ("delete_path", json!({"path": path, "recursive": true})),
    ]
}

#[test]
fn no_path_leads_out_of_the_workspace() {
    let scratch = project("workspace-paths");
    let work = scratch.path.join("work");
    let elsewhere = scratch.path.join("elsewhere/file").display().to_string();
    let long = "long/".repeat(1_000);
    let links = [
        ("link", "../elsewhere"),
        ("linked", "../elsewhere/file"),
        ("deep/up", "../.."),
        ("repository", ".git"),
        ("runs", ".statemark"),
        ("store", ".statemark/runs.db"),
        ("proc", "/proc/self"),
        ("around", "around"),
    ];
    let paths = [
        "../elsewhere/file",
        "deep/../../elsewhere/file",
        elsewhere.as_str(),
        "link",
        "link/file",
        "linked",
        "deep/up/elsewhere/file",
        ".git",
        ".git/config",
        ".GIT/config",
        "./.git//config",
        "inner/.git/config",
        "repository",
        "repository/config",
        ".statemark/runs.db",
        "runs/runs.db",
        "store",
        "same.db",
        "same.db-wal",
        "/proc/self/environ",
        "proc/environ",
        "around",
        "around/file",
        "pipe",
        long.as_str(),
        &"n".repeat(5_000),
        "zero\0file",
        "",
        ".",
        "..",
    ];
    let mut client = serve(&scratch);
    for path in paths {
        for (link, target) in links {
            // A call may have moved or deleted a link itself, which is its own.
            let _ = fs::remove_file(work.join(link));
            symlink(target, work.join(link)).unwrap();
        }
        let _ = fs::remove_file(work.join("same.db"));
        fs::hard_link(work.join(".statemark/runs.db"), work.join("same.db")).unwrap();
        if !work.join("pipe").exists() {
            make_pipe(&work.join("pipe"));
        }
        let before = precious(&scratch);
        for (tool, arguments) in calls(path) {
            if path == "." && tool == "delete_path" {
                continue;
            }
            let answer = client.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
            let said = answer.to_string();
            assert!(
                !said.contains("nobody's business") && !said.contains("SQLite format"),
                "{tool} {arguments}: {said}"
            );
            assert!(before == precious(&scratch), "{tool} {arguments}: {said}");
        }
    }
    let deleted = json!({"name": "delete_path", "arguments": {"path": ".", "recursive": true}});
    client.ask("tools/call", &deleted);
    assert!(work.join(".git/HEAD").exists());
}

/// A folder that holds a repository isn't moved away or deleted with it.
#[test]
fn what_holds_a_repository_or_a_store_stays() {
    let scratch = project("workspace-holds");
    let work = scratch.path.join("work");
    fs::create_dir(work.join("data")).unwrap();
    fs::copy(work.join(".statemark/runs.db"), work.join("data/mine.db")).unwrap();
    let mut client = serve(&scratch);
    for path in ["inner", "data"] {
        for (tool, arguments) in [
            ("delete_path", json!({"path": path, "recursive": true})),
            ("move_file", json!({"source": path, "destination": "gone"})),
        ] {
            let answer = client.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
            assert_eq!(answer["result"]["isError"], true, "{answer}");
        }
    }
    assert!(work.join("inner/.git/config").exists() && work.join("data/mine.db").exists());
}

/// A folder that turns into a link to elsewhere, and back, as quickly as that goes.
#[test]
fn a_folder_that_is_swapped_for_a_link_leads_nowhere() {
    let scratch = project("workspace-swapped");
    let work = scratch.path.join("work");
    fs::create_dir(work.join("real")).unwrap();
    fs::write(work.join("real/file"), "open\n").unwrap();
    symlink("../elsewhere", work.join("false")).unwrap();
    symlink("real", work.join("swap")).unwrap();
    let before = contents(&scratch.path.join("elsewhere"));
    let ended = Arc::new(AtomicBool::new(false));
    let swapping = {
        let (ended, work) = (Arc::clone(&ended), work.clone());
        std::thread::spawn(move || {
            let mut swaps = 0_u32;
            while !ended.load(Ordering::Relaxed) {
                for target in ["../elsewhere", "real"] {
                    let _ = fs::remove_file(work.join("next"));
                    symlink(target, work.join("next")).unwrap();
                    fs::rename(work.join("next"), work.join("swap")).unwrap();
                    swaps += 1;
                }
            }
            swaps
        })
    };
    let mut client = serve(&scratch);
    let mut written = 0;
    for round in 0..400 {
        for (tool, arguments) in [
            (
                "write_file",
                json!({"path": "swap/file", "content": format!("open {round}\n")}),
            ),
            ("read_file", json!({"path": "swap/file"})),
            (
                "copy_file",
                json!({"source": "swap/file", "destination": "copy", "overwrite": true}),
            ),
            ("delete_path", json!({"path": "swap/file"})),
        ] {
            let answer = client.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
            let said = answer.to_string();
            assert!(!said.contains("nobody's business"), "{tool}: {said}");
            written += u32::from(tool == "write_file" && answer["result"]["isError"] != true);
        }
    }
    ended.store(true, Ordering::Relaxed);
    let swaps = swapping.join().unwrap();
    assert!(
        swaps > 100 && written > 0,
        "{swaps} swaps, {written} writes"
    );
    assert_eq!(contents(&scratch.path.join("elsewhere")), before);
    let copied = fs::read_to_string(work.join("copy")).unwrap_or_default();
    assert!(!copied.contains("nobody's business"), "{copied}");
}

/// A file that is no text is told with the place where it stops to be one.
#[test]
fn a_binary_file_is_an_error_with_its_place() {
    let scratch = project("workspace-binary");
    fs::write(scratch.path.join("work/logo"), b"ok\xff").unwrap();
    let mut client = serve(&scratch);
    for part in [
        json!({}),
        json!({"head": 1}),
        json!({"offset": 1}),
        json!({"tail": 1}),
    ] {
        let mut arguments = part;
        arguments["path"] = json!("logo");
        let answer = client.ask(
            "tools/call",
            &json!({"name": "read_file", "arguments": arguments}),
        );
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let said = &answer["result"]["structuredContent"];
        assert_eq!(said["status"], "binary_or_invalid_utf8", "{answer}");
        assert_eq!(said["byte_offset"], 2, "{answer}");
    }
}

/// Another name of a file keeps what it said: it may be outside of the project.
#[test]
fn a_hard_link_is_not_written_through() {
    let scratch = project("workspace-hard");
    let work = scratch.path.join("work");
    fs::hard_link(scratch.path.join("elsewhere/file"), work.join("same")).unwrap();
    let mut client = serve(&scratch);
    for (tool, arguments) in [
        ("append_file", json!({"path": "same", "content": "more\n"})),
        (
            "edit_file",
            json!({"path": "same", "edits": [{"oldText": "more", "newText": "x"}]}),
        ),
        ("write_file", json!({"path": "same", "content": "other\n"})),
    ] {
        let answer = client.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_ne!(answer["result"]["isError"], true, "{answer}");
    }
    assert_eq!(fs::read_to_string(work.join("same")).unwrap(), "other\n");
    let kept = fs::read_to_string(scratch.path.join("elsewhere/file")).unwrap();
    assert_eq!(kept, SECRET);
}

/// A server that dies while it writes leaves the old text or the new one.
#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let scratch = project("workspace-killed");
    let file = scratch.path.join("work/large.txt");
    let texts = ["a".repeat(3 << 20), "b".repeat(3 << 20)];
    fs::write(&file, &texts[0]).unwrap();
    for round in 0..12_u64 {
        let mut client = serve(&scratch);
        for text in texts.iter().rev() {
            let arguments = json!({"path": "large.txt", "content": text});
            client.begin(
                "tools/call",
                &json!({"name": "write_file", "arguments": arguments}),
            );
        }
        std::thread::sleep(Duration::from_millis(round * 7));
        client.kill();
        drop(client);
        let found = fs::read_to_string(&file).unwrap();
        assert!(
            texts.contains(&found),
            "round {round}: {} bytes",
            found.len()
        );
    }
}
