//! Names the sources of what `lint` does, and lists the pages of the documentation.
//!
//! By the sources the cache of `lint` tells one build from another.

use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The sources that decide which findings a spec has, from the root of the workspace.
///
/// None of it is there in a published package, whose version says the same.
const SOURCES: [&str; 6] = [
    "Cargo.lock",
    "compiler/Cargo.toml",
    "compiler/src",
    "compiler/cli/src",
    "runtime/engine/src",
    "runtime/text/src",
];

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    println!("cargo::rerun-if-changed=build.rs");
    let mut files = Vec::new();
    for source in SOURCES {
        let path = root.join(source);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
            collect(path, &mut files)?;
        }
    }
    files.sort_unstable();
    let mut hasher = DefaultHasher::new();
    for file in files {
        let name = file.strip_prefix(&root).unwrap_or(&file);
        hasher.write(name.as_os_str().as_encoded_bytes());
        let content = fs::read(&file)?;
        hasher.write_usize(content.len());
        hasher.write(&content);
    }
    println!(
        "cargo::rustc-env=STATEMARK_SOURCES={:016x}",
        hasher.finish()
    );
    list_pages()
}

/// The folder whose files are pages of the documentation.
const PAGES: &str = "src/commands/docs";

/// Writes a list of pages, for `docs.rs`: the name of each file, and its text.
fn list_pages() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGES);
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if let (Some("md"), Some(name)) = (
            path.extension().and_then(|it| it.to_str()),
            path.file_stem().and_then(|it| it.to_str()),
        ) {
            pages.push(format!(
                "({name:?}, include_str!({:?})),",
                path.display().to_string()
            ));
        }
    }
    pages.sort_unstable();
    #[expect(clippy::disallowed_methods, reason = "cargo says it in no other way")]
    let list = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default()).join("pages.rs");
    fs::write(list, format!("&[\n{}\n]\n", pages.join("\n")))
}

/// Adds a file, or all files below a folder.
fn collect(path: PathBuf, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        files.push(path);
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        collect(entry?.path(), files)?;
    }
    Ok(())
}
