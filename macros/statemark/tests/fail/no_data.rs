//! An event that requires data, without it, or with part of it.

statemark::machine!(r#"
## STATE-MACHINE: order

```mermaid
stateDiagram-v2
    [*] --> open
    open --> paid : pay [cents >= 250]
    open --> [*] : cancel
    paid --> [*] : send
```

```json definition
{
  "context": { "cents": 0 },
  "context_schema": { "properties": { "cents": { "type": "integer", "minimum": 0 } } },
  "events": {
    "pay": { "data": { "properties": { "cents": { "type": "integer", "minimum": 0 } }, "required": ["cents"] } },
    "cancel": { "data": { "properties": { "why": { "type": "string" } } } }
  }
}
```
"#);

use order::{Event, Machine, PayData};

fn main() {
    let mut order = Machine::new(());
    let _ = order.send(Event::Pay);
    let _ = order.send(Event::Pay(PayData {}));
    let _ = order.send(order::EventName::Pay);
}
