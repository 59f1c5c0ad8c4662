//! The world around the shop: a bank that answers when it likes, and the mail.
//!
//! Whoever carries out effects may be asked twice for the same, and tells that by its key. A bank has a header for that; this
//! one has a set.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::shop::order::data::Reason;
use crate::shop::order::{Due, EffectHost, Event, PaymentAcceptedData, PaymentRefusedData};

/// The bank, and the post office beside it.
#[derive(Default)]
pub(crate) struct World {
    /// The customer's money. Unit: cents.
    pub(crate) funds: u32,
    /// True if the bank takes requests, and never answers.
    pub(crate) is_silent: bool,
    /// True if nobody can be reached.
    pub(crate) is_down: bool,
    /// True if the line breaks once the bank has understood, so that nobody knows whether it did.
    pub(crate) breaks_off: bool,
    /// Answers of the bank: the number of the order, and the event.
    pub(crate) answers: VecDeque<(i64, Event)>,
    /// Deeds in the world, once each.
    pub(crate) deeds: Vec<String>,
    /// The keys of what was done.
    keys: BTreeSet<(i64, u64)>,
    /// Money that the bank has taken, by order.
    payments: BTreeMap<i64, u32>,
}

impl World {
    /// Returns the counter at which one order is dealt with.
    pub(crate) fn counter(&mut self, order: i64) -> Counter<'_> {
        Counter { world: self, order }
    }
}

/// The one who carries out the effects of an order.
pub(crate) struct Counter<'w> {
    world: &'w mut World,
    order: i64,
}

impl Counter<'_> {
    /// Does something, unless it was done before under this key.
    fn once(
        &mut self,
        due: &Due,
        deed: impl FnOnce(&mut World, i64) -> String,
    ) -> Result<(), &'static str> {
        let Self { world, order } = self;
        if world.is_down {
            return Err("nobody can be reached");
        }
        if world.keys.insert((*order, due.key)) {
            let deed = deed(world, *order);
            world.deeds.push(deed);
        }
        if world.breaks_off {
            return Err("the line broke off");
        }
        Ok(())
    }
}

impl EffectHost for Counter<'_> {
    type Error = &'static str;

    fn charge_card(&mut self, due: &Due) -> Result<(), Self::Error> {
        let total = due.context.total;
        self.once(due, |world, order| {
            let answer = match world.funds.checked_sub(total) {
                Some(rest) if !world.is_silent => {
                    world.funds = rest;
                    world.payments.insert(order, total);
                    Some(Event::PaymentAccepted(PaymentAcceptedData {
                        payment: format!("p{order}"),
                        cents: total.into(),
                    }))
                }
                None if !world.is_silent => Some(Event::PaymentRefused(PaymentRefusedData {
                    reason: Reason::NoFunds,
                })),
                _ => None,
            };
            let answers = answer.map(|event| (order, event));
            world.answers.extend(answers);
            format!("the bank is asked for {total}")
        })
    }

    fn void_payment(&mut self, due: &Due) -> Result<(), Self::Error> {
        self.once(due, |world, order| {
            let taken = world.payments.remove(&order).unwrap_or_default();
            world.funds = world.funds.saturating_add(taken);
            "the bank lets go".to_owned()
        })
    }

    fn refund_payment(&mut self, due: &Due) -> Result<(), Self::Error> {
        let total = due.context.total;
        self.once(due, |world, order| {
            world.payments.remove(&order);
            world.funds = world.funds.saturating_add(total);
            world.answers.push_back((order, Event::MoneyReturned));
            format!("the bank gives {total} back")
        })
    }

    fn write_to_customer(&mut self, due: &Due) -> Result<(), Self::Error> {
        let times = due.context.refusals;
        self.once(due, |_, _| format!("a letter: refused, time {times}"))
    }
}
