//! The arguments of `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use statemark_server::Set;

/// Serve the workflows of specs to agents, by MCP.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark serve                          over standard input and output\n  \
                        statemark serve examples --http 127.0.0.1:7420\n  \
                        claude mcp add statemark -- statemark serve\n\n\
                        It owns no run: kill it and start it again, and every run is where it was. Over HTTP, callers\n\
                        show tokens (`statemark token create`) as soon as there are some; without any, only this\n\
                        machine is let in.")]
pub(crate) struct ServeArgs {
    /// Files and folders with the specs of workflows
    #[arg(default_value = ".", value_name = "PATH")]
    pub(crate) specs: Vec<PathBuf>,
    /// Listen here instead, such as 127.0.0.1:7420; port 0 picks one
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<SocketAddr>,
    /// A name under which others ask for it over HTTP, such as runs.example.org; the loopback's are always good
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) host: Vec<String>,
    /// A page that may call it over HTTP, such as https://runs.example.org; else no page may
    #[arg(long, value_name = "URL", requires = "http")]
    pub(crate) origin: Vec<String>,
    /// The sets of tools to offer: runs, human, artifacts, time, author, project, agent [default: the first three]
    #[arg(long, value_name = "SETS", value_delimiter = ',', value_parser = own)]
    pub(crate) toolsets: Vec<Set>,
    /// Offer another system's tools instead: statewright, smithers, ralph, rstn
    #[arg(long, value_name = "PROFILES", value_delimiter = ',', value_parser = profile)]
    pub(crate) profile: Vec<Set>,
    /// The only tools to offer, of whatever set; empty offers none
    #[arg(long, value_name = "TOOLS", value_delimiter = ',', num_args = 0..)]
    pub(crate) allowed_tools: Option<Vec<String>>,
    /// Offer only tools that change nothing
    #[arg(long)]
    pub(crate) read_only: bool,
    /// The only run that callers may touch, or the beginning of its id
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Where runs are kept: a file or an address
    #[arg(long, value_name = "STORE")]
    pub(crate) store: Option<String>,
}

fn own(word: &str) -> Result<Set, String> {
    among(&Set::OWN, word)
}

fn profile(word: &str) -> Result<Set, String> {
    among(&Set::PROFILES, word)
}

fn among(sets: &[Set], word: &str) -> Result<Set, String> {
    let found = sets.iter().find(|set| set.name() == word).copied();
    found.ok_or_else(|| {
        let names: Vec<&str> = sets.iter().map(|set| set.name()).collect();
        format!("there are {}", names.join(", "))
    })
}
