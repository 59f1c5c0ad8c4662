//! Runs that work in git worktrees of their own: side by side, killed, and where none can be made.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::api::Api;
use super::{kill_after, of_kind, output, records, spawn};
use crate::attacks::children::has_landlock;
use crate::attacks::git::git;
use crate::shell::{Run, Scratch, perform, statemark};

const INNER: &str = r#"{
  "id": "inner",
  "initial": "x",
  "meta": {"executor": "step", "workspace": "worktree"},
  "checks": {"made": {"command": ["test", "-f", "made"]}},
  "states": {"x": {"requires": ["made"], "on": {"ended": "y"}}, "y": {"type": "final"}}
}"#;

/// A repository with workflows, and a program that works in the states of one.
fn repository(name: &str, inner: &str, step: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.write("inner.workflow.json", inner);
    scratch.write(
        "statemark.toml",
        "[executor]\nlease = \"300ms\"\ncheckpoints = \"visit\"\n\
         [executor.commands.step]\ncommand = [\"sh\", \"step.sh\"]\nopen = true\n\
         [executor.commands.merge]\ncommand = [\"sh\", \"merge.sh\"]\nopen = true\nsuccess = \"merged\"\n",
    );
    scratch.write("step.sh", step);
    git(&scratch.path, &["init", "-q", "-b", "main"]);
    scratch
}

fn commit(scratch: &Scratch) {
    git(&scratch.path, &["add", "*.json", "*.toml", "*.sh"]);
    git(&scratch.path, &["commit", "-qm", "all"]);
}

/// Returns the records of a run in a store of the clock of tests.
fn records_of(folder: &Path, run: &str) -> Vec<Value> {
    let said = perform(&Run::new(&format!("statemark events {run} --json")), folder);
    let lines = said.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Returns the worktree that a run, or a region of it, has recorded once, in its project, and its branch.
fn worktree(folder: &Path, records: &[Value], region: Option<&str>) -> (PathBuf, String) {
    let made = of_kind(records, "worktree.made").into_iter();
    let made: Vec<_> = made
        .filter(|it| it["body"]["region"].as_str() == region)
        .collect();
    assert_eq!(made.len(), 1, "{records:?}");
    let branch = made[0]["body"]["branch"].as_str().unwrap().to_owned();
    let name = branch.strip_prefix("statemark/").unwrap();
    let place = format!(".statemark-worktrees/{name}");
    assert!(
        made[0]["body"]["folder"]
            .as_str()
            .unwrap()
            .ends_with(&place)
    );
    (folder.canonicalize().unwrap().join(place), branch)
}

/// Checks that a text says some things, in this order.
fn says(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let found = rest.split_once(part);
        rest = found.unwrap_or_else(|| panic!("no {part:?} in {text}")).1;
    }
}

#[test]
fn runs_below_work_apart_and_a_state_merges_them() {
    let region = |name: &str| {
        format!(
            r#""{name}": {{"initial": "{name}_on", "states": {{"{name}_on": {{"invoke": {{"src": "inner", "on_done": "{name}_off"}}}}, "{name}_off": {{"type": "final"}}}}}}"#
        )
    };
    let inner = INNER.replace(
        r#""workspace": "worktree""#,
        r#""workspace": "worktree", "worktree_end": "remove""#,
    );
    // Both change the same folder side by side: neither sees what the other does before it is merged.
    let step = "name=$(echo \"$STATEMARK_RUN\" | tr / _)\necho 1 >\"only-$name\"\ntouch made\n\
                while [ \"$(ls -d ../*/ | wc -l)\" -lt 2 ]; do sleep 0.05; done\nls only-* | wc -l\n\
                \"$STATEMARK\" run-check made\nrm made\n\
                git add . && git -c user.name=t -c user.email=t commit -qm work\n\
                case \"$STATEMARK_RUN\" in o/d_on/1) touch forgotten;; esac\ntouch made\n\
                \"$STATEMARK\" send \"$STATEMARK_RUN\" ended\nrm made\n";
    let scratch = repository("worktrees-merged", &inner, step);
    let folder = &scratch.path;
    scratch.write(
        "outer.workflow.json",
        &format!(
            r#"{{"id": "outer", "initial": "all", "states": {{"all": {{"type": "parallel", "on_done": "merge", "states": {{{}, {}}}}}, "merge": {{"executor": "merge", "on": {{"merged": "over"}}}}, "over": {{"type": "final"}}}}}}"#,
            region("c"),
            region("d")
        ),
    );
    scratch.write(
        "merge.sh",
        "for branch in $(printf %s \"$STATEMARK_WORK\" | grep -o 'statemark/[a-z_0-9+]*\",\"run' | cut -d '\"' -f 1); do\n\
         git -c user.name=t -c user.email=t merge -q \"$branch\" || exit 1\ndone\n",
    );
    commit(&scratch);
    let said = perform(&Run::new("statemark agent run outer --run-id o"), folder);
    assert_eq!(said.code, 0, "{}{}", said.stderr, said.stdout);
    says(
        &said.stderr,
        &["o/c_on/1: its work is on the branch `statemark/o+c_on+1`; its worktree is removed"],
    );
    says(
        &said.stderr,
        &[
            "o/d_on/1: its work is on the branch `statemark/o+d_on+1`, in the worktree ",
            "which stays: `forgotten` isn't committed",
        ],
    );
    // What was merged is in the project's folder now, and nothing else of theirs is.
    for (file, is_there) in [
        ("only-o_c_on_1", true),
        ("only-o_d_on_1", true),
        ("made", false),
        ("forgotten", false),
        (".statemark-worktrees/o+c_on+1", false),
        (".statemark-worktrees/o+d_on+1/forgotten", true),
    ] {
        assert_eq!(folder.join(file).exists(), is_there, "{file}");
    }
    for run in ["o/c_on/1", "o/d_on/1"] {
        let records = records_of(folder, run);
        let said = of_kind(&records, "message")[0]["body"]["text"].to_string();
        assert!(said.starts_with("\"1\\nmade passed"), "{said}");
        // Its files were saved before the attempt, and the checkpoint is there after the worktree is gone.
        let (place, _) = worktree(folder, &records, None);
        let name = place.file_name().unwrap().to_str().unwrap();
        let taken = of_kind(&records, "checkpoint.taken")[0];
        assert!(
            taken["body"]["repository"]
                .as_str()
                .unwrap()
                .ends_with(name)
        );
        let own = folder.join(".statemark/checkpoints.git");
        let kept = git(&own, &["for-each-ref", "--format=%(refname) %(objecttype)"]);
        let reference = format!("refs/statemark/{}/", run.replace('/', "%2f"));
        assert!(kept.contains(&reference), "{kept}");
    }
    assert_eq!(git(folder, &["status", "--porcelain"]), "");
    // From within the worktree that is left, the project is the one that it is of.
    let inside = folder.join(".statemark-worktrees/o+d_on+1");
    let mut command = statemark(&inside);
    let own = folder.join("own");
    let listed = command.args(["state", "o"]).env("XDG_CONFIG_HOME", own);
    let listed = String::from_utf8(listed.output().unwrap().stdout).unwrap();
    assert!(listed.starts_with("o (outer): completed"), "{listed}");
}

