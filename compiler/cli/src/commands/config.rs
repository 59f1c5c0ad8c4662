//! `config` and `schema`: the settings in force, and the JSON Schemas of what people write.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;
use statemark_compiler::definition_schema;
use statemark_runs::is_secret_name;
use statemark_stores::holds_password;
use statemark_text::secret;

use crate::args::{TextFormat, json_or_text};
use crate::environment::{self, VARIABLES};
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::files;
use crate::printer::{Palette, Printer, WIDTH, fit};
use crate::project;

/// The page that lists the settings with their defaults.
const PAGE: &str = include_str!("docs/configuration.md");

/// The origin of a setting that nobody has made.
const DEFAULT: &str = "default";

/// Variables whose value is nobody's to see.
const SECRETS: [&str; 2] = [environment::TOKEN.name, environment::ATTEMPT.name];

/// Show the settings in force, and where each comes from.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark config                  what holds in this folder\n  \
                        statemark config lint             the settings whose names begin so\n  \
                        statemark config --file docs/a.md what lint reports in a file\n  \
                        statemark config --json\n\n\
                        A setting is found in this order: a flag of the command, a variable of the environment, the\n\
                        nearest statemark.toml, in this folder or above it, the default. `statemark help configuration`\n\
                        says what each means, `statemark schema configuration` is for editors.")]
pub(crate) struct ConfigArgs {
    /// Settings whose names begin so [default: all]
    #[arg(value_name = "KEY")]
    key: Option<String>,
    /// A file; codes that lint doesn't report in it are listed, too
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// A setting in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Setting {
    /// Its name, with dots between tables and keys.
    pub(super) key: String,
    /// Its value as it is written, or the words for a default.
    pub(super) value: String,
    /// A flag, a variable, a file with its line, or `default`.
    pub(super) from: String,
}

/// The settings, as `--json` prints them.
#[derive(Serialize)]
struct Answer<'a> {
    /// The nearest configuration, if there is one.
    configuration: Option<String>,
    settings: &'a [Setting],
    /// The codes that aren't reported in the file that was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_reported: Option<Vec<&'static str>>,
}

/// Shows settings.
pub(super) fn run(args: &ConfigArgs, printer: &mut Printer) -> CommandResult {
    let (configuration, mut settings) = settings()?;
    if let Some(key) = &args.key {
        settings.retain(|it| begins_with(&it.key, key));
        if settings.is_empty() {
            return Err(unknown_key(key));
        }
    }
    let not_reported = args.file.as_deref().map(not_reported).transpose()?;
    match json_or_text(args.json) {
        TextFormat::Json => printer.json(&Answer {
            configuration,
            settings: &settings,
            not_reported,
        }),
        TextFormat::Text => {
            printer.result(&describe(&settings, printer.palette()));
            if let (Some(codes), Some(file)) = (not_reported, &args.file) {
                let file = files::display(file);
                let codes = match codes.is_empty() {
                    true => "every code is reported".to_owned(),
                    false => format!("not reported: {}", codes.join(", ")),
                };
                printer.result(&fit(&format!("{file}: {codes}"), WIDTH * 8));
                printer.result("\n");
            }
            if configuration.is_none() {
                printer.remark("there is no statemark.toml in this folder or above it\n");
            }
        }
    }
    Ok(ExitStatus::Clean)
}

