//! `inbox`, `approve`, `deny`, `answer`, `ask` and `withdraw`: questions to people.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;
use statemark_runs::body::{Opened, RequestKind};
use statemark_runs::runs::run_of_request;
use statemark_runs::signing::Signature;
use statemark_runs::{
    AnswerRequest, Blocker, Key, Lead, Loaded, Query, Reply, RunError, RunId, Runs, Status,
    WithdrawRequest, fire_all_due, shell_word,
};
use statemark_text::json::describe_repeated_key;
use statemark_text::visible;

use super::{print_outcome, time_left};
use crate::args::{self, StoreArgs, TextFormat};
use crate::caller::not_confirmed;
use crate::clock::format_length;
use crate::environment;
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::printer::quoted::{brief, labeled, quote, wrap_to};
use crate::printer::{self, Palette, Printer, WIDTH, fit, is_yes, json_line, screen};
use crate::runs;
use crate::signing::{SigningKey, read_signature};

/// Number of runs that are read at once.
const PAGE: usize = 100;

/// The code of a request that isn't named while there are several, or by its run alone.
const AMBIGUOUS_REQUEST: &str = "ambiguous_request";

/// List the open requests, those of the latest run first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark inbox\n  \
                        statemark inbox --workflow build --watch\n  \
                        statemark inbox --json                  one request a line, with all its details")]
pub(crate) struct InboxArgs {
    /// Only of runs of this workflow
    #[arg(long, value_name = "WORKFLOW")]
    workflow: Option<String>,
    /// Show the list again whenever it changes
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    store: StoreArgs,
}

/// A request, as `--json` prints it.
#[derive(Serialize)]
pub(in crate::commands) struct OpenRequest {
    pub(in crate::commands) run: RunId,
    pub(in crate::commands) workflow: String,
    /// True if nobody has accepted the workflow.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unreviewed: bool,
    /// The asker.
    pub(in crate::commands) by: String,
    /// The time of the question. Unit: milliseconds since 1970.
    #[serde(rename = "asked")]
    pub(in crate::commands) time: u64,
    #[serde(flatten)]
    pub(in crate::commands) request: Opened,
}

/// Lists the open requests.
pub(in crate::commands) fn inbox(args: &InboxArgs, printer: &mut Printer) -> CommandResult {
    const EMPTY: &str = "no open requests\n";
    let Some(runs) = runs::open_if_exists(&args.store)? else {
        printer.remark(EMPTY);
        return Ok(ExitStatus::Clean);
    };
    let mut before = None;
    loop {
        fire_all_due(&runs)?;
        let open = open_requests(&runs, args.workflow.as_deref(), usize::MAX)?;
        let text = match args.store.format() {
            TextFormat::Json => open.iter().map(json_line).collect(),
            TextFormat::Text => {
                let is_read = printer::is_result_at_terminal();
                let columns = is_read.then(|| screen::columns(io::stdout()));
                describe_requests(&open, columns, runs.now(), printer.palette())
            }
        };
        let ids = open.into_iter().map(|open| open.request.request);
        let ids: Vec<String> = ids.collect();
        if before.as_ref() != Some(&ids) {
            printer.result(&text);
            if ids.is_empty() {
                printer.remark(EMPTY);
            }
            before = Some(ids);
        }
        if !args.watch {
            return Ok(ExitStatus::Clean);
        }
        printer.flush();
        std::thread::sleep(runs::PAUSE);
    }
}

/// Returns open requests, those of the run first that has changed last.
///
/// They are all, or a few more than are wanted.
pub(in crate::commands) fn open_requests(
    runs: &Runs,
    workflow: Option<&str>,
    wanted: usize,
) -> Result<Vec<OpenRequest>, RunError> {
    let statuses = [Status::Waiting, Status::Running, Status::Paused];
    let mut query = Query {
        statuses: statuses.map(|status| status.name().to_owned()).to_vec(),
        workflow: workflow.map(str::to_owned),
        has_requests: true,
        limit: PAGE,
        ..Query::default()
    };
    let mut requests = Vec::new();
    loop {
        let page = runs.store().list(&query)?;
        for head in page.heads {
            if requests.len() >= wanted {
                return Ok(requests);
            }
            // Catching up expires requests that nobody has answered in time.
            let loaded = runs.catch_up(&head.run)?;
            for request in loaded.state.open_requests() {
                requests.push(OpenRequest {
                    run: loaded.run.clone(),
                    workflow: loaded.state.workflow.clone(),
                    unreviewed: loaded.is_unreviewed(),
                    by: request.asker.to_string(),
                    time: request.time,
                    request: request.opened.clone(),
                });
            }
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => return Ok(requests),
        }
    }
}

