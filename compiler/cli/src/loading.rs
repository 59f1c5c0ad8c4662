//! From a path to one machine that can run.
//!
//! A spec is compiled, its findings go to the talk; a `.table` is decoded and verified. Both end as a [`Table`], so that
//! who shows or steps a machine needn't know where it came from.

use std::path::Path;

use statemark_compiler::back;
use statemark_compiler::diag::render::{footer, full, json};
use statemark_compiler::diag::{Diagnostic, Severity, nearest};
use statemark_compiler::source::MAX_SOURCE_BYTES;
use statemark_compiler::valid::Valid;
use statemark_runtime::{MAX_TABLE_BYTES, Table, decode, verify};

use crate::args::TextFormat;
use crate::failure::{Failure, FailureKind, OwnTableCause};
use crate::files;
use crate::printer::Printer;
use crate::report::{Checked, check};

/// A machine that can run.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The machine.
    pub(crate) table: Table,
    /// SHA-256 of the table's bytes, as 64 hexadecimal digits.
    pub(crate) hash: String,
    /// What the table was written from; nothing is left of it in a `.table`.
    pub(crate) valid: Option<Valid>,
}

/// The machine of a spec or of a table. `None` if the spec has errors, which have been shown then: as JSON, they are the
/// result, in the shape that `lint` gives them.
pub(crate) fn load(
    path: &Path,
    machine: Option<&str>,
    format: TextFormat,
    printer: &mut Printer,
) -> Result<Option<Loaded>, Failure> {
    let is_table = path.extension().is_some_and(|ending| ending == "table");
    if is_table {
        return load_table(path, machine).map(Some);
    }
    let Some(checked) = load_spec(path, format, printer)? else {
        return Ok(None);
    };
    let valid = chosen(&checked, machine)?;
    loaded(valid).map(Some)
}

/// A spec without an error and with a machine; other findings than hints have been shown. `None` if it has errors, which
/// have been shown then, as JSON if the format says so.
pub(crate) fn load_spec(
    path: &Path,
    format: TextFormat,
    printer: &mut Printer,
) -> Result<Option<Checked>, Failure> {
    let name = files::shown(path);
    let read = if path == Path::new("-") {
        files::read_stdin(MAX_SOURCE_BYTES)?
    } else {
        files::read(path, MAX_SOURCE_BYTES)?
    };
    let name = if name == "-" {
        "stdin.md".to_owned()
    } else {
        name
    };
    let checked = check(&name, read);
    if checked.has_errors() && format == TextFormat::Json {
        printer.result(&json(&checked.diagnostics, &checked.sources));
        let sum = footer(&checked.diagnostics, &printer.talk_style());
        printer.talk(&sum);
        return Ok(None);
    }
    talk_findings(&checked, printer);
    if checked.has_errors() {
        return Ok(None);
    }
    if checked.machines.is_empty() {
        return Err(FailureKind::NoMachine { path: name }.into());
    }
    Ok(Some(checked))
}

/// The table of a machine that passed all checks, ready to run.
pub(crate) fn loaded(valid: &Valid) -> Result<Loaded, Failure> {
    let own = |cause| {
        let id = valid.id.value.clone();
        Failure::from(FailureKind::OwnTable { id, cause })
    };
    let bytes = back::table::write(valid);
    let sections = decode(&bytes).map_err(|cause| own(OwnTableCause::Decode(cause)))?;
    let table = verify(sections).map_err(|cause| own(OwnTableCause::Verify(cause)))?;
    Ok(Loaded {
        table,
        hash: hash(&bytes),
        valid: Some(valid.clone()),
    })
}

/// Shows findings but hints, with their sum.
fn talk_findings(checked: &Checked, printer: &mut Printer) {
    let shown: Vec<Diagnostic> = checked
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity > Severity::Hint)
        .cloned()
        .collect();
    if shown.is_empty() {
        return;
    }
    let style = printer.talk_style();
    let text = full(&shown, &checked.sources, &style);
    // What a command shows behind them stands apart.
    let gap = if checked.has_errors() { "" } else { "\n" };
    printer.talk(&format!("{text}\n{}{gap}", footer(&shown, &style)));
}

/// The machine of that id, else the only one.
fn chosen<'c>(checked: &'c Checked, machine: Option<&str>) -> Result<&'c Valid, Failure> {
    let ids = || {
        checked
            .machines
            .iter()
            .map(|valid| valid.id.value.clone())
            .collect()
    };
    let path = checked.name.clone();
    match (machine, checked.machines.as_slice()) {
        (None, [only]) => Ok(only),
        (None, _) => Err(FailureKind::SeveralMachines { path, ids: ids() }.into()),
        (Some(id), machines) => machines
            .iter()
            .find(|valid| valid.id.value == id)
            .ok_or_else(|| unknown_machine(path, id, ids())),
    }
}

fn load_table(path: &Path, machine: Option<&str>) -> Result<Loaded, Failure> {
    let name = files::shown(path);
    let bytes = match files::read(path, MAX_TABLE_BYTES)? {
        Ok(bytes) => bytes,
        Err(_) => {
            let cause = std::io::Error::other("it is larger than any table");
            let path = path.to_owned();
            return Err(FailureKind::Unreadable { path, cause }.into());
        }
    };
    let sections = decode(&bytes).map_err(|cause| FailureKind::NotATable {
        path: name.clone(),
        cause,
    })?;
    let table = verify(sections).map_err(|cause| FailureKind::BadTable {
        path: name.clone(),
        cause,
    })?;
    match machine {
        Some(id) if id != table.name() => {
            Err(unknown_machine(name, id, vec![table.name().to_owned()]))
        }
        _ => Ok(Loaded {
            hash: hash(&bytes),
            table,
            valid: None,
        }),
    }
}

fn unknown_machine(path: String, id: &str, ids: Vec<String>) -> Failure {
    let near = nearest(id, ids.iter().map(String::as_str)).map(str::to_owned);
    let id = id.to_owned();
    FailureKind::UnknownMachine {
        path,
        id,
        ids,
        near,
    }
    .into()
}

/// The name of a table: its hash in hexadecimal digits.
fn hash(bytes: &[u8]) -> String {
    let digits = back::table::hash(bytes);
    digits.iter().map(|byte| format!("{byte:02x}")).collect()
}
