//! The arguments.

mod again;
mod artifacts;
mod check;
mod checkpoint;
mod control;
mod effect;
mod emit;
mod keep;
mod mcp;
mod requests;
mod runs;
mod serve;
mod token;
mod travel;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

pub(crate) use again::{MigrateArgs, ReplayArgs};
pub(crate) use artifacts::{ArtifactsArgs, ArtifactsWhat, FromFileArgs, OnArtifactArgs};
pub(crate) use check::RunCheckArgs;
pub(crate) use checkpoint::{
    CheckpointArgs, CheckpointWhat, CheckpointsArgs, RestoreArgs, TakeArgs,
};
pub(crate) use control::{CancelArgs, ContinueArgs, ForceArgs, OnRunArgs, PauseArgs};
pub(crate) use effect::{EffectArgs, EffectWhat, EffectsArgs, ReportArgs};
pub(crate) use emit::EmitArgs;
pub(crate) use keep::{
    BackupArgs, ExportArgs, ImportArgs, Keep, KeepArgs, MoveArgs, PruneArgs, VerifyArgs, WakeArgs,
};
pub(crate) use mcp::{ClientArg, McpAddArgs, McpArgs, McpCommand};
pub(crate) use requests::{
    AnswerArgs, ApproveArgs, AskArgs, DenyArgs, InboxArgs, KindArg, OnRequestArgs, WithdrawArgs,
};
pub(crate) use runs::{
    EventsArgs, RunsArgs, SendArgs, SpecsArgs, StartArgs, StateArgs, StoreArgs, WaitArgs, WhyArgs,
};
pub(crate) use serve::ServeArgs;
pub(crate) use token::{RoleArg, TokenArgs, TokenCommand};
pub(crate) use travel::{ForkArgs, RewindArgs, ScopeArg, TimelineArgs};

/// Compiles state machines written in Markdown.
#[derive(Debug, Parser)]
#[command(
    name = "statemark",
    version,
    about = "Compiles state machines written in Markdown: checks them, shows them, steps them, builds them.",
    long_about = None,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "Examples:\n  \
                  statemark new door           begin a spec: door.md\n  \
                  statemark lint               every finding in every spec below this folder\n  \
                  statemark simulate door.md   try it\n\n\
                  Without a command, statemark says what it finds in this folder and what to do next.\n\
                  Exit codes: 0 clean, 1 findings or refused, 2 usage, files or a defect."
)]
pub(crate) struct Args {
    /// When to use color; NO_COLOR is respected.
    #[arg(long, global = true, value_enum, default_value_t = ColorWhen::Auto, value_name = "WHEN", hide_possible_values = true, help = "When to use color: auto, always or never")]
    pub(crate) color: ColorWhen,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// When to use color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless the environment says otherwise.
    Auto,
    /// Also into a file or a pipe.
    Always,
    /// Not at all.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Lint(LintArgs),
    Build(BuildArgs),
    Show(ShowArgs),
    Simulate(SimulateArgs),
    Explain(ExplainArgs),
    New(NewArgs),
    Start(StartArgs),
    Send(SendArgs),
    Emit(EmitArgs),
    State(StateArgs),
    Why(WhyArgs),
    Wait(WaitArgs),
    Events(EventsArgs),
    Runs(RunsArgs),
    Inbox(InboxArgs),
    Approve(ApproveArgs),
    Deny(DenyArgs),
    Answer(AnswerArgs),
    Ask(AskArgs),
    Withdraw(WithdrawArgs),
    Pause(PauseArgs),
    Continue(ContinueArgs),
    Cancel(CancelArgs),
    Force(ForceArgs),
    Artifacts(ArtifactsArgs),
    RunCheck(RunCheckArgs),
    Timeline(TimelineArgs),
    Fork(ForkArgs),
    Rewind(RewindArgs),
    Replay(ReplayArgs),
    Migrate(MigrateArgs),
    Checkpoint(CheckpointArgs),
    Effect(EffectArgs),
    Store(KeepArgs),
    Serve(ServeArgs),
    Mcp(McpArgs),
    Token(TokenArgs),
}

/// Report every finding in specs.
#[derive(Debug, clap::Args)]
#[command(
    visible_alias = "check",
    after_help = "Examples:\n  \
                  statemark lint                            every spec below this folder\n  \
                  statemark lint docs/door.md               one file, whatever its name\n  \
                  statemark lint --output-format json       for programs\n  \
                  statemark lint - --stdin-filename a.md    what an editor has not saved yet\n\n\
                  In a folder, lint looks at Markdown files with a `## STATE-MACHINE` heading, *.workflow.json, *.scxml,\n\
                  and state diagrams in *.mmd and *.mermaid. It respects .gitignore and .statemarkignore."
)]
pub(crate) struct LintArgs {
    /// Files and folders, or `-` for standard input
    #[arg(default_value = ".", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// How to show findings: full, concise or json [env: STATEMARK_OUTPUT_FORMAT; default: full]
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    pub(crate) output_format: Option<LintFormat>,
    /// Least grave finding that makes the exit code 1: error, warning, hint or never
    #[arg(long, value_enum, value_name = "GRAVITY", default_value_t = FailOn::Warning, hide_possible_values = true)]
    pub(crate) fail_on: FailOn,
    /// Name under which standard input is read and shown; its ending tells the format
    #[arg(long, value_name = "NAME", default_value = "stdin.md")]
    pub(crate) stdin_filename: String,
}

