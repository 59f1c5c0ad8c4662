//! The pipeline: texts in, machines and diagnostics out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diag::{Code, Diagnostic, Diags, InDrawings, Severity};
use crate::excerpt::Excerpt;
use crate::front::definition::{self, Servers};
#[cfg(feature = "scxml")]
use crate::front::scxml;
use crate::front::{markdown, mermaid};
use crate::ir::Machine;
#[cfg(feature = "scxml")]
use crate::lower::scxml::lower_scxml;
use crate::lower::{Spec, lower};
use crate::mention::{NameKind, mentions};
use crate::pass::names::snake;
use crate::source::{FileId, SourceFile, Sources, Span, Spanned};
use crate::suppress::{Remark, allowances, line_remarks, suppress};
use crate::valid::{self, Valid};

/// Options of a compilation.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The format of every text; by default each is read as the extension of its name says.
    pub format: Option<Format>,
    /// True to let every action of the host fail where a spec doesn't say otherwise.
    pub actions_fail: bool,
    /// True if generated Rust is wanted.
    ///
    /// A label that leads to several places from one state is then an error, where it is a warning otherwise: a program
    /// that sends an event has nobody to ask which of them it means. A guard that nothing defines is a method of the
    /// program's host, where it is a claim of the sender otherwise.
    pub for_rust: bool,
    /// True to check every state diagram of a Markdown document, also those that aren't a machine's.
    ///
    /// They are checked like a diagram alone, and no machine is made of them.
    pub all_diagrams: bool,
    /// True to keep the machines with an error, as far as they could be read, for editors.
    pub keeps_broken: bool,
    /// The servers whose tools states may grant, with the tools that a project has pinned.
    pub servers: Arc<Servers>,
    /// The findings that nobody will see.
    ///
    /// They are found all the same. What merely follows from another finding isn't reported, unless that is one of these.
    pub unwanted: BTreeSet<Code>,
}

/// The format of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// A Markdown document with `## STATE-MACHINE` sections.
    Markdown,
    /// A Mermaid state diagram alone.
    Diagram,
    /// A JSON definition alone.
    Definition,
    /// An SCXML document.
    ///
    /// Needs the feature `scxml`; without it, compiling one is an error that says so.
    Scxml,
}

impl Format {
    /// Returns the format that a file's extension stands for.
    ///
    /// `.mmd` and `.mermaid` are diagrams, `.json` and `.jsonc` are definitions, `.scxml` is SCXML, and everything else
    /// is Markdown.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        let extension = name.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
        match extension.as_str() {
            "mmd" | "mermaid" => Self::Diagram,
            "json" | "jsonc" => Self::Definition,
            "scxml" => Self::Scxml,
            _ => Self::Markdown,
        }
    }
}

/// The result of a compilation.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The machines without an error, in the order of the texts.
    pub machines: Vec<Valid>,
    /// The machines with an error, as far as they could be read; none unless they or Rust are wanted.
    ///
    /// Back ends don't take them. [`write_outline`](crate::back::rust::write_outline) does, for their names.
    pub broken: Vec<Machine>,
    /// The number of machines found, including those with errors.
    pub found: usize,
    /// The number of diagrams that were checked and aren't a machine's.
    pub drawings: usize,
    /// Every diagnostic, in reading order.
    pub diagnostics: Vec<Diagnostic>,
}

