//! A day in a shop: orders that are paid and packed side by side, kept in SQLite.
//!
//! The program ends in between.
//!
//! The clock is turned by hand, so that days pass quickly. `order FILE` keeps the orders in that file, and goes on with
//! what is in it.

mod bank;
mod former;
mod shop;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::{env, fs, process};

use bank::World;
use shop::order::{CheckOutData, ChooseData, Event, ShipData};
use shop::{Shop, ShopError};
use statemark::runtime::Timers;
use statemark::{StepError, StepFailure};

const MINUTE: u64 = 60 * 1000;
const DAY: u64 = 24 * 60 * MINUTE;

/// The program: the shop, the world around it, and what time it is.
struct Program {
    path: PathBuf,
    shop: Shop,
    world: World,
    now: u64,
}

impl Program {
    fn new(path: PathBuf) -> Result<Self, ShopError> {
        Ok(Self {
            shop: Shop::open(&path, 0)?,
            path,
            world: World::default(),
            now: 0,
        })
    }

    /// Ends the program and begins it again: all that is left is what the database has.
    fn restart(&mut self) -> Result<(), ShopError> {
        self.shop = Shop::open(&self.path, self.now)?;
        Ok(())
    }

    /// Begins an order of some teapots, and checks it out.
    fn order(&mut self, count: u8) -> Result<i64, ShopError> {
        let id = self.shop.begin(self.now)?;
        let choice = ChooseData {
            article: "teapot".to_owned(),
            count,
            price: 1950,
        };
        self.send(id, Event::Choose(choice))?;
        let address = "5 Kettle Lane".to_owned();
        self.send(id, Event::CheckOut(CheckOutData { address }))?;
        Ok(id)
    }

    /// Sends an event to an order. Returns false if the order doesn't take it now.
    fn send(&mut self, id: i64, event: Event) -> Result<bool, ShopError> {
        let outcome = self.shop.send(id, event, self.now)?;
        Ok(outcome.is_taken())
    }

    /// Hands over what is due, and sends the answers, until all is quiet.
    ///
    /// Says what couldn't be done; it stays due.
    fn hand_over_all(&mut self, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
        loop {
            for id in self.shop.orders_with_effects()? {
                let mut counter = self.world.counter(id);
                let handed_over = self.shop.hand_over(id, &mut counter, self.now)?;
                if let Err(cause) = handed_over {
                    writeln!(out, "      order {id}: {cause}")?;
                }
            }
            for deed in self.world.deeds.drain(..) {
                writeln!(out, "      {deed}")?;
            }
            let Some((id, event)) = self.world.answers.pop_front() else {
                return Ok(());
            };
            let name = event.name();
            match self.send(id, event) {
                Ok(true) => {}
                Ok(false) => writeln!(out, "      order {id} takes no {name}")?,
                Err(ShopError::Step(StepFailure::Machine(StepError::Ended))) => {
                    writeln!(out, "      order {id} has ended: {name} comes too late")?;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Lets time pass, in which whatever takes too long is over.
    fn wait(&mut self, milliseconds: u64) -> Result<(), ShopError> {
        self.now = self.now.saturating_add(milliseconds);
        for id in self.shop.orders_to_wake(self.now)? {
            self.shop.wake(id, self.now)?;
        }
        Ok(())
    }

    /// Writes where an order is.
    fn show(&self, out: &mut impl Write, what: &str, id: i64) -> Result<(), Box<dyn Error>> {
        let order: shop::order::Machine<Timers> = self.shop.order(id)?;
        let states: Vec<_> = order.states().map(|state| state.name()).collect();
        let effects: Vec<_> = order.due().iter().map(|due| due.effect.name()).collect();
        let line = format!("{id}  {what:<22}{:<20}", states.join(" + "));
        let due = match effects.as_slice() {
            [] => String::new(),
            effects => format!("due: {}", effects.join(", ")),
        };
        writeln!(out, "{}", format!("{line}{due}").trim_end())?;
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    if let Some(path) = env::args_os().nth(1) {
        return day(&mut Program::new(path.into())?, &mut out);
    }
    let path = env::temp_dir().join(format!("statemark-order-{}.db", process::id()));
    let done = day(&mut Program::new(path.clone())?, &mut out);
    fs::remove_file(path)?;
    done
}

/// Plays the day.
fn day(program: &mut Program, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    for id in program.shop.orders()? {
        program.show(out, "from before", id)?;
    }
    program.shop.fill_shelf("teapot", 5)?;
    program.world.funds = 10_000;

    writeln!(
        out,
        "An order is packed while the bank thinks, and the program ends before it has answered:"
    )?;
    let id = program.order(2)?;
    program.show(out, "check_out", id)?;
    program.send(id, Event::Pack)?;
    program.restart()?;
    program.show(out, "pack, restart", id)?;
    program.hand_over_all(out)?;
    program.show(out, "payment_accepted", id)?;
    let parcel = Event::Ship(ShipData {
        parcel: "k7".to_owned(),
    });
    program.send(id, parcel)?;
    program.send(id, Event::Delivered)?;
    program.show(out, "ship, delivered", id)?;
    program.wait(30 * DAY)?;
    program.show(out, "30 days", id)?;

    writeln!(
        out,
        "There are three teapots left, and what can't be taken from the shelf isn't packed:"
    )?;
    let id = program.order(4)?;
    if let Err(error) = program.send(id, Event::Pack) {
        writeln!(out, "      {error}")?;
    }
    program.show(out, "pack", id)?;

    writeln!(
        out,
        "The bank refuses, for want of money. Nobody pays again for three days:"
    )?;
    program.hand_over_all(out)?;
    program.show(out, "payment_refused", id)?;
    program.wait(3 * DAY)?;
    program.hand_over_all(out)?;
    program.show(out, "3 days", id)?;

    writeln!(
        out,
        "The bank doesn't answer; asked again it does, and then the order is taken back:"
    )?;
    program.world.is_silent = true;
    let id = program.order(1)?;
    program.hand_over_all(out)?;
    program.wait(15 * MINUTE)?;
    program.show(out, "15 minutes", id)?;
    program.world.is_silent = false;
    program.send(id, Event::PayAgain)?;
    program.hand_over_all(out)?;
    program.send(id, Event::Pack)?;
    program.show(out, "pay_again, pack", id)?;
    program.send(id, Event::Cancel)?;
    program.hand_over_all(out)?;
    program.show(out, "cancel", id)?;
    let count = program.shop.on_shelf("teapot")?;
    writeln!(out, "      {count} teapots on the shelf")?;

    writeln!(
        out,
        "An order of the time before the spec knew `shipped` and `total`:"
    )?;
    let id = id.saturating_add(1);
    let saved = former::saved_order(&former::on_its_way())?;
    writeln!(
        out,
        "{id}  as it was saved      {}",
        saved.states.join(" + ")
    )?;
    program.shop.keep(id, &saved)?;
    program.restart()?;
    program.show(out, "restart", id)?;
    program.send(id, Event::Delivered)?;
    program.hand_over_all(out)?;
    program.show(out, "delivered", id)?;
    Ok(())
}
