//! The arguments of `mcp`.

use clap::{Subcommand, ValueEnum};

/// Point clients of MCP at the server.
#[derive(Debug, clap::Args)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub(crate) command: McpCommand,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    Add(McpAddArgs),
}

/// Register the server with a client, in the client's own configuration.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark mcp add claude                        .mcp.json of this project\n  \
                        statemark mcp add claude --user                 all your projects\n  \
                        statemark mcp add codex\n  \
                        statemark mcp add cursor -- specs --read-only   with arguments for `statemark serve`\n  \
                        statemark mcp add vscode --http http://127.0.0.1:7420/mcp\n  \
                        statemark mcp add claude --print                shows what to paste, and changes nothing")]
pub(crate) struct McpAddArgs {
    /// The client: claude, codex, cursor, vscode
    #[arg(value_enum, value_name = "CLIENT", hide_possible_values = true)]
    pub(crate) client: ClientArg,
    /// Print what to paste, and where, instead of writing it
    #[arg(long)]
    pub(crate) print: bool,
    /// For all your projects instead of this one; Codex knows nothing else
    #[arg(long)]
    pub(crate) user: bool,
    /// What the client calls the server
    #[arg(long, value_name = "NAME", default_value = "statemark")]
    pub(crate) name: String,
    /// A server that listens already, instead of one that the client starts
    #[arg(long, value_name = "URL", conflicts_with = "serve", value_parser = url)]
    pub(crate) http: Option<String>,
    /// Arguments for `statemark serve`
    #[arg(last = true, value_name = "ARGUMENT")]
    pub(crate) serve: Vec<String>,
}

/// Where a server can listen; whether one does isn't asked.
fn url(text: &str) -> Result<String, String> {
    let rest = text
        .strip_prefix("http://")
        .or_else(|| text.strip_prefix("https://"));
    match rest {
        Some(rest) if !rest.is_empty() && !rest.starts_with('/') => Ok(text.to_owned()),
        _ => Err("a URL such as http://127.0.0.1:7420/mcp".to_owned()),
    }
}

/// A client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientArg {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    Vscode,
}
