//! `hook`: policy in an agent's own client.
//!
//! ```text
//! message ─→ client's event ─→ project, store, session's runs ─→ policy ─→ answer ─→ client's form
//! ```
//!
//! What to rely on: it fails closed. What it can't read before a tool runs, it refuses, with the cause; so it does after a
//! time, and if it has a defect. Whatever it refuses, it says in the client's own form.
//!
//! Deliberately not here: what a state grants (`policy` in `statemark-runs`), and how a call is admitted and recorded
//! (`SessionPolicy` in `statemark-tools`).

mod call;
mod claude;
pub(super) mod client;
mod codex;
mod cursor;
mod gemini;
mod opencode;
mod protected;
mod settings;
mod shell;
mod variables;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use clap::Subcommand;
use serde_json::Value;
use statemark_runs::{Actor, Hash, Loaded, Role, RunId, Runs, Status};
use statemark_text::json::describe_repeated_key;
use statemark_tools::envelope::next::describe_run;
use statemark_tools::{NativeCall, NativeOutcome, SessionPolicy, Set, Tool};

use crate::args::StoreArgs;
use crate::environment;
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::printer::{Printer, json_line};
use crate::{caller, project, runs};
pub(super) use claude::settings as claude_settings;
use client::{Answer, CLIENTS, Call, Client, Done, Event, Message};
pub(super) use gemini::{SYSTEM_SETTINGS as GEMINI_SYSTEM_SETTINGS, settings as gemini_settings};
pub(super) use opencode::plugin as opencode_plugin;

/// The tools of ours, and of other systems, that start or drive a run.
///
/// A session that has called one is held by the run that it named. A test compares them with what servers offer.
const DRIVING_TOOLS: &[&str] = &[
    "ask_human",
    "checkpoint",
    "complete_task",
    "control_run",
    "coordinate",
    "create_workflow",
    "declare_complete",
    "fork_run",
    "migrate_run",
    "ralph_discard_plan_draft",
    "ralph_finalize_plan",
    "ralph_submit_artifact",
    "ralph_submit_plan_section",
    "replay_run",
    "report_progress",
    "request_human",
    "resolve_approval",
    "resolve_request",
    "restore_checkpoint",
    "revert_attempt",
    "rewind_run",
    "rstn_complete_task",
    "rstn_report_status",
    "rstn_run_hook",
    "run_agent",
    "run_check",
    "run_workflow",
    "send_event",
    "start_run",
    "statewright_create_workflow",
    "statewright_deactivate",
    "statewright_force_state",
    "statewright_load_workflow",
    "statewright_pause",
    "statewright_run_agent",
    "statewright_transition",
    "submit_artifact",
    "time_travel",
];

/// Largest message. Unit: bytes.
///
/// Why: it has what a tool has read, which clients bound at less than a tenth of it.
const MAX_MESSAGE: u64 = 64 << 20;

/// The time that an answer takes at most.
///
/// Why: shorter than the time for which clients are told to wait, so that they get a refusal and not nothing.
const LONGEST: Duration = Duration::from_secs(client::CLIENT_SECONDS - 2);

/// Longest name of a session. Unit: bytes.
///
/// Why: clients have UUIDs; a longer one is replaced by its hash.
const MAX_SESSION: usize = 100;

/// Hold an agent's own tools to the state of its run, as a hook in its client.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:\n  \
                  statemark hook install claude             .claude/settings.json of this project\n  \
                  statemark hook install codex --user       all your projects\n  \
                  statemark hook install claude --observe   nothing is refused; `statemark report RUN` shows what would be\n  \
                  statemark hook remove claude\n\n\
                  A client calls `statemark hook AGENT` with a message at standard input. `statemark help hooks` has more."
)]
pub(crate) struct HookArgs {
    #[command(subcommand)]
    command: Option<HookCommand>,
    /// The client that calls: claude, codex, gemini, cursor, opencode
    #[arg(value_name = "AGENT", required = true, value_parser = parse_client)]
    client: Option<&'static Client>,
    #[command(flatten)]
    how: HowArgs,
    /// Where runs are kept: a file or an address [env: STATEMARK_STORE; else statemark.toml; default: .statemark/runs.db]
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
}

