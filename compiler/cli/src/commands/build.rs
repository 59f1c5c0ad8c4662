//! `build`: writes tables, Rust and diagrams to a folder.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::ValueEnum;
use statemark_compiler::valid::Valid;
use statemark_compiler::{Options, back, compile};

use crate::args::TextFormat;
use crate::drawing::undrawable;
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::files;
use crate::printer::Printer;
use crate::specs::{load_spec, load_valid};

/// Write tables, Rust or diagrams.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark build door.md -o out                     out/door.table\n  \
                        statemark build door.md -o out --emit rust,mermaid out/door.rs, out/door.mmd\n  \
                        statemark build door.md -o src --emit rust --check 1 if src/door.rs is stale\n\n\
                        A spec with an error writes nothing. Each file is replaced whole or not at all.")]
pub(crate) struct BuildArgs {
    /// Specs
    #[arg(required = true, value_name = "SPEC")]
    specs: Vec<PathBuf>,
    /// Folder to write to; it is created if it doesn't exist
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// What to write: table, rust, mermaid, scxml, svg, dot
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "table",
        value_name = "KINDS",
        hide_possible_values = true
    )]
    emit: Vec<Emit>,
    /// Write nothing: say which files aren't what the specs make, and in what
    #[arg(long)]
    check: bool,
    /// Let every action of the host fail, unless the spec says otherwise
    #[arg(long)]
    actions_fail: bool,
}

/// Most bytes of a file that is checked. Why: far more than any machine's.
const MAX_CHECKED: usize = 64 << 20;

/// A form of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Emit {
    /// `ID.table`: bytes for the runtime.
    Table,
    /// `ID.rs`: a module.
    Rust,
    /// `ID.mmd`: the canonical diagram.
    Mermaid,
    /// `ID.scxml`: the canonical SCXML document.
    Scxml,
    /// `ID.svg`: a drawing.
    Svg,
    /// `ID.dot`: the graph, for Graphviz.
    Dot,
}

/// Builds the machines of some specs.
pub(super) fn run(args: &BuildArgs, printer: &mut Printer) -> CommandResult {
    let mut status = ExitStatus::Clean;
    let mut outputs = Outputs::default();
    let mut kinds = args.emit.clone();
    kinds.sort_unstable();
    kinds.dedup();
    let mut options = Options::default();
    options.actions_fail = args.actions_fail;
    let (rust, others): (Vec<Emit>, Vec<Emit>) =
        kinds.into_iter().partition(|kind| *kind == Emit::Rust);
    // A program answers guards that a run takes for claims.
    let mut for_rust = options.clone();
    for_rust.for_rust = true;
    let read_as = if others.is_empty() {
        &for_rust
    } else {
        &options
    };
    for spec in &args.specs {
        match load_spec(spec, read_as, TextFormat::Text, printer)? {
            Some(checked) => {
                let machines = match rust.is_empty() {
                    true => None,
                    false => Some(compile(&checked.sources, &for_rust).machines),
                };
                let is_refused = |it: &Vec<_>| it.len() < checked.machines.len();
                if machines.as_ref().is_some_and(is_refused) {
                    // What only Rust forbids is reported as for Rust alone.
                    load_spec(spec, &for_rust, TextFormat::Text, printer)?;
                    status = ExitStatus::Findings;
                    continue;
                }
                for valid in &checked.machines {
                    outputs.add(&checked.name, valid, &others)?;
                }
                for valid in machines.iter().flatten() {
                    outputs.add(&checked.name, valid, &rust)?;
                }
            }
            None => {
                printer.remark(&format!(
                    "nothing is written for {}\n",
                    files::display(spec)
                ));
                status = ExitStatus::Findings;
            }
        }
    }
    if args.check {
        let is_stale = check(args, &outputs, printer)?;
        return Ok(if is_stale {
            ExitStatus::Findings
        } else {
            status
        });
    }
    if !outputs.files.is_empty() {
        files::make_folder(&args.output)?;
    }
    for (name, output) in &outputs.files {
        let path = args.output.join(name);
        files::check_output(&path)?;
        files::write(&path, &output.bytes)?;
        printer.result(&format!("{}\n", files::display(&path)));
    }
    Ok(status)
}

/// Holds the files that are there against the outputs. Returns true if any is stale.
fn check(args: &BuildArgs, outputs: &Outputs, printer: &mut Printer) -> Result<bool, Failure> {
    let mut is_stale = false;
    for (name, output) in &outputs.files {
        let path = args.output.join(name);
        let found = match path.exists() {
            true => Some(files::read_whole(&path, MAX_CHECKED)?),
            false => None,
        };
        if let Some(stale) = back::stale::compare(found.as_deref(), &output.bytes) {
            printer.result(&format!("{}: {stale}\n", files::display(&path)));
            is_stale = true;
        }
    }
    if is_stale {
        printer.remark("build again without `--check` to write them\n");
    }
    Ok(is_stale)
}

/// Outputs by file name. Nothing is written before all of them are made.
#[derive(Default)]
struct Outputs {
    files: BTreeMap<String, Output>,
}

struct Output {
    machine: String,
    bytes: Vec<u8>,
}

impl Outputs {
    fn add(&mut self, spec: &str, valid: &Valid, kinds: &[Emit]) -> Result<(), Failure> {
        let table = back::table::write(valid);
        for &kind in kinds {
            let stem = file_stem(&valid.id.value);
            let (ending, bytes) = match kind {
                Emit::Table => {
                    // A table that the runtime refuses must not be written.
                    load_valid(valid)?;
                    ("table", table.clone())
                }
                Emit::Rust => {
                    let mut options = back::rust::Options::default();
                    options.source = Some(spec.to_owned());
                    options.table_hash = Some(back::table::hash(&table));
                    let text = back::rust::write_file(valid, &options);
                    ("rs", text.into_bytes())
                }
                Emit::Scxml => ("scxml", back::scxml::write(valid).into_bytes()),
                Emit::Svg => {
                    let options = back::svg::Options::default();
                    let drawing = back::svg::write(valid, &options);
                    ("svg", drawing.map_err(undrawable)?.into_bytes())
                }
                Emit::Dot => ("dot", back::dot::write(valid).into_bytes()),
                Emit::Mermaid => ("mmd", back::mermaid::write(valid).into_bytes()),
            };
            let name = format!("{stem}.{ending}");
            let machine = valid.id.value.clone();
            if let Some(first) = self.machine(&name) {
                return Err(Failure::new(format!(
                    "`{first}` and `{machine}` would both be written to `{name}`"
                ))
                .with_help("give one of them another id"));
            }
            self.files.insert(name, Output { machine, bytes });
        }
        Ok(())
    }

    /// Returns the machine whose output has that name on a file system that ignores case.
    fn machine(&self, name: &str) -> Option<&str> {
        self.files
            .iter()
            .find(|(other, _)| other.to_lowercase() == name.to_lowercase())
            .map(|(_, output)| output.machine.as_str())
    }
}

/// Returns an id as the name of a file: anything but a letter, a digit, `-` or `_` becomes `_`.
fn file_stem(id: &str) -> String {
    let is_kept = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
    id.replace(|letter| !is_kept(letter), "_")
}
