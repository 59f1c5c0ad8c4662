//! A helper for users' build scripts: a spec in, a Rust module in `OUT_DIR` out.
//!
//! ```no_run
//! // build.rs
//! statemark_compiler::build::Config::new().spec("door.md").compile();
//! ```
//!
//! ```text
//! // src/main.rs
//! include!(concat!(env!("OUT_DIR"), "/door.rs"));
//! ```
//!
//! Cargo shows the findings: an error fails the build with the source lines in the spec, a warning is one line. A build
//! script runs again when a spec has changed.
//!
//! This is the only module of the compiler with IO: it reads the environment and files, writes files and prints, because
//! build scripts can't talk to Cargo in any other way. [`Config::compile`] and [`Config::check`] are the only functions
//! that do.

use std::path::{Path, PathBuf};

use crate::back::{rust, stale};
use crate::diag::Severity;
use crate::diag::render::{self, Style};
use crate::pass::names::snake;
use crate::source::Sources;
use crate::{Compiled, Options, compile};

/// The configuration of a build script.
#[derive(Clone, Debug, Default)]
pub struct Config {
    specs: Vec<PathBuf>,
    out: Option<PathBuf>,
    runtime: Option<String>,
    typestate: bool,
    actions_fail: bool,
}

impl Config {
    /// Creates a configuration without specs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a spec by its path from the package's root.
    ///
    /// `traffic-light.md` becomes `traffic_light.rs`, with a module for each machine in it.
    #[must_use]
    pub fn spec(mut self, path: impl Into<PathBuf>) -> Self {
        self.specs.push(path.into());
        self
    }

    /// Writes into this folder instead of `OUT_DIR`.
    #[must_use]
    pub fn out(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out = Some(folder.into());
        self
    }

    /// Sets the path of the runtime, `::statemark_runtime` by default.
    ///
    /// It is `::statemark::runtime` in a package that depends on `statemark` alone.
    #[must_use]
    pub fn runtime(mut self, path: impl Into<String>) -> Self {
        self.runtime = Some(path.into());
        self
    }

    /// Adds machines with a type for each state.
    ///
    /// It is an error if a machine doesn't allow that.
    #[must_use]
    pub fn typestate(mut self) -> Self {
        self.typestate = true;
        self
    }

    /// Lets actions of the host fail where a spec doesn't say otherwise.
    #[must_use]
    pub fn actions_fail(mut self) -> Self {
        self.actions_fail = true;
        self
    }

    /// Compiles the specs, writes the modules, and reports to Cargo.
    pub fn compile(&self) {
        self.carry_out(false);
    }

    /// Compiles the specs and compares: a file that departs from its spec is an error. Nothing is written.
    ///
    /// It is for modules that are checked in, in the folder that [`out`](Self::out) names.
    pub fn check(&self) {
        self.carry_out(true);
    }

