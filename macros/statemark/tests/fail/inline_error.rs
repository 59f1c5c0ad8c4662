//! In a text inside the Rust file, findings show that file's lines.

statemark::machine!(r#"
## STATE-MACHINE: door

```mermaid
stateDiagram-v2
    [*] --> shut
    shut -> open : push
```
"#);

fn main() {}
