//! The documents of five systems, point by point, against the built program: `systems::statewright::12-get-state-instructions`.
//!
//! A file in `systems/` has one system: how many points its document has, the page that tells users where this program
//! departs from it, set-ups, and the points. Each point is a test; its verdict is one of three:
//!
//! - `Works.`
//! - `Departs: …`: on purpose. The sentence stands, word for word, in the page that users read.
//! - `Later: executor.`: what is still to come (see [`LATER`]). The script shows what is answered until then, so that it
//!   fails when that has come.
//!
//! `````text
//! # Statewright
//!
//! Points: 70. Page: `statemark://docs/profile/statewright`.
//!
//! ## Set-up: bugfix
//!
//! ### file bugfix.workflow.json
//!
//! ~~~~text
//! …
//! ~~~~
//!
//! ~~~~calls
//! > serve --profile statewright
//! ~~~~
//!
//! ## 12. `get_state`: instructions
//!
//! Works.
//! With: bugfix.
//!
//! ~~~~calls
//! > statewright_load_workflow {"name": "bugfix"}
//! > statewright_get_state
//! {"instructions": "Read the code. …"}
//! ~~~~
//! `````
//!
//! The calls are those of a [`Session`]; [`pattern`] says how an answer is compared. `TABLE.md` has all points by system;
//! it is made from these files, and `UPDATE=1` rewrites it.

mod document;
mod pattern;

use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use statemark_harness::script::{self, Minted};
use statemark_harness::{Suite, compare, files};

use crate::session::{Answer, Session};
use crate::shell::Scratch;
use document::{Document, Play, Point, Verdict};

/// The systems, in the order of the table.
const SYSTEMS: [&str; 5] = ["statewright", "rp1", "smithers", "ralph", "rstn"];

/// What is still to come, by name.
const LATER: [(&str, &str); 2] = [
    ("executor", "a program that does the work of a state"),
    ("packs", "tools for files, git, programs, the web and media"),
];

/// Adds a test for each point, and one for the table.
pub(crate) fn add(suite: &mut Suite, folder: &Path) {
    let mut documents = Vec::new();
    for system in SYSTEMS {
        let path = folder.join(format!("{system}.md"));
        let read =
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()));
        match read.and_then(|text| Document::parse(&text)) {
            Ok(document) => documents.push((system, document)),
            Err(fault) => suite.check(&format!("systems::{system}::is_read"), || Err(fault)),
        }
    }
    let table = table(&documents);
    let path = folder.join("TABLE.md");
    suite.check("systems::table", move || compare(&path, &table));
    let folder = folder.to_path_buf();
    suite.check("systems::every_file_is_a_system", move || {
        let others = files(&folder).into_iter().filter(|path| is_other(path));
        match others.collect::<Vec<_>>().as_slice() {
            [] => Ok(()),
            others => Err(format!("no system of that name: {others:?}")),
        }
    });
    for (system, document) in documents {
        let document = Arc::new(document);
        let page = Arc::new(OnceLock::new());
        for at in 0..document.points.len() {
            let (document, page) = (Arc::clone(&document), Arc::clone(&page));
            let name = format!("systems::{system}::{}", document.points[at].slug());
            suite.check(&name, move || {
                let point = &document.points[at];
                let scratch = Scratch::new(&format!("systems-{system}-{}", point.number));
                let mut stage = Stage::new(&scratch);
                for set_up in document.set_ups_of(point)? {
                    stage.play(set_up)?;
                }
                stage.play(&point.play)?;
                if let Verdict::Departs(sentence) = &point.verdict {
                    let page = page.get_or_init(|| read_page(&document.page));
                    says(page, sentence).map_err(|fault| format!("{}: {fault}", document.page))?;
                }
                Ok(())
            });
        }
    }
}

/// Reports whether a Markdown file belongs to no system.
fn is_other(path: &Path) -> bool {
    let name = path.file_stem().and_then(|name| name.to_str());
    let is_known = name.is_some_and(|name| name == "TABLE" || SYSTEMS.contains(&name));
    path.extension().is_some_and(|extension| extension == "md") && !is_known
}

