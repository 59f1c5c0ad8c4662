//! Where things are: the folder of the runs, and the one that checks run in, as seen from anywhere in a project.

use std::fs;

use crate::shell::{Run, Scratch, perform};

/// Runs a command in a folder below, for which the repositories in the scratch folder count: what it says.
fn in_project(scratch: &Scratch, below: &str, command: &str) -> String {
    let ceiling = scratch.path.parent().unwrap().display();
    let command = format!("GIT_CEILING_DIRECTORIES={ceiling} {command}");
    let said = perform(&Run::new(&command), &scratch.path.join(below));
    assert_eq!(said.code, 0, "{command}: {}", said.stderr);
    said.stdout
}

/// Checks of a workflow run at the project's root, wherever they are asked for, and so do those of `statemark.toml`.
#[test]
fn checks_run_at_the_root_of_the_project() {
    let scratch = Scratch::new("checks-root");
    scratch.write(
        "a/b/c/walk.workflow.json",
        r#"{"id": "walk", "initial": "on", "checks": {"where": {"command": ["pwd"]}},
            "states": {"on": {"requires": ["where"], "on": {"stop": "over"}}, "over": {"type": "final"}}}"#,
    );
    let runs_at = |below: &str, check: &str, root: &str| {
        let said = in_project(&scratch, below, &format!("statemark run-check {check}"));
        let at = said.lines().next().unwrap();
        let at = at.replace("FOLDER", &format!("cli-checks-root/{below}"));
        assert!(
            at.ends_with(&format!("cli-checks-root/{root}").trim_end_matches('/')),
            "{said}"
        );
    };
    // In no repository it is the folder that keeps runs.
    runs_at("a/b/c", "where", "");
    fs::create_dir(scratch.path.join("a/.git")).unwrap();
    runs_at("a/b/c", "where", "a");
    scratch.write("a/b/statemark.toml", "[checks.here]\ncommand = [\"pwd\"]\n");
    runs_at("a/b/c", "where", "a/b");
    runs_at("a/b/c", "here", "a/b");
    // What is said beyond the repository is about more than one project.
    fs::remove_file(scratch.path.join("a/b/statemark.toml")).unwrap();
    scratch.write("statemark.toml", "[checks.here]\ncommand = [\"pwd\"]\n");
    runs_at("a/b/c", "where", "a");
    runs_at("a/b/c", "here", "");
}

/// The nearest `.statemark` upward counts; what lies beyond the root of the repository is another project's.
#[test]
fn runs_are_kept_in_the_nearest_folder_upward() {
    let scratch = Scratch::new("upward");
    scratch.write("a/b/door.md", "# Door\n\n## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n    [*] --> open\n    open --> [*] : shut\n```\n");
    let deep = scratch.path.join("a/b");
    let run = |command: &str| in_project(&scratch, "a/b", command);
    // In no repository: the folder around is the project.
    run("statemark start door --run-id d1");
    assert!(scratch.path.join(".statemark/runs.db").is_file());
    assert!(run("statemark runs").contains("d1"));
    // In a repository whose root has none, it is made there.
    fs::create_dir(scratch.path.join("a/.git")).unwrap();
    run("statemark start door --run-id d2");
    assert!(scratch.path.join("a/.statemark/runs.db").is_file());
    let listed = run("statemark runs");
    assert!(listed.contains("d2") && !listed.contains("d1"), "{listed}");
    // A nearer one comes first.
    fs::create_dir(deep.join(".statemark")).unwrap();
    run("statemark start door --run-id d3");
    assert!(deep.join(".statemark/runs.db").is_file());
}
