//! Specs and tables, from a path to machines.
//!
//! [`check_all`] compiles every spec among some paths; [`load`] gives the one machine of a spec or a `.table`, so that a
//! command that shows or steps it needn't know where it came from.

use std::path::{Path, PathBuf};
use std::str::Utf8Error;

use rayon::prelude::*;
use statemark_compiler::diag::apply::best_fix;
use statemark_compiler::diag::render::{footer, full, json};
use statemark_compiler::diag::{Applicability, Code, Diagnostic, Severity};
use statemark_compiler::front::mermaid::is_state_diagram;
use statemark_compiler::source::{FileId, MAX_SOURCE_BYTES, Sources, Span};
use statemark_compiler::valid::Valid;
use statemark_compiler::{Compiled, Format, Options, back, compile, fix_text};
use statemark_runtime::{DecodeError, MAX_TABLE_BYTES, Part, Table, VerifyError, decode, verify};
use statemark_text::hex;

use crate::args::TextFormat;
use crate::cache::Cache;
use crate::failure::Failure;
use crate::files;
use crate::printer::Printer;
use crate::project::Diagrams;
use crate::rules::Rules;
use crate::search::{self, FoundFile};

/// The name under which standard input is compiled.
pub(crate) const STDIN_NAME: &str = "stdin.md";

/// The heading of a section with a machine, without its level.
const HEADING: &str = "STATE-MACHINE";

/// The first word of a state diagram.
const DIAGRAM: &str = "stateDiagram";

/// The first bytes of a table. Source: the layout in `statemark_runtime`'s documentation of tables.
const TABLE_LABEL: &[u8] = b"\x89statem\n";

/// A file, compiled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checked {
    /// Its name, as diagnostics have it.
    pub(crate) name: String,
    /// The file alone.
    pub(crate) sources: Sources,
    /// The machines without an error.
    pub(crate) machines: Vec<Valid>,
    /// The number of machines, those with errors included.
    pub(crate) machine_count: usize,
    /// The number of diagrams that were checked and aren't a machine's.
    pub(crate) drawing_count: usize,
    /// Every finding, in reading order.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The sentence that says why a file or folder that was met couldn't be read.
    pub(crate) problem: Option<String>,
    /// Its text before and after its fixes, if there were any.
    pub(crate) fixes: Option<FileFixes>,
}

/// The fixes of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileFixes {
    /// The path of the file; none for standard input.
    pub(crate) path: Option<PathBuf>,
    /// The text as it was.
    pub(crate) before: String,
    /// The text as it is to be.
    pub(crate) after: String,
    /// The number of findings that were fixed.
    pub(crate) fixed: usize,
    /// The codes whose fixes were taken back.
    pub(crate) refused: Vec<Code>,
}

impl Checked {
    /// Reports whether one of the findings is an error.
    pub(crate) fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Returns the ids of the machines.
    pub(crate) fn ids(&self) -> Vec<String> {
        let machines = self.machines.iter();
        machines.map(|valid| valid.id.value.clone()).collect()
    }
}

/// Compiles every spec among some paths, sorted by path. Other files in folders are left out.
pub(crate) fn check_all(paths: &[PathBuf], stdin_name: &str) -> Result<Vec<Checked>, Failure> {
    let mut all = Vec::new();
    let diagrams = Diagrams::Sections;
    check_each(
        paths,
        stdin_name,
        (diagrams, false),
        |name, _, bytes| check(name, bytes),
        |checked| {
            all.push(checked);
            Ok(())
        },
    )?;
    Ok(all)
}

/// The work of `lint` on each file.
#[derive(Debug)]
pub(crate) struct LintPlan<'c> {
    /// The diagrams of Markdown files that are checked.
    pub(crate) diagrams: Diagrams,
    /// True to leave out files that were named, and that are ignored or hold no machine.
    pub(crate) excludes: bool,
    /// The cache of texts without findings.
    pub(crate) cache: Option<&'c Cache>,
    /// The least trust in a fix that is applied; none applies no fix.
    pub(crate) fix: Option<Applicability>,
    /// True if hints are shown, so that their fixes are applied, too.
    pub(crate) hints: bool,
    /// The findings that are wanted.
    pub(crate) rules: &'c Rules,
}

