//! Each folder a whole story: a spec, a program, a README.
//!
//! | folder | shows |
//! |---|---|
//! | `turnstile` | a flat machine with actions, by the macro |
//! | `traffic_light` | nested states, entry and exit actions, a guard, by `build.rs` |
//! | `player` | regions, history, a timer and data, by the macro |
