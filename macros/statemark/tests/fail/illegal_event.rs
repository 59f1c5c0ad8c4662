//! An event that isn't taken in a state.

statemark::machine!(r#"
## STATE-MACHINE: door

```mermaid
stateDiagram-v2
    [*] --> shut
    shut --> open : push
    open --> shut : pull
    shut --> [*] : brick_up
```
"#, typestate);

fn main() {
    let _ = door::typestate::Door::new(()).push().brick_up();
}
