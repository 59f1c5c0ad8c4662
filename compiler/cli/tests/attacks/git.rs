//! Checkpoints: hostile repositories, and the store in the way.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{DOOR, attacked, done, in_time, make_pipe};
use crate::shell::{Scratch, statemark, untouched};

/// Calls git in a folder, and returns what it prints.
pub(crate) fn git(folder: &Path, words: &[&str]) -> String {
    let mut command = untouched("git", folder);
    command.args(["-c", "user.name=t", "-c", "user.email=t"]);
    let output = command.args(words).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "git {words:?}: {error}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A repository with a spec and a file that is committed.
fn repository(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.write("door.md", DOOR);
    scratch.write("file", "1\n");
    git(&scratch.path, &["init", "-q"]);
    git(&scratch.path, &["add", "door.md", "file"]);
    git(&scratch.path, &["commit", "-qm", "all"]);
    scratch
}

/// What is acknowledged after a checkpoint is there after the files are put back, wherever the store lies.
#[test]
fn c3_no_restore_touches_the_store() {
    let places: &[(&str, &str, &[&str])] = &[
        ("inside", "store = \"runs.db\"\n", &[]),
        ("deeper", "store = \"data/deep/runs.db\"\n", &[]),
        (
            "tracked",
            "store = \"runs.db\"\n",
            &["add", "-f", "runs.db"],
        ),
        ("folder", "", &["add", "-f", ".statemark/runs.db"]),
    ];
    for (place, config, words) in places {
        let scratch = repository(&format!("c3-{place}"));
        scratch.write("statemark.toml", config);
        done(&scratch, &["start", "door", "--run-id", "y"]);
        // Nothing hides the default place any more.
        let _ = fs::remove_file(scratch.path.join(".statemark/.gitignore"));
        if !words.is_empty() {
            git(&scratch.path, words);
        }
        done(&scratch, &["checkpoint", "take", "y", "--name", "c1"]);
        done(&scratch, &["start", "door", "--run-id", "n1"]);
        done(&scratch, &["send", "y", "push"]);
        scratch.write("file", "2\n");
        let said = done(&scratch, &["checkpoint", "restore", "y", "c1"]);
        assert!(said.stdout.contains("as they were"), "{}", said.stdout);
        assert_eq!(
            fs::read_to_string(scratch.path.join("file")).unwrap(),
            "1\n"
        );
        let runs = done(&scratch, &["runs"]).stdout;
        assert!(runs.contains("n1"), "{place}: {runs}");
        let events = done(&scratch, &["events", "y"]).stdout;
        assert!(
            events.contains("push") && events.contains("c1"),
            "{place}: {events}"
        );
        done(&scratch, &["store", "verify"]);
        let store = config.split('"').nth(1).unwrap_or(".statemark/runs.db");
        let mode = fs::metadata(scratch.path.join(store))
            .unwrap()
            .permissions();
        assert_eq!(mode.mode() & 0o777, 0o600, "{place}");
    }
}

/// A checkpoint of one store's run doesn't have another store in it, which is in use meanwhile.
#[test]
fn c3_no_restore_touches_another_store() {
    let scratch = repository("c3-other");
    scratch.write("statemark.toml", "store = \"runs.db\"\n");
    done(&scratch, &["start", "door", "--run-id", "y"]);
    let elsewhere = ["--store", ".statemark/mine.db"];
    done(
        &scratch,
        &[["start", "door", "--run-id", "z"].as_slice(), &elsewhere].concat(),
    );
    done(
        &scratch,
        &[
            ["checkpoint", "take", "z", "--name", "c1"].as_slice(),
            &elsewhere,
        ]
        .concat(),
    );
    done(&scratch, &["start", "door", "--run-id", "late"]);
    scratch.write("file", "2\n");
    done(
        &scratch,
        &[["checkpoint", "restore", "z", "c1"].as_slice(), &elsewhere].concat(),
    );
    assert_eq!(
        fs::read_to_string(scratch.path.join("file")).unwrap(),
        "1\n"
    );
    let runs = done(&scratch, &["runs"]).stdout;
    assert!(runs.contains("late"), "{runs}");
    done(&scratch, &["store", "verify"]);
}

/// A checkpoint whose tree has the store in it is refused, whole.
#[test]
fn c3_a_checkpoint_with_a_store_in_it_is_refused() {
    let scratch = repository("c3-tree");
    scratch.write("runs.db", "no store yet\n");
    scratch.write("statemark.toml", "store = \"other.db\"\n");
    done(&scratch, &["start", "door", "--run-id", "y"]);
    done(&scratch, &["checkpoint", "take", "y", "--name", "c1"]);
    fs::remove_file(scratch.path.join("runs.db")).unwrap();
    done(
        &scratch,
        &["start", "door", "--run-id", "late", "--store", "runs.db"],
    );
    scratch.write("file", "2\n");
    let said = attacked(&scratch, &["checkpoint", "restore", "y", "c1"]);
    assert_eq!(said.code, 2, "{}", said.stdout);
    assert!(
        said.stderr.contains("it has `runs.db` in it"),
        "{}",
        said.stderr
    );
    assert_eq!(
        fs::read_to_string(scratch.path.join("file")).unwrap(),
        "2\n"
    );
    let runs = done(&scratch, &["runs", "--store", "runs.db"]).stdout;
    assert!(runs.contains("late"), "{runs}");
    // Nothing was begun, so nothing has to be finished.
    done(&scratch, &["send", "y", "push"]);
}

/// What a repository's attributes, filters, hooks and monitors name isn't run, and no byte is changed by them.
#[test]
fn h8_no_program_of_the_repository_runs() {
    let scratch = repository("h8-filter");
    let evil = |name: &str| {
        let mark = scratch.path.join("PWN").join(name);
        fs::create_dir_all(mark.parent().unwrap()).unwrap();
        format!("sh -c 'touch \"{}\"; cat'", mark.display())
    };
    for (key, name) in [
        ("filter.evil.clean", "clean"),
        ("filter.evil.smudge", "smudge"),
        ("filter.evil.process", "process"),
        ("core.fsmonitor", "fsmonitor"),
        ("core.sshCommand", "ssh"),
        ("gpg.program", "gpg"),
        ("core.editor", "editor"),
        ("core.pager", "pager"),
    ] {
        git(&scratch.path, &["config", key, &evil(name)]);
    }
    scratch.write(
        ".git/info/attributes",
        "* filter=evil text eol=crlf ident\n",
    );
    scratch.write(".gitattributes", "* filter=evil\n");
    scratch.write("file", "$Id$\n");
    done(&scratch, &["start", "door", "--run-id", "y"]);
    done(&scratch, &["checkpoint", "take", "y", "--name", "c1"]);
    scratch.write("file", "2\n");
    done(&scratch, &["checkpoint", "restore", "y", "c1"]);
    assert_eq!(
        fs::read_to_string(scratch.path.join("file")).unwrap(),
        "$Id$\n"
    );
    assert_eq!(fs::read_dir(scratch.path.join("PWN")).unwrap().count(), 0);
}

/// An object that is missing is fetched by nobody.
#[test]
fn h8_no_missing_object_is_fetched() {
    let scratch = repository("h8-promise");
    let mark = scratch.path.join("PWN");
    let evil = format!("touch '{}'; git-upload-pack", mark.display());
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", scratch.path.to_str().unwrap()),
        ("remote.origin.promisor", "true"),
        ("remote.origin.uploadpack", &evil),
    ] {
        git(&scratch.path, &["config", key, value]);
    }
    for object in ["HEAD:file", "HEAD"] {
        let id = git(&scratch.path, &["rev-parse", object]);
        let (folder, name) = id.split_at(2);
        let object = format!(".git/objects/{folder}/{name}");
        fs::remove_file(scratch.path.join(object)).unwrap();
    }
    done(&scratch, &["start", "door", "--run-id", "y"]);
    done(&scratch, &["checkpoint", "take", "y", "--name", "c1"]);
    assert!(!mark.exists());
    scratch.write("file", "2\n");
    done(&scratch, &["checkpoint", "restore", "y", "c1"]);
    assert_eq!(
        fs::read_to_string(scratch.path.join("file")).unwrap(),
        "1\n"
    );
    assert!(!mark.exists());
}

