//! The outlines of the specs that aren't open.
//!
//! A person types the name of a state letter by letter, and an editor asks for each. So what was compiled for one letter is
//! kept for the next, until the file changes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;

use gen_lsp_types::DocumentSymbol;
use statemark_compiler::source::Sources;

use crate::analysis::Analysis;
use crate::document::Encoding;
use crate::project::{Project, SpecFile, Stamp};
use crate::symbols;

/// Most symbols that are kept.
///
/// Why: each takes some 300 bytes. Those of more files are compiled anew for each letter, which takes time alone.
const MOST_KEPT: usize = 100_000;

/// The outlines of the specs that aren't open.
#[derive(Default)]
pub(crate) struct Outlines {
    /// By their files, with the stamps that these had.
    kept: BTreeMap<PathBuf, (Stamp, Rc<[DocumentSymbol]>)>,
    /// The number of symbols in them.
    count: usize,
}

impl Outlines {
    /// Returns the machines of a file with their states.
    pub(crate) fn outline(
        &mut self,
        file: &SpecFile,
        project: &dyn Project,
        encoding: Encoding,
    ) -> Rc<[DocumentSymbol]> {
        if let Some((stamp, outline)) = self.kept.get(&file.path) {
            if file.stamp == Some(*stamp) {
                return Rc::clone(outline);
            }
            self.count = self.count.saturating_sub(count(outline));
            self.kept.remove(&file.path);
        }
        let text = project.read(&file.path);
        let outline = text.map(|text| compile(file, text, encoding));
        let outline: Rc<[DocumentSymbol]> = outline.unwrap_or_default().into();
        let after = self.count.saturating_add(count(&outline));
        if let Some(stamp) = file.stamp
            && after <= MOST_KEPT
        {
            self.count = after;
            let kept = (stamp, Rc::clone(&outline));
            self.kept.insert(file.path.clone(), kept);
        }
        outline
    }

    /// Forgets all files but some.
    pub(crate) fn keep_only(&mut self, files: &BTreeSet<PathBuf>) {
        self.kept.retain(|path, _| files.contains(path));
        let sizes = self.kept.values().map(|(_, outline)| count(outline));
        self.count = sizes.fold(0, usize::saturating_add);
    }
}

fn compile(file: &SpecFile, text: String, encoding: Encoding) -> Vec<DocumentSymbol> {
    let mut sources = Sources::new();
    let name = file.path.file_name().unwrap_or_default();
    let id = sources.add(name.to_string_lossy(), text);
    let analysis = Analysis::new(sources, id, &crate::NoProject);
    symbols::document_symbols(&analysis, encoding)
}

/// Returns the number of the symbols of a file, and of those in them; a file without any counts as one.
fn count(symbols: &[DocumentSymbol]) -> usize {
    let below = symbols
        .iter()
        .map(|it| count(it.children.as_deref().unwrap_or_default()));
    below.fold(1, usize::saturating_add)
}
