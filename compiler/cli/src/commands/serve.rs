//! `serve`: agents drive runs, by MCP.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use statemark_executor::{Executor, Happened, SharedExecutor, line_of};
use statemark_runs::authority::{CreateSessionToken, GiveUpToken};
use statemark_runs::files::FolderLock;
use statemark_runs::{RunError, Runs, Store, StoreError, Workflows as _};
use statemark_server::{HttpOptions, Server, serve_http, serve_stdio};
use statemark_tools::{Dispatcher, Options, Set};
use statemark_upstream::{Upstreams, Use};

use tokio::runtime::Runtime;

use super::docs;
use crate::caller::{self, Identity};
use crate::catalog::SpecCatalog;
use crate::environment;
use crate::failure::{CommandResult, ExitStatus, Failure, system_message};
use crate::printer::Printer;
use crate::project;
use crate::runs::{self, Served};
use crate::signals::end_signal;
use crate::upstream::{self, bad_names};

/// The session file, in the project's own folder.
const SESSION_FILE: &str = "mcp-session.json";

/// Longest name of a server. Unit: bytes. Why: clients put it before tools' names, of 64 bytes in all.
const MAX_SERVER_NAME: usize = 32;

/// Time in which the servers whose tools are offered have to be there.
///
/// Why: a client waits for the list of tools.
/// One that takes longer comes later, and clients are told.
const UPSTREAM_PATIENCE: Duration = Duration::from_secs(5);

/// Time in which another server has to answer. Why: it is on this machine.
const PATIENCE: Duration = Duration::from_millis(200);

/// Serve the workflows of specs to agents, by MCP.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark serve                          over standard input and output\n  \
                        statemark serve examples --http 127.0.0.1:7420\n  \
                        claude mcp add statemark -- statemark serve\n\n\
                        Workflows in ~/.config/statemark/workflows are served as well, unless one of the specs has their id.\n\
                        The server keeps no run in memory: kill it and start it again, and every run is where it was. Over\n\
                        HTTP, callers need tokens (`statemark token create`) as soon as there is one; without any, only this\n\
                        machine has access. `/healthz` answers while the process lives, `/readyz` while its store does.\n\
                        What it does is logged to standard error (`--log`, `--log-format json`).")]
pub(crate) struct ServeArgs {
    /// Files and folders with the specs of workflows
    #[arg(default_value = ".", value_name = "PATH")]
    specs: Vec<PathBuf>,
    /// Files and folders with workflows of no project, such as a plugin's: served, too, unless one of the specs has their id
    #[arg(long, value_name = "PATH")]
    library: Vec<PathBuf>,
    /// Listen here instead, such as 127.0.0.1:7420; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS")]
    http: Option<SocketAddr>,
    /// A host name that callers use over HTTP, such as runs.example.org, besides the loopback's
    #[arg(long, value_name = "NAME", requires = "http")]
    host: Vec<String>,
    /// A web page that may call over HTTP, such as https://runs.example.org; by default, none may
    #[arg(long, value_name = "URL", requires = "http")]
    origin: Vec<String>,
    /// The sets of tools to offer: runs, human, artifacts, time, author, project, agent [default: the first three and
    /// upstream], the packs of an agent's own tools: fs, git, exec, env, web, media, and upstream, the tools of other servers
    #[arg(long, value_name = "SETS", value_delimiter = ',', value_parser = own_set)]
    toolsets: Vec<Set>,
    /// Offer another system's tools instead: statewright, smithers, ralph, rstn
    #[arg(long, value_name = "PROFILES", value_delimiter = ',', value_parser = profile)]
    profile: Vec<Set>,
    /// The only tools to offer, of any set; an empty value offers none
    #[arg(long, value_name = "TOOLS", value_delimiter = ',', num_args = 0..)]
    allowed_tools: Option<Vec<String>>,
    /// Offer only tools that change nothing
    #[arg(long)]
    read_only: bool,
    /// The only run that callers may touch, or the beginning of its id
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// The server's name in the session file, from which clients make the names of its tools, such as `rstn`
    #[arg(
        long,
        value_name = "NAME",
        default_value = "statemark",
        requires = "http",
        value_parser = server_name
    )]
    name: String,
    /// Work on the runs of this project that are ready, as `[executor]` in `statemark.toml` says
    #[arg(long)]
    execute: bool,
    /// How many attempts to make at once, over all runs [default: 2, or `parallel` of `[executor]`]
    #[arg(long, value_name = "N", requires = "execute")]
    parallel: Option<usize>,
    /// Where runs are kept: a file or an address
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
}