/// Compiles every text: the whole pipeline.
///
/// Never fails and never stops at the first error: the result has each machine without one, and every diagnostic of the
/// others.
#[must_use]
pub fn compile(sources: &Sources, options: &Options) -> Compiled {
    let mut compiled = Compiled {
        machines: Vec::new(),
        broken: Vec::new(),
        found: 0,
        drawings: 0,
        diagnostics: Vec::new(),
    };
    for (file, source) in sources.iter() {
        let (specs, mut diagnostics, remarks) = read(file, source, options);
        let mut seen: BTreeMap<String, Spanned<String>> = BTreeMap::new();
        let allowed = allowances(&remarks);
        for (spec, mut diags) in specs {
            diags.allow(allowed.clone(), options.unwanted.clone());
            if spec.is_drawing() {
                compiled.drawings += 1;
                let (_, found) = finish(&spec, sources, options, diags);
                diagnostics.extend(of_drawing(found));
                continue;
            }
            compiled.found += 1;
            let id = spec.id();
            let module = snake(&id.value).0;
            match seen.get(&module) {
                Some(first) if first.value == id.value => {
                    diags.push(duplicate_machine(id, first.span));
                }
                Some(first) => diags.push(duplicate_module(id, first, &module)),
                None => {
                    seen.insert(module, id.clone());
                }
            }
            let (machine, found) = finish(&spec, sources, options, diags);
            match machine {
                Ok(valid) => compiled.machines.push(valid),
                Err(broken) => compiled.broken.extend(broken),
            }
            diagnostics.extend(found);
        }
        suppress(&remarks, &mut diagnostics);
        let mut sorted = Diags::new();
        diagnostics
            .into_iter()
            .for_each(|diagnostic| sorted.push(diagnostic));
        compiled.diagnostics.extend(sorted.into_sorted());
    }
    compiled
}

/// Parses every text, and returns the parts of each machine as they are written.
///
/// That is for editors, which want every place of a name. SCXML documents have no such parts.
#[must_use]
pub fn read_specs(sources: &Sources, options: &Options) -> Vec<Spec> {
    let mut all = Vec::new();
    for (file, source) in sources.iter() {
        let (specs, _, _) = read(file, source, options);
        all.extend(specs.into_iter().filter_map(|(found, _)| match found {
            Found::Spec(spec) => Some(*spec),
            Found::Drawing(_) => None,
            #[cfg(feature = "scxml")]
            Found::Scxml { .. } => None,
        }));
    }
    all
}

/// The finding about a state that can't be reached.
const UNREACHABLE: &str = "SM304";

/// The findings with which it isn't certain what a drawing begins with.
///
/// They are about its beginning, and about hidden arrows.
const UNCERTAIN: [&str; 3] = ["SM301", "SM302", "SM402"];

/// Returns the findings of a diagram that nobody runs: what is wrong with it as a drawing.
///
/// Mermaid draws it whatever its states mean, so that what isn't about its syntax is no error. A state that nothing
/// leads out of is where a drawing ends, and one that can't be reached is worth a word where it says where it begins.
fn of_drawing(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    // Where it doesn't say where it begins, or one arrow hides another from a machine, all of it is drawn as well.
    let begins = !found
        .iter()
        .any(|finding| UNCERTAIN.contains(&finding.code.id()));
    found.retain(|finding| begins || finding.code.id() != UNREACHABLE);
    found.retain(|finding| !finding.of_machine);
    found.retain_mut(|finding| {
        // What would be an error because of what follows from it follows for machines alone.
        let own = finding.severity.min(finding.code.severity());
        let most = match finding.code.in_drawings() {
            InDrawings::Never => return false,
            InDrawings::Hint => Severity::Hint,
            InDrawings::Warning => Severity::Warning,
            InDrawings::Error => Severity::Error,
        };
        finding.severity = own.min(most);
        true
    });
    found
}

