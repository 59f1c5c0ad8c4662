//! Working copies that are saved and put back, with real git in folders of their own.

mod crash;
mod repository;

use std::fs;
use std::path::Path;

use statemark_runs::body::{CheckpointRestored, CheckpointTaken, Scope};
use statemark_runs::runs::{ForkRun, RestoreFiles, RewindRun, TakeCheckpoint, WriteRaw};
use statemark_runs::{
    Body, FileChanges, FinishRestore, GiveUpRestore, Loaded, Order, Role, RunError, Runs,
    SendEvent, StartRun, plan_fork, plan_rewind,
};

use crate::harness::Bench;
use repository::{Snapshot, Work};

const SPEC: &str = "# Ship\n\n## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n    [*] --> plan\n    plan --> build : go\n    build --> plan : again\n```\n";

fn started_bench() -> Bench {
    let bench = Bench::new(&[("case.md", SPEC)]);
    let start = StartRun {
        workflow: bench.runs.workflows().ids().remove(0),
        ..StartRun::default()
    };
    bench.runs.execute(&bench.order("r"), &start).unwrap();
    bench
}

fn saved(runs: &Runs, bench: &Bench, folder: &Path, name: &str) -> Result<(), RunError> {
    let checkpoint = TakeCheckpoint {
        folder: folder.to_path_buf(),
        name: Some(name.to_owned()),
        reason: None,
    };
    runs.execute(&bench.order("r"), &checkpoint).map(|_| ())
}

fn put_back(bench: &Bench, name: &str) -> Result<(), RunError> {
    let name = name.to_owned();
    let order = bench.order("r");
    bench
        .runs
        .execute(&order, &RestoreFiles { name })
        .map(|_| ())
}

/// Saves, lets something happen, puts back: the files are as they were, and so is all that is git's; and what was
/// overwritten can be had again.
fn there_and_back(work: &Work, happens: impl FnOnce(&Work)) {
    let bench = started_bench();
    let before = Snapshot::of(work);
    let git = work.git_state();
    saved(&bench.runs, &bench, work.path(), "one").unwrap();
    assert_eq!(work.git_state(), git, "saving touches nothing of git's");
    assert_eq!(Snapshot::of(work), before, "saving touches no file");
    happens(work);
    let changed = Snapshot::of(work);
    assert_ne!(changed, before, "something happens");
    let git = work.git_state();
    put_back(&bench, "one").unwrap();
    assert_eq!(Snapshot::of(work), before);
    assert_eq!(
        work.git_state(),
        git,
        "putting back touches nothing of git's"
    );
    let loaded = bench.runs.load(&"r".parse().unwrap()).unwrap();
    assert_eq!(loaded.state.restoring, None);
    let mut names = loaded.state.checkpoints.keys();
    let overwritten = names.rfind(|name| name.starts_with("before-"));
    put_back(&bench, overwritten.unwrap()).unwrap();
    assert_eq!(
        Snapshot::of(work),
        changed,
        "what was overwritten comes back"
    );
    assert_eq!(work.litter(), Vec::<String>::new());
}

#[test]
fn tracked_changed_new_and_deleted() {
    let work = Work::new();
    work.write("kept", "1").write("deep/er/file", "x").commit();
    work.write("new", "not tracked").write("kept", "2");
    there_and_back(&work, |work| {
        work.write("kept", "3").remove("new").remove("deep");
        work.write("deep", "a file now").write("other/one", "y");
    });
}

#[test]
fn names_links_and_bits() {
    let work = Work::new();
    work.write("with blank", "1")
        .write("line\nend", "2")
        .write("quo\"te\\", "3");
    work.write("-rf", "4")
        .write("ümläut", "5")
        .write(":(top)x", "6")
        .write("*", "7");
    work.write("tool", "#!/bin/sh")
        .executable("tool", true)
        .write("text", "t");
    work.link("link", "text")
        .link("broken", "nowhere")
        .link("to-folder", "sub");
    work.write("sub/a", "a");
    work.commit();
    there_and_back(&work, |work| {
        work.executable("tool", false).executable("text", true);
        work.remove("line\nend").remove("with blank").remove("*");
        work.remove("link").write("link", "a file now");
        work.remove("text").link("text", "sub/a");
        work.remove("sub").link("sub", ".");
    });
}

