//! The budget of a validation.
//!
//! A schema may name its parts many times over (`$ref` under `allOf`), so that a few lines ask for more work than a day
//! has. So the work is counted before it is done: each pair of a subschema and a part of the value counts as often as the
//! one is applied to the other. A pair is looked at once, and its sum kept, so counting takes time in the number of pairs
//! and not of applications.

use std::collections::HashMap;
use std::ptr;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// Most values in a schema.
///
/// Why: the largest published schemas of formats that people write have some ten thousand.
const MAX_VALUES: usize = 1 << 16;

/// Most applications of a subschema to a part of a value.
///
/// Why: a validation of that many takes some tenths of a second.
const MAX_WORK: u64 = 1 << 20;

/// Applications beyond those that a large value may have for each of its values.
///
/// Why: a document of sixteen megabytes may be checked, if its schema has no part that repeats.
const MAX_WORK_ON_EACH: u64 = 32;

/// Most applications to one part of a value.
///
/// Why: in schemas that people write, a few hundred apply to the same part.
const MAX_WORK_ON_ONE: u64 = 10_000;

/// Most subschemas that are looked into within one another, over references and levels of the value.
///
/// Why: validation recurses as counting does. JSON has 127 levels; each may take a few references.
const MAX_DEPTH: usize = 512;

/// Keys whose value is a schema for the same value.
const SAME: [&str; 4] = ["not", "if", "then", "else"];

/// Keys whose value is a list of schemas for the same value.
const SAME_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Keys whose value has schemas for the same value by name.
const SAME_NAMED: [&str; 2] = ["dependentSchemas", "dependencies"];

/// Keys that refer to a schema for the same value.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Keys that name a schema, so that references find it.
const NAMES: [&str; 3] = ["$id", "$anchor", "$dynamicAnchor"];

/// Keys for which the schemas beside them are applied again, to learn what they have looked at.
const AGAIN: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];

/// The measure of a schema.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    /// All values in it.
    values: usize,
    /// True if a part may be applied several times to a value.
    repeats: bool,
}

/// Measures a schema.
///
/// # Errors
///
/// It is too large, or asks for too much work whatever the value.
pub(super) fn measure(schema: &Value) -> Result<Size, String> {
    let mut size = Size::default();
    size.add(schema, MAX_DEPTH)?;
    let most = MAX_WORK_ON_ONE;
    if size.repeats && Count::new(schema, size, most).count(schema, &Value::Null, 0) > most {
        return Err(format!(
            "more than {most} of its parts apply to one value: let it refer to them fewer times, and never to itself at the same place"
        ));
    }
    Ok(size)
}

/// Checks that validating the value takes a bounded amount of work.
///
/// # Errors
///
/// It takes too much.
pub(super) fn check(size: Size, schema: &Value, value: &Value) -> Result<(), String> {
    let most = if size.repeats {
        MAX_WORK
    } else {
        let values = count_values(value);
        if work(size.values, values) <= MAX_WORK {
            // No part applies to a value twice, so nothing needs to be counted.
            return Ok(());
        }
        MAX_WORK.saturating_add(work(values, 1).saturating_mul(MAX_WORK_ON_EACH))
    };
    if Count::new(schema, size, most).count(schema, value, 0) <= most {
        return Ok(());
    }
    Err(format!(
        "checking it takes more than {most} steps: send less, or let the schema refer to its parts fewer times"
    ))
}

fn work(parts: usize, values: usize) -> u64 {
    u64::try_from(parts.saturating_mul(values)).unwrap_or(u64::MAX)
}

fn count_values(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields.values().map(count_values).sum::<usize>() + 1,
        Value::Array(items) => items.iter().map(count_values).sum::<usize>() + 1,
        _ => 1,
    }
}

impl Size {
    fn add(&mut self, value: &Value, depth: usize) -> Result<(), String> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(format!("it has more than {MAX_VALUES} values"));
        }
        let Some(depth) = depth.checked_sub(1) else {
            return Err(format!("it is nested deeper than {MAX_DEPTH} levels"));
        };
        match value {
            Value::Object(fields) => {
                let mut repeating = REFERENCES.iter().chain(&AGAIN);
                self.repeats |= repeating.any(|key| fields.contains_key(*key));
                fields.values().try_for_each(|it| self.add(it, depth))
            }
            Value::Array(items) => items.iter().try_for_each(|it| self.add(it, depth)),
            _ => Ok(()),
        }
    }
}

/// A count of applications.
struct Count<'s> {
    root: &'s Value,
    /// The schemas that references find by name.
    named: HashMap<&'s str, Vec<&'s Value>>,
    /// The largest count that isn't too much.
    most: u64,
    /// True if pairs are kept: where no part repeats, none comes twice.
    repeats: bool,
    /// The sum of each pair of a schema and a value; nothing while it is being counted.
    pairs: HashMap<(*const Value, *const Value), Option<u64>>,
}

