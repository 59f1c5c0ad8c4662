//! The reference of all tools, a page of the book, made from the registry: arguments, results, gating and routes can't differ from
//! what is served. `UPDATE=1` writes it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;
use statemark_harness::{compare, files};
use statemark_runs::policy::Gating;
use statemark_tools::{Options, Set, Tool};

use crate::bench::Bench;

const HEAD: &str = "\
# Tools

All tools of the server, by set. This page is made from them: `UPDATE=1 cargo test --workspace --test tools reference` writes it.

A tool of our own answers `{ok: true, data}` or `{ok: false, error}`; *result* lists the fields of `data`, some of which an answer may leave out. A profile's tool answers as its system's document says.

What a state has power over stands before the arguments:

- *free*: no state restricts it, and no limit counts it;
- *needs* a word: a state withholds it by `capabilities` that leave the word out;
- *restricted*: a state can restrict it by `allowed_tools`, `disallowed_tools` and `capabilities`;
- *restricted, counted*: limits such as `max_iterations` count it as well.
";

#[test]
fn the_reference_has_every_tool() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../compiler/docs/src/reference/tools.md");
    compare(&path, &reference()).unwrap();
}

#[test]
fn every_tool_is_in_the_list() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let list = fs::read_to_string(source.join("tools.rs")).unwrap();
    for path in files(&source.join("tools")) {
        let text = fs::read_to_string(&path).unwrap();
        let types = text.split("impl ToolCall for ").skip(1);
        for name in types.filter_map(|rest| rest.split_whitespace().next()) {
            let is_listed =
                list.contains(&format!("::{name}>()")) || list.contains(&format!("<{name}>()"));
            assert!(
                is_listed,
                "`{name}` of {} isn't in the list of {}",
                path.display(),
                source.join("tools.rs").display()
            );
        }
    }
}

#[test]
fn every_tool_has_a_case() {
    let server = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cases = server.join("tests/cases");
    let wire = server.join("../../compiler/cli/tests/wire");
    let files = [files(&cases), files(&wire)].concat();
    let texts: String = files
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    for tool in every_tool(|tool| tool.own_name().unwrap()) {
        let is_called = texts.lines().any(|line| {
            let call = line.strip_prefix("> ").unwrap_or_default();
            call.split(' ').next() == Some(tool)
        });
        assert!(is_called, "no case in {} calls `{tool}`", cases.display());
    }
}

#[test]
fn every_equivalent_is_a_tool_of_our_own() {
    let all = every_tool(|tool| (tool.own_name().unwrap(), tool.set.is_own(), tool.equivalent));
    for (name, _, equivalent) in &all {
        let is_known = equivalent.is_none_or(|equivalent| {
            let mut own = all.iter().filter(|(_, is_own, _)| *is_own);
            own.any(|(own, ..)| *own == equivalent)
        });
        assert!(is_known, "`{name}` has the equivalent {equivalent:?}");
    }
}

/// Returns something of each tool that there is, set by set.
fn every_tool<T>(read: impl Fn(&Tool) -> T) -> Vec<T> {
    let mut bench = Bench::new(&[]);
    let mut all = Vec::new();
    for set in Set::OWN
        .into_iter()
        .chain(statemark_profiles::SETS)
        .chain(statemark_packs::SETS)
    {
        bench
            .serve(Options {
                sets: vec![set],
                ..Options::default()
            })
            .unwrap();
        all.extend(bench.dispatcher.tools().iter().map(&read));
    }
    all
}

fn reference() -> String {
    let mut page = HEAD.to_owned();
    let mut last = None;
    for (set, text) in every_tool(|tool| (tool.set, describe(tool))) {
        if last != Some(set) {
            let _ = write!(page, "\n## Set `{}`\n", set.name());
            last = Some(set);
        }
        page += &text;
    }
    page
}