/// Parses the name of a server: clients make parts of names of it.
fn server_name(word: &str) -> Result<String, String> {
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
    if !word.is_empty() && word.len() <= MAX_SERVER_NAME && word.chars().all(is_name) {
        return Ok(word.to_owned());
    }
    Err(format!(
        "it has letters, digits, `-` and `_`, at most {MAX_SERVER_NAME}"
    ))
}

fn own_set(word: &str) -> Result<Set, String> {
    let own = [&Set::OWN[..], &statemark_packs::SETS, &[Set::Upstream]];
    parse_set(&own.concat(), word)
}

fn profile(word: &str) -> Result<Set, String> {
    parse_set(&statemark_profiles::SETS, word)
}

fn parse_set(sets: &[Set], word: &str) -> Result<Set, String> {
    let set = sets.iter().find(|set| set.name() == word).copied();
    set.ok_or_else(|| {
        let names: Vec<&str> = sets.iter().map(|set| set.name()).collect();
        format!("there are {}", names.join(", "))
    })
}

/// Returns the sets to offer: what the command names, else the default ones; and packs.
///
/// A project's packs are offered unless the command names sets by itself; Ralph's profile has packs in any case.
fn offered_sets(args: &ServeArgs) -> Result<Vec<Set>, Failure> {
    let mut sets = [&args.toolsets[..], &args.profile].concat();
    let with_packs = sets.contains(&statemark_profiles::WITH_PACKS);
    let of_project = match args.toolsets.is_empty() {
        true => project::packs()?,
        false => Vec::new(),
    };
    if sets.is_empty() && !of_project.is_empty() {
        sets.extend(Set::DEFAULT);
    }
    let of_profile = with_packs.then_some(statemark_packs::RALPH);
    for set in of_profile.into_iter().flatten().chain(of_project) {
        if !sets.contains(&set) {
            sets.push(set);
        }
    }
    if args.toolsets.is_empty() && !sets.is_empty() {
        sets.push(Set::Upstream);
    }
    Ok(sets)
}

/// The tools of a server or of an executor, and what they come from.
pub(super) struct Prepared {
    pub(super) dispatcher: Arc<Dispatcher>,
    pub(super) tokio: Runtime,
    upstreams: Arc<Upstreams>,
    about: About,
}

impl Prepared {
    /// Ends the servers that were started.
    pub(super) fn close(&self) {
        self.tokio.block_on(self.upstreams.close());
    }
}

impl ServeArgs {
    /// Returns the arguments of an executor, which has the tools of a server of the same project.
    pub(super) fn for_executor(specs: &[PathBuf], store: Option<&String>) -> Self {
        Self {
            specs: specs.to_vec(),
            library: Vec::new(),
            http: None,
            host: Vec::new(),
            origin: Vec::new(),
            toolsets: Vec::new(),
            profile: Vec::new(),
            allowed_tools: None,
            read_only: false,
            run: None,
            name: String::new(),
            execute: false,
            parallel: None,
            store: store.cloned(),
        }
    }
}

