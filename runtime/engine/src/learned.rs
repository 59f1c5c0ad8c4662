//! Learned steps: what a machine with regions has found its steps to do.
//!
//! A step that neither asks its host anything nor reads its data depends on two things alone: the configuration, with what
//! histories have recorded, and the event. So a [`Machine`](crate::Machine) that has taken such a step knows its whole
//! effect, and takes it again in about a hundred instructions: it tells the host the same, in the same order, and is at
//! another *place*. This is the lazy DFA of regular expressions (`regex-automata`, *hybrid*), whose states are
//! configurations and whose transitions are noted down when they are met.
//!
//! - Which steps those are isn't derived from the rows: a [`Listener`] between the general step and the host hears
//!   whatever the host is asked and told. A step that has asked is never learned, and neither is one that failed or ended
//!   the machine.
//! - [`Learner`] says when learning begins, when it isn't worth it, and how much memory it may take; [`Learned`] is that
//!   memory: places, and cells of places by events.
//! - A place has its own configuration, so that a learned step copies nothing. The machine's other configuration, on which
//!   general steps work, is then behind; [`Learner::leave`] brings it up to date.
//!
//! INVARIANT: a step is taken here only as the general step would take it. The tests hold both to the same records.
//!
//! Deliberately not here: steps that somebody watches, events of timers, and jumps. The general step takes them.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::Cell;

use crate::configuration::Configuration;
use crate::error::StepError;
use crate::failure::Cause;
use crate::host::Host;
use crate::id::{ActionId, EventId, FieldId, GuardId, TimerId};
use crate::limits::DEFAULT_LEARNING_LIMIT;
use crate::record::Outcome;
use crate::value::Value;

/// General steps that a machine takes before it learns.
/// Unit: steps. Why: a machine that is restored for a step or two would pay for memory that it never uses.
const WAIT: u8 = 32;

/// Most general steps by which those of a learning machine may outnumber the learned ones.
///
/// Unit: steps. Why: to note a new place costs about as much as two general steps. A machine that mostly asks its host, or
/// that hardly ever comes to a place again, is better off without; one of some hundred places knows most of them by then.
const PATIENCE: u64 = 1_024;

/// Most that a learned step tells the host.
/// Unit: actions and timers. Why: one step mustn't take the memory of all others.
const MAX_DEEDS: usize = 1_024;

/// The decision whether a machine learns, with what it has learned.
#[derive(Debug)]
pub(crate) struct Learner {
    /// Most memory to be used; zero where the machine has given up.
    /// Unit: bytes.
    limit: usize,
    /// General steps until it begins.
    wait: u8,
    learned: Option<Box<Learned>>,
}

impl Default for Learner {
    fn default() -> Self {
        Self::new(DEFAULT_LEARNING_LIMIT)
    }
}

/// A clone learns for itself: what many clones know would be copied more often than it is used.
impl Clone for Learner {
    fn clone(&self) -> Self {
        Self::new(self.limit)
    }
}

impl Learner {
    /// Creates a learner that knows nothing and uses at most so many bytes.
    pub(crate) const fn new(limit: usize) -> Self {
        Self {
            limit,
            wait: WAIT,
            learned: None,
        }
    }

    /// Creates one that learns from the first step on.
    #[cfg(test)]
    pub(crate) fn at_once(limit: usize) -> Self {
        Self {
            wait: 0,
            ..Self::new(limit)
        }
    }

    /// Returns how many learned steps were taken, how many places are known, and how many bytes that takes.
    #[cfg(test)]
    pub(crate) fn counts(&self) -> (u64, usize, usize) {
        let learned = self.learned.as_ref();
        learned.map_or((0, 0, 0), |it| (it.taken, it.places.len(), it.used))
    }

    /// Returns the limit on memory. Unit: bytes.
    pub(crate) const fn limit(&self) -> usize {
        self.limit
    }

