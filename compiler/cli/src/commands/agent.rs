//! `agent`: an executor works on a run, in this terminal; or says what it would be told.

use std::path::PathBuf;
use std::sync::Mutex;

use serde_json::json;
use statemark_executor::{Executor, Happened, Happening, LEASED, Measure, Surroundings, line_of};
use statemark_runs::maintenance::Progress;
use statemark_runs::{Loaded, RunError, RunId, StartRun, StoreError, shell_word};
use statemark_tools::{Stop, Work};

use super::hook;
use super::serve::{Prepared, ServeArgs, prepare};
use crate::args::{SpecsArgs, StoreArgs};
use crate::failure::{CommandResult, ExitStatus, Failure, UNKNOWN_RUN};
use crate::printer::{Footer, Printer, Unit};
use crate::signals::watch_end;
use crate::{environment, files, places, project, runs};

/// Have agents work in the states of a run.
#[derive(Debug, clap::Args)]
pub(crate) struct AgentArgs {
    #[command(subcommand)]
    command: AgentCommand,
}

#[derive(Debug, clap::Subcommand)]
enum AgentCommand {
    Run(RunArgs),
    Prompt(PromptArgs),
}

/// Work on a run until it ends or waits for somebody.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark agent run bug-fix --task 'login fails with an empty password'\n  \
                        statemark agent run bug-fix-1 --until review\n  \
                        statemark agent run build-7 --model ollama:qwen3:8b\n\n\
                        Who works in a state is said by its key `executor` or `model`, and by `[executor]` in\n\
                        statemark.toml (`statemark help configuration`). Agents have the tools that `statemark serve`\n\
                        would offer here, as far as the state grants them. Ctrl-C ends the attempt; the same command\n\
                        goes on with the run. With `--json`, what happens is printed as it happens, an object a line.\n\
                        Exit code 0: the run has ended, or is where it was to be driven to; 1: it waits for somebody.")]
struct RunArgs {
    /// The run, the beginning of its id, or a workflow to start a run of
    #[arg(value_name = "RUN|WORKFLOW")]
    subject: String,
    /// The id of the run that is started
    #[arg(long, value_name = "RUN")]
    run_id: Option<RunId>,
    /// Stop once this state is active
    #[arg(long, value_name = "STATE")]
    until: Option<String>,
    #[command(flatten)]
    wish: WishArgs,
    #[command(flatten)]
    specs: SpecsArgs,
    #[command(flatten)]
    store: StoreArgs,
}

/// Show what agents would be told in the states of a run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  statemark agent prompt bug-fix-1")]
struct PromptArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    run: String,
    #[command(flatten)]
    wish: WishArgs,
    #[command(flatten)]
    specs: SpecsArgs,
    #[command(flatten)]
    store: StoreArgs,
}

/// What is wanted beside what states say.
#[derive(Debug, clap::Args)]
struct WishArgs {
    /// What the run is to achieve
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// The only state to work in
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// The model instead of the states' own
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Where that model is: an API like OpenAI's, on this machine or in the configuration
    #[arg(long, value_name = "URL", requires = "model")]
    url: Option<String>,
    /// The folder to work in, below the project's root
    #[arg(long, value_name = "FOLDER")]
    workdir: Option<PathBuf>,
}

impl WishArgs {
    fn work(&self, run: RunId) -> Work {
        Work {
            task: self.task.clone(),
            state: self.state.clone(),
            model: self.model.clone(),
            url: self.url.clone(),
            workdir: self
                .workdir
                .as_ref()
                .map(|it| it.to_string_lossy().into_owned()),
            ..Work::on(run)
        }
    }
}

/// Carries a command about executors out.
pub(super) fn run(
    args: &AgentArgs,
    program: clap::Command,
    printer: &mut Printer,
) -> CommandResult {
    match &args.command {
        AgentCommand::Run(args) => work(args, program, printer),
        AgentCommand::Prompt(args) => prompt(args, program, printer),
    }
}