/// Makes the dispatcher of a server or of an executor, and starts the servers whose tools it offers.
pub(super) fn prepare(args: &ServeArgs, program: clap::Command) -> Result<Prepared, Failure> {
    let Served { store, clock, name } = runs::open_for_server(args.store.as_deref())?;
    let catalog = SpecCatalog::read(&args.specs)?
        .with_global()?
        .with_library(&args.library)?
        .with_builtin(&builtin_specs(&args.profile))
        .with_pages(|| docs::pages(program));
    let tokio = statemark_server::runtime().map_err(|error| cannot_serve(&error))?;
    let upstreams = upstreams(args, &store, &catalog, &tokio)?;
    let sets = offered_sets(args)?;
    let about = About {
        store: name,
        workflows: catalog.ids().len(),
        files_with_errors: catalog.broken().len(),
    };
    let allowed = args.allowed_tools.clone();
    let allowed = allowed.map(|all| all.into_iter().filter(|name| !name.is_empty()).collect());
    let run = args.run.as_deref();
    let options = Options {
        sets,
        extra: extra_tools(&args.profile),
        allowed,
        upstream_prefixes: upstreams.prefixes(),
        read_only: args.read_only,
        run_required: project::requires_hook()?,
        own_store: project::has_own_store(args.store.as_deref())?,
        run: run.map(|run| runs::find(&*store, run)).transpose()?,
        // A server over HTTP belongs to no task.
        environment: if args.http.is_some() {
            BTreeMap::new()
        } else {
            environment()
        },
    };
    let others = statemark_profiles::all()
        .into_iter()
        .chain(statemark_packs::all());
    let dispatcher = Dispatcher::new(store, Arc::new(catalog), clock, options, others.collect());
    let dispatcher = dispatcher.map_err(|error| Failure::new(error.to_string()))?;
    let dispatcher = Arc::new(dispatcher);
    start_upstreams(&tokio, &upstreams, &dispatcher, args)?;
    Ok(Prepared {
        dispatcher,
        tokio,
        upstreams,
        about,
    })
}

/// Serves until the process is asked to end. The help of the program is documentation.
pub(super) fn run(args: &ServeArgs, program: clap::Command, _: &mut Printer) -> CommandResult {
    let prepared = prepare(args, program)?;
    let worker = if args.execute {
        Some(Worker::begin(&prepared, args)?)
    } else {
        None
    };
    let served = serve(
        args,
        Arc::clone(&prepared.dispatcher),
        &prepared.about,
        &prepared.tokio,
    );
    if let Some(worker) = worker {
        worker.end();
    }
    prepared.close();
    match args.http {
        // Calls that are ended write down how, and the end waits for that.
        Some(_) => drop(prepared.tokio),
        // A thread that still waits for input must not delay the end; calls have been waited for.
        None => prepared.tokio.shutdown_background(),
    }
    served?;
    Ok(ExitStatus::Clean)
}

/// Time in which attempts may come to their end when a server that executes is asked to end.
///
/// Why: service managers kill after 90 seconds. An attempt that is cut off is taken up again.
const DRAIN: Duration = Duration::from_secs(30);

/// The executor of a server, which looks for runs on a thread of its own.
struct Worker {
    executor: Arc<Executor>,
    thread: std::thread::JoinHandle<()>,
}

impl Worker {
    fn begin(prepared: &Prepared, args: &ServeArgs) -> Result<Self, Failure> {
        let executor = Arc::new(super::agent::executor(prepared, args.store.as_deref())?);
        let shared = Arc::new(SharedExecutor(Arc::clone(&executor)));
        prepared.dispatcher.set_executor(shared);
        let own = Arc::clone(&executor);
        let (project, parallel) = (project::id(".")?, args.parallel);
        let thread = std::thread::Builder::new().name("statemark-worker".to_owned());
        let thread = thread.spawn(move || {
            let log_line = |happened: &Happened| {
                if let Some(line) = line_of(happened, &happened.run) {
                    tracing::info!(run = %happened.run, "{line}");
                }
            };
            while let Err(error) = own.serve(Some(&project), parallel, &log_line) {
                tracing::error!("work can't be looked for: {error}");
                std::thread::sleep(UPSTREAM_PATIENCE);
            }
        });
        let thread = thread.map_err(|error| cannot_serve(&error))?;
        Ok(Self { executor, thread })
    }