/// Two regions that are entered twice: in between, a state merges what they have left.
const REGIONS: &str = r#"{
  "id": "house",
  "initial": "all",
  "meta": {"executor": "step", "workspace": "worktree", "worktree_end": "remove"},
  "checks": {"made": {"command": ["test", "-f", "made"]}},
  "states": {
    "all": {"type": "parallel", "on_done": "merge", "states": {
      "c": {"initial": "c_on", "states": {"c_on": {"requires": ["made"], "on": {"c_ended": "c_off"}}, "c_off": {"type": "final"}}},
      "d": {"initial": "d_on", "states": {"d_on": {"requires": ["made"], "on": {"d_ended": "d_off"}}, "d_off": {"type": "final"}}}
    }},
    "merge": {"executor": "merge", "on": {"again": "all", "merged": "over"}},
    "over": {"type": "final"}
  }
}"#;

#[test]
fn regions_work_apart_and_a_state_merges_them() {
    // Each begins, and is checked, only once the other one has come as far.
    let step = "state=$(printf %s \"$STATEMARK_WORK\" | sed 's/.*\"state\":\"\\([cd]\\)_on\".*/\\1/')\n\
                round=$(ls | grep -c \"^round-$state\")\n\
                meet() { touch \"../$1-$state-$round\"; until [ \"$(ls .. | grep -c \"^$1-.-$round\")\" = 2 ]; do sleep 0.05; done; }\n\
                meet begun\ntouch \"round-$state-$round\" made\nls | grep -c ^round\n\
                \"$STATEMARK\" run-check made\n\
                (cd ../.. && \"$STATEMARK\" run-check made 2>&1)\nmeet checked\n\
                git add round-* && git -c user.name=t -c user.email=t commit -qm work\n\
                \"$STATEMARK\" send \"$STATEMARK_RUN\" \"${state}_ended\"\nrm made\n";
    let scratch = repository("worktrees-regions", INNER, step);
    let folder = &scratch.path;
    scratch.write("house.workflow.json", REGIONS);
    scratch.write(
        "merge.sh",
        "for branch in $(printf %s \"$STATEMARK_WORK\" | grep -o 'statemark/h@[cd]'); do\n\
         git -c user.name=t -c user.email=t merge -q \"$branch\" || exit 1\ndone\nls | grep -c ^round\n\
         if [ -f second ]; then rm second; else touch second; \"$STATEMARK\" send \"$STATEMARK_RUN\" again; fi\n",
    );
    commit(&scratch);
    let first = Run::new("statemark agent run house --run-id h --until merge");
    let said = perform(&first, folder);
    assert_eq!(said.code, 0, "{}{}", said.stderr, said.stdout);
    let said = perform(&Run::new("statemark agent prompt h"), folder);
    says(
        &said.stdout,
        &[
            "You work in a git worktree of this run alone, `",
            "/.statemark-worktrees/h`, on its branch `statemark/h`",
            "The regions have left their work on branches. Nothing is merged by itself:\n\n\
             - `statemark/h@c` (region `c`)\n- `statemark/h@d` (region `d`)\n",
        ],
    );
    let said = perform(&Run::new("statemark agent run h"), folder);
    assert_eq!(said.code, 0, "{}{}", said.stderr, said.stdout);
    says(
        &said.stderr,
        &[
            "h: its work is on the branch `statemark/h`; its worktree is removed",
            "h: its work is on the branch `statemark/h@c`; its worktree is removed",
            "h: its work is on the branch `statemark/h@d`; its worktree is removed",
        ],
    );
    let records = records_of(folder, "h");
    let made = of_kind(&records, "worktree.made").into_iter();
    let mut made: Vec<_> = made.map(|it| it["body"]["region"].as_str()).collect();
    made.sort_unstable();
    assert_eq!(made, [None, Some("c"), Some("d")]);
    // Neither saw the other's work before it was merged; in the second round each began with what was.
    let words = of_kind(&records, "message").into_iter();
    let words = words.map(|it| it["body"]["text"].as_str().unwrap().lines().next().unwrap());
    let counts: Vec<&str> = words.collect();
    assert_eq!(counts, ["1", "1", "2", "3", "3", "4"]);
    // From outside, it has to be said where a check is run.
    let words = of_kind(&records, "message")[0]["body"]["text"].as_str();
    says(
        words.unwrap(),
        &[
            "error: `made` is required in several regions, which have worktrees of their own",
            "help: run it in one of them: ",
            "/.statemark-worktrees/h@c, ",
            "/.statemark-worktrees/h@d",
        ],
    );
    // The files of each were saved where it works.
    for place in ["h@c", "h@d", "h"] {
        let taken = of_kind(&records, "checkpoint.taken").into_iter();
        let taken = taken.map(|it| it["body"]["repository"].as_str().unwrap());
        let ending = format!(".statemark-worktrees/{place}");
        assert_eq!(
            taken.filter(|it| it.ends_with(&ending)).count(),
            2,
            "{place}"
        );
    }
    let kept = git(folder, &["ls-tree", "--name-only", "statemark/h"]);
    assert_eq!(
        kept.lines().filter(|it| it.starts_with("round-")).count(),
        4,
        "{kept}"
    );
    assert_eq!(git(folder, &["status", "--porcelain"]), "");
}