/// A folder with a session in it, and the ids that were minted there.
struct Stage<'s> {
    scratch: &'s Scratch,
    session: Session<'s>,
    minted: Minted,
}

impl<'s> Stage<'s> {
    fn new(scratch: &'s Scratch) -> Self {
        Self {
            scratch,
            session: Session::new(scratch),
            minted: Minted::default(),
        }
    }

    /// Writes files and makes calls; the first answer that isn't the expected one is a fault.
    fn play(&mut self, play: &Play) -> Result<(), String> {
        for (name, text) in &play.files {
            self.scratch.write(name, text);
        }
        let folder = self.scratch.path.to_string_lossy().into_owned();
        for (call, expected) in script::calls(&play.script) {
            let answer = self.session.call(&self.minted.unmask(&call));
            let mut shown = |text: &str| self.minted.mask(&text.replace(&folder, "FOLDER"));
            pattern::check(&expected, answer, &mut shown)
                .map_err(|fault| format!("> {call}\n{fault}"))?;
        }
        Ok(())
    }
}

/// Returns the text of a page as clients read it; empty if there is none.
fn read_page(uri: &str) -> String {
    let name: String = uri.chars().filter(char::is_ascii_alphanumeric).collect();
    let scratch = Scratch::new(&format!("systems-page-{name}"));
    let call = format!(r#"rpc resources/read {{"uri": "{uri}"}}"#);
    let Answer::Protocol(outcome) = Session::new(&scratch).call(&call) else {
        return String::new();
    };
    let text = outcome.pointer("/result/contents/0/text");
    text.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Finds a sentence in a page, wherever its lines are broken.
fn says(page: &str, sentence: &str) -> Result<(), String> {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words(page).contains(&words(sentence)) {
        true => Ok(()),
        false => Err(format!("the page doesn't say: {sentence}")),
    }
}

/// Writes the points of all systems with their verdicts.
fn table(documents: &[(&str, Document)]) -> String {
    let mut text = "# Five systems, point by point\n\n\
        What the public documents of five systems promise, and how this program answers it today.\n\
        Each point is a test: `systems::<system>::<number>-<point>`; `compiler/cli/tests/systems/run` runs them, and shows this \
        page, which is made from the files beside it.\n\n\
        | system | works | departs, documented | later | points | in its document |\n|---|---|---|---|---|---|\n"
        .to_owned();
    let mut sums = [0; 5];
    for (_, document) in documents {
        let counts = counts(document);
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum += count;
        }
        text += &row(&document.title, counts);
    }
    text += &row("all", sums);
    text += "\nStill to come: ";
    let open = LATER.iter().filter_map(|(name, what)| {
        let points = documents.iter().flat_map(|(_, document)| &document.points);
        let count = points.filter(|point| point.is_later(name)).count();
        (count > 0).then(|| format!("{name} ({what}): {count}"))
    });
    text += &open.collect::<Vec<_>>().join("; ");
    text += ".\n";
    for (_, document) in documents {
        text += &format!(
            "\n## {}\n\nDepartures: `{}`.\n\n| # | point | today |\n|---|---|---|\n",
            document.title, document.page
        );
        for Point {
            number,
            sentence,
            verdict,
            ..
        } in &document.points
        {
            text += &format!("| {number} | {sentence} | {verdict} |\n");
        }
    }
    text
}

/// Counts the points of a system: works, departs, later, all of them, and all that its document has.
fn counts(document: &Document) -> [usize; 5] {
    let mut counts = [0; 5];
    for point in &document.points {
        let column = match point.verdict {
            Verdict::Works => 0,
            Verdict::Departs(_) => 1,
            Verdict::Later(_) => 2,
        };
        counts[column] += 1;
    }
    counts[3] = document.points.len();
    counts[4] = document.count;
    counts
}

fn row(title: &str, counts: [usize; 5]) -> String {
    let cells = counts.map(|count| count.to_string());
    format!("| {title} | {} |\n", cells.join(" | "))
}
