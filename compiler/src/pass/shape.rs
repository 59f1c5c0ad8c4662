//! Types of the context's fields and of the event data that is merged into them.
//!
//! They follow from the schema, the initial values and all assignments. [`Layout::infer`] returns a tree of [`Member`]s
//! with a [`Shape`] each. A shape is a promise about every value that the field ever has on any engine; a field without
//! such a promise is [`Shape::Free`]. `lower/types/bounds.rs` keeps the promise of an integer's bounds by having
//! assignments checked; everything else is widened here until it is true.
//!
//! Deliberately not here: Rust. `back/rust/context` turns shapes into Rust types.

mod payload;
mod read;
mod widen;

pub(crate) use payload::{Payload, inside};

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::arena::Handle;
use crate::ir::{Event, Expression, ExpressionKind, Field, Machine};
use crate::pass::merge::Merges;

/// The type of a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// `true` or `false`.
    Bool,
    /// An integer within inclusive bounds.
    Int(Range),
    /// A number with a fraction.
    Float,
    /// A number for which it doesn't matter whether it has a fraction.
    Number,
    /// A string.
    Text,
    /// One of these strings.
    Enum(Vec<String>),
    /// A list of such values.
    List(Box<Shape>),
    /// An object of these fields.
    Struct(Vec<Member>),
    /// Such a value or `null`; never contains `Nullable` or `Free`.
    Nullable(Box<Shape>),
    /// `null` alone.
    Null,
    /// Anything.
    Free,
}

/// The integers from `least` to `most`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) least: i128,
    pub(crate) most: i128,
}

/// A field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    /// The key.
    pub(crate) name: String,
    /// The type of its value, if it is there.
    pub(crate) shape: Shape,
    /// True if it may be absent.
    pub(crate) optional: bool,
    /// Documentation from the schema.
    pub(crate) docs: Option<String>,
}

/// The fields of a context, or of an event's data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    pub(crate) members: Vec<Member>,
    /// For a context: the data of the events that have a shape.
    pub(crate) payloads: Vec<Payload>,
    /// The fields of events' data that may be read while an event without a shape is handled.
    open: BTreeSet<Handle<Field>>,
    /// For a context: the rules by which fields of events' data are merged into it.
    merges: Option<Merges>,
}

impl Range {
    /// The results of arithmetic: signed 64-bit integers.
    pub(crate) const COMPUTED: Self = Self {
        least: i64::MIN as i128,
        most: i64::MAX as i128,
    };

    /// Reports whether it contains all of another range.
    pub(crate) fn contains(self, other: Self) -> bool {
        self.least <= other.least && other.most <= self.most
    }

    fn with(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }
}

impl Shape {
    /// Returns the narrowest type of the values of both.
    pub(crate) fn join(self, other: Self) -> Self {
        match (self, other) {
            (one, two) if one == two => one,
            (Self::Free, _) | (_, Self::Free) => Self::Free,
            (Self::Nullable(one), Self::Nullable(two)) => one.join(*two).nullable(),
            (Self::Nullable(one), Self::Null) | (Self::Null, Self::Nullable(one)) => {
                Self::Nullable(one)
            }
            (Self::Nullable(one), two) | (two, Self::Nullable(one)) => one.join(two).nullable(),
            (Self::Null, one) | (one, Self::Null) => one.nullable(),
            (Self::Int(one), Self::Int(two)) => Self::int(one.with(two)),
            (Self::Float | Self::Number, Self::Float | Self::Number) => Self::Number,
            (Self::Enum(one), Self::Enum(two)) if two.iter().all(|it| one.contains(it)) => {
                Self::Enum(one)
            }
            (Self::Enum(one), Self::Enum(two)) if one.iter().all(|it| two.contains(it)) => {
                Self::Enum(two)
            }
            (Self::Text | Self::Enum(_), Self::Text | Self::Enum(_)) => Self::Text,
            (Self::List(one), Self::List(two)) => Self::List(Box::new(one.join(*two))),
            _ => Self::Free,
        }
    }