/// How strict the hook is.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct HowArgs {
    /// Refuse nothing, and record what would have been refused
    #[arg(long)]
    observe: bool,
    /// Without a run, let only tools run that no state restricts
    #[arg(long, conflicts_with = "observe")]
    required: bool,
    /// The client's name for our server, whose tools the server itself judges
    #[arg(long, value_name = "NAME", default_value = "statemark")]
    server: String,
}

/// A subcommand of `hook`.
#[derive(Debug, Subcommand)]
enum HookCommand {
    Install(settings::InstallArgs),
    Remove(settings::RemoveArgs),
}

fn parse_client(text: &str) -> Result<&'static Client, String> {
    let client = CLIENTS.into_iter().find(|client| client.name == text);
    client.ok_or_else(|| {
        let names: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
        format!("it may be {}", names.join(", "))
    })
}

impl std::fmt::Debug for Client {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name)
    }
}

/// The output of the hook, and its end.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said {
    /// For the client: an object of JSON, or nothing.
    answer: Option<Value>,
    /// For the agent, where there is no other way.
    error: Option<String>,
    /// True if the client is to keep a tool from running by the exit code alone.
    blocks: bool,
}

/// Runs the hook, or installs it.
pub(super) fn run(args: &HookArgs, printer: &mut Printer) -> CommandResult {
    match &args.command {
        Some(HookCommand::Install(args)) => return settings::install(args, printer),
        Some(HookCommand::Remove(args)) => return settings::remove(args, printer),
        None => {}
    }
    let Some(client) = args.client else {
        // INVARIANT: the parser demands it.
        return Ok(ExitStatus::Failed);
    };
    let (how, store) = (args.how.clone(), args.store.clone());
    let said = guard(LONGEST, move |known| answer(client, &how, store, known));
    if let Some(answer) = &said.answer {
        printer.result(&json_line(answer));
    }
    if let Some(error) = &said.error {
        printer.remark(&format!("{error}\n"));
    }
    Ok(match (&said.error, said.blocks) {
        (None, _) => ExitStatus::Clean,
        // Whatever the client: 2 keeps a tool from running, and 1 is a warning.
        (Some(_), true) => ExitStatus::Failed,
        (Some(_), false) => ExitStatus::Findings,
    })
}

/// Does something on a thread of its own, and refuses if it takes too long or has a defect.
///
/// `known` is set once it is known whether a tool waits for the answer. Until then one may.
fn guard(longest: Duration, work: impl FnOnce(&OnceLock<bool>) -> Said + Send + 'static) -> Said {
    let known = Arc::new(OnceLock::new());
    let (sender, receiver) = mpsc::channel();
    let its = Arc::clone(&known);
    thread::spawn(move || drop(sender.send(work(&its))));
    let why = match receiver.recv_timeout(longest) {
        Ok(said) => return said,
        Err(RecvTimeoutError::Timeout) => {
            format!("no answer after {} seconds", longest.as_secs())
        }
        Err(RecvTimeoutError::Disconnected) => "a defect of statemark".to_owned(),
    };
    refusal(&why, known.get().copied().unwrap_or(true))
}

/// Makes the answer of a hook that failed.
fn refusal(why: &str, blocks: bool) -> Said {
    Said {
        answer: None,
        error: Some(if blocks {
            unjudged(why)
        } else {
            format!("statemark hook: {why}")
        }),
        blocks,
    }
}

fn unjudged(why: &str) -> String {
    format!("the call isn't allowed, because statemark can't judge it: {why}")
}

