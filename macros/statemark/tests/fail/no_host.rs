//! A machine that gets something which is no host of it: the message has the methods that are missing.

statemark::machine!(r#"
## STATE-MACHINE: order

```mermaid
stateDiagram-v2
    [*] --> cart
    cart --> cart : add [in_stock] / take()
    cart --> paid : pay / charge()
    paid --> [*] : send
    paid --> cart : after 1d
```

```json definition
{
  "context": { "count": 0 },
  "actions": { "charge": { "fails": true } }
}
```
"#);

struct Stranger;

fn main() {
    let _ = order::Machine::new(Stranger);
}
