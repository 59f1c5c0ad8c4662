//! Records and states for people.

use statemark_compiler::pass::trigger::format_duration;
use statemark_runtime::{Candidate, Table};

use super::record::{Became, Told, ToldStep, Waiting};
use super::session::{Session, Way};
use crate::commands::show::LONG_GUARD;
use crate::lines::{WIDTH, counted, cut, first_line, wrapped};
use crate::palette::Palette;
use crate::wording::{self, Place, UNKNOWN_EVENT};

/// What came of an event: one line, and one more for each thing worth knowing.
pub(super) fn told(told: &Told, palette: Palette) -> String {
    let event = told.event.as_deref().unwrap_or("(start)");
    let event = match &told.unknown {
        Some(name) => format!("{name} (unknown)"),
        None => event.to_owned(),
    };
    let seq = palette.dim(&format!("{:>3}", told.seq));
    let blanks = " ".repeat(20_usize.saturating_sub(event.chars().count()));
    let head = format!("{seq}  {}{blanks}", palette.event(&event));
    let mut text = match told.outcome {
        Became::Taken | Became::Ended => {
            let asked = told.steps.iter().any(|step| step.approval.is_some());
            let approval = if asked {
                "  (approval taken for granted)"
            } else {
                ""
            };
            let journey = journey(told, palette);
            format!("{head}  {journey}{}\n", palette.dim(approval))
        }
        Became::Ignored => {
            let here = palette.strong(&told.shown);
            let reason = told.reason.as_deref().unwrap_or("");
            format!("{head}  {} in {here}: {reason}\n", palette.guard("ignored"))
        }
        Became::Refused => {
            let reason = told.reason.as_deref().unwrap_or("");
            format!("{head}  {}: {reason}\n", palette.bad("refused"))
        }
    };
    for line in remarks(told) {
        text.push_str(&format!("{}{}\n", " ".repeat(27), palette.dim(&line)));
    }
    text
}

/// `planning → implementing`, by way of every state between.
fn journey(told: &Told, palette: Palette) -> String {
    let entered = told.steps.iter().filter_map(|step| step.entered.last());
    // Of several regions, what was left tells more than the first state of them.
    let left = told.steps.first().and_then(|step| step.exited.last());
    let from = match told.was_split {
        true => left.or(told.from.as_ref()),
        false => told.from.as_ref(),
    };
    let mut places: Vec<String> = from
        .into_iter()
        .chain(entered)
        .map(Place::to_string)
        .collect();
    // By way of where each step ended; where it stands now is all of it.
    if let Some(last) = places.last_mut() {
        last.clone_from(&told.shown);
    }
    let moved = told.steps.iter().any(|step| !step.entered.is_empty());
    if !moved && told.from.is_some() {
        let here = palette.strong(&told.shown);
        return format!("{here} {}", palette.dim("(stays)"));
    }
    let last = places.len().saturating_sub(1);
    let places: Vec<String> = places
        .iter()
        .enumerate()
        .map(|(index, place)| match index == last {
            true => palette.strong(place),
            false => place.clone(),
        })
        .collect();
    let lead = if told.from.is_none() { "→ " } else { "" };
    format!("{lead}{}", places.join(" → "))
}

/// What is worth knowing beside where the machine went.
fn remarks(told: &Told) -> Vec<String> {
    let mut remarks = Vec::new();
    let all = |of: fn(&ToldStep) -> &Vec<String>| -> String {
        let names = told.steps.iter().flat_map(of).map(String::as_str);
        // What starts and stops timers is told as such.
        let is_timers =
            |name: &&str| name.starts_with("after.") || name.starts_with("cancel.after.");
        let names: Vec<&str> = names.filter(|name| !is_timers(name)).collect();
        names.join(", ")
    };
    for (word, names) in [
        ("does", all(|step| &step.actions)),
        ("raises", all(|step| &step.raised)),
    ] {
        if !names.is_empty() {
            remarks.push(format!("{word} {names}"));
        }
    }
    let assigned = told.assigned.iter();
    let assigned: Vec<String> = assigned
        .map(|it| format!("{} = {}", it.field, it.value))
        .collect();
    if !assigned.is_empty() {
        remarks.push(format!("sets {}", assigned.join(", ")));
    }
    let now = told.at.unwrap_or(0);
    let is_new = |it: &&Waiting| {
        let starts = |step: &ToldStep| step.actions.contains(&it.timer);
        told.steps.iter().any(starts)
    };
    for it in told.waiting.iter().filter(is_new) {
        let left = format_duration(it.due.saturating_sub(now));
        remarks.push(format!("starts {}, due in {left}", it.timer));
    }
    if !told.absent.is_empty() {
        remarks.push(format!("undecided: {} absent", is_or_are(&told.absent)));
    }
    if !told.unanswered.is_empty() {
        remarks.push(format!(
            "nobody answered {}, which counts as false (`:guard name=true`)",
            told.unanswered.join(", ")
        ));
    }
    match &told.legal {
        Some(legal) if !legal.is_empty() => {
            remarks.push(format!("legal here: {}", legal.join(", ")))
        }
        _ => {}
    }
    remarks
}

fn is_or_are(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", quoted.join(", "))
}