#[test]
fn why_there_can_be_no_worktree_is_said() {
    let step =
        "touch made\n\"$STATEMARK\" run-check made\n\"$STATEMARK\" send \"$STATEMARK_RUN\" ended\n";
    let scratch = repository("worktrees-none", INNER, step);
    let folder = &scratch.path;
    let run = |name: &str| {
        let line = format!("statemark agent run {name}");
        perform(&Run::new(&line), folder)
    };
    let refused = |name: &str, reasons: &[&str]| {
        let said = run(name);
        assert_eq!(said.code, 2, "{}{}", said.stderr, said.stdout);
        says(&said.stderr, reasons);
        // No attempt was counted.
        let id = name.split(' ').next_back().unwrap();
        assert!(of_kind(&records_of(folder, id), "attempt.started").is_empty());
    };
    fs::rename(folder.join(".git"), folder.join("git")).unwrap();
    refused(
        "inner --run-id r",
        &[
            "`r` can't be worked on",
            "is in no git repository",
            "`git init`",
        ],
    );
    fs::rename(folder.join("git"), folder.join(".git")).unwrap();
    refused("r", &["has no commit yet"]);
    commit(&scratch);
    scratch.write("step.sh", &format!("{step}# changed\n"));
    refused(
        "r",
        &["`step.sh` in `", "isn't committed", "commit or stash"],
    );
    git(folder, &["checkout", "-q", "step.sh"]);
    git(
        folder,
        &["worktree", "add", "-q", "-b", "statemark/r", "elsewhere"],
    );
    refused(
        "r",
        &[
            "there is a branch `statemark/r` already, checked out in `",
            "elsewhere`",
            "git branch -m",
        ],
    );
    git(folder, &["worktree", "remove", "--force", "elsewhere"]);
    refused("r", &["there is a branch `statemark/r` already: "]);
    git(folder, &["branch", "-qD", "statemark/r"]);
    fs::create_dir_all(folder.join(".statemark-worktrees/r")).unwrap();
    refused(
        "r",
        &["/.statemark-worktrees/r` is there already: move it away"],
    );
    fs::remove_dir(folder.join(".statemark-worktrees/r")).unwrap();
    // A repository has nothing written elsewhere by a link.
    fs::rename(folder.join(".statemark-worktrees"), folder.join("old")).unwrap();
    fs::create_dir_all(folder.join("victim")).unwrap();
    std::os::unix::fs::symlink("victim", folder.join(".statemark-worktrees")).unwrap();
    refused("r", &["/.statemark-worktrees`: "]);
    assert_eq!(fs::read_dir(folder.join("victim")).unwrap().count(), 0);
    fs::remove_file(folder.join(".statemark-worktrees")).unwrap();
    fs::rename(folder.join("old"), folder.join(".statemark-worktrees")).unwrap();
    // One that was half made is made anew.
    git(
        folder,
        &[
            "worktree",
            "add",
            "-q",
            "-b",
            "statemark/r",
            ".statemark-worktrees/r",
        ],
    );
    scratch.write(".statemark-worktrees/r/half", "");
    // Unless the mark says so, the branch isn't ours.
    scratch.write(".statemark-worktrees/r.making", "");
    refused("r", &["there is a branch `statemark/r` already: "]);
    let head = git(folder, &["rev-parse", "statemark/r"]);
    scratch.write(".statemark-worktrees/r.making", &head);
    let said = run("r");
    assert_eq!(said.code, 0, "{}{}", said.stderr, said.stdout);
    says(
        &said.stderr,
        &["r: its work is on the branch `statemark/r`, in the worktree "],
    );
    let (place, branch) = worktree(folder, &records_of(folder, "r"), None);
    assert_eq!(branch, "statemark/r");
    assert!(place.join("made").exists() && !place.join("half").exists());
    assert!(!folder.join("made").exists());
    assert!(!folder.join(".statemark-worktrees/r.making").exists());
    // What is removed by hand isn't made anew without a word: something in it is gone.
    scratch.write("step.sh", "exit 1\n");
    git(folder, &["commit", "-qam", "fails"]);
    run("inner --run-id s");
    let (place, _) = worktree(folder, &records_of(folder, "s"), None);
    fs::remove_dir_all(&place).unwrap();
    let attempts = of_kind(&records_of(folder, "s"), "attempt.started").len();
    let ann = Run::new("AS=ann statemark continue s");
    assert_eq!(perform(&ann, folder).code, 0);
    let said = run("s");
    assert_eq!(said.code, 2, "{}{}", said.stderr, said.stdout);
    let mend =
        "git worktree prune`, and `git worktree add FOLDER/.statemark-worktrees/s statemark/s`";
    says(&said.stderr, &["isn't at `", mend]);
    assert_eq!(
        of_kind(&records_of(folder, "s"), "attempt.started").len(),
        attempts
    );
    git(folder, &["worktree", "prune"]);
    git(
        folder,
        &[
            "worktree",
            "add",
            "-q",
            place.to_str().unwrap(),
            "statemark/s",
        ],
    );
    assert_eq!(run("s").code, 1);
    assert!(of_kind(&records_of(folder, "s"), "attempt.started").len() > attempts);
}

