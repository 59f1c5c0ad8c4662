//! The fields of a context have types, and actions get it.

statemark::machine!(
    r#"
## STATE-MACHINE: tank

```mermaid
stateDiagram-v2
    [*] --> open
    open --> open : fill [level < 100] / rise(), ring()
    open --> [*] : close
```

```json definition
{
  "context": { "level": 0 },
  "context_schema": { "properties": { "level": { "type": "integer", "minimum": 0, "maximum": 100 } } },
  "actions": { "rise": { "assign": { "level": "level + 10" } } }
}
```
"#
);

struct Bell;

impl tank::Host for Bell {
    fn ring(&mut self) {}
}

fn main() {
    let context = tank::Context { level: "low" };
    let _ = tank::Machine::with_context(Bell, context);
}
