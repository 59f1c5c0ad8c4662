//! Every key of a definition arrives in the syntax tree.

use std::fmt::Write as _;

use super::parse;
use crate::front::definition::ast::{
    ActionDeclaration, Branch, BranchKind, Definition, Guard, GuardUse, Initial, State,
};
use crate::source::Spanned;

/// Everything that a definition says, a line each.
fn summary(definition: &Definition) -> String {
    let mut out = String::new();
    let text =
        |it: &Option<Spanned<String>>| it.as_ref().map_or("-".to_owned(), |it| it.value.clone());
    writeln!(
        out,
        "machine {} {} context {:?} actions_fail={:?}",
        text(&definition.id),
        initial_words(definition.initial.as_ref()),
        definition.context.as_ref().map(|it| it.value.to_string()),
        definition.actions_fail
    )
    .unwrap();
    for event in &definition.events {
        writeln!(
            out,
            "event {} {}",
            event.name.value,
            text(&event.value.title)
        )
        .unwrap();
    }
    for guard in &definition.guards {
        writeln!(
            out,
            "guard {} {}",
            guard.name.value,
            guard_words(&guard.value)
        )
        .unwrap();
    }
    for action in &definition.actions {
        match &action.value {
            ActionDeclaration::Raise(event) => {
                writeln!(out, "action {} raises {}", action.name.value, event.value)
            }
            ActionDeclaration::Assign { fields, meta } => {
                let fields = fields
                    .iter()
                    .map(|field| format!("{}={}", field.name.value, field.value.value));
                let fields: Vec<String> = fields.collect();
                writeln!(
                    out,
                    "action {} assigns {} {}",
                    action.name.value,
                    fields.join(" "),
                    serde_json::Value::Object(meta.clone())
                )
            }
            ActionDeclaration::Host { fails, meta } => writeln!(
                out,
                "action {} fails={fails:?} {}",
                action.name.value,
                serde_json::Value::Object(meta.clone())
            ),
        }
        .unwrap();
    }
    for state in &definition.states {
        state_words(&mut out, "", &state.name.value, &state.value);
    }
    for on in &definition.on {
        writeln!(out, "on {} {}", on.name.value, branch_words(&on.value)).unwrap();
    }
    for interrupt in &definition.interrupts {
        writeln!(
            out,
            "interrupt {} {} {}",
            interrupt.name.value,
            text(&interrupt.value.pattern),
            text(&interrupt.value.target)
        )
        .unwrap();
    }
    writeln!(
        out,
        "meta {}",
        serde_json::Value::Object(definition.meta.clone())
    )
    .unwrap();
    out
}

fn state_words(out: &mut String, indent: &str, name: &str, state: &State) {
    let names = |list: &[Spanned<String>]| {
        list.iter()
            .map(|it| it.value.as_str())
            .collect::<Vec<_>>()
            .join("+")
    };
    writeln!(
        out,
        "{indent}state {name} {:?} at {} deep={} entry={} exit={} outcome={:?} meta={}",
        state.kind.as_ref().map(|it| it.value),
        initial_words(state.initial.as_ref()),
        state.deep,
        names(&state.entry),
        names(&state.exit),
        state.outcome.as_ref().map(|it| it.value),
        serde_json::Value::Object(state.meta.clone()),
    )
    .unwrap();
    for (word, list) in [("on", &state.on), ("after", &state.after)] {
        for it in list {
            writeln!(
                out,
                "{indent}  {word} {} {}",
                it.name.value,
                branch_words(&it.value)
            )
            .unwrap();
        }
    }
    for (word, list) in [("always", &state.always), ("on_done", &state.on_done)] {
        if !list.is_empty() {
            writeln!(out, "{indent}  {word} {}", branch_words(list)).unwrap();
        }
    }
    if let Some(invoke) = &state.invoke {
        writeln!(
            out,
            "{indent}  invoke {} {:?} done {} error {}",
            invoke.workflow.value,
            invoke.input.as_ref().map(ToString::to_string),
            branch_words(&invoke.on_done),
            branch_words(&invoke.on_error)
        )
        .unwrap();
    }
    for inner in &state.states {
        state_words(out, &format!("{indent}  "), &inner.name.value, &inner.value);
    }
}