/// Programs that a repository names, or that an agent has named in its worktree, are run by none of our calls of git.
#[test]
fn no_program_of_the_repository_is_run() {
    let inner = INNER.replace(
        r#""workspace": "worktree""#,
        r#""workspace": "worktree", "worktree_end": "remove""#,
    );
    // What git looks at again is touched last, so that no call of the agent's own runs what it names.
    let step = "exec 2>&1\n\
                if [ -d sub ]; then\ngit init -q sub && echo a >sub/f && git -C sub add f\n\
                git -C sub -c user.name=t -c user.email=t commit -qm f\n\
                cp sub.config sub/.git/config\necho '* filter=s=x' >sub/.git/info/attributes\nfi\n\
                cat worktree.config >>.git/config && cp worktree.config .git/config.worktree\n\
                touch made && \"$STATEMARK\" run-check made && \"$STATEMARK\" send \"$STATEMARK_RUN\" ended\n\
                rm made\nsleep 1\ntouch step.sh\n[ ! -d sub ] || touch sub/f\n";
    let scratch = repository("worktrees-owned", &inner, step);
    let folder = &scratch.path;
    let touch = |name: &str| format!("touch '{}'", folder.join(name).display());
    let filter = |name: &str| {
        format!(
            "[filter \"{name}=x\"]\n\tclean = {0} && cat\n\tsmudge = {0} && cat\n\trequired = true\n",
            touch(&format!("owned-{name}"))
        )
    };
    let basic = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
    scratch.write("sub.config", &format!("{basic}{}", filter("s")));
    scratch.write("worktree.config", &filter("w"));
    // The submodule's place, and the files that the filters are for.
    git(folder, &["init", "-q", "sub"]);
    scratch.write("sub/f", "a\n");
    git(&folder.join("sub"), &["add", "f"]);
    git(&folder.join("sub"), &["commit", "-qm", "f"]);
    scratch.write(
        ".gitattributes",
        "*.sh filter=w=x\n*.toml filter=r=x\n*.json filter=i=x\n",
    );
    scratch.write(".git/info/exclude", "*.config\n");
    git(folder, &["add", ".gitattributes", "sub"]);
    git(folder, &["add", "-f", "sub.config", "worktree.config"]);
    commit(&scratch);
    git(folder, &["config", "extensions.worktreeConfig", "true"]);
    for (key, name) in [
        ("filter.r=x.clean", "clean"),
        ("filter.r=x.smudge", "smudge"),
        ("core.fsmonitor", "fsmonitor"),
    ] {
        git(folder, &["config", key, &touch(&format!("owned-{name}"))]);
    }
    // What counts only on a run's branch, or in its worktree.
    scratch.write(".git/included", &filter("i"));
    for condition in ["onbranch:statemark/**", "gitdir:**/worktrees/**"] {
        let key = format!("includeIf.{condition}.path");
        git(folder, &["config", &key, "included"]);
    }
    // Git adds a line to each log of a branch that is there.
    scratch.write("log", "");
    let logs = folder.join(".git/logs/refs/heads/statemark");
    fs::create_dir_all(&logs).unwrap();
    std::os::unix::fs::symlink(folder.join("log"), logs.join("s")).unwrap();
    let hook = format!("#!/bin/sh\n{}\n", touch("owned-hook"));
    scratch.write(".git/hooks/post-checkout", &hook);
    let run = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.join(".git/hooks/post-checkout"), run).unwrap();
    let owned = || -> Vec<PathBuf> {
        let files = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
        let is_owned = |it: &PathBuf| {
            let name = it.file_name().unwrap();
            name.to_str().unwrap().starts_with("owned")
        };
        files.filter(is_owned).collect()
    };
    // Git itself removes no worktree with a submodule; without one, it looks at the files once more.
    for (run, end) in [("r", "in the worktree"), ("s", "its worktree is removed")] {
        let said = perform(
            &Run::new(&format!("statemark agent run inner --run-id {run}")),
            folder,
        );
        assert_eq!(said.code, 0, "{}{}", said.stderr, said.stdout);
        says(&said.stderr, &[&format!("`statemark/{run}`"), end]);
        assert!(owned().is_empty(), "{:?}", owned());
        assert_eq!(fs::read_to_string(folder.join("log")).unwrap(), "");
        // These calls run what the repository names, as a person's do.
        git(folder, &["rm", "-q", "--cached", "--ignore-unmatch", "sub"]);
        git(folder, &["commit", "-q", "--allow-empty", "-m", "alone"]);
        owned().iter().for_each(|it| fs::remove_file(it).unwrap());
    }
}

