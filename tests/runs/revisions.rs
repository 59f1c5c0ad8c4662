//! Random work on an artifact, and a model that says what each revision has come to.

use proptest::prelude::*;
use statemark_runs::body::Stage;
use statemark_runs::runs::{DiscardArtifact, Edit, EditArtifact, FinalizeArtifact, PutArtifact};
use statemark_runs::{
    Order, Remedy, RunState, Runs, SendEvent, SendOutcome, StartRun, cache_state, explain, state,
};

use crate::harness::Bench;

const SPEC: &str = r#"# Write

## STATE-MACHINE

```mermaid
stateDiagram-v2
    [*] --> write
    write --> read : ready
    read --> write : again
```

```json definition
{
  "id": "write",
  "artifacts": {"text": {"required_sections": ["Good"]}},
  "states": {"write": {"requires": {"ready": ["text"]}}}
}
```
"#;

/// What is done.
#[derive(Clone, Debug)]
enum Act {
    Put {
        text: String,
        is_final: bool,
        base: Option<u64>,
    },
    Edit {
        old: &'static str,
        new: &'static str,
    },
    Finalize(Option<u64>),
    Discard(Option<u64>),
    Ready,
    Keep,
}

fn act() -> impl Strategy<Value = Act> {
    let text = prop::sample::select(vec![
        "# Good\n",
        "# Good\n\nand more\n",
        "# Bad\n",
        "none\n",
    ]);
    let number = prop::option::of(0_u64..6);
    let edit = prop::sample::select(vec![
        ("Bad", "Good"),
        ("Good", "Bad"),
        ("o", "0"),
        ("none", "# Good"),
    ]);
    prop_oneof![
        3 => (text, any::<bool>(), prop::option::weighted(0.2, 0_u64..6))
            .prop_map(|(text, is_final, base)| Act::Put { text: text.to_owned(), is_final, base }),
        2 => edit.prop_map(|(old, new)| Act::Edit { old, new }),
        2 => number.clone().prop_map(Act::Finalize),
        2 => number.prop_map(Act::Discard),
        1 => Just(Act::Ready),
        1 => Just(Act::Keep),
    ]
}

/// The revisions: what each is for, and its text.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model(Vec<(Stage, String)>);

impl Model {
    fn current(&self) -> Option<usize> {
        self.0
            .iter()
            .rposition(|(stage, _)| *stage != Stage::Discarded)
    }

    fn put(&mut self, text: &str, is_final: bool, base: Option<u64>) {
        let current = self.current();
        let newest = current.map_or(0, |it| it as u64 + 1);
        if base.is_some_and(|base| base != newest) {
            return;
        }
        let is_good = text.contains("# Good\n");
        let stage = if is_final && is_good {
            Stage::Final
        } else {
            Stage::Draft
        };
        // What is there already is no other revision; it may be final from now on.
        match current.map(|it| &mut self.0[it]) {
            Some((found, same)) if same == text => {
                if *found == Stage::Draft {
                    *found = stage;
                }
            }
            _ => self.0.push((stage, text.to_owned())),
        }
    }

    fn act(&mut self, act: &Act) {
        let current = self.current();
        let index = |number: &u64| usize::try_from(*number).unwrap().wrapping_sub(1);
        match act {
            Act::Put {
                text,
                is_final,
                base,
            } => self.put(text, *is_final, *base),
            Act::Edit { old, new } => {
                let text = current.map(|it| self.0[it].1.clone());
                if let Some(text) = text.filter(|text| text.matches(old).count() == 1) {
                    self.put(&text.replace(old, new), false, None);
                }
            }
            Act::Finalize(wanted) => {
                if let Some(at) = current
                    && wanted.as_ref().is_none_or(|it| index(it) == at)
                    && self.0[at].1.contains("# Good\n")
                {
                    self.0[at].0 = Stage::Final;
                }
            }
            Act::Discard(Some(wanted)) => {
                if let Some(revision) = self.0.get_mut(index(wanted)) {
                    revision.0 = Stage::Discarded;
                }
            }
            Act::Discard(None) => {
                if let Some(at) = current
                    && self.0[at].0 == Stage::Draft
                {
                    self.0[at].0 = Stage::Discarded;
                }
            }
            Act::Ready | Act::Keep => {}
        }
    }
}

