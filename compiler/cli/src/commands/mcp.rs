//! `mcp`: clients are pointed at the server.

mod entry;
mod json;

use std::path::PathBuf;

use statemark_compiler::source::MAX_SOURCE_BYTES;

use crate::args::{ClientArg, McpAddArgs, McpArgs, McpCommand};
use crate::failure::{Failure, FailureKind};
use crate::files;
use crate::printer::Printer;
use crate::status::ExitStatus;
use entry::Entry;

pub(super) fn run(args: &McpArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    match &args.command {
        McpCommand::Add(args) => add(args, printer),
    }
}

fn add(args: &McpAddArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let path = place(args)?;
    let entry = Entry::new(args)?;
    let shown = path.display();
    if args.print {
        printer.talk(&format!("in {shown}:\n"));
        printer.result(&entry.whole());
        return Ok(ExitStatus::Clean);
    }
    let old = if path.exists() {
        let bytes =
            files::read(&path, MAX_SOURCE_BYTES)?.map_err(|_| bad(&path, "is too large"))?;
        String::from_utf8(bytes).map_err(|_| bad(&path, "isn't UTF-8"))?
    } else {
        String::new()
    };
    match entry.added_to(&old).map_err(|why| bad(&path, &why))? {
        None => printer.talk(&format!("{shown} has it already\n")),
        Some(new) => {
            if let Some(folder) = path.parent() {
                files::make_folder(folder)?;
            }
            files::write(&path, new.as_bytes())?;
            printer.talk(&format!("`{}` is in {shown}\n", args.name));
        }
    }
    Ok(ExitStatus::Clean)
}

/// Where a client has its servers.
fn place(args: &McpAddArgs) -> Result<PathBuf, Failure> {
    let home = || {
        let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE"));
        let home = home.filter(|it| !it.is_empty()).map(PathBuf::from);
        home.ok_or(FailureKind::NoHome)
    };
    Ok(match (args.client, args.user) {
        (ClientArg::Claude, false) => PathBuf::from(".mcp.json"),
        (ClientArg::Claude, true) => home()?.join(".claude.json"),
        (ClientArg::Codex, _) => match std::env::var_os("CODEX_HOME").filter(|it| !it.is_empty()) {
            Some(folder) => PathBuf::from(folder).join("config.toml"),
            None => home()?.join(".codex/config.toml"),
        },
        (ClientArg::Cursor, false) => PathBuf::from(".cursor/mcp.json"),
        (ClientArg::Cursor, true) => home()?.join(".cursor/mcp.json"),
        (ClientArg::Vscode, false) => PathBuf::from(".vscode/mcp.json"),
        (ClientArg::Vscode, true) => return Err(FailureKind::NoUserServers.into()),
    })
}

fn bad(path: &std::path::Path, why: &str) -> Failure {
    FailureKind::BadClientConfig {
        path: path.to_owned(),
        why: why.to_owned(),
    }
    .into()
}
