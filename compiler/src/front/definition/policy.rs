//! The policy of a definition: what a run couldn't hold, or holds otherwise than it reads.
//!
//! It looks at the text alone, where every word has its place. What depends on where transitions lead is in
//! [`valid`](crate::valid).

use std::collections::BTreeSet;

use jsonc_parser::ast::{Array, Object, ObjectProp, StringLit, Value};
use statemark_text::shorten::shorten;
use statemark_text::suggest::distance;
use statemark_text::tool::{PACKS, capabilities, capability_tools, known_tools};

use super::json::{self, Place};
use super::servers::Servers;
use super::{keys, messages};
use crate::diag::{Code, Diagnostic, Diags, nearest};
use crate::source::Span;

/// The capability without which nothing can be submitted.
const SUBMIT: &str = "artifact.submit";

/// The tool that submits.
const SUBMIT_TOOL: &str = "submit_artifact";

/// The words by which a shell joins commands, and redirects them.
const SHELL_WORDS: [&str; 10] = ["&&", "||", "|", ";", ">", ">>", "<", "2>&1", "&>", "&"];

/// The key of a state's limit.
const LIMIT: &str = "max_iterations";

/// Most further places of a finding that are shown. Unit: states. Why: more would hide the point.
const MOST_SHOWN: usize = 2;

/// Checks what the states grant, the checks that they may require, and who decides.
///
/// `servers` are those whose tools they may grant.
pub(super) fn check(place: Place<'_>, machine: &Object<'_>, servers: &Servers, diags: &mut Diags) {
    let declared = match json::get(machine, "capabilities") {
        Some(Value::Object(declared)) => declared.properties.as_slice(),
        _ => &[],
    };
    let mut policy = Policy {
        place,
        declared,
        servers,
        artifacts: names(machine, "artifacts"),
        checks: names(machine, "checks"),
        withheld: Vec::new(),
        others_submit: false,
        approval: None,
        diags,
    };
    for capability in declared {
        policy.tools(&capability.value);
    }
    policy.states(machine, false);
    policy.withheld_submissions();
    policy.deciding(machine);
    for property in properties(json::get(machine, "checks")) {
        if let Value::Object(check) = &property.value {
            policy.check_declaration(property.name.as_str(), check);
        }
    }
}

/// Returns the names under a key of the machine.
fn names<'o>(machine: &'o Object<'_>, key: &str) -> BTreeSet<&'o str> {
    let properties = properties(json::get(machine, key)).iter();
    properties.map(|it| it.name.as_str()).collect()
}

fn properties<'o, 't>(value: Option<&'o Value<'t>>) -> &'o [ObjectProp<'t>] {
    match value {
        Some(Value::Object(object)) => &object.properties,
        _ => &[],
    }
}

/// Returns the texts of a list, each with its value.
fn texts<'o, 't>(
    list: &'o Array<'t>,
) -> impl Iterator<Item = (&'o Value<'t>, &'o StringLit<'t>)> + use<'o, 't> {
    list.elements.iter().filter_map(|value| match value {
        Value::StringLit(text) => Some((value, text)),
        _ => None,
    })
}

fn property<'o, 't>(object: &'o Object<'t>, key: &str) -> Option<&'o ObjectProp<'t>> {
    object.properties.iter().find(|it| it.name.as_str() == key)
}

struct Policy<'p, 'o, 't, 'd> {
    place: Place<'p>,
    servers: &'p Servers,
    /// The capabilities that the definition declares.
    declared: &'o [ObjectProp<'t>],
    artifacts: BTreeSet<&'o str>,
    checks: BTreeSet<&'o str>,
    /// The artifacts that states require and whose submission they withhold.
    ///
    /// Each has its place, and that of the states' `capabilities`.
    withheld: Vec<(String, Span, Span)>,
    /// True if some state lets its callers submit.
    others_submit: bool,
    /// The first transition for which a person is asked.
    approval: Option<Span>,
    diags: &'d mut Diags,
}

impl<'o, 't> Policy<'_, 'o, 't, '_> {
    /// Walks the states. Recursion is bounded by the text's nesting, which was limited.
    fn states(&mut self, parent: &'o Object<'t>, is_withheld: bool) {
        for property in properties(json::get(parent, "states")) {
            let Value::Object(state) = &property.value else {
                continue;
            };
            let name = property.name.as_str();
            for key in ["allowed_tools", "disallowed_tools"] {
                if let Some(tools) = json::get(state, key) {
                    self.tools(tools);
                }
            }
            self.event_without_limit(state, name);
            self.find_approval(state);
            let withheld = self.capabilities(state, name);
            if let Some(at) = withheld {
                self.required_artifacts(state, at);
            }
            let is_withheld = is_withheld || withheld.is_some();
            let has_children = json::get(state, "states").is_some();
            self.others_submit |= !is_withheld && !has_children;
            self.states(state, is_withheld);
        }
    }