/// Lowers and checks one spec; `diags` has the findings of its front ends.
///
/// A machine with errors is kept if it or Rust is wanted.
fn finish(
    found: &Found,
    sources: &Sources,
    options: &Options,
    mut diags: Diags,
) -> (Result<Valid, Option<Machine>>, Vec<Diagnostic>) {
    let fail = options.actions_fail;
    let mut machine = match found {
        Found::Spec(spec) | Found::Drawing(spec) => {
            lower(spec, sources, !options.for_rust, fail, &mut diags)
        }
        #[cfg(feature = "scxml")]
        Found::Scxml { document, file, id } => {
            lower_scxml(document, *file, id.clone(), fail, &mut diags)
        }
    };
    if options.for_rust {
        machine.ask_host();
    }
    let broken = diags.has_errors();
    let keeps = options.for_rust || options.keeps_broken;
    let read = keeps.then(|| machine.clone());
    let elsewhere = || match found {
        Found::Spec(spec) | Found::Drawing(spec) => states_outside_diagram(spec, sources, options),
        #[cfg(feature = "scxml")]
        Found::Scxml { .. } => BTreeSet::new(),
    };
    let valid = valid::check_written(machine, &elsewhere, broken, &mut diags);
    (valid.ok_or(read), diags.into_sorted())
}

/// Returns the names of states that a spec speaks of outside of its diagram.
///
/// They are in the definition, in headings, and in the prose of a document.
fn states_outside_diagram(spec: &Spec, sources: &Sources, options: &Options) -> BTreeSet<String> {
    let diagram = spec.diagram.as_ref().map(|diagram| diagram.span);
    let is_outside = |span: Span| !diagram.is_some_and(|it| it.contains(span));
    let mentions = mentions(spec).into_iter();
    let states = mentions.filter(|it| it.kind == NameKind::State && is_outside(it.span));
    let mut names: BTreeSet<String> = states.map(|it| it.name).collect();
    let source = sources.file(spec.file);
    let format = options.format;
    if format.unwrap_or_else(|| Format::of_name(source.name())) == Format::Markdown {
        names.extend(markdown::prose_words(source.text()));
    }
    names
}

type Specs = Vec<(Found, Diags)>;

/// A machine found in a text, parsed.
enum Found {
    /// A diagram, a definition, or both.
    Spec(Box<Spec>),
    /// A diagram of a document that isn't a machine's.
    Drawing(Box<Spec>),
    /// An SCXML document.
    #[cfg(feature = "scxml")]
    Scxml {
        document: Box<scxml::ast::Document>,
        file: FileId,
        id: Spanned<String>,
    },
}

impl Found {
    const fn is_drawing(&self) -> bool {
        matches!(self, Self::Drawing(_))
    }

    fn id(&self) -> &Spanned<String> {
        match self {
            Self::Spec(spec) | Self::Drawing(spec) => &spec.id,
            #[cfg(feature = "scxml")]
            Self::Scxml { id, .. } => id,
        }
    }
}

impl From<Spec> for Found {
    fn from(spec: Spec) -> Self {
        Self::Spec(Box::new(spec))
    }
}

/// Parses one text.
///
/// Returns its specs, each with the findings of its front ends, the findings that belong to no spec, and the comments that
/// are for us.
fn read(
    file: FileId,
    source: &SourceFile,
    options: &Options,
) -> (Specs, Vec<Diagnostic>, Vec<Remark>) {
    let whole = || Excerpt::whole(file, source.text());
    let remarks = |opening| match source.text().contains(crate::suppress::MARK) {
        true => line_remarks(source.text(), &whole(), opening),
        false => Vec::new(),
    };
    let format = options
        .format
        .unwrap_or_else(|| Format::of_name(source.name()));
    match format {
        Format::Markdown => read_document(file, source, options),
        Format::Diagram => {
            let (spec, diags) = read_diagram(file, source);
            (vec![(spec.into(), diags)], Vec::new(), remarks("%%"))
        }
        Format::Definition => {
            let (spec, diags) = read_definition(file, source, options);
            (vec![(spec.into(), diags)], Vec::new(), remarks("//"))
        }
        Format::Scxml => {
            let (specs, diagnostics) = read_scxml(file, source);
            (specs, diagnostics, remarks("<!--"))
        }
    }
}

