//! `build`: tables, Rust and diagrams, into a folder.

use std::collections::BTreeMap;

use statemark_compiler::back;
use statemark_compiler::valid::Valid;

use crate::args::{BuildArgs, Emit, TextFormat};
use crate::failure::{Failure, FailureKind};
use crate::files;
use crate::loading::{load_spec, loaded};
use crate::printer::Printer;
use crate::status::ExitStatus;

pub(super) fn run(args: &BuildArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let mut status = ExitStatus::Clean;
    let mut outputs = Outputs::default();
    let mut kinds = args.emit.clone();
    kinds.sort_unstable();
    kinds.dedup();
    for spec in &args.specs {
        match load_spec(spec, TextFormat::Text, printer)? {
            Some(checked) => {
                for valid in &checked.machines {
                    outputs.add(&checked.name, valid, &kinds)?;
                }
            }
            None => {
                printer.talk(&format!("nothing is written for {}\n", files::shown(spec)));
                status = ExitStatus::Findings;
            }
        }
    }
    if !outputs.files.is_empty() {
        files::make_folder(&args.output)?;
    }
    for (name, output) in &outputs.files {
        let path = args.output.join(name);
        files::write(&path, &output.bytes)?;
        printer.result(&format!("{}\n", files::shown(&path)));
    }
    Ok(status)
}

/// What will be written, by file name. Nothing is written before all of it is made.
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
                    // A table that the runtime refuses must not leave the house.
                    loaded(valid)?;
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
                Emit::Mermaid => ("mmd", back::mermaid::write(valid).into_bytes()),
            };
            let name = format!("{stem}.{ending}");
            let machine = valid.id.value.clone();
            if let Some(first) = self.of_name(&name) {
                return Err(FailureKind::OutputClash {
                    file: name,
                    first: first.to_owned(),
                    second: machine,
                }
                .into());
            }
            self.files.insert(name, Output { machine, bytes });
        }
        Ok(())
    }

    /// The machine whose output has that name on any file system, of which some ignore case.
    fn of_name(&self, name: &str) -> Option<&str> {
        self.files
            .iter()
            .find(|(other, _)| other.to_lowercase() == name.to_lowercase())
            .map(|(_, output)| output.machine.as_str())
    }
}

/// The id as the name of a file: what isn't a letter, a digit, `-` or `_` becomes `_`.
fn file_stem(id: &str) -> String {
    let stem: String = id
        .chars()
        .map(|letter| match letter {
            '-' | '_' => letter,
            letter if letter.is_alphanumeric() => letter,
            _ => '_',
        })
        .collect();
    stem
}
