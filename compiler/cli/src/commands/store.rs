//! `store`: maintenance of the store of runs.

use std::cell::RefCell;
use std::fmt::{self, Display};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Subcommand};
use serde::Serialize;
use statemark_runs::authority::{AcceptLoss, InitStore, NameStore};
use statemark_runs::files::PendingFile;
use statemark_runs::maintenance::{
    self, AnchorError, Anchors, CopyRuns, Exported, ImportRuns, Progress, Prune, PruneRuns,
    Verified, make_anchor,
};
use statemark_runs::signing::{Signer, parse_allowed_signers};
use statemark_runs::{RunError, RunId, Runs, Store, StoreError};
use statemark_stores::WakeStore;

use crate::args::{self, StoreArgs, TextFormat, json_or_text};
use crate::caller::{self, Identity};
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::files;
use crate::printer::{Printer, ProgressBar, Unit, json_line};
use crate::{own_stores, project, runs};

/// Largest file of anchors. Unit: bytes. Why: a million ends of journals fit.
const MAX_ANCHORS: usize = 128 << 20;

/// Largest file with a checksum. Unit: bytes. Why: it has 64 digits.
const MAX_HASH: usize = 1_024;

/// Largest list of keys. Unit: bytes. Why: a thousand keys take less.
const MAX_SIGNERS: usize = 1 << 20;

/// Make, verify, copy, export, import and prune the store of runs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark store verify                            is everything as it was written?\n  \
                        statemark store backup copy.db                    while others write\n  \
                        statemark store export runs.jsonl                 as lines of JSON\n  \
                        statemark store migrate .statemark/runs.db postgres://runs.example.org/statemark")]
pub(crate) struct StoreCommandArgs {
    /// The subcommand
    #[command(subcommand)]
    command: StoreCommand,
}

/// A subcommand of `store`.
#[derive(Debug, Subcommand)]
enum StoreCommand {
    Init(InitArgs),
    Adopt(AdoptArgs),
    Verify(VerifyArgs),
    Anchor(AnchorArgs),
    Backup(BackupArgs),
    Wake(WakeArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    Prune(PruneArgs),
    Migrate(MigrateArgs),
}

/// Runs a subcommand.
pub(super) fn run(args: &StoreCommandArgs, printer: &mut Printer) -> CommandResult {
    match &args.command {
        StoreCommand::Init(args) => init(args, printer),
        StoreCommand::Adopt(args) => adopt(args, printer),
        StoreCommand::Verify(args) => verify(args, printer),
        StoreCommand::Anchor(args) => anchor(args, printer),
        StoreCommand::Backup(args) => backup(args, printer),
        StoreCommand::Wake(args) => wake(args, printer),
        StoreCommand::Export(args) => export(args, printer),
        StoreCommand::Import(args) => import(args, printer),
        StoreCommand::Prune(args) => prune(args, printer),
        StoreCommand::Migrate(args) => migrate(args, printer),
    }
}

/// Formats a report, for people or for programs.
fn format_report(report: &(impl Display + Serialize), format: TextFormat) -> String {
    match format {
        TextFormat::Json => json_line(report),
        TextFormat::Text => format!("{report}\n"),
    }
}

/// Make a new store with a person's first token, for containers and servers without a terminal.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
                        printf %s \"$ANNS_TOKEN\" | sha256sum | cut -d' ' -f1 > ann.sha256\n  \
                        statemark store init --person ann --token-hash ann.sha256\n\n\
                        A token is any text of at least 32 characters that begins with `smk_`, such as \"smk_$(openssl\n\
                        rand -hex 32)\"; the store only ever sees its checksum. A store with runs is refused. Called again\n\
                        with the same name and checksum, it changes nothing.")]
struct InitArgs {
    /// The name of the person
    #[arg(long, value_name = "NAME")]
    person: String,
    /// The file with the SHA-256 checksum of the person's token, in hexadecimal digits
    #[arg(long, value_name = "FILE")]
    token_hash: PathBuf,
    #[command(flatten)]
    store: StoreArgs,
}

/// Take over a store that you didn't make, after you have seen who it says decides.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
                        statemark store adopt        shows persons, signers and accepted workflows, and asks for the name\n\n\
                        A store that came with a folder, such as a cloned repository, isn't opened before: its persons\n\
                        and acceptances are those of whoever made it. One that you copied to another machine is taken\n\
                        over there.")]