fn describe(tool: &Tool) -> String {
    let mut page = format!("\n### `{}`\n\n{}\n\n", tool.name, tool.description);
    page.push_str(&facts(tool).join(" · "));
    page.push('\n');
    let properties = tool.input.get("properties").and_then(Value::as_object);
    let rows = properties.into_iter().flatten().map(|(name, schema)| {
        let required = tool.input.get("required").and_then(Value::as_array);
        let is_required = required.is_some_and(|all| all.iter().any(|it| it == name));
        let optional = if is_required { "" } else { "?" };
        let kind = kind_of(schema);
        let description = schema.get("description").and_then(Value::as_str);
        row(&format!("`{name}`{optional}"), &kind, description)
    });
    table(&mut page, "argument", rows.collect());
    let fields = tool.fields.iter().map(|field| {
        let kind = field.kind.as_ref().map_or("any".to_owned(), type_name);
        let description = field.description.as_deref();
        row(&format!("`{}`", field.name), &kind, description)
    });
    table(&mut page, "result", fields.collect());
    page
}

/// The facts of a tool in a line: gating, equivalent, effects, routes.
fn facts(tool: &Tool) -> Vec<String> {
    let mut facts = vec![match tool.gating {
        Gating::Free => "free".to_owned(),
        Gating::Needs(word) => format!("needs `{word}`"),
        Gating::Uncounted => "restricted".to_owned(),
        Gating::Counted => "restricted, counted".to_owned(),
    }];
    facts.extend(tool.equivalent.map(|own| format!("does as our `{own}`")));
    let escalation = tool.escalation();
    facts.extend(escalation.map(|(option, own)| format!("with `{option}` as our `{own}`")));
    let annotations = tool.annotations;
    let effect = match (
        annotations.read_only,
        annotations.destructive,
        annotations.idempotent,
    ) {
        (true, ..) => "read-only",
        (_, true, _) => "destructive",
        (_, _, true) => "idempotent",
        _ => "additive",
    };
    facts.push(effect.to_owned());
    let routes = tool.routes.iter().map(|route| {
        let path = format!("`{} /api{}`", route.method.name(), route.shown_path());
        match route.argument() {
            Some(argument) => format!("{path}, where `{{id}}` is `{argument}`"),
            None => path,
        }
    });
    facts.extend(routes);
    facts
}

/// The type of an argument: that of JSON, or the words that can be given.
fn kind_of(schema: &Value) -> String {
    let words = |schema: &Value| -> Vec<String> {
        let listed = schema.get("enum").and_then(Value::as_array);
        let single = schema.get("const");
        let words = listed.into_iter().flatten().chain(single);
        let words = words.filter(|word| !word.is_null());
        words
            .map(|word| format!("`{}`", word.as_str().unwrap_or_default()))
            .collect()
    };
    let alternatives = ["oneOf", "anyOf"]
        .iter()
        .find_map(|key| schema.get(key)?.as_array());
    let mut all = words(schema);
    all.extend(alternatives.into_iter().flatten().flat_map(words));
    if !all.is_empty() {
        return all.join(", ");
    }
    let kind = schema.get("type").map_or("any".to_owned(), type_name);
    match schema.get("items") {
        Some(items) if kind == "array" => format!("array of {}", kind_of(items)),
        _ => kind,
    }
}

/// The name of a type; of several, all.
fn type_name(kind: &Value) -> String {
    match kind {
        Value::Array(kinds) => {
            let kinds = kinds.iter().filter_map(Value::as_str);
            kinds.collect::<Vec<_>>().join(" or ")
        }
        kind => kind.as_str().unwrap_or("any").to_owned(),
    }
}

fn row(name: &str, kind: &str, description: Option<&str>) -> String {
    let description = description.unwrap_or_default();
    let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    let description = description.replace('|', "\\|");
    format!("| {name} | {kind} | {description} |\n")
}

fn table(page: &mut String, title: &str, rows: Vec<String>) {
    if rows.is_empty() {
        return;
    }
    let _ = write!(page, "\n| {title} | type | |\n|---|---|---|\n");
    page.extend(rows);
}