/// What the run says of the same.
fn model_of_run(runs: &Runs, state: &RunState) -> Model {
    let revisions = state.artifacts.get("text").into_iter().flatten();
    let revisions = revisions.zip(1..).map(|(revision, number)| {
        let it = &revision.artifact;
        assert_eq!(it.revision, number, "they are counted without gaps");
        assert!(
            it.stage != Stage::Final || it.holds(),
            "what is final holds"
        );
        let content = runs.store().blob(&it.content.unwrap()).unwrap();
        (it.stage, String::from_utf8(content).unwrap())
    });
    Model(revisions.collect())
}

fn done(runs: &Runs, order: &Order, act: &Act) {
    let name = "text".to_owned();
    let written = match act.clone() {
        Act::Put {
            text,
            is_final,
            base,
        } => {
            let put = PutArtifact {
                is_final,
                base,
                ..PutArtifact::draft(name, text)
            };
            runs.execute(order, &put).unwrap()
        }
        Act::Edit { old, new } => {
            let edits = vec![Edit {
                old: old.to_owned(),
                new: new.to_owned(),
            }];
            let edit = EditArtifact {
                name,
                edits,
                is_final: false,
                base: None,
            };
            runs.execute(order, &edit).unwrap()
        }
        Act::Finalize(revision) => runs
            .execute(order, &FinalizeArtifact { name, revision })
            .unwrap(),
        Act::Discard(revision) => {
            let discard = DiscardArtifact {
                name,
                revision,
                reason: None,
            };
            runs.execute(order, &discard).unwrap()
        }
        Act::Ready => return ready(runs, order),
        Act::Keep => {
            let loaded = runs.load(&order.run).unwrap();
            return cache_state(runs, &loaded).unwrap();
        }
    };
    drop(written.outcome);
}

/// The state is left exactly if something final stands; else what `why` proposes leads there.
fn ready(runs: &Runs, order: &Order) {
    let send = |event: &str| {
        let send = SendEvent {
            event: event.to_owned(),
            data: None,
            ..SendEvent::default()
        };
        runs.execute(order, &send).unwrap().outcome
    };
    let loaded = runs.load(&order.run).unwrap();
    let stands = loaded.state.final_revision("text").is_some();
    let mut reasons = explain(&loaded, Some("ready")).unwrap().reasons;
    let next = reasons.remove(0).remedy.unwrap();
    match (send("ready"), stands) {
        (SendOutcome::Taken(_), true) => {
            assert!(matches!(next, Remedy::Send { .. }));
            send("again");
        }
        (SendOutcome::Refused(refused), false) => {
            assert_eq!(refused.code, "artifact_missing");
            // In a copy of the run, the proposal is followed.
            let copy = Order {
                run: format!("{}-copy-{}", order.run, loaded.head.seq)
                    .parse()
                    .unwrap(),
                ..order.clone()
            };
            let fork = statemark_runs::runs::ForkRun::new(order.run.clone(), loaded.head.seq);
            runs.execute(&copy, &fork).unwrap();
            let written = match next {
                Remedy::SubmitArtifact { artifact } => {
                    runs.execute(&copy, &PutArtifact::draft(artifact, "# Good\n").finally())
                }
                Remedy::FinalizeArtifact { artifact, revision } => {
                    let revision = Some(revision);
                    runs.execute(
                        &copy,
                        &FinalizeArtifact {
                            name: artifact,
                            revision,
                        },
                    )
                }
                other => panic!("{other:?}"),
            };
            written.unwrap();
            let event = SendEvent {
                event: "ready".to_owned(),
                data: None,
                ..SendEvent::default()
            };
            let sent = runs.execute(&copy, &event).unwrap().outcome;
            assert!(matches!(sent, SendOutcome::Taken(_)), "{sent:?}");
        }
        (sent, stands) => panic!("{stands}: {sent:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn revisions_are_as_the_model_says(acts in prop::collection::vec(act(), 1..30)) {
        let bench = Bench::new(&[("write.md", SPEC)]);
        let order = bench.order("r");
        let start = StartRun { workflow: "write".to_owned(), ..StartRun::default() };
        bench.runs.execute(&order, &start).unwrap();
        let mut model = Model::default();
        for act in &acts {
            done(&bench.runs, &order, act);
            model.act(act);
            let loaded = bench.runs.load(&order.run).unwrap();
            prop_assert_eq!(&model_of_run(&bench.runs, &loaded.state), &model, "after {:?}", act);
            let anew = state::replay(bench.runs.store(), &order.run, None).unwrap();
            prop_assert_eq!(anew, loaded.state.as_ref().clone());
        }
    }
}