    /// Returns an integer type if 64 bits, signed or unsigned, hold all of the range.
    fn int(range: Range) -> Self {
        let unsigned = Range {
            least: 0,
            most: i128::from(u64::MAX),
        };
        if Range::COMPUTED.contains(range) || unsigned.contains(range) {
            Self::Int(range)
        } else {
            Self::Free
        }
    }

    /// Returns a type that also has `null`.
    pub(crate) fn nullable(self) -> Self {
        match self {
            Self::Free | Self::Null => Self::Free,
            Self::Nullable(_) => self,
            inner => Self::Nullable(Box::new(inner)),
        }
    }

    /// Reports whether it is a scalar.
    pub(crate) fn is_plain(&self) -> bool {
        match self {
            Self::Nullable(inner) => inner.is_plain(),
            Self::List(_) | Self::Struct(_) => false,
            _ => true,
        }
    }
}

impl Layout {
    /// Infers the fields of a machine's context; returns `None` if nothing declares any.
    pub(crate) fn infer(machine: &Machine) -> Option<Self> {
        let mut layout = Self::declared(machine)?;
        layout.payloads = payload::payloads(machine);
        layout.open = payload::open(machine, &layout.payloads);
        layout.widen_all(machine);
        Some(layout)
    }

    /// Returns a layout of these fields alone.
    pub(crate) const fn with(members: Vec<Member>) -> Self {
        Self {
            members,
            payloads: Vec::new(),
            open: BTreeSet::new(),
            merges: None,
        }
    }

    /// Returns the declared fields, regardless of assignments.
    pub(crate) fn declared(machine: &Machine) -> Option<Self> {
        let initial = machine.context.as_ref().and_then(Value::as_object);
        let schema = machine.context_schema.as_ref();
        let declared = schema.and_then(|schema| schema.get("properties"));
        let declared = declared.and_then(Value::as_object);
        let has_any = |fields: Option<&Map<String, Value>>| fields.is_some_and(|it| !it.is_empty());
        if !has_any(initial) && !has_any(declared) {
            return None;
        }
        let merges = Merges::new(machine);
        let members = read::members(machine, declared, initial, &merges);
        Some(Self {
            merges: Some(merges),
            ..Self::with(members)
        })
    }

    /// Reports whether a field of an event's data is merged into this context.
    pub(crate) fn merges(&self, event: Handle<Event>, field: &str) -> bool {
        let merges = self.merges.as_ref();
        merges.is_some_and(|merges| merges.includes(event, field))
    }

    /// Reports whether the host may have to answer a read of `event.x`, for want of an event with a shape.
    pub(crate) fn is_open(&self, field: Handle<Field>) -> bool {
        self.payloads.is_empty() || self.open.contains(&field)
    }

    /// Returns the type of a field of events' data, where it is there.
    fn payload_shape(&self, field: Handle<Field>, path: &str) -> Shape {
        if self.is_open(field) {
            return Shape::Free;
        }
        let keys = path.split('.').count();
        let shapes = self.payloads.iter().filter_map(|payload| {
            let (found, count) = payload.layout.find(path);
            let shape = &found.last()?.shape;
            match shape {
                // Anything may be inside of it.
                Shape::Free if count < keys => Some(Shape::Free),
                shape => (count == keys).then(|| shape.clone()),
            }
        });
        shapes.reduce(Shape::join).unwrap_or(Shape::Free)
    }

    /// Returns the members on a path, and how many keys of the path lead to them.
    ///
    /// They end with the first that isn't a struct.
    pub(crate) fn find(&self, path: &str) -> (Vec<&Member>, usize) {
        let mut found = Vec::new();
        let mut members = &self.members;
        for key in path.split('.') {
            let Some(member) = members.iter().find(|member| member.name == key) else {
                break;
            };
            found.push(member);
            let inner = match &member.shape {
                Shape::Nullable(inner) => inner,
                shape => shape,
            };
            let Shape::Struct(inner) = inner else { break };
            members = inner;
        }
        let count = found.len();
        (found, count)
    }

