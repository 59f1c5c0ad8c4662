//! Every tool with arguments that somebody made up: each call is answered in the shape of its set, none breaks a run.
//!
//! Arguments are made of the tools' own schemas, and of texts that answers have given (ids, tokens, cursors), so that calls
//! get far. `STATEMARK_FUZZ_INPUTS` sets how many.

#[path = "../../../engine/src/tests/entropy.rs"]
mod entropy;

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Map, Value, json};
use statemark_runs::{Actor, Hash, Head, Order, Query, Role, StartRun, replay_run, state};
use statemark_tools::{Caller, Options, Set, Tool};

use crate::bench::Bench;
use entropy::Entropy;

/// Most bytes of a reply of ours.
const MOST: usize = 16 << 10;

/// How many texts of answers are remembered.
const TEXTS: usize = 400;

const SPEC: &str = r#"# Paper

## STATE-MACHINE

```json definition
{
  "id": "paper",
  "initial": "draft",
  "meta": {"debug": true},
  "context": {"words": 0},
  "events": {"submit": {"data": {"properties": {"words": {"type": "integer"}}}}},
  "artifacts": {"text": {"schema": {"type": "object", "required": ["title"]}}},
  "checks": {"test": {"command": ["true"]}},
  "states": {
    "draft": {
      "allowed_tools": ["get_timeline", "fork_run", "rewind_run", "run_check", "read_document", "Edit"],
      "max_iterations": 40,
      "on": {"submit": {"target": "review", "guard": "words >= 100"}, "skip": "review"},
      "after": {"1h": "review"}
    },
    "review": {
      "on": {"accept": {"target": "published", "requires_approval": true}, "back": "draft"}
    },
    "published": {"type": "final"}
  }
}
```
"#;

#[test]
fn every_tool_survives_whatever_it_is_given() {
    let inputs: u64 = std::env::var("STATEMARK_FUZZ_INPUTS")
        .map_or(400, |text| text.parse().expect("a number of inputs"));
    let own = std::iter::once(Set::OWN.to_vec());
    let (mut done, mut all) = (0, 0);
    for sets in own.chain(
        statemark_profiles::SETS
            .into_iter()
            .chain(statemark_packs::SETS)
            .map(|set| vec![set]),
    ) {
        let mut world = World::new(&sets);
        for input in 0..inputs {
            world.call(&noise(&format!("{sets:?} {input}")));
        }
        world.check();
        done += world.done;
        all += world.all;
    }
    println!("{done} of {all} calls did what was asked");
    assert!(done > all / 8, "too few get through: {done} of {all}");
}

fn noise(name: &str) -> Vec<u8> {
    let blocks =
        (0..8).flat_map(|block| *Hash::digest(format!("{name} {block}").as_bytes()).as_bytes());
    blocks.collect()
}

struct World {
    bench: Bench,
    texts: Vec<String>,
    done: usize,
    all: usize,
}

impl World {
    fn new(sets: &[Set]) -> Self {
        let mut bench = Bench::new(&[("paper.md", SPEC)]);
        bench.found(&json!({
            "branch": "060-server",
            "files": {
                "specs/060-server/spec.md": "# Feature 060\n",
                "specs/060-server/tasks.md": "- [ ] T001 Begin\n- [ ] T005 Group\n  - [ ] T006 Part\n",
            },
            "checks": {"lint": {"command": ["true"]}},
        }));
        let options = Options {
            sets: sets.to_vec(),
            ..Options::default()
        };
        bench.serve(options).unwrap();
        let start = StartRun {
            workflow: "paper".to_owned(),
            ..StartRun::default()
        };
        for run in ["r1", "r2"] {
            let order = Order::new(run.parse().unwrap(), Actor::new(Role::Agent));
            bench.dispatcher.runs().execute(&order, &start).unwrap();
        }
        let texts = [
            "r1", "r2", "paper", "draft", "review", "submit", "skip", "accept", "text", "test",
            "ann",
        ];
        let texts = texts.map(str::to_owned).to_vec();
        Self {
            bench,
            texts,
            done: 0,
            all: 0,
        }
    }