/// Answers the message at standard input.
fn answer(
    client: &'static Client,
    how: &HowArgs,
    store: Option<String>,
    known: &OnceLock<bool>,
) -> Said {
    let mut text = Vec::new();
    let read = std::io::stdin().take(MAX_MESSAGE).read_to_end(&mut text);
    let message: Message = match read.map(|_| serde_json::from_slice(&text)) {
        Ok(Ok(message)) => message,
        Ok(Err(error)) => {
            return refusal(&format!("its message is no JSON of a hook: {error}"), true);
        }
        Err(error) => return refusal(&format!("its message can't be read: {error}"), true),
    };
    // Which of the two its client takes isn't known.
    if let Some(repeated) = describe_repeated_key(&text) {
        return refusal(&repeated, true);
    }
    if message.hook_event_name.is_empty() {
        return refusal("its message names no event (`hook_event_name`)", true);
    }
    let event = (client.event)(&message);
    let is_before = matches!(event, Event::Before(_));
    known.get_or_init(|| is_before);
    let answered = Hook {
        client,
        how,
        store: StoreArgs { store, json: true },
        message: &message,
    }
    .judge(&event);
    let answer = match answered {
        Ok(answer) => answer,
        Err(failure) => {
            let help = failure.help().map(|help| format!("; {help}"));
            let why = format!("{failure}{}", help.unwrap_or_default());
            if !is_before {
                return refusal(&why, false);
            }
            if how.observe {
                return refusal(&format!("it would be refused: {why}"), false);
            }
            Answer::Deny(unjudged(&why))
        }
    };
    Said {
        answer: (client.say)(&message, &event, &answer),
        ..Said::default()
    }
}

/// A message that is answered.
struct Hook<'h> {
    client: &'static Client,
    how: &'h HowArgs,
    store: StoreArgs,
    message: &'h Message,
}

