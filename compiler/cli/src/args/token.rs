//! The arguments of `token`.

use clap::{Subcommand, ValueEnum};

/// Make, list and revoke the tokens by which callers show who they are.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark token create ann --role person --save    kept for `approve`, `answer`, `force` …\n  \
                        statemark token create ci --role agent             set STATEMARK_TOKEN to what it prints\n  \
                        statemark token list\n  \
                        statemark token revoke ci\n\n\
                        Without a token, a command is an agent's. What people decide needs a person's: from STATEMARK_TOKEN,\n\
                        or the one that `--save` has kept in your own configuration. Keep both from your agents.")]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    pub(crate) command: TokenCommand,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token; its text is printed once
    Create {
        /// The name of its holder, as journals show it
        #[arg(value_name = "NAME")]
        name: String,
        /// The holder's role: person decides, agent drives runs, observer reads
        #[arg(long, value_enum, value_name = "ROLE", hide_possible_values = true)]
        role: RoleArg,
        /// The only run that it is good for
        #[arg(long, value_name = "RUN")]
        run: Option<String>,
        /// Keep it in your own configuration instead of printing it
        #[arg(long)]
        save: bool,
    },
    /// Show whose tokens are good
    List {
        /// Print one JSON object a line instead of text
        #[arg(long)]
        json: bool,
    },
    /// Make a token worthless
    Revoke {
        /// The name of its holder
        #[arg(value_name = "NAME")]
        name: String,
    },
}

/// The holder's role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleArg {
    /// Reads.
    Observer,
    /// Drives runs.
    Agent,
    /// Decides.
    Person,
}
