//! A host that keeps timers and whose actions can fail, and that takes nothing back.

statemark::machine!(r#"
## STATE-MACHINE: order

```mermaid
stateDiagram-v2
    [*] --> cart
    cart --> paid : pay / charge()
    cart --> [*] : after 1h
    paid --> [*] : send
```

```json definition
{ "actions": { "charge": { "fails": true } } }
```
"#);

struct Shop;

impl order::Host for Shop {
    type Error = ();

    fn charge(&mut self) -> Result<(), ()> {
        Ok(())
    }

    fn schedule(&mut self, _: order::Timer, _: u64) {}

    fn cancel(&mut self, _: order::Timer) {}
}

fn main() {
    let _ = order::Machine::new(Shop);
}