impl<'s> Count<'s> {
    fn new(root: &'s Value, size: Size, most: u64) -> Self {
        let mut named = HashMap::new();
        if size.repeats {
            find_named(root, &mut named);
        }
        Self {
            root,
            named,
            most,
            repeats: size.repeats,
            pairs: HashMap::new(),
        }
    }

    /// Counts what applying the schema to the value applies.
    fn count(&mut self, schema: &'s Value, value: &Value, depth: usize) -> u64 {
        let Value::Object(keys) = schema else {
            return 1;
        };
        let pair = (ptr::from_ref(schema), ptr::from_ref(value));
        match self.pairs.get(&pair) {
            Some(Some(sum)) => return *sum,
            // The schema would apply to the value because it applies to the value.
            Some(None) => return u64::MAX,
            None => {}
        }
        if depth >= MAX_DEPTH || work(1, self.pairs.len()) > self.most {
            return u64::MAX;
        }
        if self.repeats {
            self.pairs.insert(pair, None);
        }
        let same = self.on_same(keys, value, depth + 1);
        let times = if AGAIN.iter().any(|key| keys.contains_key(*key)) {
            2
        } else {
            1
        };
        let sum = count_own(keys, value)
            .saturating_add(same.saturating_mul(times))
            .saturating_add(self.on_parts(keys, value, depth + 1));
        if self.repeats {
            self.pairs.insert(pair, Some(sum));
        }
        sum
    }

    /// Counts the schemas that apply to the same value.
    fn on_same(&mut self, keys: &'s Map<String, Value>, value: &Value, depth: usize) -> u64 {
        let lists = SAME_LISTS.iter();
        let lists = lists.filter_map(|key| keys.get(*key)?.as_array());
        let named = SAME_NAMED.iter();
        let named = named.filter_map(|key| keys.get(*key)?.as_object());
        let one = SAME.iter().filter_map(|key| keys.get(*key));
        let mut all: Vec<&'s Value> = one.chain(lists.flatten()).collect();
        all.extend(named.flat_map(Map::values));
        let references = REFERENCES.iter().filter_map(|key| keys.get(*key));
        all.extend(references.flat_map(|it| self.targets(it)));
        self.sum(all.into_iter().map(|schema| (schema, value)), depth)
    }

    /// Counts the schemas that apply to the parts of the value.
    fn on_parts(&mut self, keys: &'s Map<String, Value>, value: &Value, depth: usize) -> u64 {
        match value {
            Value::Object(fields) => {
                let own = keys.get("properties").and_then(Value::as_object);
                let patterns = keys.get("patternProperties").and_then(Value::as_object);
                let rest = [
                    "additionalProperties",
                    "unevaluatedProperties",
                    "propertyNames",
                ];
                let rest = rest.iter().filter_map(|key| keys.get(*key));
                let patterns = patterns.into_iter().flat_map(Map::values);
                let rest: Vec<&'s Value> = patterns.chain(rest).collect();
                let applied = fields.iter().flat_map(|(name, value)| {
                    let named = own.and_then(|own| own.get(name)).into_iter();
                    named.chain(rest.iter().copied()).map(move |it| (it, value))
                });
                self.sum(applied, depth)
            }
            Value::Array(items) => {
                let listed = |key| keys.get(key).and_then(Value::as_array);
                let listed = listed("prefixItems").or_else(|| listed("items"));
                let rest = ["items", "additionalItems", "unevaluatedItems", "contains"];
                let rest = rest.iter().filter_map(|key| keys.get(*key));
                let rest: Vec<&'s Value> = rest.filter(|it| !it.is_array()).collect();
                let applied = items.iter().enumerate().flat_map(|(index, value)| {
                    let at = listed.and_then(|all| all.get(index)).into_iter();
                    at.chain(rest.iter().copied()).map(move |it| (it, value))
                });
                self.sum(applied, depth)
            }
            _ => 0,
        }
    }

    fn sum<'v>(
        &mut self,
        mut applied: impl Iterator<Item = (&'s Value, &'v Value)>,
        depth: usize,
    ) -> u64 {
        let most = self.most;
        let sum = applied.try_fold(0_u64, |sum, (schema, value)| {
            let sum = sum.saturating_add(self.count(schema, value, depth));
            // What is too much already needs no more counting.
            (sum <= most).then_some(sum)
        });
        sum.unwrap_or(u64::MAX)
    }

    /// Returns the schemas that a reference may mean.
    ///
    /// They are several if only a whole address could tell them apart.
    fn targets(&self, reference: &'s Value) -> Vec<&'s Value> {
        let Some(text) = reference.as_str() else {
            return vec![self.root];
        };
        let (address, fragment) = text.split_once('#').unwrap_or((text, ""));
        let file = address.rsplit('/').next().unwrap_or_default();
        let bases = match self.named.get(file) {
            Some(found) if !file.is_empty() => found.clone(),
            _ => vec![self.root],
        };
        if fragment.is_empty() {
            return bases;
        }
        if let Some(found) = self.named.get(fragment) {
            return found.clone();
        }
        let pointer = percent_decode_str(fragment).decode_utf8_lossy();
        let found = bases.iter().filter_map(|base| base.pointer(&pointer));
        found.collect()
    }
}

