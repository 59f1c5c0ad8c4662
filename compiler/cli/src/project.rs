//! The project that the current folder is in: its configuration, its root, its id, and its store.
//!
//! `statemark.toml` has what holds for all commands. The nearest one counts, in the current folder or above it.
//!
//! ```toml
//! project = "shop"
//! store = "postgres://runs.example.org/statemark?user=${TEAM_USER}"
//! workflows = "accepted"
//! diagrams = "all"
//! hook = "required"
//!
//! [lint]
//! ignore = ["SM130"]
//!
//! [checks.tests]
//! command = ["cargo", "test"]
//! timeout = "10m"
//!
//! [packs.exec]
//! timeout = "5m"
//!
//! [upstream.github]
//! command = ["github-mcp-server", "stdio"]
//! env = ["GITHUB_TOKEN"]
//! ```
//!
//! In `store`, `${NAME}` is the value of a variable of the environment, so that no password is in a repository.
//! The store is the one that `--store` names, else STATEMARK_STORE, else `statemark.toml`; else it is in the nearest folder
//! `.statemark`, which is made at the root of the repository, or in the current folder.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use statemark_compiler::Servers;
use statemark_compiler::diag::Selector;
use statemark_runs::check::Declaration;
use statemark_runs::files::{make_private_folder, read_regular};
use statemark_runs::{Hash, find_working_copy, find_worktree, project_of_worktree};
use statemark_stores::{file_of, place_of};
use statemark_text::suggest::nearest;
use statemark_upstream::{Declaration as UpstreamDeclaration, Lock};

use crate::environment::{self, user_folder};
use crate::failure::Failure;
use crate::files;
use crate::places::{self, ALLOWED_PLACES};
use crate::rules::{LintConfig, Rules};
use crate::upward;

/// The name of the configuration.
pub(crate) const CONFIG_FILE: &str = "statemark.toml";

/// The place of schemas, for their ids.
const SCHEMAS: &str =
    "https://raw.githubusercontent.com/statemark/statemark/main/compiler/docs/src/reference";

/// The hooks of Codex in a project.
const CODEX_HOOKS: &str = ".codex/hooks.json";

/// Largest configuration. Unit: bytes. Why: it has a few lines.
const MAX_CONFIG: usize = 1 << 20;

/// Largest file of a client's hooks. Unit: bytes. Why: it has a few lines.
const MAX_HOOKS: u64 = 1 << 20;

/// The folder of what belongs to a project alone.
const FOLDER: &str = ".statemark";

/// The store in that folder.
const STORE_FILE: &str = "runs.db";

/// The workflows of a person that every project's server has, in the person's own configuration.
const GLOBAL_WORKFLOWS: &str = "statemark/workflows";

/// Length of an id that is a hash. Unit: digits. Why: no two folders of a machine share that many.
const ID_DIGITS: usize = 16;

/// The configuration of a project.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// The project's id, which tells its runs from others in the same store.
    project: Option<String>,
    /// The store. A file is relative to the configuration.
    store: Option<String>,
    /// The workflows that runs may be started of: all, unless it says that they have to be accepted.
    workflows: Option<Startable>,
    /// The diagrams of Markdown files that `lint` checks.
    diagrams: Option<Diagrams>,
    /// The findings that `lint` reports.
    #[serde(default)]
    pub(crate) lint: LintConfig,
    /// The demand of the hooks of agents' clients for a run.
    hook: Option<HookMode>,
    /// The checks besides those of workflows. They run in the configuration's folder.
    #[serde(default)]
    pub(crate) checks: BTreeMap<String, Declaration>,
    /// The packs that a server offers.
    #[serde(default)]
    packs: statemark_packs::Settings,
    /// The executors that may work in states.
    #[serde(default)]
    executor: statemark_executor::Settings,
    /// Other servers whose tools agents get, behind our policy.
    #[serde(default)]
    pub(crate) upstream: BTreeMap<String, UpstreamDeclaration>,
}

/// The workflows that runs may be started of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Startable {
    /// All of them.
    All,
    /// The accepted ones.
    Accepted,
}

/// The demand of hooks for a run that holds the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum HookMode {
    /// None: without a run, tools run.
    Optional,
    /// Without a run, only tools run that no state restricts.
    Required,
}