fn read_document(
    file: FileId,
    source: &SourceFile,
    options: &Options,
) -> (Specs, Vec<Diagnostic>, Vec<Remark>) {
    let mut diags = Diags::new();
    let all_diagrams = options.all_diagrams;
    let document = markdown::parse_document(file, source.text(), all_diagrams, &mut diags);
    let mut remarks = match all_diagrams || !document.sections.is_empty() {
        true => markdown::remarks::remarks(file, source.text()),
        false => Vec::new(),
    };
    let mut specs = Vec::new();
    if all_diagrams {
        for excerpt in markdown::other_diagrams(file, source.text(), &document) {
            remarks.extend(line_remarks(source.text(), &excerpt, "%%"));
            let (spec, diags) = read_drawing(file, source, &excerpt);
            specs.push((Found::Drawing(Box::new(spec)), diags));
        }
    }
    for section in document.sections {
        let mut diags = section.diags;
        if let Some(text) = &section.diagram {
            remarks.extend(line_remarks(source.text(), text, "%%"));
        }
        if let Some(block) = &section.definition {
            remarks.extend(line_remarks(source.text(), &block.text, "//"));
        }
        let diagram = section
            .diagram
            .as_ref()
            .map(|text| mermaid::parse_diagram(text, &mut diags));
        let definition = section.definition.as_ref().and_then(|block| {
            let servers = &options.servers;
            definition::parse_definition(&block.text, block.comments, servers, &mut diags)
        });
        // A fence that can't be parsed must not be reported as missing.
        if section.definition.is_some() && definition.is_none() && diagram.is_none() {
            specs.push((unread(file, &section.heading, source).into(), diags));
            continue;
        }
        let id = section
            .name
            .clone()
            .or_else(|| {
                definition
                    .as_ref()
                    .and_then(|definition| definition.id.clone())
            })
            .or_else(|| document.name.clone())
            .unwrap_or_else(|| Spanned::new(default_id(source.name()), section.heading));
        let description = document.description.as_ref().map(|text| text.value.clone());
        let span = section.heading;
        specs.push((
            Spec {
                file,
                span,
                id,
                description,
                diagram,
                definition,
                instructions: section.instructions,
                headings: section.headings,
                other_fence: section.other_fence,
            }
            .into(),
            diags,
        ));
    }
    (specs, diags.into_sorted(), remarks)
}

/// Returns an empty spec in place of one that can't be parsed, which an earlier finding has reported.
fn unread(file: FileId, heading: &Span, source: &SourceFile) -> Spec {
    let id = Spanned::new(default_id(source.name()), *heading);
    let placeholder = mermaid::parse_diagram(&Excerpt::new(file), &mut Diags::new());
    Spec {
        file,
        span: *heading,
        id,
        description: None,
        diagram: Some(placeholder),
        definition: None,
        instructions: Vec::new(),
        headings: Vec::new(),
        other_fence: None,
    }
}

fn read_diagram(file: FileId, source: &SourceFile) -> (Spec, Diags) {
    read_drawing(file, source, &Excerpt::whole(file, source.text()))
}

/// Parses a diagram alone.
fn read_drawing(file: FileId, source: &SourceFile, excerpt: &Excerpt) -> (Spec, Diags) {
    let mut diags = Diags::new();
    let diagram = mermaid::parse_diagram(excerpt, &mut diags);
    let span = diagram.header.unwrap_or_else(|| excerpt.span(0..0));
    let id = Spanned::new(default_id(source.name()), span);
    let spec = Spec {
        file,
        span,
        id,
        description: None,
        diagram: Some(diagram),
        definition: None,
        instructions: Vec::new(),
        headings: Vec::new(),
        other_fence: None,
    };
    (spec, diags)
}

fn read_definition(file: FileId, source: &SourceFile, options: &Options) -> (Spec, Diags) {
    let mut diags = Diags::new();
    let excerpt = Excerpt::whole(file, source.text());
    let comments = source.name().ends_with(".jsonc");
    let definition = definition::parse_definition(&excerpt, comments, &options.servers, &mut diags);
    let start = excerpt.span(0..0);
    let Some(definition) = definition else {
        return (unread(file, &start, source), diags);
    };
    let id = definition.id.clone();
    let id = id.unwrap_or_else(|| Spanned::new(default_id(source.name()), start));
    let spec = Spec {
        file,
        span: start,
        id,
        description: None,
        diagram: None,
        definition: Some(definition),
        instructions: Vec::new(),
        headings: Vec::new(),
        other_fence: None,
    };
    (spec, diags)
}