struct AdoptArgs {
    #[command(flatten)]
    store: StoreArgs,
}

fn adopt(args: &AdoptArgs, printer: &mut Printer) -> CommandResult {
    let address = project::existing_store_address(args.store.store.as_deref())?;
    let runs = runs::try_open_as_is(&args.store)??;
    let done = own_stores::adopt(&runs, &address)?;
    printer.remark(&format!("{done}\n"));
    Ok(ExitStatus::Clean)
}

fn init(args: &InitArgs, printer: &mut Printer) -> CommandResult {
    let bytes = files::read_whole(&args.token_hash, MAX_HASH)?;
    let text = String::from_utf8_lossy(&bytes);
    let hash = text.trim().parse().map_err(|error| {
        let path = files::display(&args.token_hash);
        Failure::new(format!("`{path}` isn't a checksum: {error}"))
            .with_help("it has the 64 hexadecimal digits that `sha256sum` prints, and no more")
    })?;
    let runs = runs::open_or_create(&args.store)?;
    let name = args.person.clone();
    runs.execute(&Identity::anonymous().actor, &InitStore { name, hash })?;
    printer.remark(&format!(
        "`{}` is the first person of this store\n",
        args.person
    ));
    Ok(ExitStatus::Clean)
}

/// Verify that everything is as it was written.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark store verify\n  \
                        statemark store verify --run build-7\n  \
                        statemark store verify --store copy.db --json\n  \
                        statemark store verify --anchor anchors.jsonl\n  \
                        statemark store verify --allowed-signers signers\n\n\
                        Every record, fold cache and blob is read and compared with its hash, and what lists and timers\n\
                        go by with the records; nothing is written. Whoever can write to a store can make its hashes\n\
                        again: anchors that were kept elsewhere show that (`statemark store anchor`).\n\
                        Exit code 1: something isn't as it was written; each difference is listed with its run and record.")]
struct VerifyArgs {
    /// Compare with the anchors in this file
    #[arg(long, value_name = "FILE", conflicts_with = "run")]
    anchor: Option<PathBuf>,
    /// Only this run, or the beginning of its id
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Compare the keys of signed decisions with a list of OpenSSH's form that is kept elsewhere
    #[arg(long, value_name = "FILE")]
    allowed_signers: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArgs,
}

/// The report on a store that is too damaged to list its runs, as `--json` prints it.
#[derive(Serialize)]
struct Unreadable {
    unreadable: String,
}

fn verify(args: &VerifyArgs, printer: &mut Printer) -> CommandResult {
    let format = args.store.format();
    match try_verify(args, printer)? {
        Ok(verified) => {
            printer.result(&format_report(&verified, format));
            Ok(ExitStatus::clean_if(verified.differences.is_empty()))
        }
        // Damage beyond the runs is a finding, too.
        Err(error @ StoreError::Corrupt { .. }) => {
            let unreadable = error.to_string();
            printer.result(&match format {
                TextFormat::Json => json_line(&Unreadable { unreadable }),
                TextFormat::Text => unreadable + "\n",
            });
            Ok(ExitStatus::Findings)
        }
        Err(error) => Err(error.into()),
    }
}

fn try_verify(
    args: &VerifyArgs,
    printer: &mut Printer,
) -> Result<Result<Verified, StoreError>, Failure> {
    let anchors = args.anchor.as_deref().map(read_anchors).transpose()?;
    let runs = match runs::try_open_as_is(&args.store)? {
        Ok(runs) => runs,
        Err(error) => return Ok(Err(error)),
    };
    let only = match &args.run {
        None => None,
        Some(word) => match runs::try_find(runs.store(), word) {
            Ok(run) => Some(run?),
            Err(error) => return Ok(Err(error)),
        },
    };
    let allowed = args.allowed_signers.as_deref().map(read_signers);
    let allowed = allowed.transpose()?;
    let mut bar = ProgressBar::new(printer, "verifying", Unit::Records);
    let verified = maintenance::verify(runs.store(), only.as_ref(), &mut |progress| {
        bar.update(progress);
    });
    drop(bar);
    let mut verified = match verified {
        Ok(verified) => verified,
        Err(error) => return Ok(Err(error)),
    };
    match maintenance::verify_signatures(&runs, only.as_ref(), allowed.as_deref()) {
        Ok(differences) => verified.differences.extend(differences),
        Err(RunError::Store(error)) => return Ok(Err(error)),
        Err(error) => return Err(error.into()),
    }
    let compared = anchors.map(|anchors| anchors.compare(runs.store()));
    Ok(match compared {
        None => Ok(verified),
        Some(compared) => compared.map(|compared| verified.with_anchors(compared)),
    })
}