    fn call(&mut self, noise: &[u8]) {
        let mut entropy = Entropy::new(noise);
        let tools = self.bench.dispatcher.tools();
        let tool = &tools[entropy.below(tools.len())];
        let arguments = match self.value(&mut entropy, "", &Value::Object((*tool.input).clone()), 0)
        {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        let role = [
            Role::Agent,
            Role::Person,
            Role::Agent,
            Role::Person,
            Role::Observer,
        ][entropy.below(5)];
        let caller = Caller {
            actor: Actor::new(role).with_name("ann"),
            ..Caller::agent()
        };
        // Nobody waits: what would wait, answers at once.
        let call = self
            .bench
            .dispatcher
            .ctx(&caller)
            .with_progress(&|| true, &|_, _| {});
        let name = &*tool.name;
        let given = Value::Object(arguments.clone());
        let told = catch_unwind(AssertUnwindSafe(|| {
            self.bench.dispatcher.call(&call, name, arguments)
        }));
        let told = told.unwrap_or_else(|_| panic!("{name} {given} panicked"));
        let reply = told.expect("a tool");
        check_shape(tool, &given, &reply.answer, reply.is_error);
        self.all += 1;
        self.done += usize::from(!reply.is_error);
        let mut found = Vec::new();
        strings(&reply.answer, &mut found);
        for text in found {
            if !self.texts.contains(&text) {
                let at = entropy.below(TEXTS);
                if self.texts.len() < TEXTS {
                    self.texts.push(text);
                } else {
                    self.texts[at] = text;
                }
            }
        }
    }

    /// What a schema asks for, more or less.
    fn value(&self, entropy: &mut Entropy<'_>, name: &str, schema: &Value, depth: usize) -> Value {
        if depth > 0 && entropy.once_in(24) {
            return self.strange(entropy);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(ways) = schema[key].as_array().filter(|ways| !ways.is_empty()) {
                let way = entropy.below(ways.len());
                return self.value(entropy, name, &ways[way], depth + 1);
            }
        }
        if let Some(words) = schema["enum"].as_array() {
            return words[entropy.below(words.len())].clone();
        }
        if let Some(word) = schema.get("const") {
            return word.clone();
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds[entropy.below(kinds.len())].clone(),
            kind => kind.clone(),
        };
        match kind.as_str() {
            Some("object") => self.object(entropy, schema, depth),
            Some("array") => {
                let count = entropy.below(3);
                let items =
                    (0..count).map(|_| self.value(entropy, name, &schema["items"], depth + 1));
                Value::Array(items.collect())
            }
            Some("string") => json!(self.text(entropy, name)),
            Some("integer" | "number") => json!(entropy.below(20)),
            Some("boolean") => json!(entropy.once_in(2)),
            Some("null") => Value::Null,
            _ => self.strange(entropy),
        }
    }

    fn object(&self, entropy: &mut Entropy<'_>, schema: &Value, depth: usize) -> Value {
        let required = schema["required"].as_array();
        let is_required =
            |name: &str| required.is_some_and(|all| all.iter().any(|it| it.as_str() == Some(name)));
        let mut fields = Map::new();
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            let times = if is_required(name) || is_run(name) {
                20
            } else {
                2
            };
            // Required ones are left out now and then, others every second time.
            if entropy.below(times) != 0 {
                fields.insert(name.clone(), self.value(entropy, name, schema, depth + 1));
            }
        }
        if entropy.once_in(30) {
            fields.insert("runId".to_owned(), json!("r"));
        }
        Value::Object(fields)
    }

    /// A text that may be meant by an argument of that name, or any that was heard.
    fn text(&self, entropy: &mut Entropy<'_>, name: &str) -> String {
        let known: &[&str] = match name {
            _ if is_run(name) => {
                let heads = self.heads();
                let run = &heads[entropy.below(heads.len())].run;
                return run.to_string();
            }
            "event" | "trigger" => &["submit", "skip", "back", "accept"],
            "state" | "step" | "node_id" | "nodeId" | "to" => &["draft", "review", "published"],
            "workflow" | "workflow_id" | "workflowId" => &["paper"],
            _ => &[],
        };
        if known.is_empty() || entropy.once_in(10) {
            return self.texts[entropy.below(self.texts.len())].clone();
        }
        known[entropy.below(known.len())].to_owned()
    }

    fn heads(&self) -> Vec<Head> {
        let query = Query {
            limit: 1_000,
            ..Query::default()
        };
        self.bench.store.list(&query).unwrap().heads
    }

    fn strange(&self, entropy: &mut Entropy<'_>) -> Value {
        match entropy.below(13) {
            0 => Value::Null,
            1 => json!(-1),
            2 => json!(u64::MAX),
            3 => json!(0.5),
            4 => json!(""),
            5 => json!("\u{0}\u{202e}/../../etc/passwd\n"),
            6 => json!("x".repeat(70_000)),
            7 => json!([[[[]]]]),
            8 => json!({"title": {"deep": [1, {"er": null}]}}),
            9 => json!("{\"title\": \"A\"}"),
            10 => json!(true),
            _ => json!(self.texts[entropy.below(self.texts.len())]),
        }
    }

    /// Whatever was done, each run is what its journal says.
    fn check(&self) {
        let runs = self.bench.dispatcher.runs();
        for head in self.heads() {
            let loaded = runs.load(&head.run).unwrap();
            let anew = state::replay(runs.store(), &head.run, None).unwrap();
            assert_eq!(*loaded.state, anew, "the folds of {}", head.run);
            loaded.legality().transitions().unwrap();
            statemark_runs::explain(&loaded, None).unwrap();
            let replay = replay_run(runs, &head.run, None).unwrap();
            assert_eq!(replay.difference, None, "the replay of {}", head.run);
        }
    }
}

/// Whether an argument names a run.
fn is_run(name: &str) -> bool {
    name.to_ascii_lowercase().contains("run")
}

fn strings(value: &Value, all: &mut Vec<String>) {
    match value {
        Value::String(text) if text.len() < 200 => all.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, all)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, all)),
        _ => {}
    }
}

/// Codes of what is our fault.
const OURS: [&str; 6] = [
    "failed",
    "store_failed",
    "corrupt",
    "bad_table",
    "step_failed",
    "busy",
];

fn check_shape(tool: &Tool, given: &Value, answer: &Value, is_error: bool) {
    let name = &*tool.name;
    if !Set::OWN.contains(&tool.set) {
        assert!(!answer.is_null(), "{name} {given}");
        return;
    }
    let size = answer.to_string().len();
    assert!(size <= MOST, "{name} {given}: {size} bytes");
    assert_eq!(answer["ok"], json!(!is_error), "{name} {given}: {answer}");
    if is_error {
        let code = answer["error"]["code"].as_str().unwrap_or_default();
        assert!(
            !code.is_empty() && !OURS.contains(&code),
            "{name} {given}: {answer}"
        );
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(!message.is_empty(), "{name} {given}: {answer}");
    } else {
        assert!(answer["data"].is_object(), "{name} {given}: {answer}");
    }
}
