//! `help`: commands by group, and topics.
//!
//! A topic is a page of the documentation (`docs.rs`), the same that servers search: a command, a finding, or a page of the
//! folder `docs/`. A page that is added there is a topic at once.

use statemark_compiler::diag::Code;
use statemark_text::list::join;
use statemark_text::suggest::nearest;
use statemark_tools::{Docs, Page};

use super::{COMMANDS, NAME, docs};
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::printer::{Palette, Printer, columns};

/// Most topics that are suggested by their content.
const MAX_FOUND: usize = 3;

/// The word for the list of all topics.
const TOPICS: &str = "topics";

/// Show help: on a command, a finding, or a topic.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark help topics              what there is\n  \
                        statemark help store verify        a command\n  \
                        statemark help SM304               a finding\n  \
                        statemark help configuration STATEMARK_STORE\n\n\
                        The last words may name a part of a page: a heading, or what a row of a table is about.")]
pub(crate) struct HelpArgs {
    /// A topic, and perhaps a part of it
    #[arg(value_name = "TOPIC")]
    topic: Vec<String>,
}

/// Prints help.
pub(super) fn run(
    args: &HelpArgs,
    mut program: clap::Command,
    printer: &mut Printer,
) -> CommandResult {
    let words: Vec<&str> = args.topic.iter().map(String::as_str).collect();
    let text = match words.as_slice() {
        [] => {
            // Colors of our own, which a stream that isn't a terminal leaves out.
            let help = program.render_help().ansi().to_string();
            printer.bytes(format!("{}\n", help.trim_end()).as_bytes());
            return Ok(ExitStatus::Clean);
        }
        [TOPICS] => list(&docs::pages(program), printer.palette()),
        words => find(words, &docs::pages(program))?,
    };
    printer.result(&format!("{}\n", text.trim_end()));
    Ok(ExitStatus::Clean)
}

/// Returns the template of the program's help, with the commands by group.
pub(super) fn template(program: &clap::Command) -> String {
    let styles = program.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    let width = COMMANDS.iter().map(|command| command.name.len()).max();
    let width = width.unwrap_or(0);
    let mut group = "";
    for command in COMMANDS {
        if command.group != group {
            group = command.group;
            text += &format!("\n{header}{group}:{header:#}\n");
        }
        let about = program.find_subcommand(command.name);
        let about = about.and_then(clap::Command::get_about);
        let about = about.map(ToString::to_string).unwrap_or_default();
        let (name, blanks) = (command.name, " ".repeat(width - command.name.len()));
        text += &format!("  {literal}{name}{literal:#}{blanks}  {about}\n");
    }
    text + &format!("\n{header}Options:{header:#}\n{{options}}{{after-help}}")
}

/// Lists the topics.
fn list(pages: &[Page], palette: Palette) -> String {
    let named = pages.iter().filter(|page| page.listed);
    let rows: Vec<(String, String)> = named.map(|page| (name(page), page.title.clone())).collect();
    let command = |what: &str| palette.event(&format!("{NAME} help {what}"));
    format!(
        "{}\n\n{}\n{} shows one; its last words may name a part: {}.\nEach command and each finding \
         is a topic, too: {}, {}.\n",
        palette.strong("Topics"),
        columns(&rows, palette),
        command("TOPIC"),
        command("configuration STATEMARK_STORE"),
        command("store verify"),
        command("SM304"),
    )
}

/// Returns the word by which a page is a topic: the last part of its id, but all parts of a command.
///
/// Where a command has that word, it is the whole id: `runs` and `book/runs`.
fn name(page: &Page) -> String {
    if let Some(path) = page.id.strip_prefix("command/") {
        return path.replace('/', " ");
    }
    let last = page.id.rsplit('/').next().unwrap_or(&page.id);
    let is_command = COMMANDS.iter().any(|command| command.name == last);
    if is_command { &page.id } else { last }.to_owned()
}