/// Reads anchors that were kept.
fn read_anchors(path: &Path) -> Result<Anchors, Failure> {
    let bytes = files::read_whole(path, MAX_ANCHORS)?;
    let anchors = Anchors::parse(&String::from_utf8_lossy(&bytes)).and_then(|anchors| {
        let is_empty = anchors.is_empty();
        (!is_empty).then_some(anchors).ok_or(AnchorError::Empty)
    });
    anchors.map_err(|error| {
        let path = files::display(path);
        Failure::new(format!("`{path}` has no anchors to compare with: {error}"))
            .with_help("`statemark store anchor FILE` writes them")
    })
}

/// Write down where all runs end, to be kept where nobody who can write to the store can write.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark store anchor                            prints one line\n  \
                        statemark store anchor anchors.jsonl              appends one line, once a day for example\n\n\
                        An anchor is a line of JSON: the store's id, the time, and by run the number and the hash of its\n\
                        last record; \"$store\" is the store's own journal. A line in a file has what has changed since the\n\
                        lines before it, which are compared with the store first: if it isn't as they say, each difference\n\
                        is listed, nothing is written, and the exit code is 1. Keep the file where others would notice a\n\
                        change, such as in a repository; `statemark store verify --anchor FILE` compares.")]
struct AnchorArgs {
    /// The file to append to; without one, the line is printed
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArgs,
}

/// An anchor that was written, as `--json` prints it.
#[derive(Serialize)]
struct WrittenAnchor {
    file: PathBuf,
    ends: usize,
}

impl Display for WrittenAnchor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = files::display(&self.file);
        match self.ends {
            0 => write!(out, "anchored in `{file}`: nothing has changed"),
            1 => write!(out, "anchored in `{file}`: 1 journal has changed"),
            count => write!(out, "anchored in `{file}`: {count} journals have changed"),
        }
    }
}

fn anchor(args: &AnchorArgs, printer: &mut Printer) -> CommandResult {
    let runs = runs::open(&args.store)?;
    let before = match args.file.as_deref().filter(|file| file.exists()) {
        Some(file) => read_anchors(file)?,
        None => Anchors::default(),
    };
    runs.execute(&caller::identify(&runs)?.actor, &NameStore::new())?;
    let format = args.store.format();
    if !before.is_empty() {
        let compared = before.compare(runs.store())?;
        if !compared.differences.is_empty() {
            printer.result(&format_report(&compared, format));
            return Ok(ExitStatus::Findings);
        }
    }
    let anchor = make_anchor(runs.store(), &before, runs.now())?;
    let line = anchor.to_line() + "\n";
    let Some(file) = &args.file else {
        printer.result(&line);
        return Ok(ExitStatus::Clean);
    };
    files::check_output(file)?;
    append_line(file, &line).map_err(|error| files::unwritable(file, &error))?;
    let written = WrittenAnchor {
        file: file.clone(),
        ends: anchor.len(),
    };
    printer.result(&format_report(&written, format));
    Ok(ExitStatus::Clean)
}

/// Appends a line to a file, and has it on the disk.
fn append_line(path: &Path, line: &str) -> io::Result<()> {
    let mut file = File::options().append(true).create(true).open(path)?;
    file.write_all(line.as_bytes())?;
    file.sync_all()
}

/// Reads a list of keys in the form of OpenSSH's `allowed_signers`.
fn read_signers(path: &Path) -> Result<Vec<Signer>, Failure> {
    let bytes = files::read_whole(path, MAX_SIGNERS)?;
    parse_allowed_signers(&String::from_utf8_lossy(&bytes)).map_err(|(line, error)| {
        let path = files::display(path);
        Failure::new(format!("line {line} of `{path}` can't be read: {error}"))
            .with_help("`statemark signer list` writes such lines")
    })
}