/// The diagrams of Markdown files that `lint` checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Diagrams {
    /// Those of machines, in sections `## STATE-MACHINE`.
    Sections,
    /// Every state diagram.
    All,
}

/// Returns the diagrams that `lint` checks in the project of the current folder.
pub(crate) fn diagrams() -> Result<Diagrams, Failure> {
    diagrams_in(&current_folder()?)
}

/// Returns the same for the project of a folder.
pub(crate) fn diagrams_in(folder: &Path) -> Result<Diagrams, Failure> {
    let config = find_config(folder)?;
    Ok(config
        .and_then(|(_, config)| config.diagrams)
        .unwrap_or(Diagrams::Sections))
}

/// Returns the rules of `lint` in the current project, with more codes that are selected or ignored.
pub(crate) fn lint_rules(select: &[String], ignore: &[String]) -> Result<Rules, Failure> {
    lint_rules_in(&current_folder()?, select, ignore)
}

/// Returns the same for the project of a folder, which names of files are relative to.
pub(crate) fn lint_rules_in(
    here: &Path,
    select: &[String],
    ignore: &[String],
) -> Result<Rules, Failure> {
    let found = find_config(here)?;
    let (path, config, declared) = match found {
        Some((path, config)) => (Some(path), config.lint, config.upstream),
        None => (None, LintConfig::default(), BTreeMap::new()),
    };
    let folder = path.as_deref().and_then(Path::parent).unwrap_or(here);
    let servers = servers_in(folder, &declared)?;
    let rules = Rules::new(&config.with_flags(select, ignore), folder, here);
    let rules = rules.map(|rules| rules.with_servers(servers));
    rules.map_err(|failure| match &path {
        Some(path) if select.is_empty() && ignore.is_empty() => {
            failure.within(&files::display(path))
        }
        _ => failure,
    })
}

/// Returns a project's other servers, with the tools that its lock pins.
fn servers_in(
    folder: &Path,
    declared: &BTreeMap<String, UpstreamDeclaration>,
) -> Result<Servers, Failure> {
    let prefixes = declared.iter().map(|(name, declaration)| {
        let prefix = declaration.prefix.as_ref().unwrap_or(name);
        (prefix.clone(), name.clone())
    });
    let pinned = Lock::in_folder(folder).read_all();
    let pinned = pinned.map_err(|error| Failure::new(error.to_string()))?;
    let pinned = pinned.map(|servers| {
        let servers = servers.into_iter();
        let tools = servers.map(|(name, pins)| (name, pins.into_keys().collect()));
        tools.collect()
    });
    Ok(Servers {
        prefixes: prefixes.collect(),
        pinned,
    })
}

/// Reports whether the project of the current folder starts accepted workflows alone.
pub(crate) fn only_accepted() -> Result<bool, Failure> {
    let config = find_config(&project_folder()?)?;
    Ok(config.is_some_and(|(_, config)| config.workflows == Some(Startable::Accepted)))
}

/// Reports whether the hooks of agents' clients demand a run in the project of the current folder.
pub(crate) fn requires_hook() -> Result<bool, Failure> {
    let config = find_config(&project_folder()?)?;
    Ok(config.is_some_and(|(_, config)| config.hook == Some(HookMode::Required)))
}

/// Reads the nearest configuration, in a folder or above it, and returns it with its path.
pub(crate) fn find_config(folder: &Path) -> Result<Option<(PathBuf, Config)>, Failure> {
    let Some((path, text)) = find_config_text(folder)? else {
        return Ok(None);
    };
    let config = parse_config(&path, &text)?;
    Ok(Some((path, config)))
}

/// Reads the text of the nearest configuration, in a folder or above it, and returns it with its path.
pub(crate) fn find_config_text(folder: &Path) -> Result<Option<(PathBuf, String)>, Failure> {
    let Some(path) = upward::find(folder, CONFIG_FILE) else {
        return Ok(None);
    };
    check_link(&path)?;
    let bytes = files::read_whole(&path, MAX_CONFIG)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Some((path, text)))
}

/// Fails if a configuration is a link out of its repository; without one, out of its folder.
///
/// A cloned repository could have any file read by it, and lines of it shown.
fn check_link(path: &Path) -> Result<(), Failure> {
    if !path.is_symlink() {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path);
    let top = find_working_copy(folder).unwrap_or(folder);
    let leads_out = files::leads_out(path, top);
    if !leads_out.map_err(|error| files::unreadable(path, &error))? {
        return Ok(());
    }
    let path = files::display(path);
    let message = format!("`{path}` is a link that leads out of its project: it isn't read");
    Err(Failure::new(message).with_help("put the file itself there"))
}