#[test]
fn every_byte_as_it_is() {
    let work = Work::new();
    work.write(
        ".gitattributes",
        "* text=auto eol=lf\n*.id ident\n*.up filter=up\n",
    );
    work.write("dos.txt", "one\r\ntwo\r\n")
        .write("mixed.txt", "one\r\ntwo\n");
    work.write("x.id", "$Id$\n").write("x.up", "low\n");
    work.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
    work.git(&["config", "filter.up.smudge", "tr A-Z a-z"]);
    work.git(&["config", "core.autocrlf", "input"]);
    there_and_back(&work, |work| {
        work.write("dos.txt", "one\ntwo\n")
            .write("mixed.txt", "x\r\n");
        work.write("x.id", "$Id: 5 $\n").write("x.up", "Other\n");
    });
}

#[test]
fn ignored_files_stay() {
    let work = Work::new();
    work.write(".gitignore", "*.log\nbuilt/\n")
        .write("a.log", "1")
        .write("built/x", "1");
    work.write("tracked.log", "tracked although ignored");
    work.git(&["add", "-f", "tracked.log"]);
    let bench = started_bench();
    saved(&bench.runs, &bench, work.path(), "one").unwrap();
    work.write("a.log", "2")
        .write("built/y", "2")
        .write("tracked.log", "changed");
    // What is ignored from now on, and was saved before, is overwritten, but not lost.
    put_back(&bench, "one").unwrap();
    assert_eq!(work.read("a.log"), "2");
    assert_eq!(work.read("built/y"), "2");
    assert_eq!(work.read("tracked.log"), "tracked although ignored");
    work.write("late", "saved").write(".gitignore", "");
    work.remove("a.log").remove("built");
    saved(&bench.runs, &bench, work.path(), "two").unwrap();
    work.write(".gitignore", "late\n")
        .write("late", "ignored now");
    put_back(&bench, "two").unwrap();
    assert_eq!(work.read("late"), "saved");
    let loaded = bench.runs.load(&"r".parse().unwrap()).unwrap();
    let mut names = loaded.state.checkpoints.keys();
    let before = names.rfind(|name| name.starts_with("before-"));
    put_back(&bench, before.unwrap()).unwrap();
    assert_eq!(work.read("late"), "ignored now");
}

#[test]
fn no_commit_a_dirty_index_a_detached_head_a_worktree() {
    let work = Work::new();
    work.write("first", "1");
    there_and_back(&work, |work| {
        work.write("first", "2").write("second", "2");
    });
    work.commit();
    work.write("first", "staged").git(&["add", "."]);
    work.write("first", "and changed again")
        .git(&["rm", "--cached", "-q", "second"]);
    work.git(&["checkout", "-q", "--detach"]);
    there_and_back(&work, |work| {
        work.write("first", "3").remove("second");
    });
    let beside = Work::beside(&work);
    beside.write("only here", "1");
    there_and_back(&beside, |work| {
        work.write("first", "4").remove("only here");
    });
}

#[test]
fn a_merge_that_is_not_over() {
    let work = Work::new();
    work.write("file", "base\n").commit();
    work.git(&["checkout", "-q", "-b", "other"])
        .write("file", "theirs\n")
        .commit();
    work.git(&["checkout", "-q", "-"])
        .write("file", "ours\n")
        .commit();
    work.try_git(&["merge", "-q", "other"]);
    there_and_back(&work, |work| {
        work.write("file", "solved\n");
    });
}

#[test]
fn repositories_inside_are_left_alone() {
    let work = Work::new();
    work.write("own", "1").commit();
    let inside = work.inside("inside");
    inside.write("theirs", "1").commit();
    let empty = work.inside("empty");
    empty.write("nothing committed", "1");
    let bench = started_bench();
    saved(&bench.runs, &bench, work.path(), "one").unwrap();
    work.write("own", "2");
    inside.write("theirs", "2").commit();
    put_back(&bench, "one").unwrap();
    assert_eq!(work.read("own"), "1");
    assert_eq!(inside.read("theirs"), "2");
    assert_eq!(empty.read("nothing committed"), "1");
    let loaded = bench.runs.load(&"r".parse().unwrap()).unwrap();
    let nested = &loaded.state.checkpoints["one"].taken.nested;
    assert_eq!(nested, &["empty/", "inside/"]);
}