/// Hands over the findings of every spec, without its machines; what a cache knows isn't compiled.
///
/// They come one after the other, sorted by path, so that the memory that is needed doesn't grow with their number.
pub(crate) fn lint_each(
    paths: &[PathBuf],
    stdin_name: &str,
    plan: &LintPlan<'_>,
    each: impl FnMut(Checked) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut options = Options::default();
    options.all_diagrams = plan.diagrams == Diagrams::All;
    options.servers = plan.rules.servers();
    let check = |name: &str, path: Option<&Path>, bytes| lint(name, path, bytes, &options, plan);
    check_each(
        paths,
        stdin_name,
        (plan.diagrams, plan.excludes),
        check,
        each,
    )
}

fn lint(
    name: &str,
    path: Option<&Path>,
    bytes: Result<Vec<u8>, u64>,
    options: &Options,
    plan: &LintPlan<'_>,
) -> Checked {
    let content = bytes.as_ref().ok();
    let cached = plan
        .cache
        .zip(content)
        .map(|(cache, content)| (cache, cache.key(name, plan.rules.fingerprint(), content)));
    if let Some((cache, key)) = &cached
        && let Some(machine_count) = cache.get(key)
    {
        return Checked {
            name: name.to_owned(),
            machine_count,
            ..Checked::default()
        };
    }
    let mut options = options.clone();
    options.unwanted = plan.rules.unwanted(name);
    let mut checked = check_with(name, bytes, &options);
    if let Some(least) = plan.fix {
        checked = fix(checked, path, &options, (least, plan));
    }
    plan.rules.apply(name, &mut checked.diagnostics);
    if !checked.diagnostics.is_empty() || checked.fixes.is_some() {
        return Checked {
            machines: Vec::new(),
            ..checked
        };
    }
    if let Some((cache, key)) = cached {
        cache.add(key, checked.machine_count);
    }
    // Of a thousand files, neither machines nor texts are needed again: they would only fill the memory.
    Checked {
        name: checked.name,
        machine_count: checked.machine_count,
        drawing_count: checked.drawing_count,
        ..Checked::default()
    }
}