/// Returns the JSON Schema of the configuration (draft 7), made of the types that read it.
pub(crate) fn config_schema() -> serde_json::Value {
    let generator = schemars::generate::SchemaSettings::draft07().into_generator();
    let schema = generator.into_root_schema_for::<Config>();
    let mut schema = serde_json::Value::from(schema);
    if let Some(object) = schema.as_object_mut() {
        let id = format!("{SCHEMAS}/statemark.schema.json");
        object.insert("$id".to_owned(), id.into());
        object.insert("title".to_owned(), CONFIG_FILE.into());
    }
    schema
}

/// Parses the text of a configuration.
pub(crate) fn parse_config(path: &Path, text: &str) -> Result<Config, Failure> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        // What a link leads to may be no configuration at all, and is shown to nobody.
        let error = match path.is_symlink() {
            true => error.message().to_owned(),
            false => error.to_string(),
        };
        let path = files::display(path);
        let failure = Failure::new(format!("`{path}` can't be read: {}", error.trim_end()));
        match (misplaced_finding(&error), meant_key(&error)) {
            (Some(help), _) => failure.with_help(help),
            (None, Some(meant)) => failure.with_help(format!("did you mean `{meant}`?")),
            (None, None) => failure.with_help(
                "it may have `project`, an id; `store`, the address of the store; `workflows`, `all` or `accepted`; `diagrams`, `all` or `sections`; `lint`, the findings that are reported; `hook`, `required` or `optional`; `checks`, programs by name; `packs`, the tools that a server offers to agents; `executor`, who works in states by itself; and `upstream`, servers of tools by name",
            ),
        }
    })
}

/// Says how findings are set, if the line that can't be read names one.
fn misplaced_finding(message: &str) -> Option<String> {
    let line = message.lines().find_map(|line| line.split_once(" | "))?.1;
    let mut words = line.split(|sign: char| !sign.is_alphanumeric() && sign != '-');
    let finding = words.find(|word| Selector::parse(word).is_some())?;
    Some(format!(
        "below `[lint]`, `ignore = [\"{finding}\"]` leaves out a finding; below `[lint.severity]`, `{finding} = \"error\"` gives it another severity: `error`, `warning`, `info` or `hint`"
    ))
}

/// Returns the key that an unknown one was meant to be.
///
/// The message about it lists those that there are.
fn meant_key(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("unknown field `")?;
    let (name, rest) = rest.split_once('`')?;
    let known = rest.split('`').skip(1).step_by(2);
    nearest(name, known).map(str::to_owned)
}

/// Returns the address of the store, and makes its folder unless somebody named it.
pub(crate) fn make_store_address(flag: Option<&str>) -> Result<String, Failure> {
    let (address, folder) = resolve_store(flag)?;
    if let Some(folder) = folder {
        make_folder(folder)?;
    }
    Ok(address)
}

/// Returns the address of a store that exists, as far as the address shows it.
pub(crate) fn existing_store_address(flag: Option<&str>) -> Result<String, Failure> {
    let (address, _) = resolve_store(flag)?;
    check_store_exists(&address)?;
    Ok(address)
}

/// Returns the name of a store: the last part of its address, with the folder of a file.
///
/// `.statemark/runs.db` in the folder `shop` is `shop/.statemark/runs.db`.
pub(crate) fn store_name(address: &str) -> String {
    let Some(path) = file_of(address) else {
        let path = address.split(['?', '#']).next().unwrap_or(address);
        let name = path.trim_end_matches('/').rsplit(['/', '@']).next();
        return name.unwrap_or(address).to_owned();
    };
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let own = path.ancestors().nth(1).and_then(Path::file_name);
    let parts = if own.is_some_and(|it| it == FOLDER) {
        3
    } else {
        2
    };
    let names: Vec<_> = path.iter().rev().take(parts).collect();
    let names: PathBuf = names.into_iter().rev().collect();
    names.display().to_string()
}

/// Returns the name of a store with its server, for a log: no user and no password.
pub(crate) fn public_name(address: &str) -> String {
    match place_of(address).and_then(|place| place.server) {
        Some(server) => {
            let server = server.split('?').next().unwrap_or_default();
            format!("{server}/{}", store_name(address))
        }
        _ => store_name(address),
    }
}

