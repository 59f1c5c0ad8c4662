//! The arguments of `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::ValueEnum;

/// Serve the workflows of specs to agents, by MCP.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark serve                          over standard input and output\n  \
                        statemark serve examples --http 127.0.0.1:7420\n  \
                        claude mcp add statemark -- statemark serve\n\n\
                        It owns no run: kill it and start it again, and every run is where it was. Over HTTP, callers show\n\
                        tokens (`statemark token create`) as soon as there are some; without any, only this machine is let in.")]
pub(crate) struct ServeArgs {
    /// Files and folders with the specs of workflows
    #[arg(default_value = ".", value_name = "PATH")]
    pub(crate) specs: Vec<PathBuf>,
    /// Listen here instead, such as 127.0.0.1:7420; port 0 picks one
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<SocketAddr>,
    /// The sets of tools to offer: runs, human [default: runs,human]
    #[arg(
        long,
        value_enum,
        value_name = "SETS",
        value_delimiter = ',',
        hide_possible_values = true
    )]
    pub(crate) toolsets: Vec<SetArg>,
    /// The only tools to offer, of whatever set; empty offers none
    #[arg(long, value_name = "TOOLS", value_delimiter = ',', num_args = 0..)]
    pub(crate) allowed_tools: Option<Vec<String>>,
    /// Offer only tools that change nothing
    #[arg(long)]
    pub(crate) read_only: bool,
    /// The only run that callers may touch
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Where runs are kept: a file or an address
    #[arg(long, value_name = "STORE")]
    pub(crate) store: Option<String>,
}

/// A set of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SetArg {
    /// Driving runs.
    Runs,
    /// Asking people.
    Human,
}
