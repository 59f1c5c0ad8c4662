//! Each rule of definitions by example: text, what comes of it, what is said of it.

#![expect(
    clippy::string_slice,
    reason = "tests cut texts where they know the characters"
)]

mod arrival;
mod parts;
mod survival;

use std::fmt::Write as _;

use super::ast::Definition;
use super::{Servers, looks_like_definition, parse_definition};
use crate::diag::{Diagnostic, Diags};
use crate::excerpt::Excerpt;
use crate::source::Sources;

/// Parses a text as a file of its own.
fn parse(text: &str, comments: bool) -> (Sources, Option<Definition>, Vec<Diagnostic>) {
    let mut sources = Sources::new();
    let file = sources.add("t.json", text);
    let mut diags = Diags::new();
    let definition = parse_definition(
        &Excerpt::whole(file, text),
        comments,
        &Servers::default(),
        &mut diags,
    );
    (sources, definition, diags.into_sorted())
}

/// The findings as lines: place, code, message, then each fix as what the text is after it.
fn findings(sources: &Sources, list: &[Diagnostic]) -> String {
    let mut lines = String::new();
    for it in list {
        let span = it.primary.span;
        let at = sources.file(span.file).position(span.start);
        let covered = sources.text(span);
        let Diagnostic { code, message, .. } = it;
        writeln!(
            lines,
            "{}:{} {code} {message} <{covered}>",
            at.line, at.column
        )
        .unwrap();
        for fix in &it.fixes {
            for edit in &fix.edits {
                writeln!(
                    lines,
                    "  {:?}: <{}> to <{}>",
                    fix.applicability,
                    sources.text(edit.span),
                    edit.text
                )
                .unwrap();
            }
        }
    }
    lines
}

fn check(text: &str, expected: &str) {
    let (sources, _, list) = parse(text, false);
    assert_eq!(findings(&sources, &list), undented(expected), "{text}");
}

/// Lines without the indentation that they have in this file.
fn undented(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let lines: Vec<&str> = lines.collect();
    let indent = lines
        .iter()
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    lines
        .iter()
        .map(|line| format!("{}\n", &line[indent..]))
        .collect()
}