/// Returns the work of a schema's own keys: lists are compared one by one.
fn count_own(keys: &Map<String, Value>, value: &Value) -> u64 {
    let length = |key: &str| keys.get(key).and_then(Value::as_array).map_or(0, Vec::len);
    let patterns = keys.get("patternProperties").and_then(Value::as_object);
    let fields = value.as_object().map_or(0, Map::len);
    let matches = work(patterns.map_or(0, Map::len), fields);
    work(1, 1 + length("enum") + length("required")).saturating_add(matches)
}

/// Finds the schemas that have names.
fn find_named<'s>(schema: &'s Value, named: &mut HashMap<&'s str, Vec<&'s Value>>) {
    match schema {
        Value::Object(keys) => {
            for name in NAMES.iter().filter_map(|key| keys.get(*key)?.as_str()) {
                let name = name.trim_end_matches('#');
                let name = name.rsplit(['/', '#']).next().unwrap_or(name);
                named.entry(name).or_default().push(schema);
            }
            keys.values().for_each(|it| find_named(it, named));
        }
        Value::Array(items) => items.iter().for_each(|it| find_named(it, named)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks a value against a schema, as a validation does.
    fn checked(schema: &Value, value: &Value) -> Result<(), String> {
        check(measure(schema)?, schema, value)
    }

    /// Returns schemas that each apply the next one twice.
    fn doubling(levels: usize, apply: impl Fn(Value) -> Value) -> Value {
        let part = |at: usize| {
            let next = json!({"$ref": format!("#/$defs/a{}", at + 1)});
            (format!("a{at}"), apply(next))
        };
        let mut parts: Map<String, Value> = (0..levels).map(part).collect();
        parts.insert(format!("a{levels}"), json!({"type": "object"}));
        json!({"$ref": "#/$defs/a0", "$defs": parts})
    }

    #[test]
    fn parts_that_double_are_refused_at_the_schema() {
        let twice = |next: Value| json!({"allOf": [next, next]});
        assert_eq!(checked(&doubling(8, twice), &json!({})), Ok(()));
        for levels in [40, 400] {
            let error = checked(&doubling(levels, twice), &json!({})).unwrap_err();
            assert!(error.contains("more than 10000 of its parts"), "{error}");
        }
        let itself = json!({"anyOf": [{"$ref": "#"}, {"type": "string"}]});
        assert!(checked(&itself, &json!("a")).is_err());
    }

    #[test]
    fn parts_that_double_with_each_level_of_the_value_are_refused_at_the_value() {
        let schema = json!({
            "anyOf": [{"type": "string"}, {"items": {"$ref": "#"}}, {"items": {"$ref": "#"}, "maxItems": 1}]
        });
        let nested = |levels: usize| (0..levels).fold(json!("a"), |value, _| json!([value]));
        assert_eq!(checked(&schema, &nested(10)), Ok(()));
        let error = checked(&schema, &nested(60)).unwrap_err();
        assert!(error.contains("more than 1048576 steps"), "{error}");
    }

    #[test]
    fn long_chains_are_refused_and_recursive_schemas_are_not() {
        let once = |next: Value| json!({"allOf": [next]});
        assert!(checked(&doubling(3 * MAX_DEPTH, once), &json!({})).is_err());
        let tree = json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
        let value = (0..100).fold(json!({}), |value, _| json!({"left": value, "right": {}}));
        assert_eq!(checked(&tree, &value), Ok(()));
    }

    #[test]
    fn large_values_are_checked_where_no_part_repeats() {
        let schema = json!({"items": {"properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}});
        let rows: Vec<Value> = (0..100_000)
            .map(|id| json!({"id": id, "name": "x"}))
            .collect();
        assert_eq!(checked(&schema, &Value::from(rows)), Ok(()));
        let many: Vec<Value> = (0..3_000).map(|least| json!({"minimum": least})).collect();
        let schema = json!({"items": {"allOf": many}});
        assert!(checked(&schema, &json!(vec![1; 100_000])).is_err());
    }

    #[test]
    fn references_are_followed_by_name_too() {
        let schema = json!({
            "$ref": "#start",
            "$defs": {
                "one": {"$anchor": "start", "allOf": [{"$ref": "two.json"}, {"$ref": "two.json"}]},
                "two": {"$id": "https://example.org/two.json", "allOf": [{"$ref": "#start"}]},
            }
        });
        assert!(measure(&schema).is_err(), "it leads back to itself");
    }
}
