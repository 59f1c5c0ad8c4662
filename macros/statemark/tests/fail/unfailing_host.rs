//! A host that doesn't know of failures, of a machine whose actions can fail.

statemark::machine!(r#"
## STATE-MACHINE: order

```mermaid
stateDiagram-v2
    [*] --> cart
    cart --> paid : pay / charge()
    paid --> [*] : send
```

```json definition
{ "actions": { "charge": { "fails": true } } }
```
"#);

struct Shop;

impl order::Host for Shop {
    fn charge(&mut self) {}
}

fn main() {
    let _ = order::Machine::new(Shop);
}