/// Describes open requests. Where they go to a terminal, what others wrote is wrapped to its columns.
fn describe_requests(
    open: &[OpenRequest],
    columns: Option<usize>,
    now: u64,
    palette: Palette,
) -> String {
    let mut text = String::new();
    for open in open {
        let request = &open.request;
        let id = palette.event(&request.request);
        let ago = format_length(now.saturating_sub(open.time));
        let by = brief(&open.by);
        let unreviewed = if open.unreviewed { " (unreviewed)" } else { "" };
        let origin = format!("{}{unreviewed}, by {by}, {ago} ago", open.workflow);
        let origin = palette.dim(&origin);
        let _ = writeln!(text, "{id}  {origin}");
        // A person decides on it: it is never cut.
        let prompt = quote(&request.prompt);
        text += &match columns {
            Some(columns) => wrap_to(&prompt, columns),
            None => prompt,
        };
        if !request.details.is_null() {
            let details = request.details.to_string();
            let width = columns.unwrap_or(WIDTH).min(WIDTH);
            text += &quote(&fit(&details, width.saturating_sub(4)));
        }
        text += &describe_terms(request, now, palette);
    }
    text
}

/// Describes who may answer a request, until when, and by which commands.
pub(in crate::commands) fn describe_terms(request: &Opened, now: u64, palette: Palette) -> String {
    let mut text = String::new();
    if !request.approvers.is_empty() {
        let approvers = request.approvers.join(", ");
        text += &labeled("for", &approvers);
    }
    if request.signed {
        text.push_str("  to be signed\n");
    }
    if let Some(expires) = request.expires {
        let _ = writeln!(text, "  {}", time_left(expires, now));
    }
    for command in reply_commands(request) {
        let command = visible::line(&command);
        if command.len() <= WIDTH {
            let _ = writeln!(text, "  {}", palette.dim(&command));
        } else {
            // It has a choice that somebody else wrote.
            text += &quote(&command);
        }
    }
    text
}

/// Describes the kind of answer that a request asks for.
pub(in crate::commands) const fn describe_kind(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Approval => "approval",
        RequestKind::Confirm => "yes or no",
        RequestKind::Select => "a choice",
        RequestKind::Text => "a text",
        RequestKind::Json => "JSON",
        RequestKind::Review => "review",
    }
}

/// Returns the commands that answer a request.
fn reply_commands(request: &Opened) -> Vec<String> {
    let id = shell_word(&request.request);
    let approve = format!("statemark approve {id}");
    match request.kind {
        RequestKind::Approval | RequestKind::Confirm => {
            vec![approve, format!("statemark deny {id}")]
        }
        RequestKind::Review => vec![approve, format!("statemark deny {id} --comment '…'")],
        RequestKind::Select => {
            let choices = request.choices.iter();
            let answer = |choice: &String| {
                // Else it would be taken for an option.
                let mark = if choice.starts_with('-') { "-- " } else { "" };
                format!("statemark answer {id} {mark}{}", shell_word(choice))
            };
            choices.map(answer).collect()
        }
        RequestKind::Text => vec![format!("statemark answer {id} '…'")],
        RequestKind::Json => vec![format!("statemark answer {id} '{{…}}'")],
    }
}