#[test]
fn a_rewind_takes_the_files_along() {
    let work = Work::new();
    work.write("plan", "1").commit();
    let bench = started_bench();
    let order = bench.order("r");
    saved(&bench.runs, &bench, work.path(), "one").unwrap();
    let go = |event: &str| {
        let event = event.to_owned();
        bench
            .runs
            .execute(
                &order,
                &SendEvent {
                    event,
                    data: None,
                    ..SendEvent::default()
                },
            )
            .unwrap()
    };
    go("go");
    work.write("built", "1");
    let mut rewind = RewindRun::to(2);
    rewind.scope = Scope::Both;
    let plan = plan_rewind(&bench.runs, &order.run, &rewind).unwrap();
    assert_eq!(plan.checkpoint.as_deref(), Some("one"));
    rewind.token = Some(plan.token);
    let written = bench.runs.execute(&order, &rewind).unwrap();
    assert_eq!(written.loaded.state.leaves, ["plan"]);
    assert!(!work.has("built"));
    // The state behind it and the files of that time can be had again.
    let name = "before-4".to_owned();
    bench.runs.execute(&order, &RestoreFiles { name }).unwrap();
    assert!(work.has("built"));
    let mut files = RewindRun::to(written.loaded.head.seq);
    files.scope = Scope::Workspace;
    let plan = plan_rewind(&bench.runs, &order.run, &files).unwrap();
    files.token = Some(plan.token);
    let written = bench.runs.execute(&order, &files).unwrap();
    assert!(!work.has("built"));
    assert_eq!(written.loaded.state.leaves, ["plan"]);
    assert_eq!(order.actor.role, Role::Agent);
}

/// What a plan says of files.
fn files(changes: Option<FileChanges>) -> Vec<String> {
    let files = changes.expect("files").files.into_iter();
    let told = files.map(|it| format!("{} {}", it.fate.name(), it.path));
    told.collect()
}

#[test]
fn a_dry_run_names_the_files_that_would_change() {
    let work = Work::new();
    work.write("kept", "1")
        .write("changed", "1")
        .write("sub/gone", "1");
    work.link("link", "kept").write("bit", "1").commit();
    let bench = started_bench();
    let order = bench.order("r");
    saved(&bench.runs, &bench, work.path(), "one").unwrap();
    let mut rewind = RewindRun::to(2);
    rewind.scope = Scope::Workspace;
    let plan = plan_rewind(&bench.runs, &order.run, &rewind).unwrap();
    assert_eq!(plan.files, Some(FileChanges::default()));
    work.write("changed", "2").remove("sub").write("näw", "1");
    work.remove("link").write("link", "a file now");
    work.executable("bit", true);
    let before = (Snapshot::of(&work), work.git_state());
    let plan = plan_rewind(&bench.runs, &order.run, &rewind).unwrap();
    let told = [
        "changed bit",
        "changed changed",
        "changed link",
        "deleted näw",
        "added sub/gone",
    ];
    assert_eq!(files(plan.files), told);
    assert_eq!(before, (Snapshot::of(&work), work.git_state()));
    let mut fork = ForkRun::new(order.run.clone(), 2);
    assert_eq!(plan_fork(&bench.runs, &fork).unwrap().files, None);
    fork.restore_workspace = true;
    let plan = plan_fork(&bench.runs, &fork).unwrap();
    assert_eq!(plan.checkpoint.as_deref(), Some("one"));
    assert_eq!(files(plan.files), told);
    for number in 0..150 {
        work.write(&format!("many/{number}"), "");
    }
    let changes = plan_fork(&bench.runs, &fork).unwrap().files.unwrap();
    assert_eq!((changes.files.len(), changes.more()), (100, 55));
    assert_eq!(
        (changes.added, changes.changed, changes.deleted),
        (1, 3, 151)
    );
}