/// A repository that says that its files are elsewhere gets its own saved, and no others touched.
#[test]
fn h8_no_other_folder_is_saved_or_restored() {
    let scratch = repository("h8-worktree");
    let victim = Scratch::new("h8-victim");
    victim.write("precious", "1\n");
    git(&victim.path, &["init", "-q"]);
    git(
        &scratch.path,
        &["config", "core.worktree", victim.path.to_str().unwrap()],
    );
    done(&scratch, &["start", "door", "--run-id", "y"]);
    done(&scratch, &["checkpoint", "take", "y", "--name", "c1"]);
    scratch.write("file", "2\n");
    victim.write("precious", "2\n");
    victim.write("extra", "kept\n");
    done(&scratch, &["checkpoint", "restore", "y", "c1"]);
    assert_eq!(
        fs::read_to_string(scratch.path.join("file")).unwrap(),
        "1\n"
    );
    assert_eq!(
        fs::read_to_string(victim.path.join("precious")).unwrap(),
        "2\n"
    );
    assert_eq!(
        fs::read_to_string(victim.path.join("extra")).unwrap(),
        "kept\n"
    );
}

/// A folder of checkpoints that a clone brought along leads nowhere, and its configuration isn't read.
#[test]
fn h8_a_folder_of_checkpoints_of_a_clone_is_harmless() {
    let scratch = repository("h8-own");
    let mark = scratch.path.join("PWN");
    done(&scratch, &["start", "door", "--run-id", "y"]);
    let evil = format!(
        "[core]\n\tfsmonitor = touch '{0}'\n\tworktree = /tmp\n[filter \"evil\"]\n\tclean = touch '{0}'\n",
        mark.display()
    );
    scratch.write(".statemark/checkpoints.git/config", &evil);
    scratch.write(".statemark/checkpoints.git/HEAD", "ref: refs/heads/x\n");
    scratch.write(
        ".statemark/checkpoints.git/info/attributes",
        "* filter=evil\n",
    );
    done(&scratch, &["checkpoint", "take", "y", "--name", "c1"]);
    assert!(!mark.exists());
    let own = scratch.path.join(".statemark/checkpoints.git");
    scratch.write("elsewhere/file", "kept\n");
    for part in ["objects", "objects/pack", "refs", "refs/statemark/y"] {
        fs::remove_dir_all(&own).unwrap();
        fs::create_dir_all(own.join(part).parent().unwrap()).unwrap();
        symlink(scratch.path.join("elsewhere"), own.join(part)).unwrap();
        let said = attacked(&scratch, &["checkpoint", "take", "y"]);
        assert_eq!(said.code, 2, "{part}: {}", said.stdout);
        assert!(said.stderr.contains("it is a link"), "{}", said.stderr);
        assert_eq!(
            fs::read_dir(scratch.path.join("elsewhere"))
                .unwrap()
                .count(),
            1
        );
    }
    fs::remove_dir_all(&own).unwrap();
    symlink("../elsewhere", &own).unwrap();
    assert_eq!(attacked(&scratch, &["checkpoint", "take", "y"]).code, 2);
    assert_eq!(
        fs::read_dir(scratch.path.join("elsewhere"))
            .unwrap()
            .count(),
        1
    );
}