/// Parses an SCXML document. A text that isn't SCXML at all has no machine, which a finding reports.
#[cfg(feature = "scxml")]
fn read_scxml(file: FileId, source: &SourceFile) -> (Specs, Vec<Diagnostic>) {
    let mut diags = Diags::new();
    let Some(document) = scxml::parse_scxml(file, source.text(), &mut diags) else {
        return (Vec::new(), diags.into_sorted());
    };
    let id = document.name.clone();
    let id = id.unwrap_or_else(|| Spanned::new(default_id(source.name()), document.span));
    let found = Found::Scxml {
        document: Box::new(document),
        file,
        id,
    };
    (vec![(found, diags)], Vec::new())
}

/// Reports that this build of the compiler reads no SCXML.
#[cfg(not(feature = "scxml"))]
fn read_scxml(file: FileId, _: &SourceFile) -> (Specs, Vec<Diagnostic>) {
    let start = Span {
        file,
        start: 0,
        end: 0,
    };
    let message = "this build of the compiler reads no SCXML";
    let help = "turn on the feature `scxml`, of `statemark` for `machine!` and of `statemark-compiler` for a build script";
    let diagnostic = Diagnostic::new(Code::ScxmlDisabled, start, message).help(help);
    (Vec::new(), vec![diagnostic])
}

/// Returns the id of a machine that has none.
///
/// It is the folder of a `SKILL.md`, or else the file's name without extensions.
fn default_id(path: &str) -> String {
    let mut parts = path.rsplit(['/', '\\']);
    let file = parts.next().unwrap_or("");
    let stem = file
        .split('.')
        .find(|part| !part.is_empty())
        .unwrap_or("machine");
    if stem.eq_ignore_ascii_case("skill")
        && let Some(folder) = parts
            .next()
            .filter(|folder| !["", ".", ".."].contains(folder))
    {
        return folder.to_owned();
    }
    stem.to_owned()
}

/// Reports that two sections of a document define machines with the same id.
fn duplicate_machine(id: &Spanned<String>, first: Span) -> Diagnostic {
    let message = format!("two machines are called `{}`", id.value);
    Diagnostic::new(Code::DuplicateMachine, id.span, message)
        .label(format!("the second `{}`", id.value))
        .related(first, format!("the first `{}`", id.value))
        .help("give each section a name of its own: `## STATE-MACHINE: name`")
}

/// Reports that the ids of two sections differ, but become the same Rust module.
fn duplicate_module(id: &Spanned<String>, first: &Spanned<String>, module: &str) -> Diagnostic {
    let message = format!(
        "machines `{}` and `{}` would both be the module `{module}` in Rust",
        first.value, id.value
    );
    Diagnostic::new(Code::DuplicateMachine, id.span, message)
        .label(format!("becomes `{module}`"))
        .related(first.span, format!("becomes `{module}`, too"))
        .help("rename one of them: `## STATE-MACHINE: name`")
}

#[cfg(test)]
mod tests {
    use super::default_id;

    #[test]
    fn a_machine_without_an_id_is_named_after_its_file() {
        for (path, expected) in [
            ("door.md", "door"),
            ("specs/door.state.mmd", "door"),
            ("skills/fix-bug/SKILL.md", "fix-bug"),
            ("SKILL.md", "SKILL"),
            ("../SKILL.md", "SKILL"),
            ("C:\\specs\\door.md", "door"),
            ("", "machine"),
            (".md", "md"),
        ] {
            assert_eq!(default_id(path), expected, "{path}");
        }
    }
}