fn branch_words(branches: &[Branch]) -> String {
    let words = branches.iter().map(|branch| {
        let mut words = match &branch.kind {
            BranchKind::Target(targets) => target_words(targets),
            BranchKind::Invoke {
                workflow,
                input,
                on_complete,
                on_fail,
            } => format!(
                "invoke {} {:?} {} {:?}",
                workflow.value,
                input.as_ref().map(ToString::to_string),
                on_complete.value,
                on_fail.as_ref().map(|it| &it.value)
            ),
            BranchKind::Fork(fork) => {
                let name = |it: &Option<Spanned<String>>| {
                    it.as_ref().map_or("-".to_owned(), |it| it.value.clone())
                };
                let branches = fork.branches.iter().map(|it| {
                    let (initial, terminal) = (&it.value.initial, &it.value.terminal);
                    format!("{} {}..{}", it.name.value, name(initial), name(terminal))
                });
                let branches: Vec<_> = branches.collect();
                let (complete, fail) = (name(&fork.on_complete), name(&fork.on_fail));
                let branches = branches.join(", ");
                format!("fork {branches} any={} {complete} {fail}", fork.any)
            }
        };
        for guard in &branch.guards {
            match &guard.value {
                GuardUse::Name(name) => write!(words, " if {name}"),
                GuardUse::Inline(guard) => write!(words, " if [{}]", guard_words(guard)),
            }
            .unwrap();
        }
        for action in &branch.actions {
            write!(words, " / {}", action.value).unwrap();
        }
        if let Some(internal) = &branch.internal {
            write!(words, " internal={}", internal.value).unwrap();
        }
        if !branch.meta.is_empty() {
            write!(words, " {}", serde_json::Value::Object(branch.meta.clone())).unwrap();
        }
        words
    });
    words.collect::<Vec<_>>().join(" | ")
}

fn target_words(targets: &[Spanned<String>]) -> String {
    let names: Vec<&str> = targets.iter().map(|it| it.value.as_str()).collect();
    match names.as_slice() {
        [] => "-".to_owned(),
        names => names.join("+"),
    }
}

fn initial_words(initial: Option<&Initial>) -> String {
    initial.map_or("-".to_owned(), |it| {
        let targets = target_words(&it.targets);
        match it.actions.as_slice() {
            [] => targets,
            actions => format!("{targets}/{}", target_words(actions)),
        }
    })
}

fn guard_words(guard: &Guard) -> String {
    let list = |guards: &[Spanned<Guard>]| {
        guards
            .iter()
            .map(|it| guard_words(&it.value))
            .collect::<Vec<_>>()
            .join(", ")
    };
    match guard {
        Guard::Compare {
            field,
            operator,
            values,
        } => {
            let values: Vec<_> = values.iter().map(|it| it.value.to_string()).collect();
            format!(
                "{} {} {}",
                field.value,
                operator.value.name(),
                values.join(",")
            )
        }
        Guard::All(guards) => format!("all({})", list(guards)),
        Guard::Any(guards) => format!("any({})", list(guards)),
        Guard::Not(guard) => format!("not({})", guard_words(&guard.value)),
        Guard::Text(text) => format!("`{}`", text.value),
    }
}