/// Reports whether somebody named the store, by the flag or the environment.
pub(crate) fn is_store_named(flag: Option<&str>) -> bool {
    flag.is_some() || environment::STORE.text().is_some()
}

/// Reports whether the store is the project's own, in its folder: nothing names another.
pub(crate) fn has_own_store(flag: Option<&str>) -> Result<bool, Failure> {
    let (_, folder) = resolve_store(flag)?;
    Ok(folder.is_some())
}

/// Reports whether the store is the project's own and doesn't exist yet.
pub(crate) fn lacks_store(flag: Option<&str>) -> Result<bool, Failure> {
    let (address, _) = resolve_store(flag)?;
    Ok(!is_store_named(flag) && !store_exists(&address)?)
}

/// Reports whether a store is there, as far as files tell.
///
/// # Errors
///
/// Its folder can't be looked into: nobody knows, and a store that somebody else has isn't none.
fn store_exists(address: &str) -> Result<bool, Failure> {
    file_of(address).map_or(Ok(true), |path| {
        let exists = path.try_exists();
        exists.map_err(|error| files::unreadable(path, &error))
    })
}

/// Fails if the address is a file that doesn't exist: opening it would make an empty store.
pub(crate) fn check_store_exists(address: &str) -> Result<(), Failure> {
    if store_exists(address)? {
        return Ok(());
    }
    let name = file_of(address).map_or_else(|| address.to_owned(), files::display);
    Err(Failure::new(format!("there is no store `{name}`"))
        .with_code("no_store")
        .with_help("`statemark start` makes one; `--store` names another"))
}

/// Returns the address of the store, and its folder if nobody named it.
fn resolve_store(flag: Option<&str>) -> Result<(String, Option<PathBuf>), Failure> {
    if let Some(address) = flag
        .map(str::to_owned)
        .or_else(|| environment::STORE.text())
    {
        return Ok((address, None));
    }
    let here = project_folder()?;
    if let Some((path, config)) = find_config(&here)?
        && let Some(address) = config.store
    {
        let address = relative_to(&path, with_variables(&path, &address)?);
        match file_of(&address) {
            Some(file) => places::check_store_inside(&path, file)?,
            None => places::check_database_allowed(&path, &address)?,
        }
        return Ok((address, None));
    }
    let folder = nearest_folder(&here)?;
    let address = format!("sqlite:{}", folder.join(STORE_FILE).display());
    Ok((address, Some(folder)))
}

/// Returns an address in a configuration, with a file as seen from the configuration.
fn relative_to(config: &Path, address: String) -> String {
    let is_file = !address.contains("://") && address != "memory:";
    match config.parent() {
        Some(folder) if is_file => {
            let file = address.strip_prefix("sqlite:").unwrap_or(&address);
            format!("sqlite:{}", folder.join(file).display())
        }
        _ => address,
    }
}

/// Replaces `${NAME}` in an address by the variable's value.
fn with_variables(config: &Path, address: &str) -> Result<String, Failure> {
    let mut parts = address.split("${");
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let config = files::display(config);
        let Some((name, rest)) = part.split_once('}') else {
            return Err(
                Failure::new(format!("`store` in `{config}` has `${{` without a `}}`"))
                    .with_help("write `${NAME}` for a variable of the environment"),
            );
        };
        let Some(value) = environment::read(name) else {
            return Err(Failure::new(format!(
                "`store` in `{config}` needs the variable `{name}`, which isn't set"
            ))
            .with_help("set it, or name the store by `--store` or STATEMARK_STORE"));
        };
        replaced += &value;
        replaced += rest;
    }
    Ok(replaced)
}

/// Returns the folder of what belongs to the project alone, which need not exist.
///
/// It is next to the project's configuration, else it is that of its runs.
pub(crate) fn folder() -> Result<PathBuf, Failure> {
    let here = project_folder()?;
    let config = find_config(&here)?;
    match config.and_then(|(path, _)| Some(path.parent()?.join(FOLDER))) {
        Some(folder) => own_folder(folder),
        None => nearest_folder(&here),
    }
}

/// Reports whether a project's folder has what a store leaves when its file is gone.
pub(crate) fn has_remains(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name());
    names.any(|name| name.to_string_lossy().starts_with(STORE_FILE))
}