/// Copy the store to a file, while others write to it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark store backup copy.db\n  \
                        statemark store backup copy.db --overwrite\n\n\
                        The copy is the store at one moment. It sleeps, so that two stores never act on one run: it can be\n\
                        read, but takes no event and fires no timer before `statemark store wake --store copy.db`. Only a\n\
                        store in a file can be copied; a server has backups of its own, and `statemark store export` writes\n\
                        the runs of any store.")]
struct BackupArgs {
    /// The new file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    store: StoreArgs,
}

fn backup(args: &BackupArgs, printer: &mut Printer) -> CommandResult {
    let unwritable = |error| files::unwritable(&args.file, &error);
    let store = runs::open_file(&args.store, "copied")?;
    if let Some(what) = store.loss()? {
        return Err(StoreError::Lost { what }.into());
    }
    // A former backup is replaced, if that is wanted.
    files::check_place(&args.file)?;
    let pending = PendingFile::new(&args.file, args.overwrite).map_err(unwritable)?;
    check_not_in_use(&args.file, store.path())?;
    let mut copied = {
        let mut bar = ProgressBar::new(printer, "copying", Unit::Pages);
        statemark_stores::backup(&store, pending.temporary(), &mut |progress| {
            bar.update(progress);
        })?
    };
    // A mark of the store that is replaced says nothing of the copy.
    match std::fs::remove_file(sibling(&args.file, "-mark")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unwritable(error)),
        _ => {}
    }
    pending.finish().map_err(unwritable)?;
    copied.path.clone_from(&args.file);
    printer.result(&format_report(&copied, args.store.format()));
    Ok(ExitStatus::Clean)
}

/// Returns the path of a file that stands beside a store.
fn sibling(store: &Path, ending: &str) -> PathBuf {
    let mut path = store.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

/// Fails if a file is a store in use: its other files would ruin a store that takes its place.
fn check_not_in_use(path: &Path, store: &Path) -> Result<(), Failure> {
    let log = sibling(path, "-wal");
    let is_same = match (path.canonicalize(), store.canonicalize()) {
        (Ok(path), Ok(store)) => path == store,
        _ => false,
    };
    if is_same || log.exists() {
        let path = files::display(path);
        return Err(Failure::new(format!("`{path}` is a store that is in use"))
            .with_help("choose another name; nothing was written"));
    }
    Ok(())
}

/// Make a copy, or a store that has lost records, the store that acts from now on.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
                        statemark store wake --store copy.db\n\n\
                        The store that it was copied from must not be used any more: both would act on the same runs.\n\
                        A database of PostgreSQL that was copied, restored or upgraded with pg_upgrade sleeps, too.\n\
                        A store that has lost records is taken as it is, and its journal says so; first look for what is\n\
                        missing, such as the file that ends with -wal.")]
struct WakeArgs {
    #[command(flatten)]
    store: StoreArgs,
}

/// A store that was woken.
#[derive(Serialize)]
struct Woken {
    /// False if the store was one that acts.
    slept: bool,
    timers: usize,
    /// The records that the store has lost, if it has lost any.
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<String>,
}

impl Display for Woken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(lost) = &self.lost {
            writeln!(out, "taken as it is, although {lost}")?;
        }
        if !self.slept && self.lost.is_none() {
            return out.write_str("the store doesn't sleep: nothing was done");
        }
        match self.timers {
            0 => out.write_str("awake, without timers that slept")?,
            1 => out.write_str("woke 1 timer")?,
            count => write!(out, "woke {count} timers")?,
        }
        out.write_str("; the store that it was copied from must not be used any more")
    }
}

fn wake(args: &WakeArgs, printer: &mut Printer) -> CommandResult {
    let runs = runs::try_open_as_is(&args.store)??;
    let wake = WakeStore {
        store: runs.store(),
    };
    let caller = caller::identify_person(&runs, "wake the store")?;
    let lost = runs.store().loss()?;
    let slept = runs.store().is_asleep()?;
    let timers = runs.execute(&caller.actor, &wake)?;
    if let Some(lost) = lost.clone() {
        runs.execute(&caller.actor, &AcceptLoss { lost })?;
    }
    let woken = Woken {
        slept,
        timers,
        lost,
    };
    printer.result(&format_report(&woken, args.store.format()));
    Ok(ExitStatus::Clean)
}