    /// Takes a learned step, if the event is known where the machine is.
    #[inline]
    pub(crate) fn take<H: Host>(&mut self, event: EventId, host: &mut H) -> Option<Outcome> {
        self.learned.as_mut()?.take(event, host)
    }

    /// Returns the configuration of the place where the machine is.
    /// If it is in none, its own configuration is the right one.
    pub(crate) fn configuration(&self) -> Option<&Configuration> {
        let learned = self.learned.as_ref()?;
        learned.places.get(learned.here? as usize)
    }

    /// Brings the machine's own configuration up to date, before a step changes it.
    pub(crate) fn leave(&mut self, own: &mut Configuration) {
        if let Some(learned) = &mut self.learned {
            learned.leave(own);
        }
    }

    /// Returns the memory for a general step to be learned in, unless it is too early or isn't worth it.
    /// `events` is how many events the table has. Where nothing is returned, the machine's own configuration is up to date.
    pub(crate) fn ready(&mut self, events: usize, own: &mut Configuration) -> Option<&mut Learned> {
        match &mut self.learned {
            Some(learned) if learned.is_useless() => {
                learned.leave(own);
                *self = Self::new(0);
            }
            None if self.limit > 0 => match self.wait.checked_sub(1) {
                Some(wait) => self.wait = wait,
                None => self.learned = Some(Box::new(Learned::new(events, self.limit))),
            },
            _ => {}
        }
        self.learned.as_deref_mut()
    }
}

/// Something that a step tells the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Act(ActionId),
    Schedule(TimerId, u64),
    Cancel(TimerId),
    Begin,
}

/// The effect of an event at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// Nothing is known: the event hasn't been sent there, or it depends on the host.
    Unknown,
    /// Nothing is taken.
    Ignored,
    /// Does deeds, and leads to another place.
    Taken {
        /// Number of deeds.
        count: u16,
        /// The index of the first.
        at: u32,
        next: u32,
    },
}

/// The places that a machine has been to, and what events do there.
#[derive(Debug)]
pub(crate) struct Learned {
    /// The place where the machine is.
    /// It is none where only its own configuration says that.
    here: Option<u32>,
    /// The place that the machine's own configuration is.
    own: Option<u32>,
    /// Learned steps that were taken.
    taken: u64,
    /// General steps that were taken since learning began.
    missed: u64,
    /// The number of events: the distance between a place's effects and the next place's.
    events: usize,
    /// By place, then by event.
    effects: Vec<Effect>,
    deeds: Vec<Deed>,
    /// The configurations, by place.
    places: Vec<Configuration>,
    /// The places in the order of their configurations.
    sorted: Vec<u32>,
    /// The memory that all this takes, and the most that it may take.
    /// Unit: bytes; lists may have room for twice as much.
    used: usize,
    limit: usize,
    /// The deeds of the step under way.
    heard: Vec<Deed>,
}

impl Learned {
    const fn new(events: usize, limit: usize) -> Self {
        Self {
            here: None,
            own: None,
            taken: 0,
            missed: 0,
            events,
            effects: Vec::new(),
            deeds: Vec::new(),
            places: Vec::new(),
            sorted: Vec::new(),
            used: 0,
            limit,
            heard: Vec::new(),
        }
    }

    /// Does what the event is known to do here.
    #[inline]
    fn take<H: Host>(&mut self, event: EventId, host: &mut H) -> Option<Outcome> {
        let effect = self.effects.get(self.cell(self.here?, event)?);
        match *effect? {
            Effect::Unknown => return None,
            Effect::Ignored => {
                self.taken += 1;
                return Some(Outcome::Ignored);
            }
            Effect::Taken { count, at, next } => {
                let at = at as usize;
                for deed in self.deeds.get(at..at + usize::from(count))? {
                    match *deed {
                        Deed::Act(action) => host.action(action),
                        Deed::Schedule(timer, delay) => host.schedule(timer, delay),
                        Deed::Cancel(timer) => host.cancel(timer),
                        Deed::Begin => host.begin(),
                    }
                }
                self.here = Some(next);
            }
        }
        self.taken += 1;
        Some(Outcome::Taken)
    }

