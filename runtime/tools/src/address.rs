//! Addresses of resources: texts and files that answers lead to.
//!
//! ```text
//! statemark://workflow/ID                        the spec as it was written
//! statemark://workflow/ID/diagram                a Mermaid diagram
//! statemark://workflow/ID/graph                  a drawing, as SVG
//! statemark://workflow/ID/table                  the compiled table, in text
//! statemark://workflow/ID/state/STATE            the texts of a state
//! statemark://workflow/ID/artifact/NAME          the contract of an artifact
//! statemark://run/ID?after=SEQ&limit=N           the journal, a JSON record a line
//! statemark://run/ID/transcript?after=SEQ        the journal for people
//! statemark://run/ID/graph                       a drawing of its way, as SVG
//! statemark://run/ID/artifacts                   the artifacts
//! statemark://run/ID/artifacts/NAME[/REVISION]   the content of one
//! statemark://docs/PAGE[#PART]                   documentation
//! ```
//!
//! What to rely on: an address reads back as it was written, whatever letters its parts have. An address gives no
//! authority: the caller's is checked, as for a tool. Each resource belongs to a tool with the same information, and is
//! offered if that tool is.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use statemark_runs::RunId;

use crate::{Ctx, Problem};

/// The characters that a part of an address keeps.
const PART: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// An address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// The spec of a workflow.
    Spec(String),
    /// The diagram of a workflow.
    Diagram(String),
    /// The drawing of a workflow.
    Drawing(String),
    /// The table of a workflow, as text.
    Table(String),
    /// The texts of a workflow's state.
    State(String, String),
    /// The contract of a workflow's artifact.
    Contract(String, String),
    /// Records of a run, as JSON.
    Journal(RunId, Part),
    /// Records of a run, for people.
    Transcript(RunId, Part),
    /// The drawing of a run's workflow, with its way.
    RunDrawing(RunId),
    /// The artifacts of a run.
    Artifacts(RunId),
    /// A revision of a run's artifact; the newest if none is named.
    Artifact(RunId, String, Option<u64>),
    /// A page, with the part of it that is meant.
    Page(String),
}

/// A range of a journal's records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The record before the first.
    pub after: u64,
    /// Most records; by default as many as fit.
    pub limit: Option<u64>,
}

impl Address {
    /// The beginning of all addresses.
    pub const SCHEME: &str = "statemark://";

