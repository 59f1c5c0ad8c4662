//! `signer`: the SSH keys by which persons sign decisions.

use std::path::PathBuf;

use clap::Subcommand;
use statemark_runs::authority::{AddSigner, KnownSigner, RevokeSigner};

use crate::args::{StoreArgs, TextFormat};
use crate::clock::format_time;
use crate::failure::{CommandResult, ExitStatus};
use crate::files;
use crate::printer::Printer;
use crate::runs;

/// Largest file with a public key. Unit: bytes. Why: it is a line.
const MAX_KEY: usize = 64 << 10;

/// Add, list and revoke the SSH keys by which persons sign decisions.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark signer add ann ~/.ssh/id_ed25519.pub\n  \
                        statemark signer list\n  \
                        statemark signer revoke ann\n\n\
                        A workflow demands signatures by `\"meta\": {\"approvers\": {\"signed\": true, \"names\": [\"ann\"]}}`. Then no\n\
                        token decides about its runs, but a key of `ann` that was added before the run began. Only a\n\
                        person adds and revokes keys. What was signed before a key was revoked still counts.")]
pub(crate) struct SignerArgs {
    #[command(subcommand)]
    command: SignerCommand,
}

/// A subcommand of `signer`.
#[derive(Debug, Subcommand)]
enum SignerCommand {
    /// Add a key of a person
    #[command(after_help = "Example:\n  statemark signer add ann ~/.ssh/id_ed25519.pub")]
    Add {
        /// The name of the person, as workflows name approvers
        #[arg(value_name = "NAME")]
        name: String,
        /// The file with the public key
        #[arg(value_name = "KEYFILE")]
        key: PathBuf,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// List the keys, revoked ones too, as lines of `allowed_signers`
    #[command(after_help = "Example:\n  statemark signer list")]
    List {
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Revoke a key: what is signed with it from now on doesn't count
    #[command(after_help = "Example:\n  statemark signer revoke ann --fingerprint SHA256:uNiV…")]
    Revoke {
        /// The name of the person
        #[arg(value_name = "NAME")]
        name: String,
        /// The key, if the person has several
        #[arg(long, value_name = "FINGERPRINT")]
        fingerprint: Option<String>,
        #[command(flatten)]
        store: StoreArgs,
    },
}

/// Runs a subcommand.
pub(super) fn run(args: &SignerArgs, printer: &mut Printer) -> CommandResult {
    match &args.command {
        SignerCommand::Add { name, key, store } => {
            let bytes = files::read_whole(key, MAX_KEY)?;
            let add = AddSigner {
                name: name.clone(),
                key: String::from_utf8_lossy(&bytes).into_owned(),
            };
            let path = files::display(key);
            let runs = runs::open_or_create(store)?;
            let deed = format!("let `{name}` sign decisions with the key in `{path}`");
            let signer = runs::execute_on_store(&runs, &deed, &add)?;
            let print = signer.fingerprint();
            printer.remark(&format!("`{name}` signs with {print}\n"));
            Ok(ExitStatus::Clean)
        }
        SignerCommand::List { store } => list(store, printer),
        SignerCommand::Revoke {
            name,
            fingerprint,
            store,
        } => {
            let revoke = RevokeSigner {
                name: name.clone(),
                fingerprint: fingerprint.clone(),
            };
            let runs = runs::open(store)?;
            let deed = format!("revoke a key of `{name}`");
            let signer = runs::execute_on_store(&runs, &deed, &revoke)?;
            let print = signer.fingerprint();
            printer.remark(&format!(
                "revoked {print} of `{name}`: what was signed with it before still counts\n"
            ));
            Ok(ExitStatus::Clean)
        }
    }
}

fn list(store: &StoreArgs, printer: &mut Printer) -> CommandResult {
    const EMPTY: &str = "no keys; `statemark signer add NAME KEYFILE` adds one\n";
    let Some(runs) = runs::open_if_exists(store)? else {
        printer.remark(EMPTY);
        return Ok(ExitStatus::Clean);
    };
    let authority = runs.authority()?;
    for known in authority.signers() {
        match store.format() {
            TextFormat::Json => printer.json(known),
            TextFormat::Text => printer.result(&describe(known, printer)),
        }
    }
    if authority.signers().next().is_none() {
        printer.remark(EMPTY);
    }
    Ok(ExitStatus::Clean)
}

/// Describes a key: a comment with its facts, then its line of `allowed_signers`.
///
/// A revoked one is a comment, too.
fn describe(known: &KnownSigner, printer: &Printer) -> String {
    let KnownSigner {
        signer,
        added,
        by,
        revoked,
    } = known;
    let mut facts = format!("# {}, added {}", signer.fingerprint(), format_time(*added));
    if let Some(by) = by {
        facts.push_str(&format!(" by {by}"));
    }
    if let Some(at) = revoked {
        facts.push_str(&format!(", revoked {}", format_time(*at)));
    }
    let facts = printer.palette().dim(&facts);
    let mark = if revoked.is_some() { "# " } else { "" };
    let (name, key) = (&signer.name, &signer.key);
    format!("{facts}\n{mark}{name} namespaces=\"statemark\" {key}\n")
}