/// A person's worktree may have the name of a run: it stays as it is, and so does what was added in it.
#[test]
fn a_worktree_of_a_person_stays_theirs() {
    let inner = INNER.replace(
        r#""workspace": "worktree""#,
        r#""workspace": "worktree", "worktree_end": "remove""#,
    );
    let step = "touch made && \"$STATEMARK\" run-check made && rm made && \"$STATEMARK\" send \"$STATEMARK_RUN\" ended\n";
    let scratch = repository("worktrees-named", &inner, step);
    let folder = &scratch.path;
    commit(&scratch);
    let theirs = Scratch::new("worktrees-named-theirs");
    let theirs = theirs.path.join("feature");
    let place = theirs.to_str().unwrap();
    git(folder, &["worktree", "add", "-q", "-b", "work", place]);
    fs::write(theirs.join("added"), "").unwrap();
    git(&theirs, &["add", "added"]);
    let run = || {
        perform(
            &Run::new("statemark agent run inner --run-id feature"),
            folder,
        )
    };
    // A person may even have one of the name that ours has.
    let listed = folder.join(".git/worktrees/statemark-feature");
    fs::create_dir_all(&listed).unwrap();
    let said = run();
    assert_eq!(said.code, 2, "{}{}", said.stderr, said.stdout);
    says(
        &said.stderr,
        &["/.git/worktrees/statemark-feature` is there already"],
    );
    fs::remove_dir(&listed).unwrap();
    let said = perform(&Run::new("statemark agent run feature"), folder);
    assert_eq!(said.code, 0, "{}{}", said.stderr, said.stdout);
    says(&said.stderr, &["its worktree is removed"]);
    assert_eq!(
        git(&theirs, &["status", "--porcelain", "--branch"]),
        "## work\nA  added"
    );
    let list = git(folder, &["worktree", "list"]);
    assert_eq!(list.lines().count(), 2, "{list}");
}

/// A check that runs in the project's folder has the worktrees of runs out of reach.
#[test]
fn the_projects_own_checks_write_in_no_worktree() {
    let scratch = repository("worktrees-plain", INNER, "");
    let folder = &scratch.path;
    scratch.write(
        "plain.workflow.json",
        r#"{"id": "plain", "initial": "x", "states": {"x": {"on": {"ended": "y"}}, "y": {"type": "final"}},
            "checks": {"reach": {"command": ["sh", "-c", "echo x >src/own; echo x >.statemark-worktrees/r/reached"]}}}"#,
    );
    scratch.write("src/kept", "");
    scratch.write(".statemark-worktrees/r/kept", "");
    perform(&Run::new("statemark start plain --run-id p"), folder);
    let said = perform(&Run::new("statemark run-check reach --run p"), folder);
    assert!(
        folder.join("src/own").exists(),
        "{}{}",
        said.stderr,
        said.stdout
    );
    let reached = folder.join(".statemark-worktrees/r/reached").exists();
    assert_eq!(reached, !has_landlock(), "{}{}", said.stderr, said.stdout);
}

/// A later attempt finds what an earlier one has left, however git keeps it.
#[test]
fn references_outlast_an_attempt() {
    let step = "if git rev-parse -q --verify own >/dev/null\nthen git log --format=%s | grep -q '^one$' && touch made\n\
                else echo a >a && git add a && git -c user.name=t -c user.email=t commit -qm one\n\
                git branch own && git pack-refs --all && exit 1\nfi\n\
                \"$STATEMARK\" run-check made && rm made && \"$STATEMARK\" send \"$STATEMARK_RUN\" ended\n";
    let scratch = repository("worktrees-references", INNER, step);
    let folder = &scratch.path;
    commit(&scratch);
    let said = perform(&Run::new("statemark agent run inner --run-id r"), folder);
    assert_eq!(said.code, 0, "{}{}", said.stderr, said.stdout);
    says(&said.stderr, &["attempt 1 failed", "attempt 2 advanced"]);
    let log = git(folder, &["log", "--format=%s", "statemark/r"]);
    assert_eq!(log, "one\nall");
    assert_eq!(git(folder, &["branch", "--list", "own"]), "");
}

/// What a check does that wants to be more than its run: as the name of its worktree says.
const EVIL: &str = r#"
exec 2>&1
file() { echo "objects/$(echo "$1" | cut -c 1-2)/$(echo "$1" | cut -c 3-)"; }
commit() { git -c user.name=t -c user.email=t commit -qm "$1"; }
# Puts another object in the place of one.
forge() { mkdir -p "$(dirname ".git/$(file "$1")")"; rm -f ".git/$(file "$1")"; cp ".git/$(file "$2")" ".git/$(file "$1")"; }
blob=$(git rev-parse HEAD:src/build.sh)
evil=$(echo 'echo evil' | git hash-object -w --stdin)
case $(basename "$PWD") in
other)
    for place in "$(file "$blob")" refs/heads/statemark/other refs/heads/statemark/victim refs/heads/main config; do
        cp ".git/$(file "$evil")" "../../.git/$place" && echo "wrote $place"
        rm "../../.git/$place" && echo "removed $place"
    done
    git branch -f statemark/victim HEAD
    git update-ref refs/heads/main HEAD
    forge "$blob" "$evil"
    rm src/build.sh; git checkout src/build.sh
    echo more >src/more && git add src/more && commit other ;;
