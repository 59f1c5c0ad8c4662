//! Crates of generated Rust that tests write, build with cargo, and run.
//!
//! Each has a folder of its own inside the target folder, in which cargo keeps what it has built of the runtime.

use std::path::{Path, PathBuf};
use std::process::Command;

use statemark_harness::root;

/// Writes a crate with these files, paths relative to its folder, and returns what its program prints.
pub(crate) fn run(name: &str, files: &[(String, String)]) -> String {
    let folder = target().join(name);
    let runtime = root().join("runtime/engine").display().to_string();
    let manifest = format!(
        "[package]\nname = \"generated\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nstatemark-runtime = {{ path = {runtime:?} }}\n\n\
         [profile.dev]\ndebug = false\n\n[workspace]\n"
    );
    write(&folder.join("Cargo.toml"), &manifest);
    let target = folder.join("target").display().to_string();
    let config = format!("[build]\ntarget-dir = {target:?}\n");
    write(&folder.join(".cargo/config.toml"), &config);
    for (path, text) in files {
        write(&folder.join(path), text);
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let run = Command::new(cargo)
        .args(["run", "--quiet", "--offline", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .output()
        .expect("cargo");
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(
        run.status.success(),
        "{name} doesn't compile, or fails:\n{errors}"
    );
    String::from_utf8_lossy(&run.stdout).into_owned()
}

/// The target folder that the tests were built in.
fn target() -> PathBuf {
    let program = std::env::current_exe().expect("the path of the tests");
    program
        .ancestors()
        .find(|folder| folder.file_name().is_some_and(|name| name == "deps"))
        .and_then(|deps| deps.parent()?.parent())
        .expect("the target folder")
        .to_path_buf()
}

/// Writes a file unless it has that text already, so that cargo builds nothing twice.
fn write(path: &Path, text: &str) {
    if std::fs::read_to_string(path).is_ok_and(|before| before == text) {
        return;
    }
    let folder = path.parent().expect("a folder");
    std::fs::create_dir_all(folder).expect("a folder");
    std::fs::write(path, text).expect("a file");
}