/// Applies the fixes of a file, if it has any, and returns what is left of its findings.
fn fix(
    checked: Checked,
    path: Option<&Path>,
    options: &Options,
    (least, plan): (Applicability, &LintPlan<'_>),
) -> Checked {
    // What isn't shown isn't fixed: nobody would know why the text has changed.
    let wants = |found: &Diagnostic| {
        let severity = plan.rules.severity_of(&checked.name, found);
        severity.is_some_and(|it| plan.hints || it > Severity::Hint)
    };
    let mut findings = checked.diagnostics.iter();
    let texts = checked.sources.iter().next();
    let Some((_, source)) =
        texts.filter(|_| findings.any(|it| wants(it) && best_fix(it, least).is_some()))
    else {
        return checked;
    };
    let done = fix_text(source.name(), source.text(), options, least, wants);
    let fixes = FileFixes {
        path: path.map(Path::to_owned),
        before: source.text().to_owned(),
        after: done.text().to_owned(),
        fixed: done.fixed.len(),
        refused: done.refused,
    };
    Checked {
        sources: done.sources,
        fixes: Some(fixes),
        ..compiled(checked.name, Sources::new(), done.compiled)
    }
}

/// The files that are compiled at once.
///
/// Unit: files. Why: their texts and findings are in memory together, and a few hundred keep every core busy.
const AT_ONCE: usize = 256;

fn check_each(
    paths: &[PathBuf],
    stdin_name: &str,
    (diagrams, excludes): (Diagrams, bool),
    check_bytes: impl Fn(&str, Option<&Path>, Result<Vec<u8>, u64>) -> Checked + Sync,
    mut each: impl FnMut(Checked) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (stdin, paths): (Vec<&PathBuf>, Vec<&PathBuf>) = paths
        .iter()
        .partition(|path| path.as_path() == Path::new("-"));
    let paths: Vec<PathBuf> = paths.into_iter().cloned().collect();
    let files = match excludes {
        true => search::find_wanted(&paths)?,
        false => search::find(&paths)?,
    };
    for some in files.chunks(AT_ONCE) {
        let checked = some
            .par_iter()
            .map(|file| check_found(file, diagrams, &check_bytes))
            .collect::<Result<Vec<Option<Checked>>, Failure>>()?;
        checked.into_iter().flatten().try_for_each(&mut each)?;
    }
    if let Some(stdin) = stdin.first() {
        let bytes = files::read(stdin, MAX_SOURCE_BYTES)?;
        each(check_bytes(stdin_name, None, bytes))?;
    }
    Ok(())
}

/// Names the files among some paths that would be compiled, sorted by path.
pub(crate) fn find_specs(
    paths: &[PathBuf],
    stdin_name: &str,
    (diagrams, excludes): (Diagrams, bool),
    mut each: impl FnMut(&str),
) -> Result<(), Failure> {
    let name = |name: &str, _: Option<&Path>, _| Checked {
        name: name.to_owned(),
        ..Checked::default()
    };
    check_each(paths, stdin_name, (diagrams, excludes), name, |file| {
        if file.problem.is_none() {
            each(&file.name);
        }
        Ok(())
    })
}

/// Hands over the text of each spec among some paths, with its name and its path.
///
/// Standard input has no path.
///
/// What isn't text is left out where it was met in a folder.
pub(crate) fn read_specs(
    paths: &[PathBuf],
    stdin_name: &str,
    (diagrams, excludes): (Diagrams, bool),
    mut each: impl FnMut(&str, Option<&Path>, String) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let read = |name: &str, path: Option<&Path>, bytes: Result<Vec<u8>, u64>| {
        let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let problem = text
            .is_none()
            .then(|| format!("`{name}` is no text of UTF-8"));
        Checked {
            name: name.to_owned(),
            problem,
            fixes: Some(FileFixes {
                path: path.map(Path::to_owned),
                before: text.unwrap_or_default(),
                ..FileFixes::default()
            }),
            ..Checked::default()
        }
    };
    check_each(paths, stdin_name, (diagrams, excludes), read, |file| {
        let is_stdin = file.fixes.as_ref().is_some_and(|it| it.path.is_none());
        let is_named = || paths.iter().any(|path| files::display(path) == file.name);
        let Some(found) = file.fixes.filter(|_| file.problem.is_none()) else {
            return match file.problem {
                Some(problem) if is_stdin || is_named() => Err(Failure::new(problem)),
                _ => Ok(()),
            };
        };
        each(&file.name, found.path.as_deref(), found.before)
    })
}

/// Checks a file that was found, unless it was met in a folder and isn't worth compiling.
///
/// # Errors
///
/// It was named, and can't be read.
fn check_found(
    file: &FoundFile,
    diagrams: Diagrams,
    check_bytes: impl Fn(&str, Option<&Path>, Result<Vec<u8>, u64>) -> Checked,
) -> Result<Option<Checked>, Failure> {
    let unread = |problem: String| Checked {
        name: file.name.clone(),
        problem: Some(problem),
        ..Checked::default()
    };
    if let Some(problem) = &file.problem {
        return Ok(Some(unread(problem.clone())));
    }
    let bytes = match files::read(&file.path, MAX_SOURCE_BYTES) {
        Ok(bytes) => bytes,
        Err(failure) if file.named => return Err(failure),
        Err(failure) => return Ok(Some(unread(failure.to_string()))),
    };
    let is_spec = file.named
        || bytes
            .as_ref()
            .is_ok_and(|bytes| may_hold_machine(&file.name, bytes, diagrams));
    Ok(is_spec.then(|| check_bytes(&file.name, Some(&file.path), bytes)))
}

/// Reports whether a file would be compiled if it is met in a folder.
pub(crate) fn may_be_spec(name: &str, path: &Path, diagrams: Diagrams) -> bool {
    let bytes = files::read(path, MAX_SOURCE_BYTES).and_then(|bytes| {
        // What is too large is a finding.
        bytes.map_err(|_| Failure::new("too large"))
    });
    bytes.is_ok_and(|bytes| may_hold_machine(name, &bytes, diagrams))
}

/// Reports whether a file in a folder is worth compiling.
pub(crate) fn may_hold_machine(name: &str, bytes: &[u8], diagrams: Diagrams) -> bool {
    let has_diagram = || {
        let word = DIAGRAM.as_bytes();
        let mut windows = bytes.windows(word.len());
        windows.any(|window| window.eq_ignore_ascii_case(word))
    };
    match Format::of_name(name) {
        Format::Diagram => is_state_diagram(&String::from_utf8_lossy(bytes)),
        Format::Definition => true,
        Format::Markdown if diagrams == Diagrams::All && has_diagram() => true,
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => text.contains(HEADING),
            Err(_) => bytes
                .windows(HEADING.len())
                .any(|window| window == HEADING.as_bytes()),
        },
    }
}