commit)
    echo first >src/more && git add src/more && commit first
    first=$(git rev-parse HEAD)
    echo else >src/more && git add src/more && commit second
    forge "$(git rev-parse HEAD)" "$first" ;;
tree)
    echo tree >src/more && git add src/more && commit tree
    rm ".git/$(file "$(git rev-parse HEAD:src/more)")" ;;
blob)
    echo blob >src/more && git add src/more && commit blob
    forge "$(git rev-parse HEAD:src/more)" "$evil" ;;
link)
    rm -rf .git/refs/heads/statemark && ln -s ../../../../../.git/refs/heads .git/refs/heads/statemark
    rm -f .git/packed-refs && ln -s ../../../.git/config .git/packed-refs ;;
pipe)
    echo pipe >src/more && git add src/more && commit pipe
    rm .git/objects/info/alternates && mkfifo .git/objects/info/alternates ;;
gone)
    rm -rf .git && echo 'gitdir: ../../.git' >.git ;;
esac
true
"#;

/// What is written in a worktree's repository comes over as from another machine, and nothing else of it does.
#[test]
fn no_worktree_writes_in_the_projects_repository() {
    let inner = INNER.replace(
        r#"["test", "-f", "made"]"#,
        r#"["sh", "-c", "sh evil.sh >src/said"]"#,
    );
    let step = "\"$STATEMARK\" run-check made\n\"$STATEMARK\" send \"$STATEMARK_RUN\" ended\n";
    let scratch = repository("worktrees-evil", &inner, step);
    let folder = &scratch.path;
    scratch.write("evil.sh", EVIL);
    scratch.write("src/build.sh", "echo good\n");
    git(&scratch.path, &["add", "src"]);
    commit(&scratch);
    let main = git(folder, &["rev-parse", "main"]);
    let config = fs::read_to_string(folder.join(".git/config")).unwrap();
    // Each with the number of its commits, and what is said if its branch stays where it was.
    for (run, commits, reason) in [
        ("other", 1, ""),
        ("commit", 0, "which stays: "),
        ("tree", 0, "which stays: "),
        ("blob", 0, "which stays: "),
        ("link", 0, "which stays: "),
        ("pipe", 0, "which stays: "),
        ("gone", 0, "its `.git` isn't the one that was made"),
        ("victim", 0, ""),
    ] {
        let said = perform(
            &Run::new(&format!("statemark agent run inner --run-id {run}")),
            folder,
        );
        assert_eq!(said.code, 0, "{run}: {}{}", said.stderr, said.stdout);
        let place = folder.join(".statemark-worktrees").join(run);
        let evil = fs::read_to_string(place.join("src/said")).unwrap();
        if has_landlock() {
            assert!(
                !evil.contains("wrote") && !evil.contains("removed"),
                "{evil}"
            );
        }
        assert_eq!(
            said.stderr.contains("which stays"),
            !reason.is_empty(),
            "{run}: {}",
            said.stderr
        );
        says(&said.stderr, &[reason]);
        let range = format!("{main}..statemark/{run}");
        let count = git(folder, &["rev-list", "--count", &range]);
        assert_eq!(count, commits.to_string(), "{run}: {evil}");
        assert_eq!(git(folder, &["rev-parse", "main"]), main, "{run}");
        assert_eq!(
            fs::read_to_string(folder.join(".git/config")).unwrap(),
            config
        );
        // Checked out anew, it is what was committed.
        fs::remove_file(folder.join("src/build.sh")).unwrap();
        git(folder, &["checkout", "--", "src/build.sh"]);
        assert_eq!(
            fs::read_to_string(folder.join("src/build.sh")).unwrap(),
            "echo good\n"
        );
    }
    let place = folder.join(".statemark-worktrees/victim/src/build.sh");
    assert_eq!(fs::read_to_string(place).unwrap(), "echo good\n");
    let kept = git(folder, &["show", "statemark/other:src/build.sh"]);
    assert_eq!(kept, "echo good");
    git(folder, &["fsck", "--strict", "--no-dangling"]);
}

