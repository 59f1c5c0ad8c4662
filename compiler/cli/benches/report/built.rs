//! Builds from nothing: the program itself, and a crate that has its first machine by `machine!`.

use std::fs;
use std::path::Path;

use statemark_harness::root;

use crate::bench::{Bench, Built, cargo, millions, table};
use crate::shell::Scratch;

const PROGRAM: &str = "statemark::machine!(\"turnstile.md\");\nfn main() {}\n";

pub(crate) fn section(_: &Bench) -> String {
    let scratch = Scratch::new("bench-built");
    let target = scratch.path.join("target");
    let target = target.to_str().unwrap();
    let rows = vec![program(target), user(&scratch, target)];
    let columns = ["a build from nothing", "crates", "seconds of CPU", "MB"];
    String::from("What is fetched is there already.\n\n") + &table(&columns, &rows)
}

/// Builds the program as a user does who installs it.
fn program(target: &str) -> Vec<String> {
    let words = [
        "build",
        "--release",
        "--locked",
        "--package",
        "statemark-cli",
    ];
    let built = cargo(&root(), &[&words[..], &["--target-dir", target]].concat());
    let program = Path::new(target).join("release/statemark");
    row("`statemark`, release", &built, &program)
}

/// Builds a crate outside the workspace that has one machine.
fn user(scratch: &Scratch, target: &str) -> Vec<String> {
    let own = root().join("macros/statemark");
    scratch.write(
        "user/Cargo.toml",
        &format!(
            "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
             [dependencies]\nstatemark = {{ path = {own:?} }}\n[workspace]\n"
        ),
    );
    scratch.write("user/src/main.rs", PROGRAM);
    let copied = |from: &str, to: &str| {
        let text = fs::read_to_string(root().join(from)).unwrap();
        scratch.write(to, &text);
    };
    // The versions that everything else is measured with.
    copied("Cargo.lock", "user/Cargo.lock");
    copied("examples/turnstile/turnstile.md", "user/src/turnstile.md");
    let folder = scratch.path.join("user");
    let built = cargo(&folder, &["build", "--offline", "--target-dir", target]);
    let program = Path::new(target).join("debug/user");
    row("a crate with `machine!`, debug", &built, &program)
}

fn row(name: &str, built: &Built, program: &Path) -> Vec<String> {
    let size = fs::metadata(program).unwrap().len();
    vec![
        name.to_owned(),
        built.crates.to_string(),
        format!("{:.0}", built.cpu.as_secs_f64()),
        format!("{:.1}", millions(size)),
    ]
}