/// Compiles the bytes of a file, or reports its size in bytes as too large.
pub(crate) fn check(name: &str, bytes: Result<Vec<u8>, u64>) -> Checked {
    check_with(name, bytes, &Options::default())
}

fn check_with(name: &str, bytes: Result<Vec<u8>, u64>, options: &Options) -> Checked {
    let mut sources = Sources::new();
    let text = match bytes {
        Ok(bytes) => String::from_utf8(bytes),
        Err(size) => {
            let file = sources.add(name, "");
            return unread(name, sources, file_too_large(file, size, MAX_SOURCE_BYTES));
        }
    };
    let text = match text {
        Ok(text) => text,
        Err(error) => {
            let (text, position) = replace_invalid(error.as_bytes(), error.utf8_error());
            let file = sources.add(name, text);
            return unread(
                name,
                sources,
                invalid_utf8(file, position, error.as_bytes()),
            );
        }
    };
    sources.add(name, text);
    let found = compile(&sources, options);
    compiled(name.to_owned(), sources, found)
}

fn compiled(name: String, sources: Sources, compiled: Compiled) -> Checked {
    Checked {
        name,
        sources,
        machines: compiled.machines,
        machine_count: compiled.found,
        drawing_count: compiled.drawings,
        diagnostics: compiled.diagnostics,
        ..Checked::default()
    }
}

/// Compiles a text as a file of that name.
pub(crate) fn check_text(name: &str, text: &str) -> Checked {
    let size = u64::try_from(text.len()).unwrap_or(u64::MAX);
    let is_too_large = text.len() > MAX_SOURCE_BYTES;
    check(
        name,
        if is_too_large {
            Err(size)
        } else {
            Ok(text.as_bytes().to_vec())
        },
    )
}

fn unread(name: &str, sources: Sources, finding: Diagnostic) -> Checked {
    Checked {
        name: name.to_owned(),
        sources,
        diagnostics: vec![finding],
        ..Checked::default()
    }
}

/// Merges the findings of several files over one set of sources, as renderers want them.
pub(crate) fn merge(checked: &[Checked]) -> (Sources, Vec<Diagnostic>) {
    let mut sources = Sources::new();
    let mut diagnostics = Vec::new();
    for file in checked.iter().filter(|file| !file.diagnostics.is_empty()) {
        let texts = file.sources.iter();
        let ids: Vec<FileId> = texts
            .map(|(_, text)| sources.add(text.name(), text.text()))
            .collect();
        for diagnostic in &file.diagnostics {
            diagnostics.push(renumber(diagnostic.clone(), &ids));
        }
    }
    (sources, diagnostics)
}

/// Returns a finding whose spans have the new ids of their files.
fn renumber(mut diagnostic: Diagnostic, ids: &[FileId]) -> Diagnostic {
    let spans = std::iter::once(&mut diagnostic.primary.span)
        .chain(diagnostic.related.iter_mut().map(|label| &mut label.span))
        .chain(
            diagnostic
                .fixes
                .iter_mut()
                .flat_map(|fix| &mut fix.edits)
                .map(|edit| &mut edit.span),
        );
    for span in spans {
        if let Some(&id) = ids.get(span.file.index()) {
            span.file = id;
        }
    }
    diagnostic
}

/// A machine that can run.
#[derive(Debug)]
pub(crate) struct LoadedMachine {
    /// The machine.
    pub(crate) table: Table,
    /// The table's bytes.
    pub(crate) bytes: Vec<u8>,
    /// The SHA-256 of the bytes. Unit: 64 hexadecimal digits.
    pub(crate) hash: String,
    /// The compiled spec. A `.table` has none.
    pub(crate) valid: Option<Valid>,
}

impl LoadedMachine {
    /// Returns the hashes of the table's parts, by the parts' names.
    pub(crate) fn part_hashes(&self) -> impl Iterator<Item = (&'static str, String)> {
        let hash = |part| hex::encode(&back::table::part_hash(self.table.sections(), part));
        Part::ALL
            .into_iter()
            .map(move |part| (part.name(), hash(part)))
    }
}