/// What only its owner could read is for its owner alone after it was put back.
#[test]
fn low_private_files_stay_private() {
    let scratch = repository("low-modes");
    let mode = |name: &str| {
        fs::metadata(scratch.path.join(name))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    let set = |name: &str, mode| {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(scratch.path.join(name), mode).unwrap();
    };
    for name in ["secret", "changed", "odd\nname %", "run"] {
        scratch.write(name, "1\n");
        set(name, 0o600);
    }
    set("run", 0o700);
    done(&scratch, &["start", "door", "--run-id", "y"]);
    done(&scratch, &["checkpoint", "take", "y", "--name", "c1"]);
    for name in ["secret", "odd\nname %", "run"] {
        fs::remove_file(scratch.path.join(name)).unwrap();
    }
    scratch.write("changed", "2\n");
    scratch.write("file", "2\n");
    done(&scratch, &["checkpoint", "restore", "y", "c1"]);
    for name in ["secret", "changed", "odd\nname %"] {
        assert_eq!(mode(name), 0o600, "{name:?}");
    }
    assert_eq!((mode("run"), mode("file") & 0o444), (0o700, 0o444));
}

/// Nothing of ours stays in the folder that all users share, so that nobody holds a lock there.
#[test]
fn low_no_lock_is_in_the_shared_folder() {
    let scratch = repository("low-lock");
    fs::create_dir(scratch.path.join("tmp")).unwrap();
    scratch.write(".gitignore", "tmp/\n");
    let run = |words: &[&str]| {
        let mut command = statemark(&scratch.path);
        command.args(words).env("TMPDIR", scratch.path.join("tmp"));
        let said = in_time(command);
        assert_eq!(said.code, 0, "{}", said.stderr);
    };
    run(&["start", "door", "--run-id", "y"]);
    run(&["checkpoint", "take", "y", "--name", "c1"]);
    scratch.write("file", "2\n");
    run(&["checkpoint", "restore", "y", "c1"]);
    assert_eq!(fs::read_dir(scratch.path.join("tmp")).unwrap().count(), 0);
    let own = fs::read_dir(scratch.path.join(".statemark/checkpoints.git")).unwrap();
    let mut own: Vec<_> = own.map(|entry| entry.unwrap().file_name()).collect();
    own.sort();
    assert_eq!(own, ["HEAD", "config", "objects", "refs"]);
}

/// The longest time that a checkpoint of three files may take. Why: it takes a tenth of a second; a hang is ended for its
/// cause within some seconds, and for the time alone after minutes.
const SHORT: Duration = Duration::from_secs(40);

/// Neither a pipe nor a device that git would read hangs a checkpoint, and it says which one that was.
#[test]
fn third_no_pipe_that_git_reads_hangs_a_checkpoint() {
    type Put = fn(&Path);
    let pipe: Put = |path| make_pipe(path);
    let device: Put = |path| symlink("/dev/zero", path).unwrap();
    let places: [(&str, Put); 8] = [
        (".gitignore", pipe),
        ("deep/.gitignore", pipe),
        (".git/objects/info/alternates", pipe),
        (".git/objects/info/alternates", device),
        (".git/info/exclude", pipe),
        (".git/info/exclude", device),
        (".git/HEAD", pipe),
        (".statemark/checkpoints.git/objects/info/alternates", pipe),
    ];
    for (place, put) in places {
        let scratch = repository("third-hang");
        done(&scratch, &["start", "door", "--run-id", "y"]);
        let path = scratch.path.join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&path);
        put(&path);
        let began = Instant::now();
        let said = attacked(&scratch, &["checkpoint", "take", "y"]);
        let told = format!("{place}: {}{}", said.stdout, said.stderr);
        assert!(began.elapsed() < SHORT, "{told}");
        assert_eq!(said.code, 2, "{told}");
        let name = place.rsplit('/').next().unwrap();
        assert!(
            place == ".git/HEAD"
                || said.stderr.contains(name)
                || said.stderr.contains("pipe or a device"),
            "{told}"
        );
        // Once it is gone, so is its effect.
        if place != ".git/HEAD" {
            fs::remove_file(&path).unwrap();
            done(&scratch, &["checkpoint", "take", "y"]);
        }
    }
}