    /// Reports names in a list of patterns that look like a known tool's, and aren't.
    fn tools(&mut self, value: &Value<'_>) {
        let Value::Array(list) = value else {
            return;
        };
        for (value, text) in texts(list) {
            let at = self.place.span_of(value);
            self.servers.check(&text.value, at, self.diags);
            if let Some((name, meant)) = misspelled(&text.value) {
                let mended = text.value.replacen(name, meant, 1);
                self.diags.push(unknown_tool(at, name, &mended));
            }
        }
    }

    /// Checks the `capabilities` of a state.
    ///
    /// Returns their place if they withhold the submission of artifacts.
    fn capabilities(&mut self, state: &Object<'_>, name: &str) -> Option<Span> {
        let property = property(state, "capabilities")?;
        let Value::Array(list) = &property.value else {
            return None;
        };
        let mut is_withheld = true;
        for (value, text) in texts(list) {
            let word = text.value.as_ref();
            let declared = self.declared.iter().find(|it| it.name.as_str() == word);
            is_withheld &= match declared.map(|it| &it.value) {
                Some(Value::Array(tools)) => !texts(tools).any(|(_, tool)| may_name(&tool.value)),
                Some(_) => false,
                None => word != SUBMIT,
            };
            if declared.is_none() && capability_tools(word).is_none() {
                let own = self.declared.iter().map(|it| it.name.as_str());
                let meant = self.diags.nearest(word, own);
                let meant = meant.or_else(|| nearest(word, capabilities()));
                let at = self.place.span_of(value);
                self.diags.push(unknown_capability(at, word, name, meant));
                is_withheld = false;
            }
        }
        // A drain has the word, too.
        let is_withheld = is_withheld && json::get(state, "drain").is_none();
        is_withheld.then(|| self.place.range(&property.name))
    }