    #[expect(
        clippy::disallowed_methods,
        clippy::print_stdout,
        reason = "a build script's work is to read and write files, and to talk to Cargo by printing"
    )]
    fn carry_out(&self, only_check: bool) {
        let out = self
            .out
            .clone()
            .or_else(|| std::env::var("OUT_DIR").ok().map(PathBuf::from));
        for spec in &self.specs {
            println!("cargo::rerun-if-changed={}", spec.display());
            let text = std::fs::read(spec).map_err(|fault| fault.to_string());
            let built = text.and_then(|bytes| {
                String::from_utf8(bytes).map_err(|_| "its bytes are not UTF-8".to_owned())
            });
            let built = match built {
                Ok(text) => self.build(spec, &text),
                Err(fault) => {
                    Built::failed(&format!("{}: can't read the spec: {fault}", spec.display()))
                }
            };
            for directive in &built.directives {
                println!("{directive}");
            }
            let (Some(code), Some(out)) = (built.code, &out) else {
                continue;
            };
            let file = out.join(file_name(spec));
            if only_check {
                println!("cargo::rerun-if-changed={}", file.display());
                if let Some(stale) =
                    stale::compare(std::fs::read(&file).ok().as_deref(), code.as_bytes())
                {
                    println!("cargo::error={}: {stale}", file.display());
                }
                continue;
            }
            if let Err(fault) = std::fs::write(&file, code) {
                println!(
                    "cargo::error={}: can't write the module: {fault}",
                    file.display()
                );
            }
        }
        if out.is_none() {
            println!(
                "cargo::error=OUT_DIR is not set: call this from a build script, or name a folder"
            );
        }
    }

    /// Compiles one spec.
    fn build(&self, spec: &Path, text: &str) -> Built {
        let name = spec.to_string_lossy().replace('\\', "/");
        let mut sources = Sources::new();
        sources.add(name.clone(), text);
        let options = Options {
            actions_fail: self.actions_fail,
            for_rust: true,
            ..Options::default()
        };
        let compiled = compile(&sources, &options);
        let mut built = Built {
            directives: directives(&compiled, &sources),
            code: None,
        };
        if compiled.found == 0 && built.directives.is_empty() {
            return Built::failed(&format!(
                "{name}: no state machine in it: it needs a section `## STATE-MACHINE`"
            ));
        }
        let mut code = String::new();
        for valid in &compiled.machines {
            let mut options = rust::Options {
                source: Some(name.clone()),
                ..rust::Options::default()
            };
            options.typestate = self.typestate;
            if let Some(runtime) = &self.runtime {
                options.runtime.clone_from(runtime);
            }
            if let Some(obstacle) = rust::typestate_obstacle(valid).filter(|_| self.typestate) {
                let id = &valid.id.value;
                built.directives.push(format!(
                    "cargo::error={name}: the states of `{id}` can't be types: {obstacle}"
                ));
            }
            code.push_str(&rust::write_file(valid, &options));
        }
        built.code = Some(code);
        built
    }
}

/// The directives for Cargo about a spec, and its module.
struct Built {
    directives: Vec<String>,
    code: Option<String>,
}

impl Built {
    fn failed(message: &str) -> Self {
        Self {
            directives: vec![format!("cargo::error={message}")],
            code: None,
        }
    }
}

/// Returns the name of a spec's output file.
fn file_name(spec: &Path) -> String {
    let stem = spec
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    format!("{}.rs", snake(stem.as_deref().unwrap_or("spec")).0)
}

/// Renders findings as directives for Cargo.
///
/// Cargo shows each directive as one line, so an error with its source lines takes several: first its position and
/// message, as in other compilers, then the lines of [`render::full`] below the message.
fn directives(compiled: &Compiled, sources: &Sources) -> Vec<String> {
    let style = Style::default();
    let mut lines = Vec::new();
    for diagnostic in &compiled.diagnostics {
        let one = std::slice::from_ref(diagnostic);
        let kind = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info | Severity::Hint => continue,
        };
        let short = render::concise(one, sources, &style);
        lines.push(format!("cargo::{kind}={}", short.trim_end()));
        if diagnostic.severity == Severity::Error {
            let full = render::full(one, sources, &style);
            lines.extend(
                full.lines()
                    .skip(1)
                    .map(|line| format!("cargo::error={line}")),
            );
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(text: &str) -> Built {
        Config::new().build(Path::new("specs/door.md"), text)
    }

    #[test]
    fn a_spec_becomes_a_module() {
        let built = build(
            "## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n[*] --> shut\nshut --> open : push\nopen --> shut : pull\nopen --> [*] : leave\n```\n",
        );
        assert_eq!(built.directives, [""; 0]);
        assert!(built.code.unwrap().contains("pub mod door {"));
        assert_eq!(
            file_name(Path::new("specs/traffic-light.md")),
            "traffic_light.rs"
        );
    }

    #[test]
    fn an_error_is_shown_with_its_lines() {
        let built = build(
            "## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n[*] --> shut\nshut --> : push\n```\n",
        );
        let place = "cargo::error=specs/door.md:6:";
        assert!(
            built.directives.iter().any(|line| line.starts_with(place)),
            "{:?}",
            built.directives
        );
        assert!(built.directives.len() > 3, "{:?}", built.directives);
        assert!(built.directives.iter().all(|line| !line.contains('\n')));
    }

    #[test]
    fn a_document_without_a_machine_is_an_error() {
        let built = build("# Nothing\n");
        assert!(
            built.directives[0].contains("no state machine"),
            "{:?}",
            built.directives
        );
    }
}