/// What is no file is left out and told, whatever it is; the file comes back when its checkpoint does.
#[test]
fn third_what_is_no_file_is_left_out_and_told() {
    type Put = fn(&Path);
    let put: [(&str, Put); 3] = [
        ("pipe", |path| make_pipe(path)),
        ("socket", |path| drop(UnixListener::bind(path).unwrap())),
        ("device", |path| {
            // Whoever may make one.
            let words = [path.to_str().unwrap(), "c", "1", "5"];
            let _ = untouched("mknod", path.parent().unwrap())
                .args(words)
                .output();
            if !path.exists() {
                make_pipe(path);
            }
        }),
    ];
    for (what, put) in put {
        let scratch = repository(&format!("third-{what}"));
        done(&scratch, &["start", "door", "--run-id", "y"]);
        done(&scratch, &["checkpoint", "take", "y", "--name", "c1"]);
        let path = scratch.path.join("file");
        fs::remove_file(&path).unwrap();
        put(&path);
        // One that git doesn't know has nothing to save.
        make_pipe(&scratch.path.join("new"));
        let said = done(&scratch, &["checkpoint", "take", "y", "--name", "c2"]);
        let told = "without file, which is a pipe, a socket or a device";
        assert!(said.stdout.contains(told), "{what}: {}", said.stdout);
        let said = done(&scratch, &["checkpoint", "restore", "y", "c1"]);
        assert!(
            said.stdout.contains("as they were"),
            "{what}: {}",
            said.stdout
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "1\n");
    }
}