/// How findings are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintFormat {
    /// With the lines that they are about, help and fixes.
    Full,
    /// One line each.
    Concise,
    /// One JSON object.
    Json,
}

/// The least grave finding that makes the exit code 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Errors.
    Error,
    /// Errors and warnings.
    Warning,
    /// Everything.
    Hint,
    /// Nothing.
    Never,
}

/// Write tables, Rust or diagrams.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark build door.md -o out                     out/door.table\n  \
                        statemark build door.md -o out --emit rust,mermaid out/door.rs, out/door.mmd\n\n\
                        A spec with an error writes nothing. Files are replaced whole or not at all.")]
pub(crate) struct BuildArgs {
    /// Specs
    #[arg(required = true, value_name = "SPEC")]
    pub(crate) specs: Vec<PathBuf>,
    /// Folder to write to; it is made if it isn't there
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// What to write: table, rust, mermaid, scxml
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "table",
        value_name = "KINDS",
        hide_possible_values = true
    )]
    pub(crate) emit: Vec<Emit>,
}

/// What `build` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Emit {
    /// `ID.table`: bytes for the runtime.
    Table,
    /// `ID.rs`: a module.
    Rust,
    /// `ID.mmd`: the canonical diagram.
    Mermaid,
    /// `ID.scxml`: the canonical SCXML document.
    Scxml,
}

/// Show a machine as a person reads it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark show door.md                    states, transitions, guards, tools, proofs\n  \
                        statemark show doors.md --machine front   one of several\n  \
                        statemark show out/door.table             what a table holds\n  \
                        statemark show door.md --dump table       every row of its table")]
pub(crate) struct ShowArgs {
    /// A spec, or a table that `build` wrote
    #[arg(value_name = "SPEC")]
    pub(crate) spec: PathBuf,
    /// Which machine, where the spec has several
    #[arg(long, value_name = "ID")]
    pub(crate) machine: Option<String>,
    /// How to show it: text or json
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TextFormat::Text, hide_possible_values = true)]
    pub(crate) output_format: TextFormat,
    /// Show every row instead: table
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        conflicts_with = "output_format",
        hide_possible_values = true
    )]
    pub(crate) dump: Option<Dump>,
}

/// For people or for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// What can be shown row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dump {
    /// The table.
    Table,
}

/// Drive a machine by hand, or with a script of events.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark simulate door.md                                  a prompt; ? helps\n  \
                        statemark simulate door.md --events events.txt              what each event did\n  \
                        printf 'coin\\npush\\n' | statemark simulate door.md --events -\n  \
                        statemark simulate door.md --events e.txt --output-format json\n  \
                        statemark simulate out/door.table                           a table that build wrote\n\n\
                        A script has one event a line, with JSON data behind it if it brings some:\n  \
                        # a comment\n  \
                        ready {\"steps\": 3}\n  \
                        {\"event\": \"passed\", \"data\": {}}\n  \
                        :guard tests_pass=true\n  \
                        :wait 30s\n  \
                        :set attempts=2\n\n\
                        Data is merged into the context; that of an ignored event is not kept.\n\
                        A machine may ignore an event: the exit code stays 0. It is 1 if an event was refused,\n\
                        because there is none of that name or the machine has ended, or if the spec has errors.\n\
                        Approvals are taken for granted.")]
pub(crate) struct SimulateArgs {
    /// A spec, or a table that `build` wrote
    #[arg(value_name = "SPEC")]
    pub(crate) spec: PathBuf,
    /// Which machine, where the spec has several
    #[arg(long, value_name = "ID")]
    pub(crate) machine: Option<String>,
    /// Script of events, or `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// How to show what happens: text, or one JSON record a line
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TextFormat::Text, hide_possible_values = true)]
    pub(crate) output_format: TextFormat,
}

/// Say more about a finding.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark explain SM304\n  \
                        statemark explain unreachable-state\n  \
                        statemark explain --all --output-format json")]
pub(crate) struct ExplainArgs {
    /// A code or its name: SM304, 304, unreachable-state
    #[arg(value_name = "CODE", required_unless_present = "all")]
    pub(crate) code: Option<String>,
    /// Every page
    #[arg(long, conflicts_with = "code")]
    pub(crate) all: bool,
    /// For people or for programs: text or json
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TextFormat::Text, hide_possible_values = true)]
    pub(crate) output_format: TextFormat,
}

/// Begin a spec, a skill or a crate.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark new door               door.md: a spec\n  \
                        statemark new fix-bug --skill    fix-bug/SKILL.md: a skill for an agent\n  \
                        statemark new review --workflow  review.workflow.json: a definition alone\n  \
                        statemark new gate --rust        gate/: a crate that embeds a spec\n\n\
                        Nothing that is already there is overwritten.")]
pub(crate) struct NewArgs {
    /// What to call it: letters, digits, `-` and `_`
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// A skill for an agent
    #[arg(long, group = "kind")]
    pub(crate) skill: bool,
    /// A JSON definition alone
    #[arg(long, group = "kind")]
    pub(crate) workflow: bool,
    /// A crate that embeds a spec
    #[arg(long, group = "kind")]
    pub(crate) rust: bool,
    /// Folder to write to; it is made if it isn't there
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    pub(crate) output: PathBuf,
}
