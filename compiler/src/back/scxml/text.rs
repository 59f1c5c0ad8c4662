//! Names and texts as XML takes them.

use std::collections::BTreeSet;

/// Names that white space parts in attributes, so that none may hold any: by index, each once.
#[derive(Debug)]
pub(super) struct Tokens {
    names: Vec<String>,
}

impl Tokens {
    /// Names as they are, or with `_` for what can't stand in a list; where they may be descriptors, also for `*`.
    pub(super) fn of<'n>(names: impl Iterator<Item = &'n str>, descriptors: bool) -> Self {
        let mut taken = BTreeSet::new();
        let token = |name: &str| {
            let plain: String = name
                .chars()
                .map(|letter| match letter {
                    '*' if descriptors => '_',
                    letter if letter.is_whitespace() || letter.is_control() => '_',
                    letter => letter,
                })
                .collect();
            let plain = match descriptors {
                true => plain.trim_end_matches('.'),
                false => &plain,
            };
            let mut token = if plain.is_empty() {
                "_".to_owned()
            } else {
                plain.to_owned()
            };
            while !taken.insert(token.clone()) {
                token.push('_');
            }
            token
        };
        Self {
            names: names.map(token).collect(),
        }
    }

    /// The name of an index.
    pub(super) fn get(&self, index: usize) -> &str {
        self.names.get(index).map_or("", String::as_str)
    }
}
