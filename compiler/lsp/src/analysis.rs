//! A document, as the compiler sees it.
//!
//! Findings are made when a document changes; names and their places when somebody asks for them.

use std::cell::OnceCell;

use statemark_compiler::diag::{Diagnostic, Diags};
use statemark_compiler::excerpt::Excerpt;
use statemark_compiler::front::markdown::{code_spans, parse_document};
use statemark_compiler::front::words::word_key;
use statemark_compiler::ir::Machine;
use statemark_compiler::lower::Spec;
use statemark_compiler::source::{FileId, Sources, Span};
use statemark_compiler::valid::Valid;
use statemark_compiler::{Format, Mention, NameKind, Options, compile, mentions, read_specs};

use crate::project::FileRules;

/// A document, compiled.
#[derive(Debug)]
pub(crate) struct Analysis {
    /// The document alone.
    pub(crate) sources: Sources,
    /// The document.
    pub(crate) file: FileId,
    /// The findings that the project wants.
    pub(crate) findings: Vec<Diagnostic>,
    /// The machines without an error.
    pub(crate) valid: Vec<Valid>,
    /// The machines with an error, as far as they could be read.
    broken: Vec<Machine>,
    sections: OnceCell<Vec<Section>>,
}

/// One machine as it is written.
#[derive(Debug)]
pub(crate) struct Section {
    /// Its parts.
    pub(crate) spec: Spec,
    /// The text of its diagram.
    pub(crate) diagram: Option<Excerpt>,
    /// The text of its definition.
    pub(crate) definition: Option<Excerpt>,
    /// The places that name something, in the order of the text: those in prose, too.
    pub(crate) mentions: Vec<Mention>,
}

impl Analysis {
    /// Compiles a document.
    pub(crate) fn new(sources: Sources, file: FileId, rules: &dyn FileRules) -> Self {
        let compiled = compile(&sources, &options(rules));
        let mut findings = compiled.diagnostics;
        rules.apply(&mut findings);
        Self {
            sources,
            file,
            findings,
            valid: compiled.machines,
            broken: compiled.broken,
            sections: OnceCell::new(),
        }
    }

    /// Returns the text.
    pub(crate) fn text(&self) -> &str {
        self.sources.file(self.file).text()
    }

    /// Returns the machines as they are written.
    pub(crate) fn sections(&self) -> &[Section] {
        self.sections
            .get_or_init(|| sections(&self.sources, self.file))
    }

    /// Returns the machine of a section, with or without errors; none if nothing of it could be read.
    pub(crate) fn machine(&self, section: &Section) -> Option<&Machine> {
        let valid = self.valid.iter().map(|valid| &**valid);
        let mut machines = valid.chain(&self.broken);
        machines.find(|it| it.span == section.spec.span && it.id == section.spec.id)
    }

    /// Returns the narrowest mention at a byte, with its section.
    pub(crate) fn mention_at(&self, byte: usize) -> Option<(&Section, &Mention)> {
        let all = self.sections().iter();
        let all = all.flat_map(|section| section.mentions.iter().map(move |it| (section, it)));
        let touches = |span: Span| span.range().start <= byte && byte <= span.range().end;
        all.filter(|(_, it)| touches(it.span))
            .min_by_key(|(_, it)| it.span.range().len())
    }

    /// Returns the section whose diagram or definition holds a byte, its end included.
    pub(crate) fn section_at(&self, byte: usize) -> Option<&Section> {
        let mut sections = self.sections().iter();
        sections.find(|it| holds(it.diagram.as_ref(), byte) || holds(it.definition.as_ref(), byte))
    }

    /// Returns the text of a span.
    pub(crate) fn words(&self, span: Span) -> &str {
        self.sources.text(span)
    }
}

/// Returns the options by which a document is compiled.
pub(crate) fn options(rules: &dyn FileRules) -> Options {
    let mut options = Options::default();
    options.all_diagrams = rules.checks_all_diagrams();
    options.keeps_broken = true;
    options.servers = rules.servers();
    options.unwanted = rules.unwanted();
    options
}

/// Reports whether an excerpt holds a byte, or ends with it.
pub(crate) fn holds(excerpt: Option<&Excerpt>, byte: usize) -> bool {
    excerpt.is_some_and(|excerpt| {
        let range = excerpt.full_span().range();
        range.start <= byte && byte <= range.end
    })
}

/// Reports whether two mentions name one thing.
pub(crate) fn is_same(one: &Mention, kind: NameKind, name: &str) -> bool {
    one.kind == kind
        && match kind {
            NameKind::Event => word_key(&one.name) == word_key(name),
            _ => one.name == name,
        }
}

fn sections(sources: &Sources, file: FileId) -> Vec<Section> {
    let source = sources.file(file);
    let text = source.text();
    let format = Format::of_name(source.name());
    let whole = |wanted| (format == wanted).then(|| Excerpt::whole(file, text));
    let mut excerpts = match format {
        Format::Markdown => parse_document(file, text, false, &mut Diags::new()).sections,
        _ => Vec::new(),
    };
    let mut sections: Vec<Section> = read_specs(sources, &Options::default())
        .into_iter()
        .map(|spec| {
            let at = excerpts.iter().position(|it| it.heading == spec.span);
            let own = at.map(|at| excerpts.swap_remove(at));
            let (diagram, definition) = match own {
                Some(own) => (own.diagram, own.definition.map(|block| block.text)),
                None => (whole(Format::Diagram), whole(Format::Definition)),
            };
            Section {
                mentions: mentions(&spec),
                spec,
                diagram,
                definition,
            }
        })
        .collect();
    if format == Format::Markdown && !sections.is_empty() {
        add_prose(file, text, &mut sections);
    }
    sections
}

/// Adds the code spans of the prose that name a state or an event.
///
/// It is one of the only machine, or of the one whose heading they are under.
fn add_prose(file: FileId, text: &str, sections: &mut [Section]) {
    let is_alone = sections.len() == 1;
    for code in code_spans(file, text) {
        let at = match is_alone {
            true => 0,
            false => {
                let after = sections.partition_point(|it| it.spec.span.start <= code.span.start);
                let Some(at) = after.checked_sub(1) else {
                    continue;
                };
                at
            }
        };
        let Some(section) = sections.get_mut(at) else {
            continue;
        };
        if section.mentions.iter().any(|it| it.span == code.span) {
            continue;
        }
        let kinds = [NameKind::State, NameKind::Event];
        let kind = kinds.into_iter().find(|kind| {
            let mut known = section.mentions.iter();
            known.any(|it| it.kind == *kind && it.name == code.value)
        });
        if let Some(kind) = kind {
            section.mentions.push(Mention {
                kind,
                name: code.value,
                span: code.span,
                declares: false,
            });
        }
    }
    for section in sections {
        section
            .mentions
            .sort_by_key(|it| (it.span.start, it.span.end));
    }
}