/// The request that is answered.
#[derive(Debug, clap::Args)]
pub(crate) struct ReplyArgs {
    /// The request; at a terminal also a run with only one open request, which is shown first
    #[arg(value_name = "REQUEST")]
    request: String,
    /// A comment on the answer
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
    /// Idempotency key: a repeated order gets the first answer again
    #[arg(long, value_name = "KEY")]
    key: Option<Key>,
    /// Your SSH key: the public one in ssh-agent, or a private one [env: STATEMARK_SIGNING_KEY]
    #[arg(long, value_name = "KEYFILE")]
    sign_with: Option<PathBuf>,
    /// Print the text that is signed, and decide nothing
    #[arg(long, conflicts_with_all = ["sign_with", "signature"])]
    to_sign: bool,
    /// The signature that `ssh-keygen -Y sign` made of that text, beside it
    #[arg(long, value_name = "FILE.sig", conflicts_with = "sign_with")]
    signature: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArgs,
}

impl ReplyArgs {
    /// Reports whether a flag is about a signature.
    const fn is_about_signing(&self) -> bool {
        self.to_sign || self.signature.is_some() || self.sign_with.is_some()
    }
}

/// Approve a request.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark approve build-7:12\n  \
                        statemark approve build-7:12 --comment 'looks good'\n\n\
                        Needs a person's token: see `statemark token --help`. A token that `--save` has kept is used at\n\
                        a terminal, which shows the whole request and asks.\n\
                        Where a workflow demands signatures, your SSH key signs: `--sign-with`, STATEMARK_SIGNING_KEY, or\n\
                        the one that the first line of ~/.config/statemark/signing-key names (`statemark signer --help`).\n\
                        Exit code 1: it was refused, or the approved transition can't be taken any more.")]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    reply: ReplyArgs,
}

/// Approves a request.
pub(in crate::commands) fn approve(args: &ApproveArgs, printer: &mut Printer) -> CommandResult {
    reply(&args.reply, |_| Ok(Reply::Approve), false, printer)
}

/// Deny a request, or send a review back.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark deny build-7:12\n  \
                        statemark deny build-7:12 --comment 'the tests are missing'     sends a review back\n\n\
                        Needs a person's token: see `statemark token --help`.")]
pub(crate) struct DenyArgs {
    #[command(flatten)]
    reply: ReplyArgs,
}

/// Denies a request, or sends a review back.
pub(in crate::commands) fn deny(args: &DenyArgs, printer: &mut Printer) -> CommandResult {
    reply(&args.reply, |opened| Ok(denial(opened)), false, printer)
}

/// Returns the reply that denies a request, or sends a review back.
const fn denial(opened: &Opened) -> Reply {
    match opened.kind {
        RequestKind::Review => Reply::SendBack,
        _ => Reply::Deny,
    }
}

/// Answer a question.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark answer build-7:9 blue\n  \
                        statemark answer build-7:9 yes                            to a yes-or-no question\n  \
                        statemark answer build-7:9 '{\"rounds\": 3}'                to a question for JSON\n\n\
                        Needs a person's token: see `statemark token --help`.")]
pub(crate) struct AnswerArgs {
    #[command(flatten)]
    reply: ReplyArgs,
    /// The answer: a text, one of the choices, yes or no, or JSON
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    value: String,
}

/// Answers a question.
pub(in crate::commands) fn answer(args: &AnswerArgs, printer: &mut Printer) -> CommandResult {
    let decide = |opened: &Opened| Ok(Reply::Value(parse_answer(opened, &args.value)?));
    reply(&args.reply, decide, false, printer)
}

/// A decision that somebody at a terminal has begun by a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Verb {
    Approve,
    Deny,
    Answer,
}