/// Finds the page that words mean, or a part of it.
fn find(words: &[&str], pages: &[Page]) -> Result<String, Failure> {
    let page_called = |wanted: &str| {
        let mut pages = pages.iter();
        pages.find(|page| name(page).eq_ignore_ascii_case(wanted) || page.id == wanted)
    };
    // `store verify` is a command before it is a part of `store`.
    for count in (1..=words.len()).rev() {
        let (topic, part) = words.split_at_checked(count).unwrap_or((words, &[]));
        if let Some(page) = page_called(&topic.join(" ")) {
            return match part {
                [] => Ok(page.text.clone()),
                part => find_part(page, &part.join(" ")),
            };
        }
    }
    let wanted = words.join(" ");
    match Code::from_words(&wanted).and_then(|code| page_called(code.id())) {
        Some(page) => Ok(page.text.clone()),
        None => Err(unknown(&wanted, pages)),
    }
}

/// Makes the failure of a topic that doesn't exist, with those that may be meant.
fn unknown(wanted: &str, pages: &[Page]) -> Failure {
    let failure = Failure::new(format!("there is no topic `{wanted}`"));
    let names: Vec<String> = pages.iter().map(name).collect();
    let codes = Code::ALL.iter().map(|code| code.name());
    if let Some(meant) = nearest(wanted, names.iter().map(String::as_str).chain(codes)) {
        return failure.with_help(format!("did you mean `{NAME} help {meant}`?"));
    }
    let found = Docs::new(pages.to_vec()).search(wanted, 0, MAX_FOUND);
    let found = found
        .hits
        .iter()
        .filter_map(|hit| pages.iter().find(|page| page.id == hit.page));
    let mut commands: Vec<String> = Vec::new();
    for page in found {
        let command = format!("`{NAME} help {}`", name(page));
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    failure.with_help(match commands.as_slice() {
        [] => format!("`{NAME} help {TOPICS}` lists them"),
        commands => format!("it is spoken of in {}", join(commands, "and")),
    })
}

/// A part of a page: what it is called, and its text.
struct Part {
    names: Vec<String>,
    text: String,
}

/// Finds a part of a page: a section by its heading, or a row of a table by its first cell.
fn find_part(page: &Page, wanted: &str) -> Result<String, Failure> {
    let parts = parts(&page.text);
    let is_meant = |part: &&Part| part.names.iter().any(|it| it.eq_ignore_ascii_case(wanted));
    if let Some(part) = parts.iter().find(is_meant) {
        return Ok(part.text.clone());
    }
    let (title, names) = (name(page), parts.iter().flat_map(|part| &part.names));
    let failure = Failure::new(format!("`{NAME} help {title}` has no part `{wanted}`"));
    Err(match nearest(wanted, names.map(String::as_str)) {
        Some(meant) => failure.with_help(format!("did you mean `{NAME} help {title} {meant}`?")),
        None => failure.with_help(format!("`{NAME} help {title}` shows all of it")),
    })
}

/// Returns the parts of a page: its sections, then the rows of its tables.
fn parts(text: &str) -> Vec<Part> {
    let (mut sections, mut rows): (Vec<(usize, Part)>, Vec<Part>) = (Vec::new(), Vec::new());
    let mut is_code = false;
    let mut head: Vec<&str> = Vec::new();
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let level = line.chars().take_while(|it| *it == '#').count();
        let title = line.get(level..).and_then(|rest| rest.strip_prefix(' '));
        if let (false, Some(title), 1..) = (is_code, title, level) {
            let names = [vec![title.replace('`', "")], quoted(title)].concat();
            let part = Part {
                names,
                text: String::new(),
            };
            sections.push((level, part));
        }
        // A section has the text of those below it.
        let mut inner = usize::MAX;
        for (level, section) in sections.iter_mut().rev() {
            if *level < inner {
                inner = *level;
                section.text += line;
                section.text.push('\n');
            }
        }
        match line.strip_prefix("| ") {
            Some(cells) if !is_code => {
                let first = cells.split(" |").next().unwrap_or_default();
                let heading = sections.last().map(|(_, part)| part.text.lines().next());
                let heading = heading.flatten().unwrap_or_default();
                let text = format!("{heading}\n\n{}\n{line}\n", head.join("\n"));
                rows.push(Part {
                    names: quoted(first),
                    text,
                });
                if head.is_empty() {
                    head.push(line);
                }
            }
            _ if line.starts_with("|--") => head.push(line),
            _ => head.clear(),
        }
    }
    let sections = sections.into_iter().map(|(_, part)| part);
    sections
        .chain(rows)
        .filter(|part| !part.names.is_empty())
        .collect()
}

/// Returns what stands in backticks.
fn quoted(text: &str) -> Vec<String> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests;