#[test]
fn every_key_arrives() {
    let text = r#"{
      "$schema": "https://example.org/workflow.schema.json",
      "id": "release", "title": "Release", "initial": "plan", "version": 2,
      "context": {"steps": 0, "big": 18446744073709551615, "low": -9223372036854775808, "half": 0.5},
      "context_schema": {"type": "object"},
      "events": {"ready": {"title": "Ready", "data": {"type": "object"}}},
      "guards": {"few": {"field": "steps", "op": "lte", "value": 3}, "set": {"field": "a", "op": "exists"},
                 "one": {"field": "s", "op": "in", "value": ["a", "b"]}, "text": "steps < 3",
                 "deep": {"all": ["few", {"not": {"any": ["set", "text"]}}]}},
      "actions": {"count": {"assign": {"steps": "steps + 1"}}, "again": {"raise": "ready"}, "mail": {"effect": {"to": "x"}, "idempotent": true, "fails": true}, "ring": {"fails": false}}, "actions_fail": true,
      "states": {
        "plan": {"entry": ["a", {"type": "b"}], "exit": "c", "allowed_tools": [], "deny_env": ["KEY"], "max_iterations": 3,
          "on": {"ready": "work", "skip": [{"target": "end", "guard": "few", "guards": ["one", "steps > 1"]}, "work"],
                 "ask": {"target": "work", "requires_approval": true, "approval_message": "sure?", "cond": {"field": "a", "op": "eq", "value": null}},
                 "note": {"actions": ["count"]}, "typed": {"target": "end", "guard": {"type": "few"}},
                 "call": {"invoke": "tests", "input": {"n": 1}, "on_complete": "end", "on_fail": "plan"},
                 "split": {"fork": {"branches": {"x": {"initial": "p", "terminal": "q"}}, "join": "any", "on_complete": "end", "on_fail": "plan"}}},
          "after": {"30s": "end"}, "always": {"target": "end", "guard": "text"}},
        "work": {"type": "parallel", "on_done": ["p", {"target": ["p", "end"], "reenter": true}], "states": {
          "left": {"initial": {"target": ["p", "h"], "actions": "a"}, "states": {"p": {}, "h": {"history": "deep", "target": "p"}}}}},
        "call": {"invoke": {"src": "tests", "input": 1, "onDone": {"target": ".x", "internal": true}, "on_error": "end"}},
        "end": {"type": "final", "outcome": "failure"}
      },
      "interrupts": {"schema": {"trigger": {"file_pattern": "**/*.sql"}, "target": "$return"}},
      "on": {"stop": "end"}, "meta": {"debug": true, "own": [1]}, "merge": "none"
    }"#;
    let (_, definition, list) = parse(text, false);
    let codes: Vec<_> = list.iter().map(|it| it.code.id()).collect();
    assert_eq!(codes, ["SM706", "SM706", "SM706"]);
    let expected = r#"
machine release plan context Some("{\"big\":18446744073709551615,\"half\":0.5,\"low\":-9223372036854775808,\"steps\":0}") actions_fail=Some(true)
event ready Ready
guard few steps lte 3
guard set a exists 
guard one s in "a","b"
guard text `steps < 3`
guard deep all(`few`, not(any(`set`, `text`)))
action count assigns steps="steps + 1" {}
action again raises ready
action mail fails=Some(true) {"effect":{"to":"x"},"idempotent":true}
action ring fails=Some(false) {}
state plan None at - deep=false entry=a+b exit=c outcome=None meta={"allowed_tools":[],"blocked_env":["KEY"],"max_iterations":3}
  on ready work
  on skip end if few if one if [`steps > 1`] | work
  on ask work if [a eq null] {"approval_message":"sure?","requires_approval":true}
  on note - / count
  on typed end if few
  on call invoke tests Some("{\"n\":1}") end Some("plan")
  on split fork x p..q any=true end plan
  after 30s end
  always end if text
state work Some(Parallel) at - deep=false entry= exit= outcome=None meta={}
  on_done p | p+end internal=false
  state left None at p+h/a deep=false entry= exit= outcome=None meta={}
    state p None at - deep=false entry= exit= outcome=None meta={}
    state h Some(History) at p deep=true entry= exit= outcome=None meta={}
state call None at - deep=false entry= exit= outcome=None meta={}
  invoke tests Some("1") done .x internal=true error end
state end Some(Final) at - deep=false entry= exit= outcome=Some(Failure) meta={}
on stop end
interrupt schema **/*.sql $return
meta {"context_schema":{"type":"object"},"merge":"none","meta":{"debug":true,"own":[1]},"version":2}
"#;
    assert_eq!(summary(&definition.unwrap()), expected.trim_start());
}