    /// Returns the index of an effect; none for an event that the table doesn't have.
    #[inline]
    fn cell(&self, place: u32, event: EventId) -> Option<usize> {
        (event.index() < self.events).then_some(place as usize * self.events + event.index())
    }

    /// Leaves the place and brings the machine's own configuration up to date.
    /// Returns the place, if the machine was at one.
    fn leave(&mut self, own: &mut Configuration) -> Option<u32> {
        let here = self.here.take();
        if let Some(place) = here
            && self.own != here
            && let Some(configuration) = self.places.get(place as usize)
        {
            own.copy_from(configuration);
        }
        self.own = None;
        here
    }

    /// Takes a step, and learns it.
    ///
    /// `step` is the general one, which works on the machine's own configuration. It isn't needed if the machine has come
    /// back to a place whose effect is known.
    pub(crate) fn learn<H: Host>(
        &mut self,
        own: &mut Configuration,
        event: EventId,
        host: &mut H,
        step: impl FnOnce(&mut Configuration, &mut Listener<'_, H>) -> Result<Outcome, StepError>,
    ) -> Result<Outcome, StepError> {
        if self.here.is_none() {
            self.arrive(own);
            if let Some(outcome) = self.take(event, host) {
                return Ok(outcome);
            }
        }
        let from = self.leave(own);
        self.missed += 1;
        let mut heard = core::mem::take(&mut self.heard);
        heard.clear();
        let mut listener = Listener {
            host,
            heard: Some(&mut heard),
            depends: Cell::new(false),
        };
        let outcome = step(own, &mut listener);
        let depends = listener.depends.get();
        if let Some(from) = from {
            self.note((from, event), outcome, (depends, &heard), own);
        }
        self.heard = heard;
        outcome
    }

    /// Notes what a step from a place did.
    fn note(
        &mut self,
        (from, event): (u32, EventId),
        outcome: Result<Outcome, StepError>,
        (depends, heard): (bool, &[Deed]),
        own: &Configuration,
    ) {
        if matches!(outcome, Err(_) | Ok(Outcome::Ignored)) {
            (self.here, self.own) = (Some(from), Some(from));
        }
        let effect = match outcome {
            _ if depends => return,
            Err(_) | Ok(Outcome::Ended) => return,
            Ok(Outcome::Ignored) => Effect::Ignored,
            Ok(Outcome::Taken) => match self.taken_to(own, heard) {
                Some(effect) => effect,
                None => return self.forget(),
            },
        };
        let cell = self.cell(from, event);
        if let Some(noted) = cell.and_then(|cell| self.effects.get_mut(cell)) {
            *noted = effect;
        }
    }

    /// Notes where a step has led and what it has told the host, if there is room for both.
    fn taken_to(&mut self, own: &Configuration, heard: &[Deed]) -> Option<Effect> {
        let next = self.find(own)?;
        let size = size_of_val(heard);
        let count = u16::try_from(heard.len()).ok()?;
        let at = u32::try_from(self.deeds.len()).ok()?;
        if size > self.limit.saturating_sub(self.used) {
            return None;
        }
        self.used += size;
        self.deeds.extend_from_slice(heard);
        (self.here, self.own) = (Some(next), Some(next));
        Some(Effect::Taken { count, at, next })
    }

    /// Finds the place where the machine is, by its own configuration.
    fn arrive(&mut self, own: &Configuration) {
        let mut place = self.find(own);
        if place.is_none() && !self.places.is_empty() {
            self.forget();
            place = self.find(own);
        }
        (self.here, self.own) = (place, place);
    }

    /// Returns the place with this configuration, a new one if need be; none if there is no room for it.
    fn find(&mut self, configuration: &Configuration) -> Option<u32> {
        let compared = |place: &u32| {
            let known = self.places.get(*place as usize);
            known.map_or(core::cmp::Ordering::Less, |it| it.compare(configuration))
        };
        let at = match self.sorted.binary_search_by(compared) {
            Ok(at) => return self.sorted.get(at).copied(),
            Err(at) => at,
        };
        let place = u32::try_from(self.places.len()).ok()?;
        let row = self.events * size_of::<Effect>();
        let size = configuration.size().saturating_add(size_of::<u32>() + row);
        if size > self.limit.saturating_sub(self.used) {
            return None;
        }
        self.used += size;
        self.sorted.insert(at, place);
        self.places.push(configuration.clone());
        let effects = self.effects.len() + self.events;
        self.effects.resize(effects, Effect::Unknown);
        Some(place)
    }

    /// Forgets everything, since there is no room for more.
    ///
    /// A machine that has moved on to other places learns those; one that goes through ever new ones soon gives up, since
    /// it takes no learned steps. The machine's own configuration is the one that counts.
    fn forget(&mut self) {
        (self.here, self.own) = (None, None);
        self.effects.clear();
        self.deeds.clear();
        self.places.clear();
        self.sorted.clear();
        self.used = 0;
    }

    /// Reports whether learning has cost more than it was worth.
    fn is_useless(&self) -> bool {
        self.missed > self.taken.saturating_add(PATIENCE)
    }
}

/// A host that hears what a step asks and tells another one.
#[derive(Debug)]
pub(crate) struct Listener<'a, H> {
    host: &'a mut H,
    /// The deeds so far; none if nobody wants to know.
    heard: Option<&'a mut Vec<Deed>>,
    /// True if what the step does depends on the host, or can't be noted.
    depends: Cell<bool>,
}