    /// Returns the type of a field, where it is there.
    pub(crate) fn shape(&self, path: &str) -> Shape {
        let keys = path.split('.').count();
        match self.find(path) {
            (found, count) if count == keys => {
                found.last().map_or(Shape::Free, |it| it.shape.clone())
            }
            _ => Shape::Free,
        }
    }

    /// Reports whether every context has a value at a path.
    pub(crate) fn is_present(&self, path: &str) -> bool {
        let keys = path.split('.').count();
        let (found, count) = self.find(path);
        let inner = count.saturating_sub(1);
        let is_null = |member: &&Member| matches!(member.shape, Shape::Nullable(_));
        count == keys
            && !found.iter().any(|member| member.optional)
            && !found.iter().take(inner).any(is_null)
    }

    /// Returns the type of an expression's value, where it has one.
    pub(crate) fn value(&self, machine: &Machine, expression: &Expression) -> Shape {
        use crate::ir::{BinaryOperator as Op, Constant, UnaryOperator};
        match &expression.kind {
            ExpressionKind::Constant(constant) => match constant {
                Constant::Null => Shape::Null,
                Constant::Bool(_) => Shape::Bool,
                Constant::Int(value) => Shape::Int(Range {
                    least: *value,
                    most: *value,
                }),
                Constant::Float(_) => Shape::Float,
                Constant::Text(text) => Shape::Enum(vec![text.clone()]),
            },
            ExpressionKind::Field(field) => {
                let path = &machine.fields.at(*field).path;
                match inside(path) {
                    Some(path) => self.payload_shape(*field, path),
                    None => self.shape(path),
                }
            }
            ExpressionKind::Unary(UnaryOperator::Size, _) => Shape::Int(Range {
                least: 0,
                ..Range::COMPUTED
            }),
            ExpressionKind::Unary(_, inner) => match self.value(machine, inner) {
                Shape::Int(_) => Shape::Int(Range::COMPUTED),
                Shape::Float => Shape::Float,
                _ => Shape::Free,
            },
            ExpressionKind::Binary(Op::AtLeast, operands) => {
                self.bounded(machine, operands, |range, least| Range {
                    least: range.least.max(least),
                    ..range
                })
            }
            ExpressionKind::Binary(Op::AtMost, operands) => {
                self.bounded(machine, operands, |range, most| Range {
                    most: range.most.min(most),
                    ..range
                })
            }
            ExpressionKind::Binary(operator, operands) if operator.is_arithmetic() => {
                let [left, right] = operands.as_ref();
                match (self.value(machine, left), self.value(machine, right)) {
                    (Shape::Int(_), Shape::Int(_)) => Shape::Int(Range::COMPUTED),
                    (Shape::Float, Shape::Float) => Shape::Float,
                    (Shape::Text | Shape::Enum(_), Shape::Text | Shape::Enum(_)) => Shape::Text,
                    _ => Shape::Free,
                }
            }
            _ => Shape::Bool,
        }
    }

    /// Returns the type of a value whose bounds are checked, which makes it an integer.
    fn bounded(
        &self,
        machine: &Machine,
        operands: &[Expression; 2],
        narrow: fn(Range, i128) -> Range,
    ) -> Shape {
        let [value, bound] = operands;
        let range = match self.value(machine, value) {
            Shape::Int(range) => range,
            _ => Range {
                least: i128::from(i64::MIN),
                most: i128::from(u64::MAX),
            },
        };
        match bound.kind {
            ExpressionKind::Constant(crate::ir::Constant::Int(bound)) => {
                Shape::Int(narrow(range, bound))
            }
            _ => Shape::Int(range),
        }
    }
}
