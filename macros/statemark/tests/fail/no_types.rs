//! States that can't be types.

statemark::machine!(r#"
## STATE-MACHINE: door

```mermaid
stateDiagram-v2
    [*] --> shut
    shut --> open : push [unlocked]
    open --> shut : pull
    shut --> [*] : brick_up
```
"#, typestate);

fn main() {}