/// A worktree is made once, however often its executor is killed, and each attempt works in it.
#[test]
fn killed_executors_leave_one_worktree() {
    let step = "pwd >>\"$LOG\"\necho . >>steps\nsleep 0.1\n[ \"$(wc -l <steps)\" -lt 4 ] && exit 1\n\
                touch made\n\"$STATEMARK\" run-check made >/dev/null\n\"$STATEMARK\" send \"$STATEMARK_RUN\" ended >/dev/null\n";
    let inner = INNER.replace(r#""requires""#, r#""max_attempts": 1000, "requires""#);
    let log = "killed.log";
    let scratch = Scratch::new("worktrees-killed-log");
    let log = scratch.path.join(log);
    let step = step.replace("$LOG", log.to_str().unwrap());
    let scratch = repository("worktrees-killed", &inner, &step);
    let folder = &scratch.path;
    commit(&scratch);
    for number in 0_u64..6 {
        let run = format!("k{number}");
        output(folder, &["start", "inner", "--run-id", &run]);
        for turn in 0_u64.. {
            if turn == 100 {
                let said = perform(&Run::new(&format!("statemark agent run {run}")), folder);
                panic!("{run} comes to no end: {}{}", said.stderr, said.stdout);
            }
            let mut child = spawn(folder, &["agent", "run", &run]);
            // In the first turns it is killed while the worktree is made, or a little later.
            let long = match turn {
                0..6 => Duration::from_millis(20 + (number * 7 + turn * 29) % 250),
                _ => Duration::from_secs(60),
            };
            let ended = kill_after(&mut child, long);
            if ended.is_some_and(|it| it.code() == Some(0)) {
                break;
            }
        }
        let (place, branch) = worktree(folder, &records(folder, &run), None);
        assert_eq!(branch, format!("statemark/{run}"));
        assert!(place.join("made").exists());
    }
    let log = fs::read_to_string(log).unwrap();
    let is_own = |line: &str| line.contains("/cli-worktrees-killed/.statemark-worktrees/k");
    assert!(log.lines().all(is_own), "{log}");
}

/// A worktree is made anew, whatever of it a kill has left, and a branch moves in spite of a lock that was left.
#[test]
fn what_a_kill_leaves_of_a_worktree_is_no_obstacle() {
    let step = "echo a >a && git add a && git -c user.name=t -c user.email=t commit -qm work\ntouch made\n\
                \"$STATEMARK\" run-check made >/dev/null\n\"$STATEMARK\" send \"$STATEMARK_RUN\" ended >/dev/null\n";
    let scratch = repository("worktrees-half", INNER, step);
    let folder = &scratch.path;
    commit(&scratch);
    let base = git(folder, &["rev-parse", "HEAD"]);
    let place = fs::canonicalize(folder)
        .unwrap()
        .join(".statemark-worktrees");
    let own = |run: &str| format!("{}/.git\n", place.join(run).display());
    let head = |run: &str| format!("ref: refs/heads/statemark/{run}\n");
    // What is there of each, in the order in which it is written, and what is removed of it is in the other.
    for (run, left) in [
        ("mark", vec![("MARK", String::new())]),
        (
            "folder",
            vec![("MARK", base.clone()), ("FOLDER/", String::new())],
        ),
        (
            "branch",
            vec![
                ("MARK", base.clone()),
                ("FOLDER/", String::new()),
                ("BRANCH", String::new()),
            ],
        ),
        (
            "listed",
            vec![
                ("MARK", base.clone()),
                ("BRANCH", base.clone()),
                ("LISTED/", String::new()),
            ],
        ),
        (
            "head",
            vec![
                ("MARK", base.clone()),
                ("BRANCH", format!("{base}\n")),
                ("LISTED/commondir", "../..\n".to_owned()),
                ("LISTED/HEAD", head("head")),
            ],
        ),
        (
            "gitdir",
            vec![
                ("MARK", base.clone()),
                ("BRANCH", format!("{base}\n")),
                ("LISTED/HEAD", head("gitdir")),
                ("LISTED/gitdir", String::new()),
            ],
        ),
        (
            "removed",
            vec![
                ("MARK", base.clone()),
                ("BRANCH", format!("{base}\n")),
                ("LISTED/HEAD", head("removed")),
                ("LISTED/gitdir", own("removed")),
            ],
        ),
        ("locked", vec![("LOCK", String::new())]),
    ] {
        for (name, text) in left {
            let name = name
                .replace("MARK", &format!(".statemark-worktrees/{run}.making"))
                .replace("FOLDER", &format!(".statemark-worktrees/{run}"))
                .replace("LISTED", &format!(".git/worktrees/statemark-{run}"))
                .replace("BRANCH", &format!(".git/refs/heads/statemark/{run}"))
                .replace("LOCK", &format!(".git/refs/heads/statemark/{run}.lock"));
            match name.strip_suffix('/') {
                Some(name) => fs::create_dir_all(folder.join(name)).unwrap(),
                None => {
                    scratch.write(&name, &text);
                }
            }
        }
        let lock = folder.join(format!(".git/refs/heads/statemark/{run}.lock"));
        if let Ok(lock) = fs::File::options().write(true).open(&lock) {
            lock.set_modified(SystemTime::now() - Duration::from_mins(1))
                .unwrap();
        }
        let said = perform(
            &Run::new(&format!("statemark agent run inner --run-id {run}")),
            folder,
        );
        assert_eq!(said.code, 0, "{run}: {}{}", said.stderr, said.stdout);
        assert_eq!(
            git(
                folder,
                &["log", "--format=%s", "-1", &format!("statemark/{run}")]
            ),
            "work",
            "{run}: {}",
            said.stderr
        );
        assert!(!lock.exists(), "{run}");
    }
    // Another worktree of that name, and a branch that has gone on, are somebody's.
    for (run, name, text) in [
        (
            "theirs",
            ".git/worktrees/statemark-theirs/gitdir",
            "/elsewhere/.git\n".to_owned(),
        ),
        (
            "moved",
            ".git/refs/heads/statemark/moved",
            git(folder, &["rev-parse", "statemark/mark"]),
        ),
    ] {
        scratch.write(&format!(".statemark-worktrees/{run}.making"), &base);
        scratch.write(name, &text);
        let said = perform(
            &Run::new(&format!("statemark agent run inner --run-id {run}")),
            folder,
        );
        assert_eq!(said.code, 2, "{run}: {}{}", said.stderr, said.stdout);
        assert_eq!(
            fs::read_to_string(folder.join(name)).unwrap(),
            text,
            "{run}"
        );
    }
}

/// A model's tools reach into the worktree alone, and so does what the hook grants a client there.
#[test]
fn tools_and_hooks_hold_in_a_worktree() {
    let states = r#"
        "x": {"allowed_tools": ["Write(src/**)", "exec"], "on": {"ended": "z"}},
        "z": {"executor": "none", "allowed_tools": ["Write(src/**)"], "on": {"over": "y"}},
        "y": {"type": "final"}
    "#;
    let whole = format!(r#""initial": "x", "states": {{{states}}}"#);
    tools_and_hooks_hold(&whole, "m", None);
    let region = format!(
        r#""initial": "all", "states": {{"all": {{"type": "parallel", "states": {{
            "part": {{"initial": "x", "states": {{{states}}}}},
            "rest": {{"executor": "none", "allowed_tools": ["Write(src/**)", "exec"], "on": {{"rested": "rest"}}}}
        }}}}}}"#
    );
    tools_and_hooks_hold(&region, "m@part", Some("part"));
}

