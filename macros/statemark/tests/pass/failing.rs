//! Actions that can fail: some of a spec's, or all.

use std::fmt;

use statemark::{Outcome, StepError};

statemark::machine!(r#"
## STATE-MACHINE: order

```mermaid
stateDiagram-v2
    [*] --> cart
    cart --> paid : pay / reserve(), charge(), greet()
    paid --> [*] : send
```

```json definition
{ "actions": { "charge": { "fails": true } } }
```
"#);

// All of a machine's, unless the spec says otherwise; with data, so that there is something to take back.
statemark::machine!(r#"
## STATE-MACHINE: pump

```mermaid
stateDiagram-v2
    [*] --> off
    off --> on : start [count < 5] / rise(), turn(), blink()
    on --> off : stop / turn()
```

```json definition
{
  "context": { "count": 0 },
  "actions": { "rise": { "assign": { "count": "count + 1" } }, "blink": { "fails": false } }
}
```
"#, actions_fail);

#[derive(Clone, Debug, PartialEq)]
struct Declined(u32);

impl fmt::Display for Declined {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "declined, reason {}", self.0)
    }
}

#[derive(Debug, Default)]
struct Shop {
    reason: Option<u32>,
    greeted: u32,
}

impl order::Host for Shop {
    type Error = Declined;

    fn reserve(&mut self) {}

    fn charge(&mut self) -> Result<(), Declined> {
        self.reason.map_or(Ok(()), |reason| Err(Declined(reason)))
    }

    fn greet(&mut self) {
        self.greeted += 1;
    }
}

impl pump::Host for Shop {
    // Any type will do.
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn turn(&mut self, context: &pump::Context) -> Result<(), Self::Error> {
        if self.reason.is_some() {
            return Err(format!("stuck at {}", context.count).into());
        }
        Ok(())
    }

    fn blink(&mut self, _: &pump::Context) {
        self.greeted += 1;
    }
}

// The errors go into whatever a program has for errors.
fn pay(order: &mut order::Machine<Shop>) -> Result<Outcome, Box<dyn std::error::Error>> {
    Ok(order.send(order::Event::Pay)?)
}

fn run(pump: &mut pump::Machine<Shop>) -> Result<Outcome, Box<dyn std::error::Error>> {
    Ok(pump.send(pump::Event::Start)?)
}

fn main() {
    let mut order = order::Machine::new(Shop::default());
    order.host_mut().reason = Some(7);
    match order.send(order::Event::Pay) {
        Err(order::StepFailure::Action(failure)) => {
            assert_eq!(failure.action, order::Action::Charge);
            assert_eq!(failure.cause, Declined(7));
            assert_eq!(failure.done, [order::Action::Reserve]);
            assert_eq!(failure.action.id().raw(), 1);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!((order.state(), order.host().greeted), (order::State::Cart, 0));
    let text = pay(&mut order).unwrap_err().to_string();
    assert_eq!(
        text,
        "action `charge` failed: declined, reason 7 (done before and not undone: `reserve`)"
    );
    order.host_mut().reason = None;
    assert_eq!(order.send(order::Event::Pay), Ok(Outcome::Taken));
    assert_eq!(order.send(order::Event::Send), Ok(Outcome::Ended));
    let ended = order::StepFailure::Machine(StepError::Ended);
    assert_eq!(order.send(order::Event::Send), Err(ended));

    let mut pump = pump::Machine::new(Shop::default()).unwrap();
    pump.host_mut().reason = Some(1);
    assert_eq!(run(&mut pump).unwrap_err().to_string(), "action `turn` failed: stuck at 1");
    assert_eq!((pump.state(), pump.context().count), (pump::State::Off, 0));
    pump.host_mut().reason = None;
    assert_eq!(run(&mut pump).unwrap(), Outcome::Taken);
    assert_eq!((pump.state(), pump.context().count), (pump::State::On, 1));
    let names: Vec<_> = pump::Action::ALL.iter().map(|action| action.name()).collect();
    assert_eq!(names, ["rise", "turn", "blink"]);
}