/// How a machine that has ended ended, or where it stands.
pub(super) fn closing(session: &Session<'_>, sent: usize, palette: Palette) -> String {
    let table = session.table();
    let leaf = session.leaf();
    let name = match session.is_ended() {
        true => wording::state_name(table, leaf),
        false => wording::configuration(table, &session.configuration()),
    };
    let name = palette.strong(&name);
    let count = counted(sent, "event");
    if session.is_ended() {
        let verdict = match wording::verdict(table, leaf) {
            Some("failure") => palette.bad("failure"),
            _ => palette.good("success"),
        };
        format!("ended in {name} ({verdict}) after {count}\n")
    } else {
        let legal = session.legal();
        let legal = match legal.as_slice() {
            [] => "nothing leads on from there".to_owned(),
            _ => format!("what leads on: {}", legal.join(", ")),
        };
        format!("stands in {name} after {count}; {legal}\n")
    }
}

/// Where the machine stands and what leads on, numbered, for the prompt.
pub(super) fn standing(session: &Session<'_>, palette: Palette) -> String {
    let table = session.table();
    let states = session.configuration();
    let shown = wording::configuration(table, &states);
    let mut text = format!("\n● {}\n", palette.strong(&shown));
    let meta = wording::state_meta(table, session.leaf());
    let instructions =
        wording::text(&meta, "instructions").or_else(|| wording::text(&meta, "description"));
    if let Some(line) = instructions.and_then(first_line) {
        text.push_str(&format!("  {}\n", palette.dim(&cut(&line, WIDTH - 2))));
    }
    text.push('\n');
    let ways = session.ways();
    let heads: Vec<[String; 2]> = ways.iter().map(|way| head(table, way.candidate)).collect();
    let width = |[event, guard]: &[String; 2]| event.chars().count() + guard.chars().count();
    let is_short = |head: &&[String; 2]| width(head) <= LONG_GUARD;
    let widest = heads.iter().filter(is_short).map(width).max().unwrap_or(0);
    for (index, (way, head)) in ways.iter().zip(&heads).enumerate() {
        let [event, guard] = head;
        let is_short = is_short(&head);
        let beside = if is_short { guard.as_str() } else { "" };
        let used = event.chars().count() + beside.chars().count();
        let line = format!(
            "{}  {}{}{}  → {}  {}",
            palette.dim(&format!("{:>4}", index + 1)),
            palette.event(event),
            palette.guard(beside),
            " ".repeat(widest.saturating_sub(used)),
            wording::target(table, way.candidate.transition)
                .unwrap_or_else(|| "(stays)".to_owned()),
            palette.dim(&remark(session, way, is_short)),
        );
        text.push_str(line.trim_end());
        text.push('\n');
        if !is_short {
            let values = values(session, way.candidate).join(", ");
            for line in wrapped(guard.trim_start(), WIDTH - 8) {
                text.push_str(&format!("        {}\n", palette.guard(&line)));
            }
            for line in wrapped(&values, WIDTH - 8)
                .iter()
                .filter(|line| !line.is_empty())
            {
                text.push_str(&format!("        {}\n", palette.dim(line)));
            }
        }
    }
    let now = session.desk().now();
    for it in session.waiting() {
        let left = format_duration(it.due.saturating_sub(now));
        let line = format!("      {} is due in {left} (:wait)\n", it.timer);
        text.push_str(&palette.dim(&line));
    }
    if ways.is_empty() {
        text.push_str("      nothing leads on from here\n");
    }
    text
}

/// `ready` and ` [steps > 0]`.
fn head(table: &Table, candidate: Candidate) -> [String; 2] {
    let guard = wording::guard(table, candidate.transition);
    [
        wording::event_name(table, candidate.event),
        guard.map_or(String::new(), |guard| format!(" [{guard}]")),
    ]
}

/// Why a way isn't open, or how it could be, and whether somebody has to approve of it.
fn remark(session: &Session<'_>, way: &Way, with_values: bool) -> String {
    let meta = wording::transition_meta(session.table(), way.candidate.transition);
    let approval = if wording::needs_approval(&meta) {
        "needs approval"
    } else {
        ""
    };
    let why = why(session, way, with_values);
    let parts = [why.as_str(), approval].into_iter();
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    parts.join("; ")
}

/// Why a way isn't open, or how it could be; `with_values`, if the fields that its guard reads shall be named.
fn why(session: &Session<'_>, way: &Way, with_values: bool) -> String {
    if way.is_open {
        return "will be asked".to_owned();
    }
    if !way.candidate.holds {
        let values = values(session, way.candidate);
        return match values.is_empty() || !with_values {
            true => "not now".to_owned(),
            false => format!("not now: {}", values.join(", ")),
        };
    }
    if way.candidate.enabled {
        String::new()
    } else {
        "one above comes first".to_owned()
    }
}

/// The fields that the guard of a candidate reads, with their values.
fn values(session: &Session<'_>, candidate: Candidate) -> Vec<String> {
    let table = session.table();
    session
        .fields_of(candidate)
        .into_iter()
        .map(|field| {
            let name = table.field_name(field);
            match session.desk().value(field) {
                Some(value) => format!("{name} = {value}"),
                None => format!("{name} is absent"),
            }
        })
        .collect()
}

/// What a number at the prompt means.
pub(super) enum Numbered {
    /// The event of that way.
    Event(String),
    /// The way of any name that the machine doesn't have.
    AnyOther,
    /// There are only so many ways.
    TooLarge(usize),
}

/// What the nth way is.
pub(super) fn numbered(session: &Session<'_>, number: usize) -> Numbered {
    let ways = session.ways();
    let Some(way) = number.checked_sub(1).and_then(|index| ways.get(index)) else {
        return Numbered::TooLarge(ways.len());
    };
    let name = session.table().event_name(way.candidate.event);
    if name == UNKNOWN_EVENT {
        Numbered::AnyOther
    } else {
        Numbered::Event(name.to_owned())
    }
}