/// Creates the executor of a prepared server.
pub(super) fn executor(prepared: &Prepared, store: Option<&str>) -> Result<Executor, Failure> {
    let here = project::project_folder()?;
    let program = std::env::current_exe()
        .map_err(|error| Failure::new(format!("the path of this program isn't known: {error}")))?;
    let program = program.to_string_lossy().into_owned();
    let place = places::check_place(project::root(&here))?;
    let store = project::existing_store_address(store)?;
    let is_server = statemark_stores::file_of(&store).is_none();
    let has_password = statemark_stores::holds_password(&store)
        || is_server && environment::read("PGPASSWORD").is_some();
    let settings = project::executors()?;
    let opencode_plugin = settings.opencode.as_ref();
    let opencode_plugin = opencode_plugin.map(|_| write_opencode_plugin(&program));
    let gemini_settings = settings.gemini.as_ref();
    let gemini_settings = gemini_settings.map(|_| write_gemini_settings(&program));
    let surroundings = Surroundings {
        opencode_plugin: opencode_plugin.transpose()?,
        gemini_settings: gemini_settings.transpose()?,
        place,
        claude_settings: hook::claude_settings(&program),
        program,
        store: (!has_password).then_some(store),
        variable: std::sync::Arc::new(environment::read),
    };
    let tokio = prepared.tokio.handle().clone();
    Ok(Executor::new(
        &prepared.dispatcher,
        tokio,
        settings,
        surroundings,
    ))
}

/// Writes the plugin by which OpenCode calls this program.
fn write_opencode_plugin(program: &str) -> Result<PathBuf, Failure> {
    let command = format!("{} hook opencode --required", shell_word(program));
    write_for_client("opencode.js", &hook::opencode_plugin(&command))
}

/// Writes the settings by which Gemini CLI has this program as its hook and its server.
///
/// They take the place of the system's: no other settings come before those of the project.
fn write_gemini_settings(program: &str) -> Result<PathBuf, Failure> {
    let system = environment::GEMINI_SYSTEM.value().map(PathBuf::from);
    let system = system.unwrap_or_else(|| hook::GEMINI_SYSTEM_SETTINGS.into());
    if system.exists() {
        return Err(Failure::new(format!(
            "`{}` has Gemini CLI's settings for this system, and the executor `gemini` would work without them",
            files::display(&system)
        ))
        .with_help("leave `[executor.gemini]` out, and let `gemini` work as a client: `statemark hook install gemini`"));
    }
    let settings = hook::gemini_settings(program);
    write_for_client("gemini.json", &format!("{settings:#}\n"))
}

/// Writes a file for an agent's command line, where no tool of an agent may change it.
fn write_for_client(name: &str, text: &str) -> Result<PathBuf, Failure> {
    let folder = project::make_folder(project::folder()?)?;
    let folder = folder
        .canonicalize()
        .map_err(|error| files::unreadable(&folder, &error))?;
    let file = folder.join(name);
    files::write(&file, text.as_bytes())?;
    Ok(file)
}

/// Works on a run.
fn work(args: &RunArgs, program: clap::Command, printer: &mut Printer) -> CommandResult {
    let is_asked = watch_end()?;
    // The store is made as `start` makes it, if the run is to be started.
    drop(runs::open_or_create(&args.store)?);
    let serve = ServeArgs::for_executor(&args.specs.specs, args.store.store.as_ref());
    let prepared = prepare(&serve, program)?;
    let executor = executor(&prepared, args.store.store.as_deref())?;
    let loaded = find_or_start(args, &prepared)?;
    check_state(&loaded, args.until.as_deref())?;
    check_state(&loaded, args.wish.state.as_deref())?;
    let run = loaded.run;
    let work = args.wish.work(run.clone());
    let word = shell_word(run.as_str());
    if !args.store.json {
        printer.remark(&format!("run {run}\n"));
    }
    let lines = Mutex::new(Lines {
        footer: Footer::new(printer),
        run: &run,
        json: args.store.json,
    });
    let show = |happened: &Happened| {
        let mut lines = lines
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        lines.print(happened);
    };
    let worked = executor.drive(&work, args.until.as_deref(), &is_asked, &show);
    drop(lines);
    prepared.close();
    let worked = worked.map_err(|problem| {
        let failure = Failure::new(problem.message);
        match problem.code.as_str() {
            LEASED => failure.with_help(format!(
                "`statemark transcript {word} --follow` shows what it does"
            )),
            _ => failure,
        }
    })?;
    if args.store.json {
        printer.json(&json!({"happened": "stopped", "run": run, "worked": worked}));
    } else {
        let tokens = worked.input_tokens.saturating_add(worked.output_tokens);
        let noun = if worked.attempts == 1 {
            "attempt"
        } else {
            "attempts"
        };
        printer.result(&format!(
            "{run}: {} ({} {noun}, {tokens} tokens)\n",
            worked.reason, worked.attempts
        ));
        match worked.stopped {
            Stop::Waiting => printer.help(&format!(
                "`statemark why {word}` says what would move it; `statemark inbox` lists what people are asked"
            )),
            Stop::Paused => printer.help(&format!("`statemark continue {word}` lets it go on")),
            Stop::NoExecutor => {
                printer.help("`statemark help configuration` has the table `[executor]`; `--model` names a model for this once");
            }
            Stop::Cancelled => {
                printer.help(&format!("`statemark agent run {word}` goes on with it"))
            }
            Stop::Ended | Stop::Reached => {}
        }
    }
    prepared.tokio.shutdown_background();
    Ok(match worked.stopped {
        Stop::Ended | Stop::Reached => ExitStatus::Clean,
        _ => ExitStatus::Findings,
    })
}