/// Decides a request at a terminal, as `approve`, `deny` and `answer` do, after a question in any case.
///
/// What those have from their arguments is asked for.
fn decide_at_terminal(
    verb: Verb,
    opened: &Opened,
    store: &StoreArgs,
    printer: &mut Printer,
) -> CommandResult {
    let ask = |question: &str| {
        let line = printer::ask(question).unwrap_or_default();
        line.trim_end_matches(['\r', '\n']).to_owned()
    };
    let value = match verb {
        Verb::Answer => ask("answer: "),
        Verb::Approve | Verb::Deny => String::new(),
    };
    let comment = match (verb, opened.kind) {
        (Verb::Deny, RequestKind::Review) => ask("comment (what is to be changed): "),
        _ => String::new(),
    };
    let args = ReplyArgs {
        request: opened.request.clone(),
        comment: Some(comment).filter(|comment| !comment.is_empty()),
        key: None,
        sign_with: None,
        to_sign: false,
        signature: None,
        store: store.clone(),
    };
    let decide = |opened: &Opened| match verb {
        Verb::Approve => Ok(Reply::Approve),
        Verb::Deny => Ok(denial(opened)),
        Verb::Answer => parse_answer(opened, &value).map(Reply::Value),
    };
    reply(&args, decide, true, printer)
}

/// Decides a request as [`decide_at_terminal`] does.
///
/// It prints what came of it, and waits until that was read.
pub(in crate::commands) fn decide_and_wait(
    verb: Verb,
    opened: &Opened,
    store: &StoreArgs,
    printer: &mut Printer,
) {
    if let Err(failure) = decide_at_terminal(verb, opened, store, printer) {
        printer.failure(&failure);
    }
    printer.flush();
    // Nobody to press a key is nobody to wait for.
    let _ = printer::ask("Enter goes back ");
}

/// Carries out a decision. With `always_asks` a caller with a token of the environment is asked, too.
fn reply(
    args: &ReplyArgs,
    decide: impl Fn(&Opened) -> Result<Reply, Failure>,
    always_asks: bool,
    printer: &mut Printer,
) -> CommandResult {
    let runs = runs::open(&args.store)?;
    let (loaded, request) = find_request(&runs, &args.request)?;
    let mut answer = AnswerRequest {
        comment: args.comment.clone(),
        ..AnswerRequest::new(request.request.clone(), decide(&request)?)
    };
    let id = &request.request;
    let deed = format!(
        "{}\n{}{}",
        describe_request(&loaded, id, runs.now()),
        if args.to_sign {
            "print what is signed to "
        } else {
            ""
        },
        describe_reply(&answer.reply, &loaded, &request)
    );
    // Rows that the terminal would break have no mark.
    let deed = wrap_to(&deed, screen::columns(io::stderr()));
    // Another request than the one that was looked at may be the run's only one by now.
    if *id != args.request && confirm(&deed)?.is_none() {
        let message = format!(
            "`{}` is a run: name the request that you decide",
            args.request
        );
        return Err(Failure::new(message)
            .with_code(AMBIGUOUS_REQUEST)
            .with_help(format!("`{id}` is open: `statemark inbox` shows it")));
    }
    // Nobody shall read and confirm what is refused then, whatever they say.
    if loaded.state.signing.is_some()
        && !args.is_about_signing()
        && environment::TOKEN.text().is_none()
        && SigningKey::find(None)?.is_none()
    {
        let message =
            format!("a decision about `{id}` is signed with your SSH key, and none is named");
        return Err(Failure::new(message).with_code("unsigned").with_help(
            "`--sign-with KEYFILE` names it, STATEMARK_SIGNING_KEY, or the first line of ~/.config/statemark/signing-key",
        ));
    }
    // A token that somebody has saved is asked about by whoever uses it.
    if always_asks && environment::TOKEN.text().is_some() {
        confirm(&deed)?;
    }
    let order = runs::person_order(&runs, loaded.run.clone(), args.key.as_ref(), &deed)?;
    if let Some(by) = &order.actor.name
        && (loaded.state.signing.is_some() || args.is_about_signing())
    {
        let text = |time| statement(&runs, &loaded, &answer, (by, time));
        if args.to_sign {
            printer.result(&text(runs.now())?);
            return Ok(ExitStatus::Clean);
        }
        answer.signature = sign(args, by, runs.now(), text)?;
    }
    if args.to_sign {
        return Err(Failure::new("what is signed names who decides, and nobody has said who that is")
            .with_help("use a person's token: STATEMARK_TOKEN, or at a terminal the one that `token create --save` has kept"));
    }
    let written = runs.execute(&order, &answer)?;
    print_outcome(&written, &runs, &args.store, printer)
}