    /// Lets attempts come to their end for a while, and ends them then.
    fn end(self) {
        self.executor.drain();
        let until = std::time::Instant::now() + DRAIN;
        while !self.thread.is_finished() && std::time::Instant::now() < until {
            std::thread::sleep(PATIENCE);
        }
        self.executor.cancel();
        drop(self.thread.join());
    }
}

/// Serves as the arguments say, to its end.
fn serve(
    args: &ServeArgs,
    dispatcher: Arc<Dispatcher>,
    about: &About,
    tokio: &Runtime,
) -> Result<(), Failure> {
    match args.http {
        Some(address) => {
            let serving = listen(args, address, dispatcher, about);
            tokio.block_on(serving)
        }
        None => {
            let caller = caller::stdio_caller(dispatcher.runs())?;
            let server = Server::new(dispatcher, caller);
            about.log_start("standard input and output", "the client, as an agent");
            let outcome = tokio.block_on(async {
                let end = end_signal()?;
                let stop = async { log_stop(end.await) };
                serve_stdio(server, stop).await
            });
            tracing::info!("stopped");
            outcome.map_err(|error| cannot_serve(&error))
        }
    }
}

/// Returns the other servers whose tools are to be offered; none is started.
fn upstreams(
    args: &ServeArgs,
    store: &Arc<dyn Store>,
    catalog: &SpecCatalog,
    tokio: &Runtime,
) -> Result<Arc<Upstreams>, Failure> {
    let is_asked = args.toolsets.is_empty() || args.toolsets.contains(&Set::Upstream);
    // Servers that start each other would never end.
    let is_offered = is_asked && environment::UPSTREAM.text().is_none();
    let bases = args
        .profile
        .iter()
        .map(|set| statemark_profiles::upstream_base(*set));
    let base = bases.max().unwrap_or_default();
    let servers = upstream::read(&*runs::over(store)?.authority()?, catalog, base)?;
    let declared = if is_offered {
        servers.declared
    } else {
        Vec::new()
    };
    if is_offered {
        for remark in &servers.remarks {
            tracing::warn!("{remark}");
        }
    }
    let all = Upstreams::new(declared, &servers.place, Use::Serve, tokio.handle());
    all.map(Arc::new).map_err(|names| bad_names(&names))
}

/// Starts other servers, and offers their tools from now on.
fn start_upstreams(
    tokio: &Runtime,
    upstreams: &Arc<Upstreams>,
    dispatcher: &Arc<Dispatcher>,
    args: &ServeArgs,
) -> Result<(), Failure> {
    let started = tokio.block_on(upstreams.start(UPSTREAM_PATIENCE));
    let unknown = args.allowed_tools.as_deref().unwrap_or_default();
    let unknown = upstreams.unknown(unknown);
    let defect = match (started, unknown.first()) {
        (Err(names), _) => Some(bad_names(&names)),
        (Ok(()), Some(name)) => Some(Failure::new(format!("there is no tool `{name}`"))),
        (Ok(()), None) => None,
    };
    if let Some(defect) = defect {
        tokio.block_on(upstreams.close());
        return Err(defect);
    }
    dispatcher.set_upstream(upstreams.tools());
    let weak = Arc::downgrade(dispatcher);
    upstreams.publish(move |tools| {
        let dispatcher = weak.upgrade();
        dispatcher.is_some_and(|dispatcher| {
            dispatcher.set_upstream(tools);
            true
        })
    });
    Ok(())
}

/// Returns our own tools that the profiles need beside theirs.
fn extra_tools(profiles: &[Set]) -> Vec<&'static str> {
    let each = profiles
        .iter()
        .map(|set| statemark_profiles::extra_tools(*set));
    each.flatten().copied().collect()
}