/// Shows prompts.
fn prompt(args: &PromptArgs, program: clap::Command, printer: &mut Printer) -> CommandResult {
    let serve = ServeArgs::for_executor(&args.specs.specs, args.store.store.as_ref());
    let prepared = prepare(&serve, program)?;
    let executor = executor(&prepared, args.store.store.as_deref())?;
    let run = runs::load(prepared.dispatcher.runs(), &args.run)?.run;
    let prompts = executor.prompts(&args.wish.work(run.clone()));
    prepared.close();
    let prompts = prompts.map_err(|problem| Failure::new(problem.message))?;
    if prompts.is_empty() {
        return Err(
            Failure::new(format!("no agent can work on `{run}` now")).with_help(format!(
                "`statemark why {}` says what it waits for",
                shell_word(run.as_str())
            )),
        );
    }
    for (number, (_, prompt)) in prompts.iter().enumerate() {
        if number > 0 {
            printer.result("\n---\n\n");
        }
        printer.result(&prompt.text);
    }
    prepared.tokio.shutdown_background();
    Ok(ExitStatus::Clean)
}

/// Finds the run that a word means, or starts one of the workflow that it names.
fn find_or_start(args: &RunArgs, prepared: &Prepared) -> Result<Loaded, Failure> {
    let all = prepared.dispatcher.runs();
    let subject = &args.subject;
    let is_workflow = all.workflows().find(subject).is_some();
    let names_run = subject.parse::<RunId>().is_ok_and(|run| {
        !matches!(
            all.load(&run),
            Err(RunError::Store(StoreError::NotFound { .. }))
        )
    });
    if !is_workflow || names_run {
        let is_none = |failure: &Failure| failure.code() == UNKNOWN_RUN;
        let found = runs::try_find(all.store(), subject)?;
        if found.as_ref().is_err_and(is_none) {
            let message = format!("there is neither a run nor a workflow `{subject}`");
            return Err(Failure::new(message).with_help(
                "`statemark runs` lists the runs; `statemark lint` says why a spec defines no workflow",
            ));
        }
        let loaded = runs::load(all, subject)?;
        if !project::has_own_store(args.store.store.as_deref())? {
            check_project(&loaded)?;
        }
        return Ok(loaded);
    }
    let start = StartRun {
        workflow: subject.clone(),
        title: args
            .wish
            .task
            .as_ref()
            .and_then(|it| it.lines().next())
            .map(str::to_owned),
        project: Some(project::id(".")?),
        ..StartRun::default()
    };
    let written = runs::begin(all, args.run_id.as_ref(), subject, None, |order| {
        all.execute(order, &start)
    })?;
    Ok(written.loaded)
}

/// Fails if a run is of another project: this one's programs and settings aren't meant for it.
fn check_project(loaded: &Loaded) -> Result<(), Failure> {
    let own = project::id(".")?;
    match &loaded.state.project {
        Some(project) if *project != own => Err(Failure::new(format!(
            "`{}` is a run of another project, whose programs and settings do its work",
            loaded.run
        ))
        .with_help("call it in that project's folder")),
        _ => Ok(()),
    }
}

fn check_state(loaded: &Loaded, state: Option<&str>) -> Result<(), Failure> {
    match state {
        Some(state) => statemark_tools::lookup::check_state(&loaded.workflow, Some(state))
            .map_err(|problem| Failure::new(problem.message)),
        None => Ok(()),
    }
}

/// Prints what happens, and how far the work has come.
struct Lines<'p> {
    footer: Footer<'p>,
    run: &'p RunId,
    json: bool,
}

impl Lines<'_> {
    fn print(&mut self, happened: &Happened) {
        if self.json {
            self.footer.json(happened);
        } else if let Happening::Progressed {
            measure,
            done,
            total,
        } = happened.what
        {
            let (work, unit) = match measure {
                Measure::Tokens => ("budget", Unit::Tokens),
                Measure::Runs => ("runs below", Unit::Runs),
            };
            if happened.run == *self.run {
                self.footer.show(work, unit, Progress { done, total });
            }
        } else if let Some(line) = line_of(happened, self.run) {
            self.footer.remark(&format!("  {line}\n"));
        }
    }
}