/// Returns the text that is signed for an answer.
fn statement(
    runs: &Runs,
    loaded: &Loaded,
    answer: &AnswerRequest,
    (by, time): (&str, u64),
) -> Result<String, Failure> {
    match answer.statement(runs, loaded, by, time) {
        Ok(Some(text)) => Ok(text),
        Ok(None) => {
            let workflow = &loaded.state.workflow;
            Err(Failure::new(format!(
                "decisions about runs of `{workflow}` aren't signed"
            ))
            .with_help("`\"meta\": {\"approvers\": {\"signed\": true}}` in its definition demands that, for new runs"))
        }
        Err(blocker) => Err(RunError::from(Blocker::from(blocker)).into()),
    }
}

/// Returns the signature of an answer, if there is one.
///
/// It is the one that was handed in, or one by the caller's key.
fn sign(
    args: &ReplyArgs,
    by: &str,
    now: u64,
    text: impl Fn(u64) -> Result<String, Failure>,
) -> Result<Option<Signature>, Failure> {
    if let Some(path) = &args.signature {
        let (signature, signed) = read_signature(path, by)?;
        let text = text(signature.time)?;
        return match differing_line(&text, &signed) {
            None => Ok(Some(signature)),
            Some(line) => Err(Failure::new(format!(
                "the signature is of another decision: its text has another `{line}`"
            ))
            .with_help("`--to-sign` prints what is signed for this one")),
        };
    }
    match SigningKey::find(args.sign_with.as_deref())? {
        Some(key) => key.sign(&text(now)?, by, now).map(Some),
        None => Ok(None),
    }
}

/// Returns the first word of the first line in which two texts to be signed differ.
fn differing_line<'t>(text: &'t str, other: &str) -> Option<&'t str> {
    if text == other {
        return None;
    }
    let mut others = other.lines();
    let line = text.lines().find(|line| others.next() != Some(*line));
    let word = line.and_then(|line| line.split(' ').next());
    Some(word.unwrap_or("end"))
}

/// Asks at the terminal whether a deed is meant. Returns none where nobody can be asked.
fn confirm(deed: &str) -> Result<Option<()>, Failure> {
    match printer::ask(&format!("{deed}: is this the one? [y/N] ")) {
        None => Ok(None),
        Some(answer) if is_yes(&answer) => Ok(Some(())),
        Some(_) => Err(not_confirmed()),
    }
}

/// Describes a request whole, as somebody sees it who decides about it.
///
/// Each row of what others wrote has a mark, or stands behind a word of ours and is short.
pub(in crate::commands) fn describe_request(loaded: &Loaded, id: &str, now: u64) -> String {
    let Some(request) = loaded.state.requests.get(id) else {
        return format!("`{id}`");
    };
    let opened = &request.opened;
    let ago = format_length(now.saturating_sub(request.time));
    let workflow = &loaded.state.workflow;
    let asker = brief(&request.asker.to_string());
    let mut text = format!("{id}  {workflow}, by {asker}, {ago} ago\n");
    text += &quote(&opened.prompt);
    if !opened.choices.is_empty() {
        text.push_str("  choices:\n");
        opened
            .choices
            .iter()
            .for_each(|choice| text += &quote(choice));
    }
    if !opened.details.is_null() {
        text += &labeled("details:", &visible::json(&opened.details.to_string()));
    }
    if let Some(waiting) = &opened.event {
        text += &labeled("event", &waiting.event);
        for lead in loaded.workflow.leads(waiting) {
            text += &describe_lead(&lead);
        }
        if let Some(data) = &waiting.data {
            text += &labeled("with", &visible::json(&data.to_string()));
        }
        for (artifact, revision) in waiting.artifacts.iter().flatten() {
            text += &labeled("artifact", &format!("{artifact}, revision {revision}"));
        }
        let context = serde_json::to_string(&loaded.state.context).unwrap_or_default();
        text += &labeled("data", &visible::json(&context));
    }
    for state in &loaded.state.leaves {
        text += &labeled("in", state);
    }
    text.pop();
    text
}

