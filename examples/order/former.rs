//! The program as it was, as far as it takes to leave an order behind.

use statemark::StepFailure;
use statemark::runtime::{Saved, Timers};

statemark::machine!("former.md");

use former::{Action, ChooseData, Context, Event, Host, Machine, Timer};

/// The counter of the former shop, which never ran out of anything.
#[derive(Default)]
struct Counter(Timers);

impl Host for Counter {
    type Error = &'static str;

    fn take_from_stock(&mut self, _: &Context) -> Result<(), Self::Error> {
        Ok(())
    }

    fn put_back(&mut self, _: &Context) -> Result<(), Self::Error> {
        Ok(())
    }

    fn schedule(&mut self, timer: Timer, delay: u64) {
        self.0.schedule(timer.id(), delay);
    }

    fn cancel(&mut self, timer: Timer) {
        self.0.cancel(timer.id());
    }

    fn begin(&mut self) {
        self.0.begin();
    }

    fn rollback(&mut self) {
        self.0.rollback();
    }
}

/// Returns an order of two teapots as the former program has saved it, after these further events.
pub(crate) fn saved_order(events: &[Event]) -> Result<Saved, StepFailure<Action, &'static str>> {
    let mut order = Machine::new(Counter::default())?;
    let choice = ChooseData {
        article: "teapot".to_owned(),
        count: 2,
        price: 1950,
    };
    let choice = [Event::Choose(choice), Event::CheckOut];
    for event in choice.iter().chain(events) {
        if matches!(event, Event::PaymentAccepted(_) | Event::PaymentRefused) {
            // Who has an answer was asked.
            while let Some(due) = order.due().first() {
                let key = due.key;
                order.settled(key);
            }
        }
        let _ = order.send(event.clone())?;
    }
    Ok(order.save(&order.host().0))
}

/// Returns the events of an order that is on its way, and paid.
pub(crate) fn on_its_way() -> Vec<Event> {
    let payment = former::PaymentAcceptedData {
        payment: "p9".to_owned(),
        cents: 3900,
    };
    vec![Event::Pack, Event::PaymentAccepted(payment), Event::Ship]
}