/// Makes a project's folder, unless it exists.
pub(crate) fn make_folder(folder: PathBuf) -> Result<PathBuf, Failure> {
    let is_new = !folder.is_dir();
    if is_new {
        make_private_folder(&folder).map_err(|error| files::unwritable(&folder, &error))?;
    }
    // Its content isn't for the repository. Whoever made the folder may have been killed before this.
    let ignored = folder.join(".gitignore");
    match File::create_new(&ignored).and_then(|mut file| file.write_all(b"*\n")) {
        Err(error) if is_new && error.kind() != io::ErrorKind::AlreadyExists => {
            Err(files::unwritable(&ignored, &error))
        }
        _ => Ok(folder),
    }
}

/// Returns the current folder.
pub(crate) fn current_folder() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| files::unreadable(Path::new("."), &error))
}

/// Returns the current folder; in a worktree of a run, the root of the project that the run is of.
///
/// A worktree has the project's files as they were committed. Its configuration, its store and its id are the project's.
pub(crate) fn project_folder() -> Result<PathBuf, Failure> {
    let here = current_folder()?;
    Ok(project_of_worktree(&here).map_or_else(|| here.clone(), Path::to_path_buf))
}

/// Returns the project's root in the worktree of a run that a folder is in, if it is in one.
pub(crate) fn worktree_root(folder: &Path) -> Option<PathBuf> {
    let (worktree, project) = (find_worktree(folder)?, project_of_worktree(folder)?);
    let repository = find_working_copy(project).unwrap_or(project);
    Some(worktree.join(project.strip_prefix(repository).ok()?))
}

/// Returns the nearest folder of runs, here or above, within the repository.
fn nearest_folder(here: &Path) -> Result<PathBuf, Failure> {
    let repository = upward::repository(here);
    for parent in here.ancestors() {
        let folder = parent.join(FOLDER);
        let is_there = folder.is_dir() && upward::is_own(&folder, here);
        if is_there || Some(parent) == repository {
            return own_folder(folder);
        }
    }
    own_folder(here.join(FOLDER))
}

/// Fails if a project's folder is a link.
///
/// A cloned repository may have brought it along, to have its files written elsewhere.
fn own_folder(folder: PathBuf) -> Result<PathBuf, Failure> {
    if !folder.is_symlink() {
        return Ok(folder);
    }
    let path = files::display(&folder);
    Err(
        Failure::new(format!("`{path}` is a link, which isn't followed"))
            .with_help("remove it; `--store` or STATEMARK_STORE names a store that is elsewhere"),
    )
}

/// Returns the user's own folder of workflows, if it exists.
pub(crate) fn global_workflows() -> Option<PathBuf> {
    let folder = user_folder(&environment::CONFIG_HOME, ".config")?.join(GLOBAL_WORKFLOWS);
    folder.is_dir().then_some(folder)
}

/// Returns the root of the project.
///
/// It is the nearest folder with a configuration, at most up to the root of the repository, which it is else; outside of
/// repositories the nearest folder with runs, else the folder itself.
pub(crate) fn root(here: &Path) -> &Path {
    let repository = upward::repository(here);
    let is_own = |path: &Path| upward::is_own(path, here);
    let has_config = |folder: &Path| {
        let path = folder.join(CONFIG_FILE);
        path.is_file() && is_own(&path)
    };
    let is_root = |folder: &&Path| has_config(folder) || Some(*folder) == repository;
    let has_runs = |folder: &&Path| {
        let path = folder.join(FOLDER);
        path.is_dir() && is_own(&path)
    };
    let root = here.ancestors().find(is_root);
    root.or_else(|| here.ancestors().find(has_runs))
        .unwrap_or(here)
}

/// Changes to the root of the project that a folder belongs to.
///
/// The command goes on as if it had been called there.
pub(crate) fn enter(folder: &Path) -> Result<(), Failure> {
    let unreadable = |error| files::unreadable(folder, &error);
    let folder = fs::canonicalize(folder).map_err(unreadable)?;
    let folder = project_of_worktree(&folder).unwrap_or(&folder);
    std::env::set_current_dir(root(folder)).map_err(unreadable)
}