#[test]
fn what_is_not_json_is_said_at_its_place() {
    for (text, expected) in [
        ("", "1:1 SM704 expected an object, found nothing <>"),
        (
            "// only this\n",
            "1:1 SM704 expected an object, found nothing <// only this\n>",
        ),
        (
            "[]",
            "1:1 SM702 a definition: expected an object, found a list <[>",
        ),
        ("{", "1:2 SM704 `{` is never closed <>\n  Unsafe: <> to <}>"),
        (
            r#"{"states": {"a": {}}"#,
            "1:21 SM704 `{` is never closed <>\n  Unsafe: <> to <}>",
        ),
        (
            r#"{"a" 1}"#,
            "1:6 SM704 expected `:` after a key, found `1` <1>",
        ),
        (r#"{"a": }"#, "1:7 SM704 expected a value, found `}` <}>"),
        (
            r#"{"a": "#,
            "1:7 SM704 expected a value after `:`, found the end <>",
        ),
        (
            r#"{"a": 1,, "b": 2}"#,
            "1:9 SM704 expected a key or `}`, found `,` <,>",
        ),
        (
            r#"{"a": yes}"#,
            "1:7 SM704 expected a value, found `yes` <yes>",
        ),
        (
            r#"{} {}"#,
            "1:4 SM704 expected the end of the text, found `{` <{>",
        ),
        (
            "{\"id\": \"a,\n\"title\": \"b\"}",
            "1:8 SM704 this text isn't closed on its line <\"a,>",
        ),
        (
            "{\"id\": \"a",
            "1:8 SM704 this text isn't closed on its line <\"a>",
        ),
        (
            r#"{"id": "\u12"}"#,
            r#"1:9 SM704 expected an escape that JSON has, found `\u12"` <\u12">"#,
        ),
        (
            r#"{"id": 1e}"#,
            "1:10 SM704 expected a digit, found `}` <}>",
        ),
        ("{\"id\": /* x", "1:8 SM704 `/*` is never closed </>"),
    ] {
        let (sources, definition, list) = parse(text, false);
        assert!(definition.is_none(), "{text}");
        assert_eq!(findings(&sources, &list).trim_end(), expected, "{text}");
    }
}

#[test]
fn each_leniency_is_a_warning_with_a_fix() {
    check(
        "// one\n{'id': 'a', title: \"b\\x41\" \"meta\": {\"a\": 0xFF, \"b\": +1, \"c\": .5, \"d\": [1 2,],}, /* two */}",
        r#"
        1:1 SM712 JSON has no comments <// one>
        2:2 SM712 JSON has no strings in single quotes <'id'>
          Safe: <'id'> to <"id">
        2:8 SM712 JSON has no strings in single quotes <'a'>
          Safe: <'a'> to <"a">
        2:13 SM712 a key needs double quotes in JSON <title>
          Safe: <title> to <"title">
        2:20 SM712 this text has an escape that JSON doesn't have <"b\x41">
          Safe: <"b\x41"> to <"bA">
        2:27 SM712 a comma is missing here <>
          Safe: <> to <,>
        2:42 SM712 JSON doesn't write numbers like this <0xFF>
          Safe: <0xFF> to <255>
        2:53 SM712 JSON doesn't write numbers like this <+1>
          Safe: <+1> to <1>
        2:62 SM712 JSON doesn't write numbers like this <.5>
          Safe: <.5> to <0.5>
        2:73 SM712 a comma is missing here <>
          Safe: <> to <,>
        2:75 SM712 JSON has no comma after the last item <,>
          Safe: <,> to <>
        2:77 SM712 JSON has no comma after the last item <,>
          Safe: <,> to <>
        2:79 SM712 JSON has no comma after the last item <,>
          Safe: <,> to <>
        "#,
    );
    check(
        "{\"title\": \"a\tb\"}",
        "1:11 SM712 a string has no line breaks or tabs in JSON but as escapes <\"a\tb\">\n  Safe: <\"a\tb\"> to <\"a\\tb\">",
    );
    let (_, definition, list) = parse("// fine\n{\"id\": \"a\", /* fine */}", true);
    assert_eq!(definition.unwrap().id.unwrap().value, "a");
    assert_eq!(list, []);
}

#[test]
fn keys_are_held_against_the_tables() {
    check(
        r#"{"stats": {}, "$schema": "x", "target": "a", "zzz": {"a": 1, "a": 2}, "states": {"a": {"alowed_tools": [], "on": {"E": {"gaurd": "x", "target": "b"}}}}}"#,
        r#"
        1:2 SM701 a machine has no key `stats` <"stats">
        1:31 SM701 a machine has no key `target` <"target">
        1:46 SM701 a machine has no key `zzz` <"zzz">
        1:62 SM703 the key `a` occurs twice in this object <"a">
        1:88 SM701 a state has no key `alowed_tools` <"alowed_tools">
          Unsafe: <"alowed_tools"> to <"allowed_tools">
        1:121 SM701 a transition has no key `gaurd` <"gaurd">
          Unsafe: <"gaurd"> to <"guard">
        "#,
    );
    check(
        r#"{"id": 1, "states": {"a": {"allowed_tools": 3, "capabilities": "read", "max_iterations": "5", "direct_execution": "true", "on": [], "entry": {"type": 1}, "model_ladder": [{"url": "x"}]}}, "context": []}"#,
        r#"
        1:8 SM702 `id`: expected a string, found a number <1>
        1:45 SM702 `allowed_tools`: expected a list of names, found a number <3>
        1:64 SM702 `capabilities`: expected a list of names, found a string <"read">
          Unsafe: <"read"> to <["read"]>
        1:90 SM702 `max_iterations`: expected a whole number, found a string <"5">
          Unsafe: <"5"> to <5>
        1:115 SM702 `direct_execution`: expected `true` or `false`, found a string <"true">
          Unsafe: <"true"> to <true>
        1:129 SM702 `on`: expected an object, found a list <[>
        1:151 SM702 `type`: expected a string, found a number <1>
        1:172 SM707 a rung of the ladder needs `model` <{>
        1:200 SM702 `context`: expected an object, found a list <[>
        "#,
    );
    check(
        r#"{"meta": {"danger_level": "dangerus", "own": {"x": [1e999]}}, "states": {"": {}, "a": {"type": "end", "max_iterations": 0, "max_edit_lines": -1, "context_budget_bytes": 1.5, "on": {"E": []}}}, "context": {"n": 18446744073709551616}, "version": NaN}"#,
        r#"
        1:27 SM710 `danger_level` can't be `dangerus` <"dangerus">
          Unsafe: <"dangerus"> to <"dangerous">
        1:53 SM710 the number `1e999` is too large <1e999>
        1:74 SM710 a name can't be empty <"">
        1:96 SM710 `type` can't be `end` <"end">
        1:121 SM710 `max_iterations` can't be `0` <0>
        1:142 SM710 `max_edit_lines` can't be `-1` <-1>
        1:170 SM710 `context_budget_bytes` can't be `1.5` <1.5>
        1:187 SM710 an empty list of branches leads nowhere <[]>
        1:211 SM710 the number `18446744073709551616` is too large <18446744073709551616>
        1:245 SM710 `NaN` is no number that a definition can hold <NaN>
        "#,
    );
    check(
        r#"{"id": "a", "states": {"a": {"deny_env": ["A"], "env": {}, "env_overrides": {}, "onDone": "b"}, "a": {}}, "id": "b"}"#,
        r#"
        1:30 SM706 `deny_env` is another spelling of `blocked_env` <"deny_env">
          Safe: <"deny_env"> to <"blocked_env">
        1:49 SM706 `env` is another spelling of `env_overrides` <"env">
          Safe: <"env"> to <"env_overrides">
        1:60 SM703 the key `env_overrides` occurs twice in this object <"env_overrides">
        1:81 SM706 `onDone` is another spelling of `on_done` <"onDone">
          Safe: <"onDone"> to <"on_done">
        1:97 SM703 the key `a` occurs twice in this object <"a">
        1:107 SM703 the key `id` occurs twice in this object <"id">
        "#,
    );
}

/// What is said about a key in a place, and the text after the first fix.
fn unknown_key(text: &str) -> (Vec<String>, String) {
    let (_, _, list) = parse(text, false);
    assert_eq!(list.len(), 1, "{text}: {list:?}");
    let mut mended = text.to_owned();
    for edit in list[0].fixes.iter().take(1).flat_map(|fix| &fix.edits) {
        mended.replace_range(edit.span.range(), &edit.text);
    }
    let said = list[0].notes.iter().chain(&list[0].help).cloned();
    (said.collect(), mended)
}

#[test]
fn keys_of_other_tools_are_known() {
    for (state, mended) in [
        (r#""tools": []"#, r#""allowed_tools": []"#),
        (r#""allowedTools": []"#, r#""allowed_tools": []"#),
        (r#""onEntry": "x""#, r#""entry": "x""#),
        (r#""on_entry": "x""#, r#""entry": "x""#),
        (r#""on_exit": "x""#, r#""exit": "x""#),
        (r#""transitions": {}"#, r#""on": {}"#),
        (r#""final": true"#, r#""type": "final""#),
        (
            r#""final" : true , "title": "x""#,
            r#""type": "final" , "title": "x""#,
        ),
    ] {
        let wrap = |state: &str| format!(r#"{{"states": {{"a": {{{state}}}}}}}"#);
        assert_eq!(unknown_key(&wrap(state)).1, wrap(mended), "{state}");
    }
    assert_eq!(unknown_key(r#"{"data": {}}"#).1, r#"{"context": {}}"#);
    for (text, said) in [
        (
            r#"{"states": {"a": {"data": {}}}}"#,
            "`context` is a key of a machine: did you mean it?",
        ),
        (
            r#"{"states": {"a": {"timeout": 5}}}"#,
            "a state's limits are `max_iterations`, and `after` for one that is left after a time",
        ),
        (
            r#"{"states": {"a": {"on": {}, "transitions": {}}}}"#,
            "did you mean `on`? this object has one already",
        ),
        (
            r#"{"limits": {}}"#,
            "a state's limits are `max_iterations`, and `after` for one that is left after a time",
        ),
        (
            r#"{"states": {"a": {"final": false}}}"#,
            "write `\"type\": \"final\"`",
        ),
        (
            r#"{"states": {"a": {"zzz": 1}}}"#,
            "its keys are `on`, `initial`, `states`, `type`, `entry`, `exit`, `always`, `after`, `instructions`, `allowed_tools`, `max_iterations`, `title` and 32 more",
        ),
        (
            r#"{"states": {"a": {"on": {"E": {"target": "a", "zzz": 1}}}}}"#,
            "its keys are `target`, `guard`, `actions`, `guards`, `description`, `internal`, `reenter`, `requires_approval`, `approval_message`, `fork`, `invoke`, `input` and 2 more",
        ),
    ] {
        let (said_here, mended) = unknown_key(text);
        assert!(
            said_here.iter().any(|it| it == said),
            "{text}: {said_here:?}"
        );
        assert_eq!(mended, text);
    }
}

#[test]
fn a_branch_may_only_add_to_another() {
    let text = r#"{"states": {"a": {"on": {"E": {"requires_approval": true}, "F": {"guard": "x"}, "G": {}}}}}"#;
    check(text, "1:86 SM707 a transition needs `target` <{>\n");
    let (_, definition, _) = parse(text, false);
    let branch = &definition.unwrap().states[0].value.on[0].value[0];
    assert!(matches!(&branch.kind, super::ast::BranchKind::Target(none) if none.is_empty()));
    assert_eq!(branch.meta["requires_approval"], true);
}

#[test]
fn keys_get_in_each_others_way() {
    check(
        r#"{"initial": [], "states": {"a": {"target": "b", "on": {"E": {"target": [], "internal": true, "reenter": false}}}, "h": {"history": "deep", "initial": "a", "target": "b"}}}"#,
        r#"
        1:13 SM710 an empty list of targets leads nowhere <[]>
        1:34 SM711 `target` means nothing in a state that isn't a history state <"target">
        1:72 SM710 an empty list of targets leads nowhere <[]>
        1:94 SM711 `reenter` next to `internal` is ignored <"reenter">
        1:156 SM711 `target` next to `initial` is ignored <"target">
        "#,
    );
    check(
        r#"{"states": {"a": {"type": "atomic", "outcome": "failure", "history": "deep", "on": {
          "A": {"target": "b", "fork": {"branches": {}, "on_complete": "c"}, "invoke": "w"},
          "B": {"invoke": "w"},
          "C": {"fork": {"branches": {"x": {"initial": "p"}}}, "on_fail": "f", "on_complete": "c"},
          "D": {"target": "b", "input": {}},
          "E": {"guard": "ok"},
          "F": {"actions": "note"}
        }}}, "actions": {"x": {}, "y": {"raise": "E", "assign": {"n": "n + 1"}}, "z": {"fails": true, "raise": "E"}}, "interrupts": {"i": {"trigger": {}}}, "checks": {"c": {}}}"#,
        r#"
        1:37 SM711 `outcome` means nothing in a state that isn't final <"outcome">
        1:59 SM711 `history` means nothing in a state that isn't a history state <"history">
        2:32 SM711 `fork` next to `target` is ignored <"fork">
        2:78 SM711 `invoke` next to `target` is ignored <"invoke">
        3:16 SM707 a transition with `invoke` needs `on_complete` <{>
        4:25 SM707 a fork needs `on_complete` <{>
        4:44 SM707 a branch of a fork needs `terminal` <{>
        4:64 SM711 `on_fail` next to `fork` is ignored <"on_fail">
        4:80 SM711 `on_complete` next to `fork` is ignored <"on_complete">
        5:32 SM711 `input` without `invoke` is ignored <"input">
        8:31 SM707 an action needs `raise`, `assign`, `effect` or `fails` <{>
        8:55 SM711 `assign` next to `raise` is ignored <"assign">
        8:88 SM711 `fails` next to `raise` is ignored <"fails">
        8:139 SM707 an interrupt needs `target` <{>
        8:151 SM707 a trigger needs `file_pattern` <{>
        8:173 SM707 a check needs `command` <{>
        "#,
    );
}

#[test]
fn guards_fit_their_operators() {
    check(
        r#"{"guards": {
          "a": {"field": "n", "op": "gt", "value": "3"},
          "b": {"field": "n", "op": "in", "value": "x"},
          "c": {"field": "n", "op": "contains", "value": 1},
          "d": {"field": "n", "op": "eq", "value": [1]},
          "e": {"field": "n", "op": "in", "value": [1, {}]},
          "f": {"field": "n", "op": ">=", "value": 1},
          "g": {"field": "n", "op": "exists", "value": true},
          "h": {"op": "eq", "value": null},
          "i": {"field": "n"},
          "j": {"field": "n", "op": "neq"},
          "k": {},
          "l": {"all": [{"any": ["x < 1"]}, {"not": {"field": "n", "op": "lt", "value": true}}], "field": "n"},
          "m": 1,
          "n": {"field": "n", "op": "similar", "value": 1}
        }}"#,
        r#"
        2:52 SM502 `gt` compares with a number, found a string <"3">
          Unsafe: <"3"> to <3>
        3:52 SM502 `in` compares with a list, found a string <"x">
        4:58 SM502 `contains` compares with a string, found a number <1>
        5:52 SM502 `eq` compares with a string, a number, `true`, `false` or `null`, found a list <[>
        6:56 SM502 `in` compares with a list of strings, numbers, `true`, `false` or `null`, found an object <{>
        7:37 SM710 `op` can't be `>=` <">=">
          Unsafe: <">="> to <"gte">
        8:47 SM711 `value` next to `exists` is ignored <"value">
        9:16 SM707 a guard needs `field` <{>
        10:16 SM707 a guard needs `op` <{>
        11:16 SM707 a guard with `neq` needs `value` <{>
        12:16 SM707 a guard needs `field` and `op`, or one of `all`, `any`, `not` <{>
        13:89 SM502 `lt` compares with a number, found `true` <true>
        13:98 SM711 `field` next to `all` is ignored <"field">
        14:16 SM702 `m`: expected a string or an object, found a number <1>
        15:37 SM710 `op` can't be `similar` <"similar">
        "#,
    );
}

#[test]
fn wrappers_are_unwrapped() {
    let (_, definition, list) = parse(
        r#"{"definition": {"id": "a", "states": {}}, "upstream_servers": [{"name": "x"}]}"#,
        false,
    );
    let definition = definition.unwrap();
    assert_eq!(list, []);
    assert_eq!(definition.id.unwrap().value, "a");
    assert_eq!(definition.meta["upstream_servers"][0]["name"], "x");
    check(
        r#"{"definition": {}, "states": {}, "upstream_server": [], "definition": {}}"#,
        r#"
        1:20 SM709 `states` is next to `definition`, where it isn't read <"states">
        1:34 SM701 the wrapper has no key `upstream_server` <"upstream_server">
          Unsafe: <"upstream_server"> to <"upstream_servers">
        1:57 SM703 the key `definition` occurs twice in this object <"definition">
        "#,
    );
    check(
        r#"{"definition": []}"#,
        "1:16 SM709 `definition` must hold a machine: expected an object, found a list <[>",
    );
}

#[test]
fn two_hundred_wrong_keys_are_two_hundred_findings_in_order() {
    let keys: Vec<_> = (0..200).map(|n| format!("\"wrong_{n:03}\": {n}")).collect();
    let (_, definition, list) = parse(
        &format!("{{\"states\": {{\"a\": {{{}}}}}}}", keys.join(",\n")),
        false,
    );
    assert!(definition.is_some());
    assert_eq!(list.len(), 200);
    for (n, it) in list.iter().enumerate() {
        assert_eq!(it.message, format!("a state has no key `wrong_{n:03}`"));
    }
}

#[test]
fn nesting_is_limited_before_anything_recurses() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nested = |depth: usize| {
            format!(
                "{{\"meta\": {}{}{}}}",
                open.repeat(depth),
                "1",
                close.repeat(depth)
            )
        };
        let (_, definition, list) = parse(&nested(127), false);
        assert!(definition.is_some());
        let codes: Vec<_> = list
            .iter()
            .map(|it| it.code.id())
            .filter(|code| *code == "SM704")
            .collect();
        assert!(codes.is_empty());
        for depth in [128, 100_000] {
            let (_, definition, list) = parse(&nested(depth), false);
            assert!(definition.is_none());
            assert_eq!(list.len(), 1);
            assert_eq!(
                list[0].message,
                "objects and lists are nested deeper than 128 levels here"
            );
        }
    }
    // Signs inside texts and comments open nothing.
    let text = format!(
        "{{\"title\": \"{}\" /* {} */}}",
        "[".repeat(300),
        "{".repeat(300)
    );
    assert!(parse(&text, true).1.is_some());
}

#[test]
fn places_are_right_in_pieces_and_behind_a_mark() {
    let text = "\u{feff}> {\"größe\": 1,\r\n> \"states\": {\"日本\": {\"typ\": 1}}}\r\n";
    let mut sources = Sources::new();
    let file = sources.add("t.md", text);
    let mut excerpt = Excerpt::new(file);
    for line in text.split_inclusive('\n') {
        let at = line.find("> ").unwrap() + 2;
        let start = line.as_ptr() as usize - text.as_ptr() as usize + at;
        excerpt.push(line[at..].trim_end(), u32::try_from(start).unwrap());
        excerpt.push("\n", u32::try_from(start + line.len() - at - 1).unwrap());
    }
    let mut diags = Diags::new();
    let definition = parse_definition(&excerpt, false, &Servers::default(), &mut diags).unwrap();
    assert_eq!(sources.text(definition.states[0].name.span), "\"日本\"");
    let list = diags.into_sorted();
    assert_eq!(
        findings(&sources, &list),
        "1:4 SM701 a machine has no key `größe` <\"größe\">\n2:21 SM701 a state has no key `typ` <\"typ\">\n  Unsafe: <\"typ\"> to <\"type\">\n"
    );
    let (sources, definition, list) = parse("\u{feff}{\"id\": \"a\"}", false);
    assert_eq!(list, []);
    assert_eq!(sources.text(definition.unwrap().id.unwrap().span), "\"a\"");
}

#[test]
fn definitions_are_known_by_their_looks() {
    for text in [
        r#"{"states": {}}"#,
        r#"{"definition": {"states": {}}}"#,
        r#"{"initial": "a", "on": {}}"#,
        "// x\n{states: {},}",
    ] {
        assert!(looks_like_definition(text), "{text}");
    }
    for text in [
        "",
        "{",
        "[]",
        "{}",
        r#"{"states": ["CA", "NY"]}"#,
        r#"{"initial": "a"}"#,
        r#"{"event": "x"}"#,
    ] {
        assert!(!looks_like_definition(text), "{text}");
    }
}
