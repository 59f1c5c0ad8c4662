//! The day in other orders: each test has a shop of its own, of which nothing is left but the file when it begins again.

use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use shop::order::{Effect, EventName, PaymentAcceptedData, State};

/// A program whose file is removed in the end.
struct Scratch(Program);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0.path);
    }
}

/// Begins a program with five teapots and a customer who has some money.
fn program() -> Scratch {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = env::temp_dir().join(format!("statemark-order-{}-{number}.db", process::id()));
    let _ = fs::remove_file(&path);
    let mut program = Program::new(path).unwrap();
    program.shop.fill_shelf("teapot", 5).unwrap();
    program.world.funds = 10_000;
    Scratch(program)
}

impl Program {
    /// Settles, and returns what was done and said.
    fn settled(&mut self) -> String {
        let mut out = Vec::new();
        self.hand_over_all(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn states(&self, id: i64) -> Vec<State> {
        self.shop.order(id).unwrap().states().collect()
    }

    fn due(&self, id: i64) -> Vec<(u64, Effect)> {
        let order = self.shop.order(id).unwrap();
        order
            .due()
            .iter()
            .map(|due| (due.key, due.effect))
            .collect()
    }
}

fn ship() -> Event {
    let parcel = "k7".to_owned();
    Event::Ship(ShipData { parcel })
}

#[test]
fn an_order_is_paid_packed_and_received_with_a_restart_behind_each_step() {
    let Scratch(program) = &mut program();
    let id = program.order(2).unwrap();
    assert_eq!(program.states(id), [State::Charging, State::Waiting]);
    program.restart().unwrap();
    assert_eq!(program.due(id), [(0, Effect::ChargeCard)]);
    assert!(program.send(id, Event::Pack).unwrap());
    assert_eq!(program.shop.on_shelf("teapot").unwrap(), 3);
    program.restart().unwrap();
    // Packed, but not paid.
    assert!(!program.send(id, ship()).unwrap());
    program.settled();
    program.restart().unwrap();
    assert_eq!(program.states(id), [State::Paid, State::Packed]);
    assert!(program.send(id, ship()).unwrap());
    program.restart().unwrap();
    assert!(program.send(id, Event::Delivered).unwrap());
    assert_eq!(program.states(id), [State::Done]);
    let order = program.shop.order(id).unwrap();
    let context = order.context();
    assert_eq!(
        (context.total, context.payment.as_deref()),
        (3900, Some("p1"))
    );
    assert_eq!(context.parcel.as_deref(), Some("k7"));
    program.wait(30 * DAY).unwrap();
    assert_eq!(program.states(id), [State::Closed]);
    assert_eq!(program.shop.orders_to_wake(u64::MAX).unwrap(), [0; 0]);
    // What has ended takes nothing more, and says so.
    let error = program.send(id, Event::SendBack).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the machine has ended and takes no more events"
    );
}

#[test]
fn a_basket_that_nobody_checks_out_is_abandoned() {
    let Scratch(program) = &mut program();
    let id = program.shop.begin(0).unwrap();
    program.wait(7 * DAY - 1).unwrap();
    program.restart().unwrap();
    assert_eq!(program.states(id), [State::Basket]);
    program.wait(1).unwrap();
    assert_eq!(program.states(id), [State::Abandoned]);
}

#[test]
fn an_answer_that_comes_late_still_counts() {
    let Scratch(program) = &mut program();
    program.world.is_silent = true;
    let id = program.order(1).unwrap();
    assert_eq!(program.settled(), "      the bank is asked for 1950\n");
    program.wait(15 * MINUTE).unwrap();
    assert_eq!(program.states(id), [State::Refused, State::Waiting]);
    assert_eq!(program.shop.order(id).unwrap().context().refusals, 1);
    let payment = |cents| {
        let payment = "p1".to_owned();
        Event::PaymentAccepted(PaymentAcceptedData { payment, cents })
    };
    // Too little is no payment, and leaves nothing in the order.
    assert!(!program.send(id, payment(1949)).unwrap());
    assert_eq!(program.shop.order(id).unwrap().context().payment, None);
    assert!(program.send(id, payment(1950)).unwrap());
    assert_eq!(program.states(id), [State::Paid, State::Waiting]);
    // The three days of `refused` are over with it.
    program.wait(3 * DAY).unwrap();
    assert_eq!(program.states(id), [State::Paid, State::Waiting]);
}

#[test]
fn a_payment_is_refused_three_times_and_then_given_up() {
    let Scratch(program) = &mut program();
    program.world.funds = 0;
    let id = program.order(1).unwrap();
    assert!(program.send(id, Event::Pack).unwrap());
    for time in 1..=3 {
        let told = program.settled();
        assert!(
            told.ends_with(&format!("a letter: refused, time {time}\n")),
            "{told}"
        );
        assert_eq!(program.states(id), [State::Refused, State::Packed]);
        let order = program.shop.order(id).unwrap();
        assert_eq!(
            order.context().reason,
            Some(shop::order::data::Reason::NoFunds)
        );
        assert_eq!(program.send(id, Event::PayAgain).unwrap(), time < 3);
    }
    program.wait(3 * DAY).unwrap();
    assert_eq!(program.states(id), [State::Cancelled]);
    assert_eq!(
        program.shop.on_shelf("teapot").unwrap(),
        5,
        "it is back on the shelf"
    );
    assert_eq!(program.settled(), "      the bank lets go\n");
}

#[test]
fn money_is_given_back_before_the_parcel_leaves_and_after_it_came() {
    let Scratch(program) = &mut program();
    let before = program.order(1).unwrap();
    program.settled();
    assert!(program.send(before, Event::Cancel).unwrap());
    assert_eq!(program.states(before), [State::Refunding]);
    assert_eq!(program.settled(), "      the bank gives 1950 back\n");
    assert_eq!(program.states(before), [State::Refunded]);
    let after = program.order(1).unwrap();
    program.settled();
    for event in [Event::Pack, ship()] {
        assert!(program.send(after, event).unwrap());
    }
    assert!(
        !program.send(after, Event::Cancel).unwrap(),
        "it is on its way"
    );
    for event in [Event::Delivered, Event::SendBack] {
        assert!(program.send(after, event).unwrap());
    }
    program.settled();
    assert_eq!(program.states(after), [State::Refunded]);
    assert_eq!(program.world.funds, 10_000);
}

#[test]
fn what_cannot_be_taken_from_the_shelf_leaves_everything_as_it_was() {
    let Scratch(program) = &mut program();
    let id = program.order(5).unwrap();
    let other = program.order(1).unwrap();
    assert!(program.send(other, Event::Pack).unwrap());
    let before = program.shop.order(id).unwrap().save(&Timers::new());
    let error = program.send(id, Event::Pack).unwrap_err();
    assert_eq!(
        error.to_string(),
        "action `take_from_stock` failed: there aren't 5 of `teapot`"
    );
    assert_eq!(program.shop.order(id).unwrap().save(&Timers::new()), before);
    assert_eq!(program.shop.on_shelf("teapot").unwrap(), 4);
    program.shop.fill_shelf("teapot", 5).unwrap();
    assert!(program.send(id, Event::Pack).unwrap());
    assert_eq!(program.shop.on_shelf("teapot").unwrap(), 0);
}

#[test]
fn a_sum_that_the_order_cannot_hold_is_refused() {
    let Scratch(program) = &mut program();
    let id = program.shop.begin(0).unwrap();
    let choice = ChooseData {
        article: "teapot".to_owned(),
        count: 100,
        price: 10_001,
    };
    assert!(program.send(id, Event::Choose(choice)).unwrap());
    let address = String::new();
    let error = program.send(id, Event::CheckOut(CheckOutData { address }));
    assert_eq!(
        error.unwrap_err().to_string(),
        "what action `sum_up` would assign has no value"
    );
    assert_eq!(program.states(id), [State::Basket]);
    assert_eq!(program.due(id), []);
}

#[test]
fn what_was_carried_out_but_not_settled_comes_again_with_the_same_key() {
    let Scratch(program) = &mut program();
    let id = program.order(1).unwrap();
    program.world.breaks_off = true;
    let told = program.settled();
    assert!(told.contains("order 1: the line broke off"), "{told}");
    // The bank's answer has come all the same, but nobody knows that it was asked.
    assert_eq!(program.states(id), [State::Paid, State::Waiting]);
    assert_eq!(program.due(id), [(0, Effect::ChargeCard)]);
    program.restart().unwrap();
    program.world.breaks_off = false;
    assert_eq!(program.settled(), "", "the bank knows the key");
    assert_eq!((program.due(id), program.world.funds), (vec![], 8050));
}

#[test]
fn what_is_carried_out_too_late_is_told_to_let_go_at_once() {
    let Scratch(program) = &mut program();
    let id = program.order(1).unwrap();
    assert!(program.send(id, Event::Cancel).unwrap());
    let told = program.settled();
    let expected = [
        "the bank is asked for 1950",
        "the bank lets go",
        "order 1 has ended: payment_accepted comes too late",
    ];
    assert_eq!(
        told,
        expected.map(|line| format!("      {line}\n")).concat()
    );
    assert_eq!(
        (program.states(id), program.world.funds),
        (vec![State::Cancelled], 10_000)
    );
}

#[test]
fn what_cannot_be_carried_out_stays_due() {
    let Scratch(program) = &mut program();
    let id = program.order(1).unwrap();
    program.world.is_down = true;
    assert_eq!(program.settled(), "      order 1: nobody can be reached\n");
    program.wait(15 * MINUTE).unwrap();
    program.restart().unwrap();
    let due = [(0, Effect::ChargeCard), (1, Effect::WriteToCustomer)];
    assert_eq!(program.due(id), due);
}

#[test]
fn events_are_those_that_the_order_takes_now() {
    let Scratch(program) = &mut program();
    let id = program.order(1).unwrap();
    assert!(program.send(id, Event::Pack).unwrap());
    let changed = program.shop.send(id, Event::PayAgain, 0).unwrap();
    assert!(!changed.is_taken());
    let error = program.shop.order(9).unwrap_err();
    assert_eq!(error.to_string(), "there is no order 9");
    assert_eq!(EventName::from_name("payAgain"), Some(EventName::PayAgain));
}

#[test]
fn orders_of_the_former_spec_go_on() {
    use former::former::Event as Former;
    let Scratch(program) = &mut program();
    let payment = former::former::PaymentAcceptedData {
        payment: "p9".to_owned(),
        cents: 3900,
    };
    let former_orders = [
        vec![],
        former::on_its_way(),
        vec![Former::Pack, Former::PaymentRefused],
        vec![Former::PaymentAccepted(payment), Former::Cancel],
    ];
    program.now = DAY;
    for (id, events) in (1..).zip(&former_orders) {
        let saved = former::saved_order(events).unwrap();
        program.shop.keep(id, &saved).unwrap();
    }
    program.restart().unwrap();
    assert_eq!(program.states(1), [State::Charging, State::Waiting]);
    assert_eq!(program.states(2), [State::Paid, State::Shipped]);
    assert_eq!(program.states(3), [State::Refused, State::Packed]);
    assert_eq!(program.states(4), [State::Refunding]);
    let order = program.shop.order(1).unwrap();
    assert_eq!((order.context().total, order.context().refusals), (3900, 0));
    // What was due is due, by its new name, with the fields that it has now.
    let due = order.due();
    assert_eq!(
        (due[0].effect, due[0].context.total),
        (Effect::ChargeCard, 3900)
    );

    // The time-out that has come since runs from now on; that of `refused` went on when it was called `unpaid`.
    program.wait(15 * MINUTE).unwrap();
    assert_eq!(program.states(1), [State::Refused, State::Waiting]);
    assert_eq!(program.states(3), [State::Refused, State::Packed]);
    program.wait(2 * DAY).unwrap();
    assert_eq!(program.states(1), [State::Refused, State::Waiting]);
    assert_eq!(program.states(3), [State::Cancelled]);
    assert!(program.send(2, Event::Delivered).unwrap());
    program.settled();
    assert_eq!(program.states(4), [State::Refunded]);
}

#[test]
fn an_order_that_does_not_fit_keeps_the_shop_closed_and_is_named() {
    let Scratch(program) = &mut program();
    let mut saved = former::saved_order(&[]).unwrap();
    saved.rename_state("charging", "chargin");
    program.shop.keep(7, &saved).unwrap();
    let error = program.restart().unwrap_err();
    assert_eq!(
        error.to_string(),
        "order 7 doesn't fit this program: this machine has no state `chargin`"
    );
}

#[test]
fn the_day_is_played_and_goes_on_with_what_is_there() {
    let Scratch(program) = &mut program();
    let mut out = Vec::new();
    day(program, &mut out).unwrap();
    let first = String::from_utf8(std::mem::take(&mut out)).unwrap();
    assert!(first.starts_with("An order is packed"), "{first}");
    program.restart().unwrap();
    program.shop.order(4).unwrap();
    for id in program.shop.orders().unwrap() {
        program.show(&mut out, "from before", id).unwrap();
    }
    let again = String::from_utf8(out).unwrap();
    assert!(
        again.starts_with("1  from before           closed\n"),
        "{again}"
    );
}
