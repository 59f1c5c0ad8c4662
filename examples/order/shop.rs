//! The shop: orders in SQLite, each of them a machine that is saved by the names of its spec.
//!
//! A step, what it does to the shelves, and the order that comes of it are one transaction: all of it happened, or nothing.
//! What the spec declares as an effect is carried out afterwards, by [`Shop::hand_over`]. If the program ends in between,
//! the effect is still due, and comes again with the same key.

use std::path::Path;

use rusqlite::{
    Connection, OptionalExtension as _, Params, Transaction, TransactionBehavior, params,
};
use statemark::Outcome;
use statemark::runtime::{LoadError, ReadError, SaveError, Saved, Timers};

statemark::machine!("order.md");

use order::{Context, EffectHost, Event, Host, Machine, StepFailure, Timer};

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS orders (
        id INTEGER PRIMARY KEY,
        behavior BLOB NOT NULL,
        machine BLOB NOT NULL,
        wakes_at INTEGER,
        has_effects INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS orders_by_behavior ON orders (behavior);
    CREATE INDEX IF NOT EXISTS orders_to_wake ON orders (wakes_at) WHERE wakes_at IS NOT NULL;
    CREATE INDEX IF NOT EXISTS orders_with_effects ON orders (id) WHERE has_effects;
    CREATE TABLE IF NOT EXISTS shelves (article TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT;
";

/// The time of a payment that the former spec let take for ever. Unit: milliseconds.
const PATIENCE: u64 = 15 * 60 * 1000;

/// The reasons why the shop can't do something.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShopError {
    #[error("there is no order {0}")]
    NoOrder(i64),
    #[error("the order can't be read: {0}")]
    Read(#[from] ReadError),
    #[error("order {0} doesn't fit this program: {1}")]
    Load(i64, LoadError),
    #[error("the order can't be kept: {0}")]
    Save(#[from] SaveError),
    #[error("{0}")]
    Step(#[from] StepFailure<ShelfError>),
    #[error("the database: {0}")]
    Database(#[from] rusqlite::Error),
}

/// The reasons why goods don't come from a shelf, or go back to it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShelfError {
    #[error("there aren't {count} of `{article}`")]
    TooFew { article: String, count: u8 },
    #[error("the database: {0}")]
    Database(#[from] rusqlite::Error),
}

/// The things that an order reaches in the middle of a step.
///
/// They are the clock, and the shelves in the transaction of that step.
pub(crate) struct Counter<'t> {
    transaction: &'t Transaction<'t>,
    now: u64,
    timers: Timers,
}

impl Counter<'_> {
    /// Adds to what is on a shelf, or takes from it. Returns false if there is too little.
    fn stock(&self, article: &str, change: i64) -> rusqlite::Result<bool> {
        let sql = "UPDATE shelves SET count = count + ?2 WHERE article = ?1 AND count + ?2 >= 0";
        Ok(self.transaction.execute(sql, params![article, change])? == 1)
    }
}

impl Host for Counter<'_> {
    type Error = ShelfError;

    fn take_from_stock(&mut self, context: &Context) -> Result<(), ShelfError> {
        if self.stock(&context.article, -i64::from(context.count))? {
            return Ok(());
        }
        Err(ShelfError::TooFew {
            article: context.article.clone(),
            count: context.count,
        })
    }

    fn put_back(&mut self, context: &Context) -> Result<(), ShelfError> {
        self.stock(&context.article, context.count.into())?;
        Ok(())
    }

    fn schedule(&mut self, timer: Timer, delay: u64) {
        self.timers
            .schedule(timer.id(), self.now.saturating_add(delay));
    }

    fn cancel(&mut self, timer: Timer) {
        self.timers.cancel(timer.id());
    }

    fn begin(&mut self) {
        self.timers.begin();
    }

    fn rollback(&mut self) {
        self.timers.rollback();
    }
}

/// The shop.
pub(crate) struct Shop {
    database: Connection,
}

impl Shop {
    /// Opens the shop, with all orders that it has.
    ///
    /// Those that another version of the spec has saved become orders of this one.
    pub(crate) fn open(path: &Path, now: u64) -> Result<Self, ShopError> {
        let database = Connection::open(path)?;
        database.execute_batch(TABLES)?;
        let mut shop = Self { database };
        for id in shop.ids(
            "SELECT id FROM orders WHERE behavior <> ?1",
            [order::BEHAVIOR],
        )? {
            let transaction = shop.transaction()?;
            let saved = saved(&transaction, id)?;
            let counter = |timers| Counter {
                transaction: &transaction,
                now,
                timers,
            };
            let order = Machine::migrate(counter, saved, |old| update(old, now));
            let order = order.map_err(|error| ShopError::Load(id, error))?;
            store(id, &order)?;
            drop(order);
            transaction.commit()?;
        }
        Ok(shop)
    }

    /// Fills a shelf, so that it has so many of an article.
    pub(crate) fn fill_shelf(&self, article: &str, count: i64) -> Result<(), ShopError> {
        let sql = "INSERT OR REPLACE INTO shelves VALUES (?1, ?2)";
        self.database.execute(sql, params![article, count])?;
        Ok(())
    }

    /// Returns how much there is of an article.
    pub(crate) fn on_shelf(&self, article: &str) -> Result<i64, ShopError> {
        let sql = "SELECT count FROM shelves WHERE article = ?1";
        let found = self.database.query_row(sql, [article], |row| row.get(0));
        Ok(found.optional()?.unwrap_or_default())
    }

    /// Begins an order, and returns its number.
    pub(crate) fn begin(&mut self, now: u64) -> Result<i64, ShopError> {
        let transaction = self.transaction()?;
        let sql = "SELECT coalesce(max(id), 0) + 1 FROM orders";
        let id = transaction.query_row(sql, [], |row| row.get(0))?;
        let order = Machine::new(Counter {
            transaction: &transaction,
            now,
            timers: Timers::new(),
        })?;
        store(id, &order)?;
        drop(order);
        transaction.commit()?;
        Ok(id)
    }

    /// Keeps an order as another program has saved it.
    pub(crate) fn keep(&self, id: i64, saved: &Saved) -> Result<(), ShopError> {
        let sql = "INSERT INTO orders VALUES (?1, ?2, ?3, NULL, FALSE)";
        self.database
            .execute(sql, params![id, saved.behavior, saved.to_bytes()?])?;
        Ok(())
    }

    /// Sends an event to an order. What it does happens with it, or not at all.
    pub(crate) fn send(&mut self, id: i64, event: Event, now: u64) -> Result<Outcome, ShopError> {
        self.change(id, now, |order| order.send(event))
    }

    /// Tells an order that it is now so late, so that what has taken too long is over.
    pub(crate) fn wake(&mut self, id: i64, now: u64) -> Result<(), ShopError> {
        self.change(id, now, |order| {
            while let Some(timer) = order.host_mut().timers.pop_due(now) {
                // A timer that no transition takes was in time for nothing: that is no error.
                let _ = Timer::from_id(timer)
                    .map(|timer| order.elapse(timer))
                    .transpose()?;
            }
            Ok(())
        })
    }

    /// Hands over what is due of an order, with its number, and forgets what was carried out.
    ///
    /// No transaction waits for the world: this works on a copy, and tells the order what was settled.
    pub(crate) fn hand_over<W: EffectHost>(
        &mut self,
        id: i64,
        world: &mut W,
        now: u64,
    ) -> Result<Result<(), W::Error>, ShopError> {
        let mut copy = self.order(id)?;
        let keys: Vec<_> = copy.due().iter().map(|due| due.key).collect();
        let outcome = copy.hand_over(world);
        self.change(id, now, |order| {
            for key in keys {
                if copy.due().iter().all(|due| due.key != key) {
                    order.settled(key);
                }
            }
            Ok(())
        })?;
        Ok(outcome)
    }

    /// Returns a copy of an order, to look at.
    pub(crate) fn order(&self, id: i64) -> Result<Machine<Timers>, ShopError> {
        load(&self.database, id, |timers| timers)
    }

    /// Returns the numbers of all orders.
    pub(crate) fn orders(&self) -> Result<Vec<i64>, ShopError> {
        self.ids("SELECT id FROM orders ORDER BY id", [])
    }

    /// Returns the orders that have waited long enough for something.
    pub(crate) fn orders_to_wake(&self, now: u64) -> Result<Vec<i64>, ShopError> {
        let sql = "SELECT id FROM orders WHERE wakes_at <= ?1 ORDER BY wakes_at";
        self.ids(sql, [time(now)])
    }

    /// Returns the orders of which something is due.
    pub(crate) fn orders_with_effects(&self) -> Result<Vec<i64>, ShopError> {
        self.ids("SELECT id FROM orders WHERE has_effects ORDER BY id", [])
    }

    fn ids(&self, sql: &str, parameters: impl Params) -> Result<Vec<i64>, ShopError> {
        let mut statement = self.database.prepare_cached(sql)?;
        let ids = statement.query_map(parameters, |row| row.get(0))?;
        Ok(ids.collect::<Result<_, _>>()?)
    }

    /// Loads an order, changes it, and keeps it: in one transaction, in which its host acts.
    fn change<T>(
        &mut self,
        id: i64,
        now: u64,
        step: impl FnOnce(&mut Machine<Counter<'_>>) -> Result<T, StepFailure<ShelfError>>,
    ) -> Result<T, ShopError> {
        let transaction = self.transaction()?;
        let mut order = load(&transaction, id, |timers| Counter {
            transaction: &transaction,
            now,
            timers,
        })?;
        // An error drops the transaction, and with it what the host has done in the step.
        let result = step(&mut order)?;
        store(id, &order)?;
        drop(order);
        transaction.commit()?;
        Ok(result)
    }

    /// Begins a transaction that nobody else writes beside.
    fn transaction(&mut self) -> rusqlite::Result<Transaction<'_>> {
        self.database
            .transaction_with_behavior(TransactionBehavior::Immediate)
    }
}

/// Reads an order as it was saved.
fn saved(database: &Connection, id: i64) -> Result<Saved, ShopError> {
    let sql = "SELECT machine FROM orders WHERE id = ?1";
    let bytes = database.query_row(sql, [id], |row| row.get(0)).optional()?;
    let bytes: Vec<u8> = bytes.ok_or(ShopError::NoOrder(id))?;
    Ok(Saved::from_bytes(&bytes)?)
}

/// Loads an order, for a host that is made of its timers.
fn load<H>(
    database: &Connection,
    id: i64,
    host: impl FnOnce(Timers) -> H,
) -> Result<Machine<H>, ShopError> {
    let saved = saved(database, id)?;
    Machine::load(host, &saved).map_err(|error| ShopError::Load(id, error))
}

/// Maps an order that `former.md` has saved: names that have changed, and a time-out that wasn't there.
///
/// The fields that have come since begin as in a new order.
fn update(old: &mut Saved, now: u64) {
    old.rename_state("unpaid", "refused");
    old.rename_state("sent", "shipped");
    old.rename_field("sum", "total");
    old.rename_effect("ask_bank", "charge_card");
    if old.states.iter().any(|state| state == "charging") {
        let due = now.saturating_add(PATIENCE);
        old.timers.push(("after.charging.1".to_owned(), due));
    }
}

/// Keeps an order, with what the shop looks for: when it wakes, and whether something of it is due.
fn store(id: i64, order: &Machine<Counter<'_>>) -> Result<(), ShopError> {
    let counter = order.host();
    let bytes = order.save(&counter.timers).to_bytes()?;
    let wakes_at = counter.timers.next_due().map(time);
    let has_effects = !order.due().is_empty();
    let sql = "INSERT OR REPLACE INTO orders VALUES (?1, ?2, ?3, ?4, ?5)";
    let row = params![id, order::BEHAVIOR, bytes, wakes_at, has_effects];
    counter.transaction.execute(sql, row)?;
    Ok(())
}

/// Returns a time as SQLite has it, which knows no unsigned integers.
fn time(milliseconds: u64) -> i64 {
    i64::try_from(milliseconds).unwrap_or(i64::MAX)
}
