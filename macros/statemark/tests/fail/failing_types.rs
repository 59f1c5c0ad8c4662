//! States as types, of a machine whose actions can fail.

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
"#, typestate);

fn main() {}
