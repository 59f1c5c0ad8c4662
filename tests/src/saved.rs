//! What is saved of machines, by `serde`: the same as by bytes, and refused by the names of fields.

use statemark_runtime::{Datum, Saved};

statemark::machine!(
    r#"
## STATE-MACHINE: jar

```mermaid
stateDiagram-v2
    [*] --> open
    open --> open : fill / rise()
    open --> [*] : close / tell()
```

```json definition
{
  "context": { "level": 250, "share": 1, "kind": "jam", "note": null, "big": 18446744073709551615 },
  "context_schema": {
    "properties": {
      "level": { "type": "integer", "minimum": 0, "maximum": 255 },
      "share": { "type": "number" },
      "kind": { "enum": ["jam", "honey"] },
      "note": { "type": ["string", "null"] },
      "lid": { "type": ["string", "null"] },
      "big": { "type": "integer", "minimum": 0, "maximum": 18446744073709551615 },
      "layers": { "type": "array", "items": { "properties": { "of": { "type": "string" } }, "required": ["of"] } }
    }
  },
  "actions": { "rise": { "assign": { "level": "level + 1" } }, "tell": { "effect": "Tells." } }
}
```
"#
);

use jar::{Context, Event, Machine};

#[test]
fn a_context_is_data_of_serde() {
    let mut context = Context::initial();
    context.lid = Some(None);
    context.share = 0.5;
    context.layers = Some(vec![jar::data::LayersItem {
        of: "fig".to_owned(),
    }]);
    let text = serde_json::to_string(&context).unwrap();
    assert_eq!(serde_json::from_str::<Context>(&text).unwrap(), context);
    let refused = |from: &str, to: &str| {
        let changed = text.replace(from, to);
        assert_ne!(changed, text);
        serde_json::from_str::<Context>(&changed)
            .unwrap_err()
            .to_string()
    };
    assert!(refused("250", "256").contains("field `level` doesn't hold what was saved"));
    assert!(refused("\"jam\"", "\"tar\"").contains("field `kind`"));
    assert!(refused("\"of\":", "\"off\":").contains("field `layers.of` is missing"));
    assert!(refused("\"kind\":\"jam\",", "").contains("field `kind` is missing"));
    assert!(
        refused("{\"big\"", "{\"more\":1,\"big\"")
            .contains("field `more` isn't one of the machine's")
    );
    assert!(refused("{\"big\"", "{\"level\":1,\"big\"").contains("a key is there twice"));
}

#[test]
fn a_saved_machine_is_data_of_serde() {
    let mut jar = Machine::new(()).unwrap();
    jar.send(Event::Fill).unwrap();
    jar.send(Event::Close).unwrap();
    let saved = jar.save();
    let text = serde_json::to_string(&saved).unwrap();
    assert_eq!(text, saved.to_datum().to_string());
    let again: Saved = serde_json::from_str(&text).unwrap();
    assert_eq!(again, saved);
    let again = Machine::load((), &again).unwrap();
    assert_eq!((again.due(), again.context()), (jar.due(), jar.context()));
    assert_eq!(again.due()[0].context.level, 251);
}

#[test]
fn a_datum_keeps_its_numbers() {
    let text = r#"[-9223372036854775808,18446744073709551615,1.0,"",null,true,{}]"#;
    let datum: Datum = serde_json::from_str(text).unwrap();
    assert_eq!(Datum::from_json(text).unwrap(), datum);
    assert_eq!(serde_json::to_string(&datum).unwrap(), text);
    let deep = "[".repeat(100) + &"]".repeat(100);
    assert!(serde_json::from_str::<Datum>(&deep).is_err());
}
