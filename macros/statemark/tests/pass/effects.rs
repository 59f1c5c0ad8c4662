//! Effects: handed over after the step, with a key, until they are settled.

use std::future::{Future, ready};
use std::pin::pin;
use std::task::{Context as Waker, Poll};

use statemark::runtime::{LoadError, Saved};
use statemark::{Outcome, StepError};

// Written out as `match`, without data.
statemark::machine!(r#"
## STATE-MACHINE: letter

```mermaid
stateDiagram-v2
    [*] --> desk
    desk --> sent : send / stamp(), mail()
    sent --> desk : bounce / throw()
    sent --> desk : tear / mail(), shred()
```

```json definition
{
  "actions": {
    "mail": { "effect": "Mails it." },
    "throw": { "effect": "Throws it away." },
    "shred": { "fails": true }
  }
}
```
"#);

// Walked, with data.
statemark::machine!(r#"
## STATE-MACHINE: order

```mermaid
stateDiagram-v2
    [*] --> open
    open --> open : pay / charge(), count(), thank()
    open --> late : after 1h / remind()
    late --> open : pay
```

```json definition
{
  "context": { "paid": 0 },
  "context_schema": { "properties": { "paid": { "type": "integer", "minimum": 0, "maximum": 2 } } },
  "actions": {
    "charge": { "effect": "Charges the card." },
    "thank": { "effect": "Thanks." },
    "remind": { "effect": "Reminds." },
    "count": { "assign": { "paid": "paid + 1" } }
  }
}
```
"#);

#[derive(Default)]
struct Desk(u32);

impl letter::Host for Desk {
    type Error = &'static str;

    fn stamp(&mut self) {
        self.0 += 1;
    }

    fn shred(&mut self) -> Result<(), Self::Error> {
        Err("too thick")
    }
}

#[derive(Debug)]
struct Timeless;

impl order::Host for Timeless {
    fn schedule(&mut self, _: order::Timer, _: u64) {}

    fn cancel(&mut self, _: order::Timer) {}
}

/// Fails once it has done so many.
#[derive(Default)]
struct World {
    done: Vec<(u64, &'static str, u64)>,
    most: usize,
}

impl World {
    fn take(&mut self, due: &order::Due) -> Result<(), &'static str> {
        if self.done.len() == self.most {
            return Err("the line is down");
        }
        self.done.push((due.key, due.effect.name(), due.context.paid.into()));
        Ok(())
    }
}

impl order::EffectHost for World {
    type Error = &'static str;

    fn charge(&mut self, due: &order::Due) -> Result<(), Self::Error> {
        self.take(due)
    }

    fn thank(&mut self, due: &order::Due) -> Result<(), Self::Error> {
        self.take(due)
    }

    fn remind(&mut self, due: &order::Due) -> Result<(), Self::Error> {
        self.take(due)
    }
}

impl order::AsyncHost for World {
    type Error = &'static str;

    async fn charge(&mut self, due: &order::Due) -> Result<(), Self::Error> {
        self.take(due)
    }

    fn thank(&mut self, due: &order::Due) -> impl Future<Output = Result<(), Self::Error>> {
        ready(self.take(due))
    }

    async fn remind(&mut self, due: &order::Due) -> Result<(), Self::Error> {
        self.take(due)
    }
}

/// Polls once: nothing here waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut context = Waker::from_waker(std::task::Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits"),
    }
}

fn main() {
    let mut letter = letter::Machine::new(Desk::default());
    assert_eq!(letter.send(letter::Event::Send), Ok(Outcome::Taken));
    let due = letter::Due { key: 0, effect: letter::Effect::Mail };
    assert_eq!((letter.due(), letter.host().0), (&[due.clone()][..], 1));
    // A step that fails leaves no effect.
    assert!(letter.send(letter::Event::Tear).is_err());
    assert_eq!(letter.due(), [due]);
    assert_eq!(letter.send(letter::Event::Bounce), Ok(Outcome::Taken));
    let keys: Vec<_> = letter.due().iter().map(|due| (due.key, due.effect)).collect();
    assert_eq!(keys, [(0, letter::Effect::Mail), (1, letter::Effect::Throw)]);
    assert!(letter.settled(0) && !letter.settled(0));

    let mut order = order::Machine::new(Timeless).unwrap();
    for _ in 0..2 {
        assert_eq!(order.send(order::Event::Pay), Ok(Outcome::Taken));
    }
    let error = order.send(order::Event::Pay).unwrap_err();
    assert_eq!(error, StepError::NoValue(order::Action::Count));
    assert_eq!(error.to_string(), "what action `count` would assign has no value");
    // Each with the context as it was at its action.
    let mut world = World { most: 1, ..World::default() };
    assert_eq!(order.hand_over(&mut world), Err("the line is down"));
    assert_eq!(world.done, [(0, "charge", 0)]);
    assert_eq!(order.due().len(), 3);

    // What isn't settled is saved, and comes again.
    let saved = order.save(&Default::default());
    let saved = Saved::from_bytes(&saved.to_bytes().unwrap()).unwrap();
    let mut order = order::Machine::load(|_| Timeless, &saved).unwrap();
    world.most = 9;
    assert_eq!(now(order.hand_over_async(&mut world)), Ok(()));
    assert_eq!(world.done[1..], [(1, "thank", 1), (2, "charge", 1), (3, "thank", 2)]);
    assert!(order.due().is_empty());
    order.elapse(order::Timer::ALL[0]).unwrap();
    assert_eq!(order.due()[0].key, 4);
    let mut saved = saved;
    saved.rename_effect("thank", "thanks");
    let lost = order::Machine::load(|_| Timeless, &saved).unwrap_err();
    assert_eq!(lost, LoadError::NoEffect { name: "thanks".to_owned(), key: 1 });
}