    /// Notes the artifacts that a state requires.
    ///
    /// Its `capabilities`, at `at`, withhold their submission.
    fn required_artifacts(&mut self, state: &Object<'_>, at: Span) {
        let mut note = |list: &Value<'_>| {
            let Value::Array(list) = list else {
                return;
            };
            for (value, text) in texts(list) {
                let is_artifact = self.artifacts.contains(text.value.as_ref());
                if is_artifact && !self.checks.contains(text.value.as_ref()) {
                    let place = self.place.span_of(value);
                    self.withheld.push((text.value.to_string(), place, at));
                }
            }
        };
        match json::get(state, "requires") {
            Some(Value::Object(by_event)) => {
                by_event.properties.iter().for_each(|it| note(&it.value));
            }
            Some(list) => note(list),
            None => {}
        }
    }

    /// Reports artifacts that are required, and that no state lets anybody submit.
    fn withheld_submissions(&mut self) {
        if self.others_submit {
            return;
        }
        let mut by_name: Vec<(String, Vec<(Span, Span)>)> = Vec::new();
        for (name, place, capabilities) in std::mem::take(&mut self.withheld) {
            match by_name.iter_mut().find(|(known, _)| *known == name) {
                Some((_, places)) => places.push((place, capabilities)),
                None => by_name.push((name, vec![(place, capabilities)])),
            }
        }
        for (name, places) in by_name {
            if let Some((first, others)) = places.split_first() {
                self.diags.push(withheld_submission(&name, *first, others));
            }
        }
    }

    /// Reports an `on_max_iterations` of a state that has no `max_iterations`.
    fn event_without_limit(&mut self, state: &Object<'_>, name: &str) {
        let event = property(state, "on_max_iterations");
        // A misspelled limit is an unknown key, which is reported.
        let is_limit = |key: &ObjectProp<'_>| {
            let name = key.name.as_str();
            let is_misspelled = || keys::STATE.key(name).is_none();
            name == LIMIT || (is_misspelled() && nearest(name, [LIMIT]).is_some())
        };
        if let Some(event) = event
            && !state.properties.iter().any(is_limit)
        {
            let at = self.place.range(&event.name);
            self.diags.push(event_without_limit(at, name));
        }
    }

    /// Notes the first `requires_approval` of a state's transitions.
    fn find_approval(&mut self, state: &'o Object<'t>) {
        if self.approval.is_some() {
            return;
        }
        let here = ["always", "on_done", "onDone"];
        let mut branches: Vec<&Value<'_>> = here
            .iter()
            .filter_map(|key| json::get(state, key))
            .collect();
        for key in ["on", "after"] {
            let by_name = properties(json::get(state, key)).iter();
            branches.extend(by_name.map(|it| &it.value));
        }
        for branch in branches {
            let list = match branch {
                Value::Array(list) => list.elements.as_slice(),
                one => std::slice::from_ref(one),
            };
            for branch in list {
                if let Value::Object(branch) = branch
                    && let Some(found) = property(branch, "requires_approval")
                    && matches!(&found.value, Value::BooleanLit(it) if it.value)
                {
                    self.approval = Some(self.place.range(&found.name));
                    return;
                }
            }
        }
    }

    /// Reports approvals that an agent could give, and those that nobody is asked for.
    fn deciding(&mut self, machine: &'o Object<'t>) {
        self.find_approval(machine);
        let Some(Value::Object(meta)) = json::get(machine, "meta") else {
            return;
        };
        let end = property(meta, "worktree_end");
        let is_shared = match json::get(meta, "workspace") {
            None => true,
            Some(Value::StringLit(text)) => text.value == "shared",
            Some(_) => false,
        };
        if let Some(end) = end.filter(|_| is_shared) {
            let at = self.place.range(&end.name);
            self.diags.push(messages::end_without_worktree(at));
        }
        let is_set = |key| {
            let found = property(meta, key)?;
            matches!(&found.value, Value::BooleanLit(it) if it.value)
                .then(|| self.place.range(&found.name))
        };
        if let (Some(relay), Some(approval)) = (is_set("relay_answers"), self.approval) {
            self.diags.push(relayed_approval(relay, approval));
        }
        if let (Some(note), None) = (is_set("requires_human_approval"), self.approval) {
            self.diags.push(unasked_approval(note));
        }
    }

    /// Reports a check that can't be run as it is declared.
    fn check_declaration(&mut self, name: &str, check: &Object<'_>) {
        if let Some(Value::Array(command)) = json::get(check, "command") {
            let mut words = texts(command);
            if let Some((value, program)) = words.next()
                && program.value.trim().contains(char::is_whitespace)
                && !program.value.contains(['/', '\\'])
            {
                let at = self.place.span_of(value);
                self.diags.push(joined_words(at, name, &program.value));
            }
            if let Some((value, word)) = words.find(|(_, it)| SHELL_WORDS.contains(&&*it.value)) {
                let at = self.place.span_of(value);
                self.diags.push(shell_word(at, name, &word.value));
            }
        }
        if let Some(value) = json::get(check, "cwd")
            && let Value::StringLit(folder) = value
            && leads_outside(&folder.value)
        {
            let at = self.place.span_of(value);
            self.diags.push(folder_outside(at, name, &folder.value));
        }
    }
}

/// Returns the name in a pattern that is no known tool's, with the one that it looks like.
fn misspelled(pattern: &str) -> Option<(&str, &'static str)> {
    let name = pattern.split('(').next().unwrap_or(pattern).trim();
    if let Some(pack) = name.strip_suffix(".*") {
        let packs = || PACKS.iter().map(|(pack, _)| *pack);
        return match packs().any(|it| it == pack) {
            true => None,
            false => Some((pack, find_alike(pack, packs())?)),
        };
    }
    // A pattern may match anything, and what has a server's name before it is known to that server.
    let is_open = name.contains(['*', '?', '[', '.', ':']) || name.contains("__");
    if is_open || known_tools().any(|it| it == name) {
        return None;
    }
    Some((name, find_alike(name, known_tools())?))
}

/// Returns the nearest of some names, if it differs in so little that it is hardly another name.
fn find_alike(
    name: &str,
    known: impl Iterator<Item = &'static str> + Clone,
) -> Option<&'static str> {
    let found = nearest(name, known)?;
    let letters = |text: &str| text.to_lowercase().replace(['-', '_', ' '], "");
    let (one, other) = (letters(name), letters(found));
    if one == other {
        return Some(found);
    }
    // Two short words that differ in a letter are often two words.
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    (one.len() >= 4 && distance(&one, &other) <= 1).then_some(found)
}

/// Reports whether a pattern may name the tool that submits.
fn may_name(pattern: &str) -> bool {
    pattern.contains('*') || pattern == SUBMIT_TOOL
}

/// Reports whether a folder is absolute, or above where it begins.
fn leads_outside(folder: &str) -> bool {
    let mut depth = 0_i32;
    let climbs = folder.split(['/', '\\']).any(|part| {
        depth += match part {
            ".." => -1,
            "" | "." => 0,
            _ => 1,
        };
        depth < 0
    });
    climbs || folder.starts_with(['/', '\\'])
}