/// Write runs as lines of JSON.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark store export runs.jsonl\n  \
                        statemark store export --run build-7 build-7.jsonl\n  \
                        statemark store export - | gzip > runs.jsonl.gz\n\n\
                        The lines hold blobs, keys and hashes: `statemark store import` makes the same runs of them.\n\
                        Runs may hold secrets, so only you can read the file. A damaged run isn't exported: see\n\
                        `statemark store verify`.")]
struct ExportArgs {
    /// The file to write, or `-` for standard output
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only this run, or the beginning of its id, with its origins and its children
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Replace a file that exists
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    store: StoreArgs,
}

fn export(args: &ExportArgs, printer: &mut Printer) -> CommandResult {
    let runs = runs::open(&args.store)?;
    let only = args.run.as_deref();
    let only = only.map(|run| runs::find(runs.store(), run)).transpose()?;
    if args.file == Path::new("-") {
        let mut out = Pipe {
            out: io::stdout().lock(),
            is_closed: false,
        };
        let exported = write_runs(&runs, only.as_ref(), &mut BufWriter::new(&mut out), printer)?;
        // The lines are the result; the report is a remark on them.
        printer.remark(&format_report(&exported, args.store.format()));
        return Ok(ExitStatus::Clean);
    }
    let unwritable = |error| files::unwritable(&args.file, &error);
    files::check_output(&args.file)?;
    let pending = PendingFile::new(&args.file, args.overwrite).map_err(unwritable)?;
    let mut out = BufWriter::new(pending.create().map_err(unwritable)?);
    let exported = write_runs(&runs, only.as_ref(), &mut out, printer)?;
    drop(out);
    pending.finish().map_err(unwritable)?;
    printer.result(&format_report(&exported, args.store.format()));
    Ok(ExitStatus::Clean)
}

fn write_runs(
    runs: &Runs,
    only: Option<&RunId>,
    out: &mut dyn Write,
    printer: &mut Printer,
) -> Result<Exported, Failure> {
    let mut bar = ProgressBar::new(printer, "writing", Unit::Records);
    let mut update = |progress| bar.update(progress);
    Ok(maintenance::export(runs.store(), only, out, &mut update)?)
}

/// Standard output, whose reader may go away: the rest is dropped silently.
struct Pipe<W> {
    out: W,
    is_closed: bool,
}

impl<W: Write> Pipe<W> {
    fn ignore_closed<T>(&mut self, outcome: io::Result<T>, otherwise: T) -> io::Result<T> {
        match outcome {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(otherwise)
            }
            outcome => outcome,
        }
    }
}

impl<W: Write> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_closed {
            return Ok(bytes.len());
        }
        let outcome = self.out.write(bytes);
        self.ignore_closed(outcome, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.is_closed {
            return Ok(());
        }
        let outcome = self.out.flush();
        self.ignore_closed(outcome, ())
    }
}

/// Read runs that `export` wrote.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark store import runs.jsonl\n  \
                        statemark store import runs.jsonl --store other.db\n  \
                        gunzip -c runs.jsonl.gz | statemark store import -\n\n\
                        Each run is imported whole or not at all, and only if its hashes are right. A run that exists\n\
                        already is skipped if it is the same; nothing is ever overwritten.\n\
                        Needs a person's token (`statemark token --help`), also where the store is empty: what is\n\
                        imported says what people decided.")]
struct ImportArgs {
    /// The file to read, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    store: StoreArgs,
}

fn import(args: &ImportArgs, printer: &mut Printer) -> CommandResult {
    let (input, total): (Box<dyn Read>, u64) = if args.file == Path::new("-") {
        (Box::new(io::stdin().lock()), 0)
    } else {
        let file = files::open(&args.file)?;
        let size = file.metadata().map_or(0, |facts| facts.len());
        (Box::<File>::new(file), size)
    };
    let runs = runs::open_or_create(&args.store)?;
    let deed = format!("import the runs in `{}`", files::display(&args.file));
    let caller = caller::identify_person(&runs, &deed)?;
    let imported = {
        let counted = CountedInput {
            input,
            progress: Progress { done: 0, total },
            bar: ProgressBar::new(printer, "reading", Unit::Bytes),
        };
        let mut lines = BufReader::new(counted);
        let import = ImportRuns {
            input: RefCell::new(&mut lines),
        };
        runs.execute(&caller.actor, &import)?
    };
    let imported = imported.map_err(|error| Failure::new(error.to_string()))?;
    printer.result(&format_report(&imported, args.store.format()));
    Ok(ExitStatus::Clean)
}

