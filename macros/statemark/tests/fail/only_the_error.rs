//! Where a spec has an error, rustc says nothing about the code that uses the machine.

use std::fmt;

statemark::machine!(r#"
## STATE-MACHINE: order

```mermaid
stateDiagram-v2
    [*] --> open
    open --> paid : pay [cents >= 250] / count(), charge()
    open -> open : wait
    paid --> late : after 1h [paid = 3]
    paid --> late : hurry [is_late]
    paid --> [*] : send
```

```json definition
{
  "context": { "cents": 0, "paid": 0, "place": { "street": "" } },
  "events": { "pay": { "data": { "properties": { "cents": { "type": "integer" } }, "required": ["cents"] } } },
  "actions": { "count": { "assign": { "paid": "cents" } }, "charge": { "fails": true } }
}
```
"#);

use order::data::Place;
use order::{Action, Context, Event, Machine, PayData, State, StepFailure, Timer};

#[derive(Debug)]
struct Shop {
    state: State,
}

impl order::Host for Shop {
    type Error = fmt::Error;

    fn charge(&mut self, context: &Context) -> Result<(), fmt::Error> {
        if context.paid > 3 { Err(fmt::Error) } else { Ok(()) }
    }

    fn schedule(&mut self, timer: Timer, _: u64) {
        println!("{timer:?}");
    }

    fn cancel(&mut self, _: Timer) {}
}

fn pay(order: &mut Machine<Shop>) -> Result<bool, StepFailure<fmt::Error>> {
    Ok(order.send_with(PayData { cents: 250 })? == statemark::Outcome::Taken)
}

fn main() {
    let context = Context { place: Place { street: String::new() }, ..Context::initial() };
    let mut order = Machine::with_context(Shop { state: State::Open }, context).unwrap();
    match pay(&mut order) {
        Err(StepFailure::Action(failure)) if failure.action == Action::Charge => {}
        other => println!("{other:?}"),
    }
    println!("{:?}", order.send(Event::Send));
    if order.state() == State::Paid {
        order.host_mut().state = State::Paid;
    }
    for state in State::ALL {
        println!("{state}");
    }
}