/// Shows the settings of `lint`, where some of its flags come first.
///
/// If it is isolated, no configuration is read.
pub(super) fn show_lint(
    flags: &[(&str, &'static str, String)],
    isolated: bool,
    printer: &mut Printer,
) -> CommandResult {
    let (_, mut settings) = match isolated {
        true => (None, default_settings(Vec::new())),
        false => settings()?,
    };
    settings.retain(|it| begins_with(&it.key, "lint") || it.key == "diagrams");
    for (key, flag, value) in flags {
        // `--ignore` adds to what the configuration ignores.
        if *flag != "--ignore" {
            settings.retain(|it| it.key != *key);
        }
        settings.push(Setting {
            key: (*key).to_owned(),
            value: value.clone(),
            from: (*flag).to_owned(),
        });
    }
    settings.sort_by(|one, other| one.key.cmp(&other.key));
    printer.result(&describe(&settings, printer.palette()));
    Ok(ExitStatus::Clean)
}

fn begins_with(key: &str, start: &str) -> bool {
    let rest = key.strip_prefix(start);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn unknown_key(key: &str) -> Failure {
    let failure = Failure::new(format!("no setting in force is called `{key}`"));
    let names: Vec<String> = defaults().map(|(key, _)| key).collect();
    let nearest = statemark_text::suggest::nearest(key, names.iter().map(String::as_str));
    failure.with_help(match nearest {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`statemark config` lists all; `statemark help configuration` says what each means"
            .to_owned(),
    })
}

/// Returns the codes that the project doesn't want to know of in a file.
fn not_reported(file: &Path) -> Result<Vec<&'static str>, Failure> {
    let rules = project::lint_rules(&[], &[])?;
    let name = files::display(file);
    let all = statemark_compiler::diag::Code::ALL.iter();
    let unwanted = all.filter(|code| !rules.wants(&name, **code, code.severity()));
    Ok(unwanted.map(|code| code.id()).collect())
}

/// Returns the name of the nearest configuration, and the settings in force.
fn settings() -> Result<(Option<String>, Vec<Setting>), Failure> {
    let mut settings = Vec::new();
    let here = project::current_folder()?;
    let found = project::find_config_text(&here)?;
    let name = found.as_ref().map(|(path, _)| display_from(path, &here));
    if let (Some((path, text)), Some(name)) = (&found, &name) {
        // It has every check that other commands hold it to.
        project::parse_config(path, text)?;
        add_table(name, text, &mut settings);
    }
    let mut settings = default_settings(settings);
    let store = environment::STORE.text();
    if let Some(store) = store {
        settings.retain(|it| it.key != "store");
        settings.push(Setting {
            key: "store".to_owned(),
            value: project::public_name(&store),
            from: environment::STORE.name.to_owned(),
        });
    }
    settings.sort_by(|one, other| one.key.cmp(&other.key));
    for variable in VARIABLES {
        let is_ours =
            variable.name.starts_with("STATEMARK_") && variable.name != environment::STORE.name;
        if let Some(value) = variable.text().filter(|_| is_ours) {
            let is_secret = SECRETS.contains(&variable.name) || secret::find(&value).is_some();
            settings.push(Setting {
                key: variable.name.to_owned(),
                value: if is_secret { "(set)".to_owned() } else { value },
                from: "environment".to_owned(),
            });
        }
    }
    Ok((name, settings))
}

/// Adds the defaults of the settings that aren't there.
fn default_settings(mut settings: Vec<Setting>) -> Vec<Setting> {
    for (key, value) in defaults() {
        if !settings.iter().any(|it| begins_with(&it.key, &key)) {
            settings.push(Setting {
                key,
                value,
                from: DEFAULT.to_owned(),
            });
        }
    }
    settings
}

/// Returns a path as seen from a folder, where it is short.
fn display_from(path: &Path, here: &Path) -> String {
    files::display(path.strip_prefix(here).unwrap_or(path))
}

/// Adds the settings of a configuration, each with its line.
fn add_table(name: &str, text: &str, settings: &mut Vec<Setting>) {
    let Ok(table) = toml::de::DeTable::parse(text) else {
        return;
    };
    let line_ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let mut open = vec![(String::new(), table.get_ref())];
    while let Some((start, table)) = open.pop() {
        for (key, value) in table {
            let key = match start.is_empty() {
                true => key.get_ref().to_string(),
                false => format!("{start}.{}", key.get_ref()),
            };
            let span = value.span();
            match value.get_ref() {
                toml::de::DeValue::Table(inner) if !inner.is_empty() => open.push((key, inner)),
                _ => {
                    let line = line_ends.partition_point(|end| *end < span.start) + 1;
                    let written = text.get(span).unwrap_or_default();
                    let words: Vec<&str> = written.split_whitespace().collect();
                    // A variable for a program; other names with such an end name a variable or a file.
                    let variable = key.rsplit_once(".env.").map(|(_, name)| name);
                    let is_secret = variable.is_some_and(is_secret_name)
                        || secret::find(written).is_some()
                        || written.split(['"', '\'']).any(holds_password);
                    let value = match value.get_ref().as_str() {
                        _ if !is_secret => words.join(" "),
                        Some(address) if key == "store" => project::public_name(address),
                        _ => "(a secret)".to_owned(),
                    };
                    settings.push(Setting {
                        key,
                        value,
                        from: format!("{name}:{line}"),
                    });
                }
            }
        }
    }
}

/// Returns the settings that have a name of their own, with the words for their defaults.
fn defaults() -> impl Iterator<Item = (String, String)> {
    let rows = PAGE.lines().skip_while(|line| !line.starts_with("| key |"));
    let rows = rows.take_while(|line| line.starts_with('|')).skip(2);
    rows.filter_map(|row| {
        let mut cells = row.trim_matches('|').split(" | ").map(str::trim);
        let (key, meaning) = (cells.next()?, cells.next()?);
        let default = cells.next()?;
        // Keys of tables have the table's name in their meaning.
        let is_inner = meaning.starts_with("Of ");
        let key = key.trim_matches('`').to_owned();
        (!is_inner).then(|| (key, default.trim_matches('`').to_owned()))
    })
}

fn describe(settings: &[Setting], palette: Palette) -> String {
    let width = |of: fn(&Setting) -> &str, most: usize| {
        let widths = settings.iter().map(|it| of(it).chars().count());
        widths.max().unwrap_or(0).min(most)
    };
    let (keys, values) = (width(|it| &it.key, 40), width(|it| &it.value, WIDTH / 2));
    let mut text = String::new();
    for setting in settings {
        let (key, value) = (&setting.key, fit(&setting.value, WIDTH / 2));
        let from = palette.dim(&setting.from);
        text += &format!("{key:keys$}  {value:values$}  {from}\n");
    }
    text
}

/// Print the JSON Schema of a definition or of statemark.toml.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark schema definition > workflow.schema.json\n  \
                        statemark schema configuration > statemark.schema.json\n\n\
                        Editors complete and check by them: in VS Code `json.schemas` for *.workflow.json, and Even Better\n\
                        TOML's `#:schema ./statemark.schema.json` in the first line of statemark.toml. They are made of\n\
                        the tables and types by which Statemark reads both, as JSON Schema of draft 7.")]
pub(crate) struct SchemaArgs {
    /// What it is of: definition or configuration
    #[arg(value_enum, value_name = "OF", hide_possible_values = true)]
    of: SchemaOf,
}

/// What a schema is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SchemaOf {
    /// `*.workflow.json`, and the blocks `json definition`.
    Definition,
    /// `statemark.toml`.
    Configuration,
}

/// Prints a schema.
pub(super) fn print_schema(args: &SchemaArgs, printer: &mut Printer) -> CommandResult {
    let schema = match args.of {
        SchemaOf::Definition => definition_schema(),
        SchemaOf::Configuration => project::config_schema(),
    };
    printer.result(&format!("{schema:#}\n"));
    Ok(ExitStatus::Clean)
}