impl Hook<'_> {
    fn judge(&self, event: &Event) -> Result<Answer, Failure> {
        if matches!(event, Event::Other) {
            return Ok(Answer::Silence);
        }
        self.enter_project()?;
        let Some(runs) = self.open()? else {
            return self.without_run(event);
        };
        let policy = self.session_policy(&runs)?;
        match event {
            Event::Other => Ok(Answer::Silence),
            Event::Begin | Event::Prompt => {
                let live = policy.live_runs()?;
                Ok(describe(&live)?.map_or(Answer::Silence, Answer::Context))
            }
            Event::Before(call) => self.before(&policy, call),
            Event::After(call, done) => self.after(&runs, &policy, call, done),
            Event::Stop { again } => self.stop(&policy, *again),
            Event::Environment(names) => self.environment(&policy, names),
            Event::End => {
                policy.end_session()?;
                Ok(Answer::Silence)
            }
        }
    }

    /// Goes to the root of the project that the client works on.
    ///
    /// What the client says of its folder counts; an agent that changes the folder doesn't leave its project by that.
    fn enter_project(&self) -> Result<(), Failure> {
        match self.client_folder() {
            Some(folder) => project::enter(&folder),
            None => project::enter(Path::new(".")),
        }
    }

    /// Returns the folder that the client was started in, as far as it says so.
    fn client_folder(&self) -> Option<PathBuf> {
        let message = self.message;
        let variable = self.client.folder.iter().find_map(|it| it.value());
        let folder = variable.map(Into::into);
        let folder = folder.or_else(|| message.workspace_roots.first().cloned());
        folder.or_else(|| message.cwd.clone())
    }

    /// Returns the root that policy reads paths from.
    ///
    /// It is the project's; in the worktree of a run, if the client is in one.
    fn root(&self) -> Result<PathBuf, Failure> {
        let folder = self.client_folder().and_then(|it| it.canonicalize().ok());
        match folder.and_then(|folder| project::worktree_root(&folder)) {
            Some(root) => Ok(root),
            None => project::current_folder(),
        }
    }

    /// Opens the runs, if the project has any.
    fn open(&self) -> Result<Option<Runs>, Failure> {
        if !project::lacks_store(self.store.store.as_deref())? {
            return runs::open(&self.store).map(Some);
        }
        if environment::RUN.text().is_some() {
            return Err(Failure::new(
                "STATEMARK_RUN names a run, and there is no store",
            ));
        }
        let folder = project::folder()?;
        // What a store leaves when its file is gone: the lock, and the mark of its last record.
        if project::has_remains(&folder) {
            let folder = crate::files::display(&folder);
            return Err(
                Failure::new(format!("there is no store in `{folder}` any more"))
                    .with_help("put its file back; a person who knows that no run is lost may remove the folder"),
            );
        }
        Ok(None)
    }

    /// Returns the policy of the client's session.
    fn session_policy<'r>(&self, runs: &'r Runs) -> Result<SessionPolicy<'r>, Failure> {
        let identity = caller::identify(runs)?;
        let mut actor = identity.actor;
        if actor.role >= Role::Person {
            // The agent that the client runs doesn't act as whoever started the client.
            actor = Actor::new(Role::Agent);
        }
        let names = self.session_names();
        actor.session = names.first().cloned();
        let named =
            match environment::RUN.text() {
                Some(text) => Some(text.parse().map_err(|error| {
                    Failure::new(format!("STATEMARK_RUN is no run's id: {error}"))
                })?),
                None => identity.run,
            };
        let project = project::id(".")?;
        let policy = SessionPolicy::new(runs, actor, Some(project), names, named.as_ref())?;
        let policy = policy.for_attempt(environment::attempt());
        Ok(policy.observing(self.how.observe))
    }

    /// Returns the names of the session: that of a sub-agent first, then that of its session.
    fn session_names(&self) -> Vec<String> {
        let name = |id: &str| {
            let name = format!("{}:{id}", self.client.name);
            if name.len() <= MAX_SESSION {
                return name;
            }
            format!("{}:{}", self.client.name, Hash::digest(id.as_bytes()))
        };
        let session = self.message.session();
        let agent = self.message.agent_id.as_ref();
        let agent = agent.map(|agent| name(&format!("{session}/{agent}")));
        agent.into_iter().chain([name(session)]).collect()
    }

    /// Answers where no run holds the session.
    fn without_run(&self, event: &Event) -> Result<Answer, Failure> {
        let Event::Before(call) = event else {
            return Ok(Answer::Silence);
        };
        if let Some(reason) = shell::needs_person(call).filter(|_| !self.how.observe) {
            return Ok(Answer::Deny(reason));
        }
        let is_required = self.how.required || (!self.how.observe && project::requires_hook()?);
        if !is_required || self.is_free(call) || self.is_ours(call) {
            return Ok(Answer::Silence);
        }
        Ok(Answer::Deny(format!(
            "no run holds this session, and a run is required before `{}` is used: start one with the tool `start_run` of the \
             server `{}`, or with `statemark start`",
            call.tool, self.how.server
        )))
    }

    fn is_free(&self, call: &Call) -> bool {
        self.client.free.contains(&call.tool.as_str())
    }

    /// Reports whether a tool is one of our server's, which judges and counts it itself.
    fn is_ours(&self, call: &Call) -> bool {
        self.client.mcp_tool(call).is_some_and(|(server, tool)| {
            let own = &self.how.server;
            // The server of a plugin has the plugin's name before its own.
            server == own
                || server
                    .strip_suffix(own.as_str())
                    .is_some_and(|rest| rest.starts_with("plugin_"))
                || (server.is_empty() && self.may_offer(tool))
        })
    }

    /// Reports whether our server offers a tool of that name, as far as its client's configuration says.
    ///
    /// For a client that names no server: another server's tool of a name that ours doesn't offer is no tool of ours.
    fn may_offer(&self, tool: &str) -> bool {
        let profiles = cursor::profiles(&self.how.server);
        our_tools().any(|own| {
            let is_offered = !matches!(own.set, Set::Profile(_)) || profiles.contains(&own.set);
            own.name == tool && is_offered
        })
    }

    /// Returns the folder that the client's paths start from.
    fn folder(&self) -> &Path {
        let folder = self.message.cwd.as_deref();
        folder.unwrap_or_else(|| Path::new("."))
    }

    fn before(&self, policy: &SessionPolicy<'_>, call: &Call) -> Result<Answer, Failure> {
        if self.is_ours(call) {
            return Ok(Answer::Silence);
        }
        if !policy.is_held() {
            return self.without_run(&Event::Before(call.clone()));
        }
        let root = self.root()?;
        let (mut native, edits) = call::to_native(call, &root, self.folder());
        native.free = self.is_free(call);
        native.id = self.call_id(policy, call, &native, false)?;
        let unread = native.forbidden.take();
        native.forbidden = unread.or_else(|| shell::needs_person(call)).or_else(|| {
            let server_tool = self.client.mcp_tool(call).map(|(_, tool)| tool);
            protected::protects(&native, server_tool, &root)
        });
        Ok(match policy.admit(&native, &|| edits.lines())? {
            Ok(_) => self.rewrite(policy, call)?,
            Err(refusal) => Answer::Deny(refusal.reason),
        })
    }

    fn after(
        &self,
        runs: &Runs,
        policy: &SessionPolicy<'_>,
        call: &Call,
        done: &Done,
    ) -> Result<Answer, Failure> {
        if self.is_ours(call) {
            let tool = self.client.mcp_tool(call).map_or("", |(_, tool)| tool);
            if DRIVING_TOOLS.contains(&tool) {
                self.bind(runs, policy, call::named_run(&call.input, &done.response))?;
            }
            return Ok(Answer::Silence);
        }
        if shell::starts_run(call) && !done.failed {
            self.bind(runs, policy, None)?;
        }
        if !policy.is_held() || self.is_free(call) {
            return Ok(Answer::Silence);
        }
        let native = self.ended(policy, call)?;
        let outcome = NativeOutcome {
            failed: done.failed,
            milliseconds: done.milliseconds,
            bytes: call::size(&done.response),
        };
        let moved = policy.record(&native, &outcome)?;
        Ok(describe(&moved)?.map_or(Answer::Silence, Answer::Context))
    }

    /// Returns what the states change in the variables of a command; the client's own have these names.
    fn environment(&self, policy: &SessionPolicy<'_>, names: &[String]) -> Result<Answer, Failure> {
        if self.how.observe {
            return Ok(Answer::Silence);
        }
        let variables = policy.environment()?.changes(names.iter().cloned());
        Ok(match variables.is_empty() {
            true => Answer::Silence,
            false => Answer::Environment(variables),
        })
    }

    /// Puts what the states change in a command's variables before the command.
    ///
    /// For a client that asks nobody for them. Its own variables are those that it gave to this process.
    fn rewrite(&self, policy: &SessionPolicy<'_>, call: &Call) -> Result<Answer, Failure> {
        if self.how.observe || !self.client.runs_by_shell(call) {
            return Ok(Answer::Silence);
        }
        let changes = policy.environment()?.changes(environment::names());
        Ok(variables::prefix(call, &changes).map_or(Answer::Silence, Answer::Rewrite))
    }

    /// Returns a call that has run, as it was judged.
    ///
    /// Its client may say the command with what was put before it.
    fn ended(&self, policy: &SessionPolicy<'_>, call: &Call) -> Result<NativeCall, Failure> {
        let root = self.root()?;
        let read = |call: &Call| {
            let (mut native, _) = call::to_native(call, &root, self.folder());
            native.id = self.call_id(policy, call, &native, true)?;
            Ok::<_, Failure>(native)
        };
        if self.client.runs_by_shell(call) {
            for own in variables::without_prefix(call) {
                let native = read(&own)?;
                // An agent may have written the same words itself, and nothing was put before them.
                if policy.is_running(&native.id)? {
                    return Ok(native);
                }
            }
        }
        read(call)
    }

    /// Binds the session to a run that it drives: the named one, else the only one that holds it already.
    fn bind(
        &self,
        runs: &Runs,
        policy: &SessionPolicy<'_>,
        named: Option<RunId>,
    ) -> Result<(), Failure> {
        let run = match named {
            Some(run) => Some(run),
            None => {
                let policy = self.session_policy(runs)?;
                match policy.live_runs()?.as_slice() {
                    [only] => Some(only.run.clone()),
                    _ => None,
                }
            }
        };
        match run {
            Some(run) => Ok(policy.bind(&run)?),
            None => Ok(()),
        }
    }

    /// Returns the id of a call: the client's, or one that is made up.
    fn call_id(
        &self,
        policy: &SessionPolicy<'_>,
        call: &Call,
        native: &NativeCall,
        is_over: bool,
    ) -> Result<String, Failure> {
        Ok(match &call.id {
            Some(id) => {
                let id = format!("{}:{id}", self.client.name);
                policy.id_of(&id, native, is_over)?
            }
            None => policy.make_id(native, is_over)?,
        })
    }

    /// Refuses to stop while a run that the session drives could go on.
    ///
    /// A run that waits for a person, or that nothing leads on from, doesn't keep an agent; nor does one refusal follow
    /// another, or the agent would never end.
    fn stop(&self, policy: &SessionPolicy<'_>, again: bool) -> Result<Answer, Failure> {
        if again || self.how.observe {
            return Ok(Answer::Silence);
        }
        let bound = policy.own_runs()?;
        let open = policy.live_runs()?.into_iter().find(|loaded| {
            let is_running = loaded.state.status() == Status::Running;
            is_running
                && bound.contains(&loaded.run)
                && !loaded.legality().enabled_events().is_empty()
        });
        let Some(loaded) = open else {
            return Ok(Answer::Silence);
        };
        let described = describe(&[loaded])?.unwrap_or_default();
        Ok(Answer::Continue(format!(
            "the run that this session drives isn't done, and nothing keeps it from going on; do what its state says, then \
             send one of its events, or ask a person.\n{described}"
        )))
    }
}

