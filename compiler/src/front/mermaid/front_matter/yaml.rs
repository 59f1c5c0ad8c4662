//! Any YAML: what a front matter may hold besides a title.
//!
//! JSON's values won't do, since YAML has numbers without an end and keys that are no texts.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A value, as far as a title asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Yaml {
    /// A text, or a number as Mermaid writes it.
    Text(String),
    /// Keys and values.
    Map(Vec<(Yaml, Yaml)>),
    /// Anything else.
    Other,
}

impl Yaml {
    /// The title of a front matter: its key `title`, where that says anything.
    pub(super) fn title(self) -> Option<String> {
        let Self::Map(entries) = self else {
            return None;
        };
        let title = Self::Text("title".to_owned());
        let mut found = entries.into_iter().filter(|(key, _)| *key == title);
        match found.next()?.1 {
            Self::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Yaml {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyVisitor)
    }
}

struct AnyVisitor;

impl<'de> Visitor<'de> for AnyVisitor {
    type Value = Yaml;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any YAML")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Yaml, E> {
        Ok(Yaml::Other)
    }

    fn visit_i64<E>(self, value: i64) -> Result<Yaml, E> {
        Ok(Yaml::Text(value.to_string()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Yaml, E> {
        Ok(Yaml::Text(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Yaml, E> {
        Ok(Yaml::Text(value.to_string()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Yaml, E> {
        Ok(Yaml::Text(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Yaml, E> {
        Ok(Yaml::Text(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Yaml, E> {
        Ok(Yaml::Text(value.to_owned()))
    }

    fn visit_none<E>(self) -> Result<Yaml, E> {
        Ok(Yaml::Other)
    }

    fn visit_unit<E>(self) -> Result<Yaml, E> {
        Ok(Yaml::Other)
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Yaml, D::Error> {
        Yaml::deserialize(inner)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Yaml, A::Error> {
        while items.next_element::<Yaml>()?.is_some() {}
        Ok(Yaml::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Yaml, A::Error> {
        let mut found = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            found.push(entry);
        }
        Ok(Yaml::Map(found))
    }
}