impl<'a, H> Listener<'a, H> {
    /// Creates a host that is just the other one.
    pub(crate) const fn deaf(host: &'a mut H) -> Self {
        Self {
            host,
            heard: None,
            depends: Cell::new(false),
        }
    }

    /// Notes what the host is told.
    #[inline]
    fn hear(&mut self, deed: Deed) {
        if let Some(heard) = &mut self.heard {
            match heard.len() < MAX_DEEDS {
                true => push(heard, deed),
                false => self.depends.set(true),
            }
        }
    }
}

/// Appends a deed. It isn't inlined, so that a step that isn't learned stays short.
#[inline(never)]
fn push(heard: &mut Vec<Deed>, deed: Deed) {
    heard.push(deed);
}

impl<H: Host> Host for Listener<'_, H> {
    #[inline]
    fn guard(&mut self, guard: GuardId) -> bool {
        self.depends.set(true);
        self.host.guard(guard)
    }

    #[inline]
    fn action(&mut self, action: ActionId) {
        self.hear(Deed::Act(action));
        self.host.action(action);
    }

    #[inline]
    fn try_action(&mut self, action: ActionId) -> Result<(), Cause> {
        self.depends.set(true);
        self.host.try_action(action)
    }

    #[inline]
    fn field(&self, field: FieldId) -> Value<'_> {
        self.depends.set(true);
        self.host.field(field)
    }

    #[inline]
    fn assign(&mut self, field: FieldId, value: Value<'_>) {
        self.depends.set(true);
        self.host.assign(field, value);
    }

    #[inline]
    fn schedule(&mut self, timer: TimerId, delay: u64) {
        self.hear(Deed::Schedule(timer, delay));
        self.host.schedule(timer, delay);
    }

    #[inline]
    fn cancel(&mut self, timer: TimerId) {
        self.hear(Deed::Cancel(timer));
        self.host.cancel(timer);
    }

    #[inline]
    fn begin(&mut self) {
        self.hear(Deed::Begin);
        self.host.begin();
    }

    #[inline]
    fn rollback(&mut self) {
        self.depends.set(true);
        self.host.rollback();
    }
}
