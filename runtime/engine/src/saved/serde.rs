//! `serde` for saved machines: a [`Datum`] is its JSON value, and the rest goes by way of one.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use ::serde_core::de::{Error as _, MapAccess, SeqAccess, Visitor};
use ::serde_core::ser::Error as _;
use ::serde_core::{Deserialize, Deserializer, Serialize, Serializer};

use super::Saved;
use crate::datum::{Budget, Datum, fits};
use crate::limits::{MAX_DATUM_BYTES, MAX_DATUM_DEPTH};

impl Serialize for Datum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(bool) => serializer.serialize_bool(*bool),
            Self::Int(int) => match (i64::try_from(*int), u64::try_from(*int)) {
                (Ok(int), _) => serializer.serialize_i64(int),
                (_, Ok(int)) => serializer.serialize_u64(int),
                _ => Err(S::Error::custom("an integer is beyond 64 bits")),
            },
            Self::Float(float) => serializer.serialize_f64(*float),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(fields) => serializer.collect_map(fields),
        }
    }
}

impl<'de> Deserialize<'de> for Datum {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let datum = deserializer.deserialize_any(Reader)?;
        let mut budget = Budget {
            bytes: MAX_DATUM_BYTES,
        };
        let items = core::slice::from_ref(&datum);
        match budget.take_all(items, MAX_DATUM_DEPTH) {
            Ok(()) => Ok(datum),
            Err(fault) => Err(D::Error::custom(fault)),
        }
    }
}

/// Reads any value.
struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Datum;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Datum, E> {
        Ok(Datum::Null)
    }

    fn visit_none<E>(self) -> Result<Datum, E> {
        Ok(Datum::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Datum, D::Error> {
        Datum::deserialize(deserializer)
    }

    fn visit_bool<E>(self, bool: bool) -> Result<Datum, E> {
        Ok(Datum::Bool(bool))
    }

    fn visit_i64<E>(self, int: i64) -> Result<Datum, E> {
        Ok(Datum::from(int))
    }

    fn visit_u64<E>(self, int: u64) -> Result<Datum, E> {
        Ok(Datum::from(int))
    }

    fn visit_i128<E: ::serde_core::de::Error>(self, int: i128) -> Result<Datum, E> {
        if fits(int) {
            Ok(Datum::Int(int))
        } else {
            Err(E::custom("an integer is beyond 64 bits"))
        }
    }

    fn visit_f64<E: ::serde_core::de::Error>(self, float: f64) -> Result<Datum, E> {
        if float.is_finite() {
            Ok(Datum::Float(float))
        } else {
            Err(E::custom("a number isn't finite"))
        }
    }

    fn visit_str<E>(self, text: &str) -> Result<Datum, E> {
        Ok(Datum::from(text))
    }

    fn visit_string<E>(self, text: String) -> Result<Datum, E> {
        Ok(Datum::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Datum, A::Error> {
        // No room in advance: how many there are is only said.
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Datum::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Datum, A::Error> {
        let mut fields = BTreeMap::new();
        while let Some((key, value)) = entries.next_entry::<String, Datum>()? {
            if fields.insert(key, value).is_some() {
                return Err(A::Error::custom("a key is there twice"));
            }
        }
        Ok(Datum::Object(fields))
    }
}

impl Serialize for Saved {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_datum().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Saved {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_datum(Datum::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
