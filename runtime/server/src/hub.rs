//! The hub of a server: its dispatcher, and what its connections share besides.

use std::sync::Arc;

use statemark_tools::Dispatcher;

use crate::health::Health;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::notifications::Publisher;
use crate::states::States;
use crate::threads::Threads;

/// The parts of a server that all of its connections share.
pub(crate) struct Hub {
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) publisher: Publisher,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) health: Arc<Health>,
    pub(crate) states: States,
    pub(crate) threads: Threads,
}

impl Hub {
    pub(crate) fn new(dispatcher: Arc<Dispatcher>, limits: Limits) -> Arc<Self> {
        let health = Arc::<Health>::default();
        Arc::new(Self {
            publisher: Publisher::new(Arc::clone(&dispatcher), Arc::clone(&health)),
            health,
            dispatcher,
            metrics: Arc::default(),
            states: States::default(),
            limits: Arc::new(limits),
            threads: Threads::default(),
        })
    }
}