/// Returns the tools that a server of ours can have, but for those of packs.
fn our_tools() -> impl Iterator<Item = Tool> {
    statemark_tools::own_tools()
        .into_iter()
        .chain(statemark_profiles::all())
}

/// Describes runs to an agent that asked for nothing, in the words of the server's answers.
fn describe(live: &[Loaded]) -> Result<Option<String>, Failure> {
    let mut text = String::new();
    for loaded in live {
        let described = describe_run(loaded).map_err(|problem| Failure::new(problem.message))?;
        text += &format!(
            "Run `{}` of the workflow `{}` holds this session to the tools and events of its state:\n{described}\n",
            loaded.run, loaded.state.workflow
        );
    }
    Ok((!text.is_empty()).then_some(text))
}

#[cfg(test)]
mod tests {
    use statemark_runs::policy::{capability_tools, native_tools};

    use super::*;

    #[test]
    fn the_driving_tools_are_those_that_change_something() {
        let changing = our_tools().filter(|tool| !tool.annotations.read_only);
        let mut names: Vec<&str> = changing.filter_map(|tool| tool.own_name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(DRIVING_TOOLS, names);
    }

    #[test]
    fn the_book_has_the_names_of_each_tool() {
        let book = include_str!("docs/linked/book/hooks.md");
        for (own, names) in native_tools() {
            let rows = book.lines().filter(|line| line.starts_with("| `"));
            let mut rows = rows.filter(|line| {
                line.split('|')
                    .nth(2)
                    .is_some_and(|it| it.trim() == format!("`{own}`"))
            });
            let row = rows.next().unwrap_or_else(|| panic!("no row of `{own}`"));
            for name in names {
                assert!(
                    row.contains(&format!("`{name}`")),
                    "`{name}` isn't in: {row}"
                );
            }
            let capability = row.split('|').nth(1).unwrap();
            for word in capability.split(',') {
                let word = word.trim().trim_matches('`');
                assert!(
                    capability_tools(word).unwrap().contains(&own),
                    "{word} {own}"
                );
            }
        }
    }

    #[test]
    fn a_defect_and_a_delay_are_refusals_of_a_tool() {
        let long = Duration::from_secs(60);
        let said = guard(long, |_| Said::default());
        assert_eq!(said, Said::default());
        let said = guard(long, |_| panic!("planted"));
        assert!(said.blocks && said.error.unwrap().contains("a defect of statemark"));
        let said = guard(Duration::ZERO, |_| {
            thread::sleep(Duration::from_secs(3));
            Said::default()
        });
        assert!(said.blocks && said.error.unwrap().contains("no answer after 0 seconds"));
        // An agent that may not stop because of a defect would never end.
        let said = guard(long, |known| {
            known.get_or_init(|| false);
            panic!("planted")
        });
        assert!(!said.blocks && said.error.is_some());
    }
}