/// Says where a transition leads that an approval would have taken.
fn describe_lead(lead: &Lead) -> String {
    let from = lead.from.as_deref().unwrap_or("anywhere");
    let to = match lead.to.as_slice() {
        [] => "the same".to_owned(),
        to => to.join(", "),
    };
    let mut text = labeled("leads", &format!("{from} → {to}"));
    if let Some(guard) = &lead.guard {
        text += &labeled("  if", guard);
    }
    if !lead.actions.is_empty() {
        text += &labeled("  doing", &lead.actions.join(", "));
    }
    text
}

/// Describes an answer as a deed.
///
/// It names the request, its event and its asker once more: what stands above may be long.
fn describe_reply(reply: &Reply, loaded: &Loaded, opened: &Opened) -> String {
    let id = &opened.request;
    let mut about = format!("`{id}`");
    if let Some(waiting) = &opened.event {
        let _ = write!(about, ", event `{}`", brief(&waiting.event));
    }
    if let Some(request) = loaded.state.requests.get(id) {
        let _ = write!(about, ", asked by {}", brief(&request.asker.to_string()));
    }
    match reply {
        Reply::Approve => format!("approve {about}"),
        Reply::Deny => format!("deny {about}"),
        Reply::SendBack => format!("send back {about}"),
        Reply::Value(value) => format!("answer {about}, with {value}"),
    }
}

/// Finds the request that a word means: any by its id, or the only open one of a run.
fn find_request(runs: &Runs, word: &str) -> Result<(Loaded, Opened), Failure> {
    let id_run: Option<RunId> = run_of_request(word);
    let has_id_shape = id_run.is_some();
    if let Some(run) = id_run.filter(|run| runs.store().head(run).is_ok()) {
        let loaded = runs.catch_up(&run)?;
        return match loaded.state.requests.get(word) {
            Some(request) => {
                let opened = request.opened.clone();
                Ok((loaded, opened))
            }
            None => Err(unknown_request(word, &open_ids(&loaded))),
        };
    }
    let loaded = runs::load(runs, word).map_err(|failure| {
        if has_id_shape {
            unknown_request(word, &[])
        } else {
            failure
        }
    })?;
    match loaded.state.open_requests().as_slice() {
        [only] => {
            let opened = only.opened.clone();
            Ok((loaded, opened))
        }
        _ => Err(unknown_request(word, &open_ids(&loaded))),
    }
}

fn open_ids(loaded: &Loaded) -> Vec<String> {
    let open = loaded.state.open_requests().into_iter();
    open.map(|request| request.opened.request.clone()).collect()
}

fn unknown_request(word: &str, open: &[String]) -> Failure {
    let failure = if open.len() > 1 && !word.contains(':') {
        let message = format!("`{word}` has several open requests");
        Failure::new(message).with_code(AMBIGUOUS_REQUEST)
    } else {
        let message = format!("there is no open request `{word}`");
        Failure::new(message).with_code("unknown_request")
    };
    match open {
        [] => failure.with_help("`statemark inbox` lists the open requests"),
        _ => failure.with_help(format!("open: {}", open.join(", "))),
    }
}

/// Parses a word as the answer to a request.
fn parse_answer(opened: &Opened, word: &str) -> Result<Value, Failure> {
    let refuse = |why: &str, help: &str| {
        let message = format!("that can't answer `{}`: {why}", opened.request);
        Failure::new(message)
            .with_code("bad_answer")
            .with_help(help)
    };
    match opened.kind {
        RequestKind::Text | RequestKind::Select => Ok(Value::String(word.to_owned())),
        RequestKind::Json => {
            let answer = serde_json::from_str(word).map_err(|error| {
                refuse(
                    &format!("the answer must be JSON ({error})"),
                    "quote it for the shell: '{\"rounds\": 3}'",
                )
            })?;
            let repeated = describe_repeated_key(word.as_bytes());
            repeated.map_or(Ok(answer), |what| Err(refuse(&what, "write each key once")))
        }
        RequestKind::Confirm => match word.to_ascii_lowercase().as_str() {
            "yes" | "y" | "true" => Ok(Value::Bool(true)),
            "no" | "n" | "false" => Ok(Value::Bool(false)),
            _ => Err(refuse(
                "the answer must be yes or no",
                "write `yes` or `no`",
            )),
        },
        RequestKind::Approval => Err(refuse(
            "it is an approval",
            "`statemark approve` and `statemark deny` decide it",
        )),
        RequestKind::Review => Err(refuse(
            "it is a review",
            "`statemark approve` accepts it, `statemark deny --comment …` sends it back",
        )),
    }
}

