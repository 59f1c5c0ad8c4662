//! The hub of a server: its dispatcher, and what its connections share besides.

use std::sync::Arc;

use statemark_tools::Dispatcher;

use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::notifications::Publisher;

/// The parts of a server that all of its connections share.
pub(crate) struct Hub {
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) publisher: Publisher,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) limits: Arc<Limits>,
}

impl Hub {
    pub(crate) fn new(dispatcher: Arc<Dispatcher>, limits: Limits) -> Arc<Self> {
        Arc::new(Self {
            publisher: Publisher::new(Arc::clone(&dispatcher)),
            dispatcher,
            metrics: Arc::default(),
            limits: Arc::new(limits),
        })
    }
}