/// An input whose progress is shown.
struct CountedInput<'p> {
    input: Box<dyn Read>,
    progress: Progress,
    bar: ProgressBar<'p>,
}

impl Read for CountedInput<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.progress.done += count as u64;
        self.bar.update(self.progress);
        Ok(count)
    }
}

/// Delete runs that are over.
#[derive(Debug, clap::Args)]
#[command(
    group = ArgGroup::new("which").required(true).multiple(true),
    after_help = "Examples:\n  \
                  statemark store prune --older-than 30d              shows what would be deleted\n  \
                  statemark store prune --older-than 30d --yes        deletes it\n  \
                  statemark store prune --keep 100 --yes              all that are over but the last 100\n\n\
                  Only completed, failed and cancelled runs are deleted, unless a fork begins with them or they work\n\
                  for a run that isn't over."
)]
struct PruneArgs {
    /// Those that haven't changed for this long, such as 12h or 30d
    #[arg(long, value_name = "TIME", group = "which", value_parser = args::milliseconds)]
    older_than: Option<u64>,
    /// All but the last N of those that are over
    #[arg(long, value_name = "N", group = "which")]
    keep: Option<usize>,
    /// Delete them; by default, they are only listed
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    store: StoreArgs,
}

fn prune(args: &PruneArgs, printer: &mut Printer) -> CommandResult {
    let runs = runs::open(&args.store)?;
    let caller = if args.yes {
        caller::identify_person(&runs, "delete runs that are over")?
    } else {
        caller::identify(&runs)?
    };
    let wanted = Prune {
        before: args.older_than.map(|age| runs.now().saturating_sub(age)),
        keep: args.keep,
        delete: args.yes,
    };
    let pruned = {
        let mut bar = ProgressBar::new(printer, "looking", Unit::Runs);
        let mut update = |progress| bar.update(progress);
        let prune = PruneRuns {
            wanted,
            on_progress: RefCell::new(&mut update),
        };
        runs.execute(&caller.actor, &prune)?
    };
    let format = args.store.format();
    printer.result(&format_report(&pruned, format));
    if !args.yes && format == TextFormat::Text && !pruned.runs.is_empty() {
        printer.remark("nothing was done; add `--yes` to do it\n");
    }
    Ok(ExitStatus::Clean)
}

/// Copy all runs of a store to another.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark store migrate .statemark/runs.db postgres://runs.example.org/statemark\n  \
                        statemark store migrate copy.db new.db\n\n\
                        The first store is only read, and nobody should write to it meanwhile. Each run is copied whole or\n\
                        not at all; a second call continues where the first one stopped. Afterwards, set STATEMARK_STORE,\n\
                        or `store` in statemark.toml, to the new store.")]
struct MigrateArgs {
    /// The store to read: a file or an address
    #[arg(value_name = "FROM")]
    from: String,
    /// The store to write; a file is created if it doesn't exist
    #[arg(value_name = "TO")]
    to: String,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

fn migrate(args: &MigrateArgs, printer: &mut Printer) -> CommandResult {
    let from = runs::open_store(&args.from, true)?;
    let to = runs::over(&runs::open_store(&args.to, false)?)?;
    // A new store has no tokens yet: those of the store that is copied count.
    let theirs = runs::over(&from)?;
    let judge = if to.authority()?.allows_anonymous() {
        &theirs
    } else {
        &to
    };
    let caller = caller::identify_person(judge, &format!("copy all runs to `{}`", args.to))?;
    let migrated = {
        let mut bar = ProgressBar::new(printer, "moving", Unit::Records);
        let mut update = |progress| bar.update(progress);
        let copy = CopyRuns {
            from: &*from,
            on_progress: RefCell::new(&mut update),
        };
        to.execute(&caller.actor, &copy)?
    };
    printer.result(&format_report(&migrated, json_or_text(args.json)));
    Ok(ExitStatus::Clean)
}
