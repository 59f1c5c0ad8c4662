//! An action that fails with another error than its host's.

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
    type Error = std::fmt::Error;

    fn charge(&mut self) -> Result<(), String> {
        Ok(())
    }
}

fn main() {
    let _ = order::Machine::new(Shop);
}
