//! The pipeline: texts in, machines and diagnostics out.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, Diags};
use crate::excerpt::Excerpt;
use crate::front::{definition, markdown, mermaid, scxml};
use crate::lower::scxml::lower_scxml;
use crate::lower::{Spec, lower};
use crate::pass::names::snake;
use crate::source::{FileId, SourceFile, Sources, Span, Spanned};
use crate::valid::{self, Valid};
use crate::{Compiled, Format, Options, report};

/// Compiles every text.
pub(crate) fn compile(sources: &Sources, options: &Options) -> Compiled {
    let mut compiled = Compiled {
        machines: Vec::new(),
        found: 0,
        diagnostics: Vec::new(),
    };
    for (file, source) in sources.iter() {
        let (specs, mut diagnostics) = read(file, source, options);
        compiled.found += specs.len();
        let mut seen: BTreeMap<String, Spanned<String>> = BTreeMap::new();
        for (spec, mut diags) in specs {
            let id = spec.id();
            let module = snake(&id.value).0;
            match seen.get(&module) {
                Some(first) if first.value == id.value => {
                    diags.push(report::duplicate_machine::duplicate_machine(id, first.span))
                }
                Some(first) => {
                    diags.push(report::duplicate_machine::same_module(id, first, &module))
                }
                None => {
                    seen.insert(module, id.clone());
                }
            }
            let (machine, found) = finish(&spec, sources, diags);
            compiled.machines.extend(machine);
            diagnostics.extend(found);
        }
        let mut all = Diags::new();
        diagnostics
            .into_iter()
            .for_each(|diagnostic| all.push(diagnostic));
        compiled.diagnostics.extend(all.into_sorted());
    }
    compiled
}

/// Lowers and checks one spec whose front ends found `diags`.
fn finish(found: &Found, sources: &Sources, mut diags: Diags) -> (Option<Valid>, Vec<Diagnostic>) {
    let machine = match found {
        Found::Spec(spec) => lower(spec, sources, &mut diags),
        Found::Scxml { document, file, id } => lower_scxml(document, *file, id.clone(), &mut diags),
    };
    let broken = diags.has_errors();
    let valid = valid::check(machine, broken, &mut diags);
    (valid, diags.into_sorted())
}

type Specs = Vec<(Found, Diags)>;

/// What a text holds.
enum Found {
    /// A diagram, a definition, or both.
    Spec(Box<Spec>),
    /// An SCXML document.
    Scxml {
        document: Box<scxml::ast::Document>,
        file: FileId,
        id: Spanned<String>,
    },
}

impl Found {
    fn id(&self) -> &Spanned<String> {
        match self {
            Self::Spec(spec) => &spec.id,
            Self::Scxml { id, .. } => id,
        }
    }
}

impl From<Spec> for Found {
    fn from(spec: Spec) -> Self {
        Self::Spec(Box::new(spec))
    }
}

/// The specs of one text, each with what its front ends found; and the findings that belong to none.
fn read(file: FileId, source: &SourceFile, options: &Options) -> (Specs, Vec<Diagnostic>) {
    let format = options
        .format
        .unwrap_or_else(|| Format::of_name(source.name()));
    match format {
        Format::Markdown => read_document(file, source),
        Format::Diagram => {
            let (spec, diags) = read_diagram(file, source);
            (vec![(spec.into(), diags)], Vec::new())
        }
        Format::Definition => {
            let (spec, diags) = read_definition(file, source);
            (vec![(spec.into(), diags)], Vec::new())
        }
        Format::Scxml => read_scxml(file, source),
    }
}

fn read_document(file: FileId, source: &SourceFile) -> (Specs, Vec<Diagnostic>) {
    let mut diags = Diags::new();
    let document = markdown::parse_document(file, source.text(), &mut diags);
    let mut specs = Vec::new();
    for section in document.sections {
        let mut diags = Diags::new();
        let diagram = section
            .diagram
            .as_ref()
            .map(|text| mermaid::parse_diagram(text, &mut diags));
        let definition = section.definition.as_ref().and_then(|block| {
            definition::parse_definition(&block.text, block.comments, &mut diags)
        });
        // A fence that couldn't be read is no reason to say that there is none.
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
    (specs, diags.into_sorted())
}

/// A machine of which nothing could be read; the findings say why.
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
    let mut diags = Diags::new();
    let excerpt = Excerpt::whole(file, source.text());
    let diagram = mermaid::parse_diagram(&excerpt, &mut diags);
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

fn read_definition(file: FileId, source: &SourceFile) -> (Spec, Diags) {
    let mut diags = Diags::new();
    let excerpt = Excerpt::whole(file, source.text());
    let comments = source.name().ends_with(".jsonc");
    let definition = definition::parse_definition(&excerpt, comments, &mut diags);
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

/// A text that isn't SCXML at all holds no machine; the findings say why.
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

/// The id of a machine that doesn't say it: the folder's name for `SKILL.md`, else the file's without its endings.
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

#[cfg(test)]
mod tests {
    use super::default_id;

    #[test]
    fn a_machine_is_called_after_its_file() {
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