/// Returns the specs that the profiles bring along: the file's name and its text.
fn builtin_specs(profiles: &[Set]) -> Vec<(&'static str, &'static str)> {
    let brings = profiles
        .iter()
        .any(|set| statemark_profiles::brings_session(*set));
    Vec::from_iter(brings.then_some(("session.md", statemark_profiles::SESSION_SPEC)))
}

/// Serves over HTTP.
async fn listen(
    args: &ServeArgs,
    address: SocketAddr,
    dispatcher: Arc<Dispatcher>,
    about: &About,
) -> Result<(), Failure> {
    let options = HttpOptions {
        address,
        hosts: args.host.clone(),
        origins: args.origin.clone(),
        caller: caller::anonymous_caller()?,
    };
    let end = end_signal().map_err(|error| cannot_serve(&error))?;
    let serving = serve_http(Arc::clone(&dispatcher), options).await;
    let serving = serving.map_err(|error| cannot_serve(&error))?;
    // The file and its token go when this function ends, in whatever way.
    let file = SessionFile::write(&args.name, serving.address, dispatcher)?;
    let callers = if file.is_open {
        "this user alone: the store has no tokens"
    } else {
        "those who show a token"
    };
    about.log_start(&format!("http://{}/mcp", serving.address), callers);
    if !args.host.is_empty() && file.is_open {
        tracing::warn!(
            "callers under another name come through a proxy, and all of them are let in: make a token \
             (`statemark token create NAME --role person`)"
        );
    }
    let stop = serving.stopper();
    tokio::spawn(async move {
        log_stop(end.await);
        stop();
    });
    let ended = serving.ended().await;
    tracing::info!("stopped");
    ended.map_err(|error| cannot_serve(&error))
}

/// The facts about a server in the first line of its log.
struct About {
    store: String,
    workflows: usize,
    files_with_errors: usize,
}

impl About {
    /// Logs that the server has started: where it listens, and who is let in.
    fn log_start(&self, address: &str, callers: &str) {
        tracing::info!(
            store = self.store,
            workflows = self.workflows,
            files_with_errors = self.files_with_errors,
            callers,
            "listening at {address}"
        );
    }
}

/// Logs why the server ends.
fn log_stop(cause: &str) {
    tracing::info!(cause, "stopping");
}

fn cannot_serve(error: &io::Error) -> Failure {
    let message = system_message(error);
    Failure::new(format!("the server can't run: {message}"))
}

/// Returns the variables of the environment that profiles read.
fn environment() -> BTreeMap<String, String> {
    let names = statemark_profiles::VARIABLES.into_iter();
    let set = names.filter_map(|name| Some((name.to_owned(), environment::read(name)?)));
    set.collect()
}

/// The file with the address of this server, for clients; it exists as long as the value.
///
/// Where callers need tokens, it has one of an agent that was made for it and is valid as long as the server runs, so only
/// its owner can read it. The token that the server was started with stays with who has it.
struct SessionFile {
    path: PathBuf,
    text: String,
    /// The token in it, and the store that it is revoked in.
    token: Option<String>,
    /// True if callers needed no token when it was written.
    is_open: bool,
    dispatcher: Arc<Dispatcher>,
    /// The file of another server that was there before.
    before: Option<String>,
}