/// Loads the machine of a spec or a table.
///
/// `None` if the spec has errors, which were shown then: as JSON, they are the result, as `lint` prints them.
pub(crate) fn load(
    path: &Path,
    machine: Option<&str>,
    format: TextFormat,
    printer: &mut Printer,
) -> Result<Option<LoadedMachine>, Failure> {
    let is_table = path.extension().is_some_and(|ending| ending == "table");
    if is_table {
        return load_table(path, machine).map(Some);
    }
    let Some(checked) = load_spec(path, &Options::default(), format, printer)? else {
        return Ok(None);
    };
    load_valid(choose(&checked, machine)?).map(Some)
}

/// Reads a spec, perhaps under another name, which tells its format.
fn read_spec(path: &Path, name: Option<&str>, options: &Options) -> Result<Checked, Failure> {
    let bytes = files::read(path, MAX_SOURCE_BYTES)?;
    let name = match name {
        Some(name) => name.to_owned(),
        None if path == Path::new("-") => STDIN_NAME.to_owned(),
        None => files::display(path),
    };
    Ok(check_with(&name, bytes, options))
}

/// Loads a spec to be compared with another one, under the name that tells its format.
///
/// Its errors are shown; what else there is to say of it is for `lint`.
pub(crate) fn load_to_compare(
    path: &Path,
    name: Option<&str>,
    printer: &mut Printer,
) -> Result<Checked, Failure> {
    let checked = read_spec(path, name, &Options::default())?;
    if checked.has_errors() {
        show_findings(&checked, printer);
        let name = files::display(path);
        return Err(Failure::new(format!(
            "`{name}` has errors, so it can't be compared"
        )));
    }
    Ok(checked)
}

/// Loads a spec that has no error and at least one machine. Its errors and warnings are shown.
///
/// `None` if the spec has errors.
pub(crate) fn load_spec(
    path: &Path,
    options: &Options,
    format: TextFormat,
    printer: &mut Printer,
) -> Result<Option<Checked>, Failure> {
    let checked = read_spec(path, None, options)?;
    if checked.has_errors() && format == TextFormat::Json {
        printer.result(&json(&checked.diagnostics, &checked.sources));
        let summary = footer(&checked.diagnostics, &printer.remark_style());
        printer.remark_findings(&summary);
        return Ok(None);
    }
    show_findings(&checked, printer);
    if checked.has_errors() {
        return Ok(None);
    }
    if checked.machines.is_empty() {
        return Err(no_machine(&checked.name));
    }
    Ok(Some(checked))
}

/// Makes a machine that can run of one that passed all checks.
pub(crate) fn load_valid(valid: &Valid) -> Result<LoadedMachine, Failure> {
    let defect = |cause: String| {
        let id = &valid.id.value;
        Failure::new(format!("the table made of `{id}` is broken: {cause}"))
            .with_help("this is a defect of statemark: please report it")
    };
    let bytes = back::table::write(valid);
    let sections = decode(&bytes).map_err(|cause| defect(cause.to_string()))?;
    let table = verify(sections).map_err(|cause| defect(cause.to_string()))?;
    Ok(LoadedMachine {
        table,
        hash: hex::encode(&back::table::hash(&bytes)),
        bytes,
        valid: Some(valid.clone()),
    })
}

/// Shows errors and warnings, and how many there are.
fn show_findings(checked: &Checked, printer: &mut Printer) {
    let findings: Vec<Diagnostic> = checked
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity >= Severity::Warning)
        .cloned()
        .collect();
    if findings.is_empty() {
        return;
    }
    let style = printer.remark_style();
    let text = full(&findings, &checked.sources, &style);
    // The command's own output is set apart.
    let gap = if checked.has_errors() { "" } else { "\n" };
    printer.remark_findings(&format!("{text}\n{}{gap}", footer(&findings, &style)));
}

/// Returns the machine of an id, else the only one.
fn choose<'c>(checked: &'c Checked, machine: Option<&str>) -> Result<&'c Valid, Failure> {
    match (machine, checked.machines.as_slice()) {
        (None, [only]) => Ok(only),
        (None, machines) => {
            let (name, count) = (&checked.name, machines.len());
            let ids = checked.ids().join(", ");
            Err(Failure::new(format!("{name} has {count} machines"))
                .with_help(format!("choose one with `--machine`: {ids}")))
        }
        (Some(id), machines) => machines
            .iter()
            .find(|valid| valid.id.value == id)
            .ok_or_else(|| unknown_machine(&checked.name, id, &checked.ids())),
    }
}