/// Returns the project of the current folder, for a server.
pub(crate) fn for_server() -> Result<statemark_tools::Project, Failure> {
    let here = project_folder()?;
    let root = root(&here).to_path_buf();
    let (config, checks_root) = match find_config(&here)? {
        Some((path, config)) => (config, path.parent().map(Path::to_path_buf)),
        None => (Config::default(), None),
    };
    Ok(statemark_tools::Project {
        checks: config.checks,
        checks_root: checks_root.unwrap_or_else(|| root.clone()),
        place: places::check_place(&root)?,
        servers: places::allowed_servers()?,
        packs: config.packs.to_map(),
        root,
    })
}

/// Returns the sets of tools of the packs that the project of the current folder names.
pub(crate) fn packs() -> Result<Vec<statemark_tools::Set>, Failure> {
    let config = find_config(&project_folder()?)?;
    Ok(config.map_or_else(Vec::new, |(_, config)| config.packs.sets()))
}

/// Returns the settings of executors of the project of the current folder.
///
/// # Errors
///
/// One of them can't be used; or the key of a model would go to a server that no person allows.
pub(crate) fn executors() -> Result<statemark_executor::Settings, Failure> {
    let Some((path, config)) = find_config(&project_folder()?)? else {
        return Ok(statemark_executor::Settings::default());
    };
    let mut settings = config.executor;
    let hooks = path.with_file_name(CODEX_HOOKS);
    let hooks = read_regular(&hooks, MAX_HOOKS).ok().flatten();
    settings.codex_has_hook = hooks.is_some_and(|it| it.contains("hook codex"));
    let path = files::display(&path);
    settings
        .check()
        .map_err(|error| Failure::new(format!("`{path}`: {error}")))?;
    let allowed = places::allowed_servers()?;
    for (prefix, provider) in &settings.models {
        if provider.key.is_none() || provider.is_known() {
            continue;
        }
        let server = provider.server();
        if !allowed.contains(&server) {
            return Err(Failure::new(format!(
                "`{path}` would send the key of the models `{prefix}` to `{server}`"
            ))
            .with_help(format!(
                "if you mean that, a line `{server}` in `~/.config/{ALLOWED_PLACES}` allows it"
            )));
        }
    }
    Ok(settings)
}

/// Returns the id of the project in a folder: the configured one, else a hash of the repository's path.
pub(crate) fn id(path: &str) -> Result<String, Failure> {
    let folder =
        std::path::absolute(path).map_err(|error| files::unreadable(Path::new(path), &error))?;
    let folder = project_of_worktree(&folder).map_or_else(|| folder.clone(), Path::to_path_buf);
    if let Some((_, config)) = find_config(&folder)?
        && let Some(id) = config.project
    {
        return Ok(id);
    }
    let root = find_working_copy(&folder).unwrap_or(&folder);
    // A folder that doesn't exist has no other name.
    let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let hash = Hash::digest(root.as_os_str().as_encoded_bytes()).to_string();
    Ok(hash.chars().take(ID_DIGITS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_in_the_wrong_place_is_shown_the_right_one() {
        for (text, finding) in [
            ("SM204 = \"off\"", "SM204"),
            ("[lint]\nSM204 = \"off\"", "SM204"),
            ("[lint.severity]\nsimilar-name = \"off\"", "similar-name"),
            ("[lint]\nignore = \"SM3\"", "SM3"),
        ] {
            let failure = parse_config(Path::new("statemark.toml"), text).unwrap_err();
            let begins = format!("below `[lint]`, `ignore = [\"{finding}\"]` leaves out a finding");
            let help = failure.help().unwrap_or_default();
            assert!(help.starts_with(&begins), "{text}: {help}");
        }
        let failure = parse_config(Path::new("statemark.toml"), "[lint]\nignor = []").unwrap_err();
        assert_eq!(failure.help(), Some("did you mean `ignore`?"));
    }

    #[test]
    fn a_log_names_a_store_without_its_user() {
        for (address, name) in [
            (
                "postgres://ann:pw@runs.example.org:1/db?user=pw",
                "postgres://runs.example.org:1/db",
            ),
            ("postgresql://h/db?host=x", "postgres://h,x/db"),
            ("postgres:///db?password=pw", "db"),
            ("sqlite:shop/.statemark/runs.db", "shop/.statemark/runs.db"),
            ("memory:", "memory:"),
        ] {
            assert_eq!(public_name(address), name, "{address}");
        }
    }
}