fn unknown_tool(at: Span, name: &str, mended: &str) -> Diagnostic {
    let message = format!("no tool is called `{}`", shorten(name, 60));
    let found = Diagnostic::new(Code::UnknownTool, at, message)
        .label("neither a pack nor an agent's client has it")
        .note("names of tools are compared letter by letter, and the case of letters counts");
    messages::did_you_mean(found, at, mended)
}

fn unknown_capability(at: Span, word: &str, state: &str, meant: Option<&str>) -> Diagnostic {
    let message = format!("no capability is called `{}`", shorten(word, 60));
    let found = Diagnostic::new(Code::UnknownTool, at, message)
        .label("neither built in nor declared")
        .note(format!(
            "the policy of `{state}` can't be read with it, so a run denies every tool there"
        ));
    match meant {
        Some(meant) => messages::did_you_mean(found, at, meant),
        None => found.help(
            "declare it: `\"capabilities\": {\"name\": [\"Read\"]}`, or name a built-in one, such as `workspace.read`",
        ),
    }
}

fn event_without_limit(at: Span, state: &str) -> Diagnostic {
    let message =
        format!("`{state}` has an event for when its iterations are spent, and no limit of them");
    Diagnostic::new(Code::EventWithoutLimit, at, message)
        .label("never sent")
        .help("add `max_iterations`, or drop the key")
}

/// Reports an artifact that is required at some places, each with the `capabilities` of its state.
fn withheld_submission(
    name: &str,
    (at, capabilities): (Span, Span),
    others: &[(Span, Span)],
) -> Diagnostic {
    let message =
        format!("the artifact `{name}` is required, and no state lets an agent submit it");
    let mut diagnostic = Diagnostic::new(Code::WithheldSubmission, at, message)
        .label("required here")
        .related(capabilities, format!("these leave out `{SUBMIT}`"));
    for &(at, capabilities) in others.iter().take(MOST_SHOWN) {
        diagnostic = diagnostic
            .related(at, "and here")
            .related(capabilities, "and so do these");
    }
    diagnostic
        .note("`capabilities` that leave out this word withhold the tools that submit artifacts")
        .help(format!(
            "add `\"{SUBMIT}\"` to the `capabilities` of a state in which it is made"
        ))
}

fn relayed_approval(relay: Span, approval: Span) -> Diagnostic {
    Diagnostic::new(
        Code::RelayedApproval,
        relay,
        "an agent may hand on an approval, so its word decides",
    )
    .label("lets an agent answer for a person")
    .related(approval, "a person is asked here")
    .note("nothing shows that a person said what the agent hands on; the record says that it was relayed")
    .help("drop the key, so that persons decide at a terminal or on the dashboard")
}

fn unasked_approval(at: Span) -> Diagnostic {
    Diagnostic::new(
        Code::RelayedApproval,
        at,
        "the work is said to need a person's approval, and no transition asks for one",
    )
    .label("a note that nothing enforces")
    .note("an agent drives this machine to its end alone")
    .help("write `\"requires_approval\": true` at the transition for which a person is to be asked")
}

fn joined_words(at: Span, check: &str, program: &str) -> Diagnostic {
    let words: Vec<String> = program
        .split_whitespace()
        .map(|word| serde_json::json!(word).to_string())
        .collect();
    let words = words.join(", ");
    let message = format!(
        "the check `{check}` runs a program that is called `{}`",
        shorten(program.trim(), 60)
    );
    Diagnostic::new(Code::UnrunnableCheck, at, message)
        .label("one word, with blanks in it")
        .note("no shell reads the command: each word is an item of the list")
        .help(format!("write `{words}`"))
        .unsafe_fix(format!("write `{words}`"), at, words)
}

fn shell_word(at: Span, check: &str, word: &str) -> Diagnostic {
    let message = format!("the check `{check}` hands `{word}` to its program");
    Diagnostic::new(Code::UnrunnableCheck, at, message)
        .label("an argument, not a sign of the shell")
        .note("no shell reads the command")
        .help("declare a check for each command, or run a script of the repository")
}

fn folder_outside(at: Span, check: &str, folder: &str) -> Diagnostic {
    let message = format!(
        "the check `{check}` runs in `{}`, which is outside of the project",
        shorten(folder, 60)
    );
    Diagnostic::new(Code::UnrunnableCheck, at, message)
        .label("not below the project's root")
        .help("name a folder as seen from the project's root, such as `crates/core`")
}