impl SessionFile {
    fn write(
        name: &str,
        address: SocketAddr,
        dispatcher: Arc<Dispatcher>,
    ) -> Result<Self, Failure> {
        let runs = dispatcher.runs();
        let is_open = runs.authority()?.allows_anonymous();
        let token = if is_open {
            None
        } else {
            let Identity { actor, run, .. } = caller::identify(runs)?;
            match runs.execute(&actor, &CreateSessionToken { run }) {
                Ok((_, text)) => Some(text),
                // A backup can be read, with the tokens that it has.
                Err(RunError::Store(StoreError::Asleep)) => None,
                Err(error) => return Err(error.into()),
            }
        };
        let text = format!("{:#}\n", session(name, address, token.as_deref()));
        // Two servers that begin at once are one before the other.
        let _alone = FolderLock::take(&project::folder()?);
        let before = caller::read_private(SESSION_FILE)?.filter(|text| {
            let lives = is_listening(text);
            if !lives && let Some(text) = token_of(text) {
                // That server was killed, or it would have done this itself.
                give_up(runs, text);
            }
            lives
        });
        let path = caller::write_private(SESSION_FILE, &text)?;
        Ok(Self {
            path,
            text,
            token,
            is_open,
            dispatcher,
            before,
        })
    }
}

impl Drop for SessionFile {
    fn drop(&mut self) {
        if let Some(text) = self.token.take() {
            give_up(self.dispatcher.runs(), text);
        }
        let _alone = self.path.parent().map(FolderLock::take);
        // Another server may have written its own since.
        if !std::fs::read_to_string(&self.path).is_ok_and(|text| text == self.text) {
            return;
        }
        match self.before.as_ref().filter(|text| is_listening(text)) {
            // The server before this one goes on.
            Some(text) => drop(caller::write_private(SESSION_FILE, text)),
            None => drop(std::fs::remove_file(&self.path)),
        }
    }
}

/// Revokes a token of a server. What fails isn't worth a failure: it expires.
fn give_up(runs: &Runs, text: String) {
    let actor = Identity::anonymous().actor;
    drop(runs.execute(&actor, &GiveUpToken { text }));
}

/// Reads the server in a session file: there is one, whatever its name.
fn read_session(text: &str) -> Option<Value> {
    let mut session: Value = serde_json::from_str(text).ok()?;
    let servers = session.get_mut("mcpServers")?.as_object_mut()?;
    servers.values_mut().next().map(Value::take)
}

/// Returns the token in a session file.
fn token_of(text: &str) -> Option<String> {
    let server = read_session(text)?;
    let bearer = server.pointer("/headers/Authorization")?.as_str()?;
    bearer.strip_prefix("Bearer ").map(str::to_owned)
}

/// Reports whether the server of a session file is still listening.
fn is_listening(text: &str) -> bool {
    let server = read_session(text).unwrap_or_default();
    let address = server.get("url").and_then(Value::as_str).and_then(|url| {
        let rest = url.strip_prefix("http://")?.strip_suffix("/mcp")?;
        rest.parse::<SocketAddr>().ok()
    });
    address.is_some_and(|address| TcpStream::connect_timeout(&address, PATIENCE).is_ok())
}

/// Returns the content of a session file.
fn session(name: &str, address: SocketAddr, token: Option<&str>) -> Value {
    // An address that means any is reached by the loopback.
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    let url = format!("http://{}/mcp", SocketAddr::new(ip, address.port()));
    let mut server = json!({"type": "http", "url": url});
    if let (Some(token), Value::Object(server)) = (token, &mut server) {
        let bearer = format!("Bearer {token}");
        server.insert("headers".to_owned(), json!({"Authorization": bearer}));
    }
    json!({"mcpServers": {name: server}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_have_an_address_that_clients_can_reach() {
        assert_eq!(
            session("statemark", "0.0.0.0:7420".parse().unwrap(), Some("smk_x")),
            json!({"mcpServers": {"statemark": {
                "type": "http",
                "url": "http://127.0.0.1:7420/mcp",
                "headers": {"Authorization": "Bearer smk_x"},
            }}})
        );
        let session = session("rstn", "[::]:80".parse().unwrap(), None);
        assert_eq!(session["mcpServers"]["rstn"]["url"], "http://[::1]:80/mcp");
        assert_eq!(session["mcpServers"]["rstn"].get("headers"), None);
    }
}