#[test]
fn a_fork_takes_the_files_along() {
    let work = Work::new();
    work.write("plan", "1").commit();
    let bench = started_bench();
    let (order, other) = (bench.order("r"), bench.order("f"));
    let mut fork = ForkRun::new(order.run.clone(), 1);
    fork.restore_workspace = true;
    let none = bench.runs.execute(&other, &fork).unwrap_err().to_string();
    assert_eq!(
        none,
        "no checkpoint of `r` was taken up to record 1: fork without its files, or at a later one"
    );
    assert!(bench.runs.load(&other.run).is_err(), "nothing has begun");
    saved(&bench.runs, &bench, work.path(), "one").unwrap();
    let event = "go".to_owned();
    bench
        .runs
        .execute(
            &order,
            &SendEvent {
                event,
                data: None,
                ..SendEvent::default()
            },
        )
        .unwrap();
    work.write("built", "1").write("plan", "2");
    saved(&bench.runs, &bench, work.path(), "two").unwrap();
    let changed = Snapshot::of(&work);
    let unbuilt = ForkRun {
        reset: vec!["build".to_owned()],
        restore_workspace: true,
        ..ForkRun::new(order.run.clone(), 4)
    };
    let plan = plan_fork(&bench.runs, &unbuilt).unwrap();
    assert_eq!((plan.at, plan.checkpoint.as_deref()), (2, Some("one")));
    fork.at = 2;
    let keyed = Order {
        key: Some("k".parse().unwrap()),
        ..other.clone()
    };
    let git = work.git_state();
    let forked = bench.runs.execute(&keyed, &fork).unwrap();
    let kinds: Vec<&str> = forked.records.iter().map(|it| &*it.kind).collect();
    assert_eq!(
        kinds,
        [
            "run.forked",
            "checkpoint.taken",
            "checkpoint.restored",
            "checkpoint.restored"
        ]
    );
    assert_eq!(
        (work.read("plan").as_str(), work.has("built")),
        ("1", false)
    );
    assert_eq!(work.git_state(), git);
    let state = &forked.loaded.state;
    assert_eq!(state.leaves, ["plan"]);
    assert_eq!(state.workspace.as_deref(), Some("one"));
    assert_eq!(bench.runs.load(&order.run).unwrap().head.seq, 4);
    // Asked for again it isn't done again, whatever has become of the files.
    work.write("plan", "3");
    let again = bench.runs.execute(&keyed, &fork).unwrap();
    assert!(again.replayed);
    assert_eq!(work.read("plan"), "3");
    // What was overwritten comes back.
    let name = "before-4".to_owned();
    bench.runs.execute(&other, &RestoreFiles { name }).unwrap();
    assert_eq!(Snapshot::of(&work), changed);
    // Two don't put back the same files.
    work.remove("plan")
        .write(".git/info/exclude", "plan/ignored\n");
    work.write("plan/ignored", "x");
    put_back(&bench, "one").unwrap_err();
    let said = bench
        .runs
        .execute(&bench.order("g"), &fork)
        .unwrap_err()
        .to_string();
    assert_eq!(
        said,
        "files of run `r` are being restored to checkpoint `one`; finish that or give it up first"
    );
}

/// The files that a child would find aren't there before they are put back.
#[test]
fn a_fork_starts_its_children_after_its_files_are_back() {
    let spec = "# Auto\n\n## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n    [*] --> job\n    job --> ok : done\n    ok --> job : again\n```\n\n```json definition\n{\"id\": \"auto\", \"states\": {\"job\": {\"invoke\": {\"src\": \"kid\"}}}}\n```\n";
    let kid = "# Kid\n\n## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n    [*] --> k1\n    k1 --> [*] : end\n```\n\n```json definition\n{\"id\": \"kid\"}\n```\n";
    let bench = Bench::new(&[("auto.md", spec), ("kid.md", kid)]);
    let (order, other) = (bench.order("r"), bench.order("f"));
    let start = StartRun {
        workflow: "auto".to_owned(),
        ..StartRun::default()
    };
    bench.runs.execute(&order, &start).unwrap();
    let work = Work::new();
    work.write("a", "1").commit();
    saved(&bench.runs, &bench, work.path(), "one").unwrap();
    let at = bench.runs.load(&order.run).unwrap().head.seq;
    // A folder with an ignored file stands where a file was.
    work.remove("a").write(".git/info/exclude", "a/ignored\n");
    work.write("a/ignored", "x");
    let mut fork = ForkRun::new(order.run.clone(), at);
    fork.restore_workspace = true;
    let said = bench.runs.execute(&other, &fork).unwrap_err().to_string();
    assert!(said.starts_with("putting the files back: "), "{said}");
    let loaded = bench.runs.catch_up(&other.run).unwrap();
    assert!(loaded.state.restoring.is_some() && loaded.state.children.is_empty());
    let child = "f/job/1".parse().unwrap();
    assert!(bench.runs.load(&child).is_err(), "nothing works for it yet");
    work.remove("a");
    let done = bench.runs.execute(&other, &FinishRestore).unwrap();
    assert_eq!(work.read("a"), "1");
    assert!(done.loaded.state.children.contains_key("f/job/1"));
    assert!(bench.runs.load(&child).is_ok());
}

