//! Internal events: what the compiler says of them is what runs raise, and what people read.

use statemark_compiler::pass::internal::{INTERNAL_EVENTS, InternalEvent, RAISED_BY_RUNS};
use statemark_runs::raised_when;

const LANGUAGE: &str = include_str!("../../skills/write-state-machine/references/language.md");

#[test]
fn the_events_that_runs_raise_are_those_of_runs() {
    for name in RAISED_BY_RUNS {
        assert!(raised_when(name).is_some(), "{name}");
        assert_eq!(InternalEvent::find(name).map(|it| it.name), Some(name));
    }
    let raised = INTERNAL_EVENTS
        .iter()
        .filter(|it| raised_when(it.name).is_some());
    let raised: Vec<&str> = raised.map(|it| it.name).collect();
    // An event that a machine doesn't have is caught by states that say so, and by no others.
    assert_eq!(raised.len(), RAISED_BY_RUNS.len() + 1, "{raised:?}");
}

#[test]
fn the_language_lists_every_internal_event() {
    let (_, list) = LANGUAGE.split_once("## Events that nobody sends").unwrap();
    for event in INTERNAL_EVENTS {
        assert!(
            list.contains(&format!("`{}`", event.name)),
            "{}",
            event.name
        );
        assert!(event.page().contains(event.raised));
    }
    assert_eq!(
        InternalEvent::find("done.state.paid").map(|it| it.name),
        Some("done.state.*")
    );
    assert!(InternalEvent::find("submit").is_none());
}