pub(crate) fn load_table(path: &Path, machine: Option<&str>) -> Result<LoadedMachine, Failure> {
    let name = files::display(path);
    let bytes = read_table(path)?;
    let sections = decode(&bytes).map_err(|cause| not_a_table(&name, &cause))?;
    let table = verify(sections).map_err(|cause| bad_table(&name, &cause))?;
    if let Some(id) = machine.filter(|id| *id != table.name()) {
        return Err(unknown_machine(&name, id, &[table.name().to_owned()]));
    }
    Ok(LoadedMachine {
        hash: hex::encode(&back::table::hash(&bytes)),
        bytes,
        table,
        valid: None,
    })
}

/// Reads the bytes of a table.
pub(crate) fn read_table(path: &Path) -> Result<Vec<u8>, Failure> {
    files::read_whole(path, MAX_TABLE_BYTES)
}

/// Makes the failure of a file without a machine.
pub(crate) fn no_machine(name: &str) -> Failure {
    Failure::new(no_machine_message(name)).with_help("`statemark new NAME` begins a spec")
}

/// Says that a file has no machine, and what is missing.
pub(crate) fn no_machine_message(name: &str) -> String {
    match Format::of_name(name) {
        Format::Diagram => format!("no machine in {name}: no Mermaid state diagram"),
        Format::Definition => format!("no machine in {name}: no JSON definition"),
        _ => format!(
            "no machine in {name}: no heading `## STATE-MACHINE` with a mermaid state diagram"
        ),
    }
}

/// Makes the failure of a file that isn't a table.
pub(crate) fn not_a_table(name: &str, cause: &DecodeError) -> Failure {
    Failure::new(format!("{name} isn't a table: {cause}")).with_help(REBUILD)
}

/// Makes the failure of a table that isn't a machine.
pub(crate) fn bad_table(name: &str, cause: &VerifyError) -> Failure {
    Failure::new(format!("the table {name} isn't a machine: {cause}")).with_help(REBUILD)
}

const REBUILD: &str = "build it again: `statemark build SPEC -o DIR`";

pub(crate) fn unknown_machine(name: &str, id: &str, ids: &[String]) -> Failure {
    Failure::unknown_name(format!("{name} has no machine `{id}`"), id, ids)
}

/// Makes the finding at the start of a file that nobody has read; `size` and `max` are in bytes.
fn file_too_large(file: FileId, size: u64, max: usize) -> Diagnostic {
    let span = Span {
        file,
        start: 0,
        end: 0,
    };
    // `max` is a few MiB; tenths are rounded up, so that no file too large looks as if it weren't.
    let tenths = (u128::from(size) * 10).div_ceil(1 << 20);
    let message = format!(
        "the file has {}.{} MiB, which is too much",
        tenths / 10,
        tenths % 10
    );
    Diagnostic::new(Code::FileTooLarge, span, message)
        .note(format!("a spec has at most {} MiB", max >> 20))
        .help("split the document, or name another file")
}

/// Returns bytes as text, with `�` for those that aren't UTF-8, and the position of the first of them.
fn replace_invalid(bytes: &[u8], error: Utf8Error) -> (String, usize) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    // The text before the first bad byte is as it was, so its position is the same in both.
    (text, error.valid_up_to().min(MAX_SOURCE_BYTES))
}

/// Makes the finding at the first byte that isn't UTF-8.
fn invalid_utf8(file: FileId, position: usize, bytes: &[u8]) -> Diagnostic {
    let start = u32::try_from(position).unwrap_or(u32::MAX);
    let span = Span {
        file,
        start,
        end: start.saturating_add(3),
    };
    let byte = bytes.get(position).copied().unwrap_or(0);
    let is_utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    let (message, help) = if bytes.starts_with(TABLE_LABEL) {
        (
            "the file is a table, which isn't text".to_owned(),
            "`statemark show` shows it; lint the spec that it was built from",
        )
    } else if is_utf16 {
        ("the file is UTF-16".to_owned(), "save it as UTF-8")
    } else {
        (
            format!("the file isn't UTF-8: byte 0x{byte:02X} has no meaning here"),
            "save it as UTF-8; it may be Latin-1 or Windows-1252 now",
        )
    };
    Diagnostic::new(Code::InvalidUtf8, span, message).help(help)
}
