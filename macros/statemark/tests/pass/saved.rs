//! Machines that are saved, loaded, and moved from one version of their spec to the next.

use statemark::runtime::{Datum, LoadError, Saved, Timers};

// As it was.
statemark::machine!(r#"
## STATE-MACHINE: order

```mermaid
stateDiagram-v2
    [*] --> open
    open --> billed : pay
    state both {
        [*] --> billed
        billed --> settled : settle / count()
        --
        [*] --> packed
        packed --> shiped : ship
        shiped --> packed : bring_back
    }
    billed --> late : after 1h
    late --> [*] : close
    both --> open : reopen
    open --> both : resume
```

```json definition
{
  "context": { "sum": 0, "place": { "street": "" } },
  "context_schema": {
    "properties": {
      "sum": { "type": "integer", "minimum": 0, "maximum": 1000 },
      "note": { "type": ["string", "null"] },
      "tags": { "type": "array", "items": { "enum": ["gift", "fragile"] } },
      "place": { "properties": { "street": { "type": "string" } }, "required": ["street"] }
    }
  },
  "actions": { "count": { "assign": { "sum": "sum + 1" } } }
}
```
"# as old);

// As it is: a state has another name, a field another name and another has come.
statemark::machine!(r#"
## STATE-MACHINE: order

```mermaid
stateDiagram-v2
    [*] --> open
    open --> billed : pay
    state both {
        [*] --> billed
        billed --> settled : settle / count()
        --
        [*] --> packed
        packed --> shipped : ship
        shipped --> packed : bring_back
    }
    billed --> late : after 1h
    late --> [*] : close
    both --> open : reopen
    open --> both : resume
```

```json definition
{
  "context": { "cents": 0, "currency": "EUR", "place": { "street": "", "city": "?" } },
  "context_schema": {
    "properties": {
      "cents": { "type": "integer", "minimum": 0, "maximum": 200 },
      "currency": { "enum": ["EUR", "USD"] },
      "note": { "type": ["string", "null"] },
      "tags": { "type": "array", "items": { "enum": ["gift", "fragile"] } },
      "place": {
        "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
        "required": ["street", "city"]
      }
    }
  },
  "actions": { "count": { "assign": { "cents": "cents + 1" } } }
}
```
"# as new);

#[derive(Clone, Debug, Default)]
struct Clock(Timers);

impl old::Host for Clock {
    fn schedule(&mut self, timer: old::Timer, delay: u64) {
        self.0.schedule(timer.id(), delay);
    }

    fn cancel(&mut self, timer: old::Timer) {
        self.0.cancel(timer.id());
    }
}

impl new::Host for Clock {
    fn schedule(&mut self, timer: new::Timer, delay: u64) {
        self.0.schedule(timer.id(), delay);
    }

    fn cancel(&mut self, timer: new::Timer) {
        self.0.cancel(timer.id());
    }
}

fn main() {
    let mut order = old::Machine::new(Clock::default()).unwrap();
    order.send(old::Event::Pay).unwrap();
    order.send(old::Event::Ship).unwrap();
    order.context_mut().tags = Some(vec![old::data::TagsItem::Gift]);
    order.context_mut().sum = 999;

    // The same version: by bytes, with timers.
    let bytes = order.save(&order.host().0).to_bytes().unwrap();
    let saved = Saved::from_bytes(&bytes).unwrap();
    let again = old::Machine::load(Clock, &saved).unwrap();
    assert!(again.host().0.iter().eq(order.host().0.iter()));
    assert_eq!(again.context(), order.context());
    // What the same version has saved isn't mapped.
    let again = old::Machine::migrate(Clock, saved.clone(), |_| unreachable!()).unwrap();
    assert!(again.states().eq(order.states()));

    // Another version refuses it, and says by name what doesn't fit.
    let refused = new::Machine::load(Clock, &saved).unwrap_err();
    assert_eq!(refused, LoadError::OtherBehavior);
    let map = |map: fn(&mut Saved)| {
        let moved = new::Machine::migrate(Clock, saved.clone(), map);
        moved.map_err(|error| error.to_string())
    };
    let error = |change: fn(&mut Saved)| map(change).unwrap_err();
    assert_eq!(error(|_| {}), "this machine has no state `shiped`");
    assert_eq!(
        error(|old| old.rename_state("shiped", "shipped")),
        "field `sum` isn't one of the machine's"
    );
    assert_eq!(
        error(|old| {
            old.rename_state("shiped", "shipped");
            old.rename_field("sum", "cents");
        }),
        "field `cents` doesn't hold what was saved: a number is too large"
    );
    assert_eq!(
        error(|old| old.rename_state("shiped", "settled")),
        "this machine can't be in the states `billed`, `settled`"
    );
    assert_eq!(
        error(|old| {
            old.rename_state("shiped", "shipped");
            old.remove_field("sum");
            old.set_field("tags", Datum::List(vec![Datum::from("heavy")]));
        }),
        "field `tags` doesn't hold a value as it was saved"
    );
    let moved = map(|old| {
        old.rename_state("shiped", "shipped");
        old.rename_field("sum", "cents");
        old.set_field("cents", 99_u64);
    });
    let moved = moved.unwrap();
    assert!(moved.is_at(new::State::Shipped) && moved.is_at(new::State::Billed));
    let context = moved.context();
    assert_eq!((context.cents, context.currency), (99, new::data::Currency::Eur));
    assert_eq!(context.place.city, "?");
    assert_eq!(context.tags.as_deref(), Some(&[new::data::TagsItem::Gift][..]));
}
