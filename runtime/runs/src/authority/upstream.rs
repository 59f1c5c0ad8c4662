//! Accepted servers of tools, and accepted definitions of their tools.
//!
//! A declaration stands in a project's files, which a repository brings along and an agent may edit; so nothing of it is
//! started before a person has accepted it as it is. Unlike workflows, none counts as accepted in a store for trying things
//! out: to serve a cloned repository must run none of its programs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::entry::{Entry, UpstreamAccepted};
use super::{Authority, Right};
use crate::actor::Actor;
use crate::hash::Hash;
use crate::runs::RunError;
use crate::runs::operation::{Execution, Operation};

impl Authority {
    /// Reports whether a person has accepted a server as it is declared. The last acceptance counts.
    #[must_use]
    pub fn has_accepted_upstream(&self, server: &str, declaration: &Hash) -> bool {
        self.upstream.get(server) == Some(declaration)
    }

    /// Returns the names of the servers that a person has accepted.
    pub fn accepted_upstreams(&self) -> impl Iterator<Item = &str> {
        self.upstream.keys().map(String::as_str)
    }

    /// Reports whether a person has ever accepted a server of that name.
    #[must_use]
    pub fn knows_upstream(&self, server: &str) -> bool {
        self.upstream.contains_key(server)
    }
}

/// Accepts a server of tools as it is declared, and definitions of its tools, by a person.
#[derive(Clone, Debug, Serialize)]
pub struct AcceptUpstream {
    /// The name of the server.
    pub server: String,
    /// The hash of its declaration.
    pub declaration: Hash,
    /// The tools whose definitions are accepted, each with the hash of it.
    pub tools: BTreeMap<String, Hash>,
}

impl Operation for AcceptUpstream {
    const NAME: &'static str = "accept_upstream";
    const RIGHT: Right = Right::Accept;
    type Order = Actor;
    type Response = ();

    fn carry_out(&self, execution: &Execution<'_, Actor>) -> Result<(), RunError> {
        let entry = Entry::UpstreamAccepted(UpstreamAccepted {
            server: self.server.clone(),
            declaration: self.declaration,
            tools: self.tools.clone(),
        });
        execution
            .runs()
            .amend_authority(execution.order(), |authority, _| {
                let is_old = authority.has_accepted_upstream(&self.server, &self.declaration);
                Ok(Vec::from_iter(
                    (!is_old || !self.tools.is_empty()).then(|| entry.clone()),
                ))
            })
    }
}
