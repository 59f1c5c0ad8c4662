//! Drawings of machines, with the way of a run.

use statemark_compiler::back::svg::{Options, Overlay, TooLarge};
use statemark_runs::Trail;

use crate::clock::format_length;
use crate::failure::Failure;

/// Makes the failure of a machine that has too many arrows for a drawing.
#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` passes")]
pub(crate) fn undrawable(error: TooLarge) -> Failure {
    Failure::new(error.to_string()).with_help(
        "`statemark graph SPEC --format dot` writes it for Graphviz; `statemark show SPEC` lists all of it",
    )
}

/// Returns the options of a drawing: what a run's way lights up, and what is written into its states.
pub(crate) fn drawing_options(trail: Option<&Trail>) -> Options {
    let mut options = Options::default();
    if let Some(trail) = trail {
        options.overlay = overlay(trail);
    }
    options
}

fn overlay(trail: &Trail) -> Overlay {
    let remarks = trail.visits.iter().map(|(state, stay)| {
        let length = format_length(stay.milliseconds);
        let remark = match stay.count {
            1 => length,
            count => format!("{count} × · {length}"),
        };
        (state.clone(), remark)
    });
    let taken = trail.taken.iter();
    Overlay {
        active: trail.active.clone(),
        visited: trail.visits.keys().cloned().collect(),
        taken: taken
            .map(|(number, count)| {
                (
                    usize::from(*number),
                    usize::try_from(*count).unwrap_or(usize::MAX),
                )
            })
            .collect(),
        remarks: remarks.collect(),
    }
}