#[test]
fn what_cannot_be_put_back_says_so() {
    let work = Work::new();
    work.write("a", "1").commit();
    let bench = started_bench();
    let order = bench.order("r");
    saved(&bench.runs, &bench, work.path(), "one").unwrap();
    let nowhere = saved(&bench.runs, &bench, &work.path().join("nowhere"), "two");
    let said = nowhere.unwrap_err().to_string();
    assert!(
        said.starts_with("looking for the repository: there is no folder"),
        "{said}"
    );
    // A folder with an ignored file stands where a file was.
    work.remove("a")
        .write(".git/info/exclude", "a/ignored\n")
        .write("a/ignored", "x");
    let said = put_back(&bench, "one").unwrap_err().to_string();
    assert!(said.starts_with("putting the files back: "), "{said}");
    assert_eq!(work.read("a/ignored"), "x");
    // Until that is over, nothing moves.
    let event = "go".to_owned();
    let sent = bench
        .runs
        .execute(
            &order,
            &SendEvent {
                event,
                data: None,
                ..SendEvent::default()
            },
        )
        .unwrap();
    let summary = sent.records[0].summary();
    assert_eq!(
        summary,
        "event `go` refused: files are being restored to checkpoint `one`; finish that or give it up first"
    );
    let reason = "the folder is needed".to_owned();
    let give_up = GiveUpRestore { reason };
    let given_up = bench.runs.execute(&order, &give_up).unwrap();
    assert_eq!(given_up.loaded.state.restoring, None);
    let event = "go".to_owned();
    let sent = bench
        .runs
        .execute(
            &order,
            &SendEvent {
                event,
                data: None,
                ..SendEvent::default()
            },
        )
        .unwrap();
    assert_eq!(sent.loaded.state.leaves, ["build"]);
}

/// Former versions kept checkpoints as commits under `refs/statemark/` of the repository itself: they are taken over when
/// they are asked for, and need the repository no more.
#[test]
fn checkpoints_of_former_versions_are_restored() {
    let work = Work::new();
    work.write("kept", "1").write("sub/gone", "1").commit();
    let text = |words: &[&str]| work.git_text(words);
    let tree = text(&["rev-parse", "HEAD^{tree}"]);
    let commit = text(&["commit-tree", "-m", "Checkpoint `old` of run `r`", &tree]);
    work.git(&["update-ref", "refs/statemark/r/2", &commit]);
    let bench = started_bench();
    let order = bench.order("r");
    let repository = fs::canonicalize(work.path()).unwrap();
    let taken = move |_: &Loaded, _| {
        vec![Body::CheckpointTaken(CheckpointTaken {
            safety: false,
            name: "old".to_owned(),
            commit: commit.clone(),
            repository: repository.to_str().unwrap().to_owned(),
            tree: tree.clone(),
            head: None,
            nested: Vec::new(),
            left_out: Vec::new(),
            reason: None,
        })]
    };
    bench.runs.execute(&order, &WriteRaw(taken)).unwrap();
    work.write("kept", "2").remove("sub");
    put_back(&bench, "old").unwrap();
    assert_eq!(
        (work.read("kept"), work.read("sub/gone")),
        ("1".to_owned(), "1".to_owned())
    );
    // The repository forgets them.
    work.git(&["update-ref", "-d", "refs/statemark/r/2"]);
    work.remove(".git").git(&["init", "-q"]);
    work.write("kept", "3");
    put_back(&bench, "old").unwrap();
    assert_eq!(work.read("kept"), "1");
}

#[test]
fn a_restore_that_is_refused_carries_out_nobody_elses() {
    let bench = started_bench();
    let work = Work::new();
    work.write("kept", "1").commit();
    saved(&bench.runs, &bench, work.path(), "one").unwrap();
    work.write("kept", "2");
    saved(&bench.runs, &bench, work.path(), "two").unwrap();
    work.write("kept", "3");
    let order = bench.order("r");
    // What is meant is recorded, and then nothing more is done: whoever does it is still at it.
    let meant = |loaded: &Loaded, _| {
        let one = loaded.state.checkpoints["one"].taken.clone();
        let restored = CheckpointRestored {
            name: one.name,
            repository: one.repository,
            commit: one.commit,
            tree: one.tree,
            done: false,
            before: None,
            given_up: None,
            rewind: None,
        };
        vec![Body::CheckpointRestored(restored)]
    };
    bench.runs.execute(&order, &WriteRaw(meant)).unwrap();
    let name = "two".to_owned();
    let written = bench.runs.execute(&order, &RestoreFiles { name }).unwrap();
    let kinds: Vec<&str> = written.records.iter().map(|it| &*it.kind).collect();
    assert_eq!(kinds, ["refused"]);
    assert!(written.loaded.state.restoring.is_some());
    assert_eq!(work.read("kept"), "3");
    bench.runs.execute(&order, &FinishRestore).unwrap();
    assert_eq!(work.read("kept"), "1");
}