/// Checks a worktree of that name, in which a model works in the state `x` of a workflow, and a client after it.
fn tools_and_hooks_hold(states: &str, name: &str, region: Option<&str>) {
    let write = |path: &str| json!(["write_file", {"path": path, "content": "new\n"}]);
    let api = Api::start(vec![json!({"calls": [
        write("src/a.txt"), write("docs/a.txt"), write(".statemark-worktrees/x"),
        ["exec", {"argv": ["sh", "probe.sh"]}],
        ["exec", {"argv": ["sh", "again.sh"]}],
        ["send_event", {"event": "ended"}],
    ]})]);
    let inner = format!(
        r#"{{"id": "inner", "meta": {{"executor": "model", "workspace": "worktree"}}, {states}}}"#
    );
    let scratch = repository(&format!("worktrees-{name}"), &inner, "");
    let folder = &scratch.path;
    scratch.write(
        "probe.sh",
        "pwd >src/where\ngit add src\ngit -c user.name=t -c user.email=t commit -qm model\necho x >../../escaped\n",
    );
    // A command that says itself which repository its worktree is of reaches no further by that.
    scratch.write(
        "again.sh",
        "echo / >.git/commondir\n\
         for place in escaped .git/config .git/hooks/post-checkout .statemark/escaped; do echo '# x' >>\"../../$place\"; done\n\
         rm .git/commondir\n",
    );
    scratch.write("src/a.txt", "old\n");
    scratch.write("docs/a.txt", "old\n");
    scratch.write(
        "statemark.toml",
        &format!(
            "[packs.fs]\n[packs.exec]\n[executor]\nmodel = \"m:m\"\n[executor.models.\"m:\"]\nurl = \"http://{}/v1\"\n",
            api.address
        ),
    );
    commit(&scratch);
    git(folder, &["add", "src", "docs"]);
    git(folder, &["commit", "-qm", "files"]);
    let said = perform(&Run::new("statemark agent run inner --run-id m"), folder);
    let (place, branch) = worktree(folder, &records_of(folder, "m"), region);
    assert_eq!(branch, format!("statemark/{name}"));
    let read = |file: &str| fs::read_to_string(place.join(file)).unwrap_or_default();
    assert_eq!(read("src/a.txt"), "new\n", "{}", said.stderr);
    assert_eq!(read("docs/a.txt"), "old\n");
    assert_eq!(read("src/where").trim(), place.to_str().unwrap());
    assert_eq!(
        fs::read_to_string(folder.join("src/a.txt")).unwrap(),
        "old\n"
    );
    assert!(!place.join(".statemark-worktrees").exists());
    // A command commits on the branch, and writes nowhere else in the project.
    let log = git(folder, &["log", "--format=%s", &branch]);
    assert_eq!(log, "model\nfiles\nall");
    if has_landlock() {
        for place in ["escaped", ".git/hooks/post-checkout", ".statemark/escaped"] {
            assert!(!folder.join(place).exists(), "{place}");
        }
        let config = fs::read_to_string(folder.join(".git/config")).unwrap();
        assert!(!config.contains("# x"), "{config}");
    }
    let prompt = api.asked()[0]["messages"].to_string();
    let branch = format!("on its branch `{branch}`");
    assert!(prompt.contains(&branch), "{prompt}");
    let judge = |cwd: &Path, file: &Path| {
        let message = json!({
            "session_id": "s", "cwd": cwd, "hook_event_name": "PreToolUse", "tool_name": "Write",
            "tool_input": {"file_path": file, "content": "x"},
        });
        let mut command = statemark(cwd);
        command
            .args(["hook", "claude", "--required"])
            .env("STATEMARK_RUN", "m")
            .env("XDG_CONFIG_HOME", folder.join("own"))
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut stdin, message.to_string().as_bytes()).unwrap();
        drop(stdin);
        let said = child.wait_with_output().unwrap().stdout;
        let said: Value = serde_json::from_slice(&said).unwrap_or_default();
        said["hookSpecificOutput"]["permissionDecision"] == "deny"
    };
    for (file, is_denied) in [
        (place.join("src/b.txt"), false),
        (place.join("docs/b.txt"), true),
        (place.join("statemark.toml"), true),
        (folder.join("src/b.txt"), true),
        (folder.join(".statemark/runs.db"), true),
    ] {
        assert_eq!(judge(&place, &file), is_denied, "{}", file.display());
    }
}