    /// Parses an address.
    ///
    /// # Errors
    ///
    /// Nothing has such an address.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let none = || {
            let message = format!("`{text}` is no address of anything here");
            Problem::new("unknown_resource", message)
        };
        let rest = text.strip_prefix(Self::SCHEME).ok_or_else(none)?;
        if let Some(page) = rest.strip_prefix("docs/").filter(|it| !it.is_empty()) {
            return Ok(Self::Page(page.to_owned()));
        }
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let parts: Option<Vec<String>> = path.split('/').map(decode).collect();
        let parts = parts.ok_or_else(none)?;
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        if parts.iter().any(|part| part.is_empty()) {
            return Err(none());
        }
        let run = |id: &str| id.parse::<RunId>().map_err(|_| none());
        let found = match parts.as_slice() {
            ["workflow", id] => Self::Spec((*id).to_owned()),
            ["workflow", id, "diagram"] => Self::Diagram((*id).to_owned()),
            ["workflow", id, "graph"] => Self::Drawing((*id).to_owned()),
            ["workflow", id, "table"] => Self::Table((*id).to_owned()),
            ["workflow", id, "state", state] => Self::State((*id).to_owned(), (*state).to_owned()),
            ["workflow", id, "artifact", name] => {
                Self::Contract((*id).to_owned(), (*name).to_owned())
            }
            ["run", id] => return Ok(Self::Journal(run(id)?, part(query).ok_or_else(none)?)),
            ["run", id, "transcript"] => {
                return Ok(Self::Transcript(run(id)?, part(query).ok_or_else(none)?));
            }
            ["run", id, "graph"] => Self::RunDrawing(run(id)?),
            ["run", id, "artifacts"] => Self::Artifacts(run(id)?),
            ["run", id, "artifacts", name] => Self::Artifact(run(id)?, (*name).to_owned(), None),
            ["run", id, "artifacts", name, revision] => {
                let revision = revision.parse().map_err(|_| none())?;
                Self::Artifact(run(id)?, (*name).to_owned(), Some(revision))
            }
            _ => return Err(none()),
        };
        if query.is_empty() {
            Ok(found)
        } else {
            Err(none())
        }
    }

    /// Returns the tools with the same information. One of them has to be offered.
    const fn tools(&self) -> &'static [&'static str] {
        match self {
            Self::Spec(_)
            | Self::Diagram(_)
            | Self::Drawing(_)
            | Self::Table(_)
            | Self::State(..) => &["describe_workflow"],
            // Errors of submitted artifacts name this page.
            Self::Contract(..) => &["describe_workflow", "submit_artifact"],
            Self::Journal(..) | Self::Transcript(..) | Self::RunDrawing(_) => &["get_events"],
            Self::Artifacts(_) | Self::Artifact(..) => &["get_artifact"],
            Self::Page(_) => &["search_docs"],
        }
    }

    /// Checks that the server offers the resource.
    ///
    /// # Errors
    ///
    /// The server offers neither the resource nor such a tool.
    pub fn check(&self, ctx: &Ctx<'_>) -> Result<(), Problem> {
        // The documentation belongs to no set: answers of all sets lead to its pages. Pages of workflows aren't part of it.
        let is_docs = matches!(self, Self::Page(page) if !page.starts_with("workflow/"));
        let is_docs = is_docs && ctx.options().allowed.is_none();
        let tools = self.tools();
        if is_docs || tools.iter().any(|tool| ctx.offers(tool)) {
            return Ok(());
        }
        let message = format!("this server doesn't offer `{self}`, nor a tool with the same");
        Err(Problem::new("not_offered", message))
    }

    /// Reports whether it is of a drawing, whose layout takes as long as compiling a spec does.
    pub const fn is_drawing(&self) -> bool {
        matches!(self, Self::Drawing(_) | Self::RunDrawing(_))
    }

    /// Returns the run that it is about.
    pub const fn run(&self) -> Option<&RunId> {
        match self {
            Self::Journal(run, _)
            | Self::Transcript(run, _)
            | Self::RunDrawing(run)
            | Self::Artifacts(run)
            | Self::Artifact(run, ..) => Some(run),
            _ => None,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let e = |text| utf8_percent_encode(text, PART);
        out.write_str(Self::SCHEME)?;
        match self {
            Self::Spec(id) => write!(out, "workflow/{}", e(id)),
            Self::Diagram(id) => write!(out, "workflow/{}/diagram", e(id)),
            Self::Drawing(id) => write!(out, "workflow/{}/graph", e(id)),
            Self::Table(id) => write!(out, "workflow/{}/table", e(id)),
            Self::State(id, state) => write!(out, "workflow/{}/state/{}", e(id), e(state)),
            Self::Contract(id, name) => write!(out, "workflow/{}/artifact/{}", e(id), e(name)),
            Self::Journal(run, part) => write!(out, "run/{}{part}", e(run.as_str())),
            Self::Transcript(run, part) => {
                write!(out, "run/{}/transcript{part}", e(run.as_str()))
            }
            Self::RunDrawing(run) => write!(out, "run/{}/graph", e(run.as_str())),
            Self::Artifacts(run) => write!(out, "run/{}/artifacts", e(run.as_str())),
            Self::Artifact(run, name, revision) => {
                write!(out, "run/{}/artifacts/{}", e(run.as_str()), e(name))?;
                match revision {
                    Some(revision) => write!(out, "/{revision}"),
                    None => Ok(()),
                }
            }
            Self::Page(page) => write!(out, "docs/{page}"),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.after, self.limit) {
            (0, None) => Ok(()),
            (after, None) => write!(out, "?after={after}"),
            (after, Some(limit)) => write!(out, "?after={after}&limit={limit}"),
        }
    }
}

fn decode(part: &str) -> Option<String> {
    let text = percent_decode_str(part).decode_utf8().ok()?;
    Some(text.into_owned())
}

fn part(query: &str) -> Option<Part> {
    let mut part = Part::default();
    for pair in query.split('&').filter(|it| !it.is_empty()) {
        match pair.split_once('=')? {
            ("after", number) => part.after = number.parse().ok()?,
            ("limit", number) => part.limit = Some(number.parse().ok()?),
            _ => return None,
        }
    }
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let run: RunId = "r-1".parse().unwrap();
        let part = Part {
            after: 7,
            limit: Some(3),
        };
        for address in [
            Address::Spec("a b/c?d".to_owned()),
            Address::Diagram("ä".to_owned()),
            Address::Drawing("a b".to_owned()),
            Address::RunDrawing(run.clone()),
            Address::Table("t".to_owned()),
            Address::State("t".to_owned(), "one/two".to_owned()),
            Address::Contract("t".to_owned(), "plan.md".to_owned()),
            Address::Journal(run.clone(), part),
            Address::Journal(run.clone(), Part::default()),
            Address::Transcript(run.clone(), part),
            Address::Artifacts(run.clone()),
            Address::Artifact(run.clone(), "work/tasks.md".to_owned(), None),
            Address::Artifact(run, "x".to_owned(), Some(2)),
            Address::Page("SM101#why".to_owned()),
        ] {
            let text = address.to_string();
            assert_eq!(Address::parse(&text).unwrap(), address, "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_said_so() {
        for text in [
            "",
            "file:///etc/passwd",
            "statemark://",
            "statemark://run",
            "statemark://run/",
            "statemark://run/r/nothing",
            "statemark://run/r/artifacts/a/first",
            "statemark://run/r?after=minus",
            "statemark://run/r?before=1",
            "statemark://workflow/w?after=1",
            "statemark://workflow/%ff",
            "statemark://workflow//diagram",
            "statemark://docs",
        ] {
            let problem = Address::parse(text).unwrap_err();
            assert_eq!(problem.code, "unknown_resource", "{text}");
        }
    }
}
