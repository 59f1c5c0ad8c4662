//! The hub of a server: its dispatcher, and what its connections share besides.

use std::sync::Arc;
use std::time::Instant;

use statemark_tools::{Dispatcher, Reply};

use crate::metrics::Metrics;
use crate::notifications::Publisher;

/// The parts of a server that all of its connections share.
pub(crate) struct Hub {
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) publisher: Publisher,
    pub(crate) metrics: Arc<Metrics>,
}

impl Hub {
    pub(crate) fn new(dispatcher: Arc<Dispatcher>) -> Arc<Self> {
        Arc::new(Self {
            publisher: Publisher::new(Arc::clone(&dispatcher)),
            dispatcher,
            metrics: Arc::default(),
        })
    }

    /// Makes a call of a tool, and counts it if there is such a tool.
    pub(crate) fn count(
        &self,
        tool: &str,
        call: impl FnOnce(&Dispatcher) -> Option<Reply>,
    ) -> Option<Reply> {
        let began = Instant::now();
        let reply = call(&self.dispatcher)?;
        self.metrics
            .count_call(tool, reply.code.as_deref(), began.elapsed());
        Some(reply)
    }
}
