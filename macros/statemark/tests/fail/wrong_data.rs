//! The data of an event has types, and an event without a schema has no struct for it.

statemark::machine!(
    r#"
## STATE-MACHINE: order

```mermaid
stateDiagram-v2
    [*] --> open
    open --> paid : paid [event.cents >= total]
    open --> [*] : cancel
    paid --> [*] : sent
```

```json definition
{
  "context": { "total": 250 },
  "events": {
    "paid": { "data": { "properties": { "cents": { "type": "integer", "minimum": 0 } }, "required": ["cents"] } }
  }
}
```
"#
);

fn main() {
    let mut order = order::Machine::new(());
    let _ = order.send_with(order::PaidData { cents: "250" });
    let _ = order.send_with(order::PaidData {});
    let _ = order.send_with(order::Event::Cancel);
}
