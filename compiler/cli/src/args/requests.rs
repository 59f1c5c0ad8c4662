//! The arguments of the commands that ask people, and that people answer with.

use clap::ValueEnum;

use super::StoreArgs;

/// List what is asked and not answered yet, the latest run first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark inbox\n  \
                        statemark inbox --workflow build --watch\n  \
                        statemark inbox --json                  one request a line, with everything that is asked")]
pub(crate) struct InboxArgs {
    /// Only of runs of this workflow
    #[arg(long, value_name = "WORKFLOW")]
    pub(crate) workflow: Option<String>,
    /// Show the list again whenever it changes
    #[arg(long)]
    pub(crate) watch: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Say yes to a request.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark approve build-7:12\n  \
                        statemark approve build-7 --comment 'looks good'     the run's only open request\n\n\
                        Needs a person's token: see `statemark token --help`.\n\
                        Exit code 1: it was refused, or what was approved can't be taken any more.")]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    pub(crate) on: OnRequestArgs,
}

/// Say no to a request, or send a review back.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark deny build-7:12\n  \
                        statemark deny build-7:12 --comment 'the tests are missing'     a review goes back with it\n\n\
                        Needs a person's token: see `statemark token --help`.")]
pub(crate) struct DenyArgs {
    #[command(flatten)]
    pub(crate) on: OnRequestArgs,
}

/// Answer a question.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark answer build-7:9 blue\n  \
                        statemark answer build-7:9 yes                            where yes or no is asked\n  \
                        statemark answer build-7:9 '{\"rounds\": 3}'                where JSON is asked\n\n\
                        Needs a person's token: see `statemark token --help`.")]
pub(crate) struct AnswerArgs {
    #[command(flatten)]
    pub(crate) on: OnRequestArgs,
    /// The answer: a text, one of the choices, yes or no, or JSON
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    pub(crate) value: String,
}

/// What every answer needs.
#[derive(Debug, clap::Args)]
pub(crate) struct OnRequestArgs {
    /// The request, or a run that has only one open
    #[arg(value_name = "REQUEST")]
    pub(crate) request: String,
    /// What is said about it
    #[arg(long, value_name = "TEXT")]
    pub(crate) comment: Option<String>,
    /// The same key gives the first answer again
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Ask a person something about a run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark ask build-7 'Which branch?'\n  \
                        statemark ask build-7 'Which color?' --kind select --choice red --choice blue\n  \
                        statemark ask build-7 'Ship it?' --kind approval --expires 2h\n  \
                        statemark ask build-7 'How many?' --kind json --schema '{\"type\": \"integer\"}'\n\n\
                        The request's id is printed; nothing waits for the answer unless it is --blocking or an approval.\n\
                        `statemark inbox` lists what is open.")]
pub(crate) struct AskArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The question
    #[arg(value_name = "QUESTION")]
    pub(crate) question: String,
    /// What kind of answer: text, confirm, select, json, review or approval
    #[arg(long, value_enum, value_name = "KIND", default_value_t = KindArg::Text, hide_possible_values = true)]
    pub(crate) kind: KindArg,
    /// What can be chosen; may be given several times
    #[arg(long = "choice", value_name = "TEXT")]
    pub(crate) choices: Vec<String>,
    /// JSON Schema of the answer
    #[arg(long, value_name = "JSON")]
    pub(crate) schema: Option<String>,
    /// JSON to look at for the answer
    #[arg(long, value_name = "JSON")]
    pub(crate) details: Option<String>,
    /// The active state that it is about: when that is left, the question is withdrawn
    #[arg(long, value_name = "STATE")]
    pub(crate) state: Option<String>,
    /// Who may answer; may be given several times
    #[arg(long = "approver", value_name = "NAME")]
    pub(crate) approvers: Vec<String>,
    /// No event is taken until it is answered
    #[arg(long)]
    pub(crate) blocking: bool,
    /// How long there is time, such as 30m or 2h; then the run takes `request.expired`
    #[arg(long, value_name = "TIME")]
    pub(crate) expires: Option<String>,
    /// The same key gives the first answer again
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// What kind of answer is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindArg {
    /// A text.
    Text,
    /// Yes or no.
    Confirm,
    /// One of several choices.
    Select,
    /// JSON, by a schema.
    Json,
    /// Approve, or send back with comments.
    Review,
    /// Leave to go on.
    Approval,
}

/// Take a question back.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
                        statemark withdraw build-7:9 --reason 'found it myself'")]
pub(crate) struct WithdrawArgs {
    /// The request, or a run that has only one open
    #[arg(value_name = "REQUEST")]
    pub(crate) request: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}