/// Ask a person something about a run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark ask build-7 'Which branch?'\n  \
                        statemark ask build-7 'Which color?' --kind select --choice red --choice blue\n  \
                        statemark ask build-7 'Ship it?' --kind approval --expires 2h\n  \
                        statemark ask build-7 'How many?' --kind json --schema '{\"type\": \"integer\"}'\n\n\
                        Prints the request's id. The run goes on, unless the request is --blocking or an approval.\n\
                        `statemark inbox` lists the open requests.")]
pub(crate) struct AskArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    run: String,
    /// The question
    #[arg(value_name = "QUESTION")]
    question: String,
    /// The kind of answer: text, confirm, select, json, review or approval
    #[arg(long, value_name = "KIND", default_value = "text", value_parser = args::name::<RequestKind>)]
    kind: RequestKind,
    /// A choice; may be given several times
    #[arg(long = "choice", value_name = "TEXT")]
    choices: Vec<String>,
    /// JSON Schema of the answer
    #[arg(long, value_name = "JSON", value_parser = args::json)]
    schema: Option<Value>,
    /// Details for the person who answers, as JSON
    #[arg(long, value_name = "JSON", value_parser = args::json)]
    details: Option<Value>,
    /// The active state that the question is about; leaving it withdraws the question
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// Who may answer; may be given several times
    #[arg(long = "approver", value_name = "NAME")]
    approvers: Vec<String>,
    /// Take no event until the question is answered
    #[arg(long)]
    blocking: bool,
    /// Time to answer, such as 30m or 2h; then the run takes `request.expired`
    #[arg(long, value_name = "TIME", value_parser = args::milliseconds)]
    expires: Option<u64>,
    /// Idempotency key: a repeated order gets the first answer again
    #[arg(long, value_name = "KEY")]
    key: Option<Key>,
    #[command(flatten)]
    store: StoreArgs,
}

impl From<&AskArgs> for statemark_runs::OpenRequest {
    fn from(args: &AskArgs) -> Self {
        Self {
            choices: args.choices.clone(),
            schema: args.schema.clone(),
            details: args.details.clone().unwrap_or_default(),
            state: args.state.clone(),
            approvers: args.approvers.clone(),
            blocking: args.blocking,
            expires_in: args.expires,
            ..Self::new(args.kind, args.question.clone())
        }
    }
}

/// Asks a person.
pub(in crate::commands) fn ask(args: &AskArgs, printer: &mut Printer) -> CommandResult {
    let runs = runs::open(&args.store)?;
    let written = runs::execute(
        &runs,
        &args.run,
        args.key.as_ref(),
        &statemark_runs::OpenRequest::from(args),
    )?;
    print_outcome(&written, &runs, &args.store, printer)
}

/// Withdraw a question.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
                        statemark withdraw build-7:9 --reason 'found it myself'")]
pub(crate) struct WithdrawArgs {
    /// The request, or a run with only one open request
    #[arg(value_name = "REQUEST")]
    request: String,
    /// The reason
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    store: StoreArgs,
}

/// Withdraws a question.
pub(in crate::commands) fn withdraw(args: &WithdrawArgs, printer: &mut Printer) -> CommandResult {
    let runs = runs::open(&args.store)?;
    let (loaded, request) = find_request(&runs, &args.request)?;
    let order = runs::order(&runs, loaded.run, None)?;
    let withdraw = WithdrawRequest {
        request: request.request,
        reason: args.reason.clone(),
    };
    let written = runs.execute(&order, &withdraw)?;
    print_outcome(&written, &runs, &args.store, printer)
}
