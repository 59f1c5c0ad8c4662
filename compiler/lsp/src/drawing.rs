//! The request `statemark/drawing`: a machine as SVG, for previews.
//!
//! It isn't of the protocol; the capability `experimental.statemarkDrawing` announces it. A drawing has no script and asks
//! for nothing outside of itself.

use gen_lsp_types::TextDocumentIdentifier;
use serde::{Deserialize, Serialize};
use statemark_compiler::back::svg::{self, Theme};

use crate::analysis::Analysis;

/// The name of the request.
pub(crate) const METHOD: &str = "statemark/drawing";

/// The request.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DrawingParams {
    /// The document.
    pub(crate) text_document: TextDocumentIdentifier,
    /// The machine, if the document has several; else the first.
    #[serde(default)]
    pub(crate) machine: Option<String>,
    /// The colors; by default those of the reader's system.
    #[serde(default)]
    pub(crate) theme: Colors,
}

/// The colors of a drawing.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Colors {
    /// As the reader's system.
    #[default]
    Auto,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// The answer.
#[derive(Debug, Serialize)]
pub(crate) struct Drawing {
    /// The id of the machine.
    machine: String,
    /// The ids of all machines of the document without an error.
    machines: Vec<String>,
    /// The drawing.
    svg: String,
}

/// Draws a machine of a document; none if it has errors, or isn't there.
pub(crate) fn draw(analysis: &Analysis, params: &DrawingParams) -> Option<Drawing> {
    let id = params.machine.as_deref();
    let mut machines = analysis.valid.iter();
    let valid = machines.find(|it| id.is_none_or(|id| it.id.value == id))?;
    let mut options = svg::Options::default();
    options.theme = match params.theme {
        Colors::Auto => Theme::Auto,
        Colors::Light => Theme::Light,
        Colors::Dark => Theme::Dark,
    };
    Some(Drawing {
        machine: valid.id.value.clone(),
        machines: analysis
            .valid
            .iter()
            .map(|it| it.id.value.clone())
            .collect(),
        svg: svg::write(valid, &options).unwrap_or_else(|it| it.draw(&options)),
    })
}
