//! Events with data: required, and not.

statemark::machine!(r#"
## STATE-MACHINE: order

```mermaid
stateDiagram-v2
    [*] --> open
    open --> paid : pay [cents >= 250]
    open --> [*] : cancel
    paid --> [*] : send
```

```json definition
{
  "context": { "cents": 0, "why": "" },
  "context_schema": {
    "properties": { "cents": { "type": "integer", "minimum": 0 }, "why": { "type": "string" } }
  },
  "events": {
    "pay": { "data": { "properties": { "cents": { "type": "integer", "minimum": 0 } }, "required": ["cents"] } },
    "cancel": { "data": { "properties": { "why": { "type": "string" } } } }
  }
}
```
"#);

// Nothing is required: `Event` names events, and can be copied.
statemark::machine!(r#"
## STATE-MACHINE: lamp

```mermaid
stateDiagram-v2
    [*] --> off
    off --> on : press
    on --> off : press
```

```json definition
{
  "context": { "color": "white" },
  "events": { "press": { "data": { "properties": { "color": { "type": "string" } } } } }
}
```
"#);

use order::{CancelData, Event, EventName, Machine, PayData, State};
use statemark::Outcome;

fn main() {
    let mut order = Machine::new(());
    assert!(order.can(EventName::Cancel));
    assert_eq!(order.events().collect::<Vec<_>>(), [EventName::Cancel]);
    assert_eq!(order.send(Event::Pay(PayData { cents: 3 })), Ok(Outcome::Ignored));
    assert_eq!(order.context().cents, 0);
    let mut other = order.clone();
    assert_eq!(other.send(Event::Cancel), Ok(Outcome::Ended));
    let mut other = order.clone();
    let data = CancelData { why: Some("dear".to_owned()) };
    assert_eq!(other.send_with(data), Ok(Outcome::Ended));
    assert_eq!(other.context().why, "dear");

    let pay = Event::from(PayData { cents: 250 });
    assert_eq!((pay.name(), pay.to_string()), (EventName::Pay, "pay".to_owned()));
    assert_eq!(order.send(pay), Ok(Outcome::Taken));
    assert_eq!((order.state(), order.context().cents), (State::Paid, 250));
    assert_eq!(State::Paid.events(), [EventName::Send]);

    let press = lamp::Event::Press;
    let mut lamp = lamp::Machine::new(());
    assert_eq!((lamp.send(press), lamp.send(press)), (Ok(Outcome::Taken), Ok(Outcome::Taken)));
    assert_eq!(lamp::Event::ALL, [press]);
}
