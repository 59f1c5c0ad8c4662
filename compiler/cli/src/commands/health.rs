//! `health`: asks a server whether it is ready, as images and services do that have no other client.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::failure::{CommandResult, ExitStatus, Failure, system_message};
use crate::printer::Printer;

/// Longest wait for a part of the answer. Why: the server itself waits three seconds for its store.
const PATIENCE: Duration = Duration::from_secs(4);

/// Most of an answer that is read. Unit: bytes. Why: it is a line.
const MAX_ANSWER: u64 = 8 << 10;

/// Ask a server whether it is ready.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark health 127.0.0.1:7420            is its store reachable?\n  \
                        statemark health 127.0.0.1:7420 --alive    does the process answer?\n\n\
                        Exit code 1: it isn't, or nothing listens there.")]
pub(crate) struct HealthArgs {
    /// The address that it listens on
    #[arg(value_name = "ADDRESS")]
    address: SocketAddr,
    /// Ask only whether the process answers (`/healthz`), not whether its store does (`/readyz`)
    #[arg(long)]
    alive: bool,
}

/// Prints what the server answers.
pub(super) fn run(args: &HealthArgs, printer: &mut Printer) -> CommandResult {
    let path = if args.alive { "/healthz" } else { "/readyz" };
    let answer = match ask(args.address, path) {
        Ok(answer) => answer,
        Err(error) => {
            let (address, message) = (args.address, system_message(&error));
            printer.remark(&format!("{address} doesn't answer: {message}\n"));
            return Ok(ExitStatus::Findings);
        }
    };
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let Some(rest) = head.strip_prefix("HTTP/1.") else {
        return Err(Failure::new(format!(
            "{} isn't a server over HTTP",
            args.address
        )));
    };
    printer.result(body);
    Ok(ExitStatus::clean_if(rest.get(2..5) == Some("200")))
}

/// Asks a server for a path, and returns its whole answer.
fn ask(address: SocketAddr, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(MAX_ANSWER).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