/// A pipe that takes a file's place between the look at it and git's reading is found, and git is ended.
#[test]
fn third_a_pipe_in_a_files_place_meanwhile_hangs_no_checkpoint() {
    let scratch = repository("third-swapped");
    done(&scratch, &["start", "door", "--run-id", "y"]);
    // Git as the attacker's timing makes it: what it is to read has just been swapped.
    let shim = scratch.path.join(".git/shim");
    fs::create_dir(&shim).unwrap();
    let real = String::from_utf8(
        untouched("sh", &scratch.path)
            .args(["-c", "command -v git"])
            .output()
            .unwrap()
            .stdout,
    );
    let real = real.unwrap();
    // Git looks once more at what it saves, and not at what it reads a list from.
    for (call, file, told) in [
        ("update-index", "file", "unsupported file type"),
        (
            "ls-files -o",
            ".gitignore",
            ".gitignore`, which is a pipe or a device",
        ),
    ] {
        let text = format!(
            "#!/bin/sh\ncase \"$*\" in *\"{call}\"*) rm -f {file}; mkfifo {file};; esac\nexec {} \"$@\"\n",
            real.trim()
        );
        fs::write(shim.join("git"), text).unwrap();
        fs::set_permissions(shim.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
        let mut take = statemark(&scratch.path);
        take.args(["checkpoint", "take", "y"]);
        #[expect(clippy::disallowed_methods, reason = "a test asks the machine")]
        let path = std::env::var("PATH").unwrap();
        take.env("PATH", format!("{}:{path}", shim.display()));
        let began = Instant::now();
        let said = in_time(take);
        assert!(began.elapsed() < SHORT, "{call}: {}", said.stderr);
        assert!(
            said.code == 2 && said.stderr.contains(told),
            "{call}: {} {}{}",
            said.code,
            said.stdout,
            said.stderr
        );
    }
}

/// … nor does one that is gone again once git waits for it.
#[test]
fn third_a_pipe_that_is_gone_again_hangs_no_checkpoint() {
    let scratch = repository("third-gone");
    done(&scratch, &["start", "door", "--run-id", "y"]);
    let path = scratch.path.join(".gitignore");
    make_pipe(&path);
    let mut take = statemark(&scratch.path);
    take.args(["checkpoint", "take", "y"]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(600));
            fs::remove_file(&path).unwrap();
        });
        let began = Instant::now();
        let said = in_time(take);
        assert!(began.elapsed() < SHORT, "{}", said.stderr);
        // On a machine that is busy git finds no pipe any more.
        assert!(
            said.code == 0 || said.stderr.contains("git waits for"),
            "{}",
            said.stderr
        );
    });
}

/// A file of holes has any size: it is left out and told, and nothing is put back over it.
#[test]
fn third_a_file_of_holes_is_left_out_and_told() {
    let scratch = repository("third-holes");
    done(&scratch, &["start", "door", "--run-id", "y"]);
    done(&scratch, &["checkpoint", "take", "y", "--name", "c1"]);
    let path = scratch.path.join("file");
    let huge = fs::File::options().write(true).open(&path).unwrap();
    huge.set_len(1 << 40).unwrap();
    let began = Instant::now();
    let said = done(&scratch, &["checkpoint", "take", "y", "--name", "c2"]);
    assert!(began.elapsed() < SHORT);
    assert!(
        said.stdout.contains("without file, which is too large"),
        "{}",
        said.stdout
    );
    let said = attacked(&scratch, &["checkpoint", "restore", "y", "c1"]);
    assert_eq!(said.code, 2, "{}", said.stdout);
    assert!(
        said.stderr
            .contains("can't be saved before it is overwritten"),
        "{}",
        said.stderr
    );
    assert_eq!(fs::metadata(&path).unwrap().len(), 1 << 40);
    // That was told before anything was begun.
    done(&scratch, &["send", "y", "push"]);
}

/// A file that grows while it is read is saved as it was at some time.
#[test]
fn third_a_file_that_grows_ends() {
    let scratch = repository("third-grows");
    done(&scratch, &["start", "door", "--run-id", "y"]);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = fs::File::options()
                .append(true)
                .open(scratch.path.join("file"))
                .unwrap();
            while !is_over.load(Ordering::Relaxed) {
                file.write_all(&[b'x'; 1 << 16]).unwrap();
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let began = Instant::now();
        let said = attacked(&scratch, &["checkpoint", "take", "y"]);
        is_over.store(true, Ordering::Relaxed);
        assert!(began.elapsed() < SHORT);
        assert_eq!(said.code, 0, "{}", said.stderr);
    });
}
