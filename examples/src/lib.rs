//! Each folder a whole story: a spec, a program, a README.
//!
//! | folder | shows |
//! |---|---|
//! | `turnstile` | a flat machine with actions, by the macro |
//! | `traffic_light` | nested states, entry and exit actions, a guard, by `build.rs` |
//! | `order` | regions that wait for each other, time-outs, events with data, effects, an action that fails, in SQLite across restarts and a changed spec |
//! | `player` | regions, history, a timer and data, by the macro |
