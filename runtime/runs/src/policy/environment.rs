//! The environment that states give to what is run in them: `blocked_env` and `env_overrides`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::glob::{is_name, matches_name};
use crate::loaded::Loaded;

/// Variables that states take away from what is run, and those that they set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateEnvironment {
    /// Names of variables, or globs over them.
    blocked: Vec<String>,
    set: BTreeMap<String, String>,
}

impl StateEnvironment {
    /// Reports whether a variable is taken away. That wins over what is set.
    #[must_use]
    pub fn blocks(&self, name: &str) -> bool {
        self.blocked.iter().any(|glob| matches_name(glob, name))
    }

    /// Returns the variables that are set.
    pub fn set(&self) -> impl Iterator<Item = (&str, &str)> {
        let set = self.set.iter().filter(|(name, _)| !self.blocks(name));
        set.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns what is changed in an environment that has variables of these names.
    ///
    /// That is the values of variables, or none for one that is taken away. What is taken away by its name, and not by a glob, always is: whoever asks may not see each variable.
    pub fn changes(
        &self,
        names: impl IntoIterator<Item = String>,
    ) -> BTreeMap<String, Option<String>> {
        let named = self.blocked.iter().filter(|glob| is_name(glob)).cloned();
        let seen = names.into_iter().filter(|name| self.blocks(name));
        let mut changes: BTreeMap<String, Option<String>> =
            named.chain(seen).map(|name| (name, None)).collect();
        let set = self.set();
        changes.extend(set.map(|(name, value)| (name.to_owned(), Some(value.to_owned()))));
        changes
    }
}

/// Joins the environments of several runs. Where two set a variable, the first one's value counts.
impl FromIterator<Self> for StateEnvironment {
    fn from_iter<T: IntoIterator<Item = Self>>(all: T) -> Self {
        let mut joined = Self::default();
        for environment in all {
            joined.blocked.extend(environment.blocked);
            for (name, value) in environment.set {
                joined.set.entry(name).or_insert(value);
            }
        }
        joined
    }
}

impl Loaded {
    /// Returns the environment that the active states give to what is run in them.
    ///
    /// The innermost state's value counts. A workflow that nobody has accepted takes variables away, and sets none.
    #[must_use]
    pub fn environment(&self) -> StateEnvironment {
        let table = self.workflow.table();
        let leaves = self.state.leaves.iter();
        let leaves = leaves.filter_map(|leaf| table.state_named(leaf));
        let mut environment = StateEnvironment::default();
        for state in leaves.flat_map(|leaf| table.chain(leaf)) {
            let meta = self.workflow.state_meta(state);
            let blocked = meta.get("blocked_env").and_then(Value::as_array);
            let names = blocked.into_iter().flatten().filter_map(Value::as_str);
            environment.blocked.extend(names.map(str::to_owned));
            let set = meta.get("env_overrides").and_then(Value::as_object);
            for (name, value) in set.into_iter().flatten().filter(|_| !self.is_unreviewed()) {
                if let Some(value) = value.as_str() {
                    let own = environment.set.entry(name.clone());
                    own.or_insert_with(|| value.to_owned());
                }
            }
        }
        environment
    }
}
