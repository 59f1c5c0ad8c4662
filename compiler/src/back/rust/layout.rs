//! The types that a context and the data of events have in Rust, and the names of those types.
//!
//! A field's type is its [`Shape`]; `Option` stands for what may be absent, and for `null`. Deliberately not here: what
//! the shapes are (`pass/shape`), and the items that declare the types (`types`).

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use crate::arena::Handle;
use crate::ir::{Event, Machine};
use crate::pass::names::{Names, snake, upper_camel};
use crate::pass::shape::{Layout, Member, Range, Shape, inside};

/// Names that types can't have, because the code around them uses these.
const TAKEN: &[&str] = &[
    "Clone",
    "Copy",
    "Debug",
    "Eq",
    "None",
    "Option",
    "PartialEq",
    "Some",
    "String",
    "Vec",
];

/// The context of a machine, with the names that it has in Rust.
pub(super) struct Data {
    pub(super) layout: Layout,
    /// The identifier of each field, by its path.
    fields: BTreeMap<String, Ident>,
    /// The identifier of each struct and each enum, by the path of what holds it.
    pub(super) types: BTreeMap<String, Ident>,
    /// The identifiers of the texts of each enum.
    pub(super) variants: BTreeMap<String, Vec<Ident>>,
    /// The text that comes before a path in the names of types.
    pub(super) prefix: String,
    /// The data of events.
    pub(super) payloads: Vec<Payload>,
}

impl Data {
    pub(super) fn infer(machine: &Machine, names: &Names) -> Option<Self> {
        let mut data = Self::empty(String::new(), Layout::infer(machine)?);
        let mut taken = TAKEN.iter().map(|&name| name.to_owned()).collect();
        let members = data.layout.members.clone();
        data.name_members("", &members, &mut taken);
        data.payloads = payloads(machine, names, &data, &mut taken);
        Some(data)
    }

    /// Creates data without names.
    const fn empty(prefix: String, layout: Layout) -> Self {
        Self {
            layout,
            fields: BTreeMap::new(),
            types: BTreeMap::new(),
            variants: BTreeMap::new(),
            prefix,
            payloads: Vec::new(),
        }
    }

    fn name_members(&mut self, outer: &str, members: &[Member], types: &mut BTreeSet<String>) {
        let mut taken = BTreeSet::new();
        for member in members {
            let path = format!("{outer}{}", member.name);
            self.name_field(&path, &member.name, &mut taken);
            self.name_shape(&path, &member.shape, types);
        }
    }

    fn name_field(&mut self, path: &str, name: &str, taken: &mut BTreeSet<String>) {
        let field = free(snake(name).0, taken);
        self.fields.insert(path.to_owned(), field);
    }

    /// Uses the types that another has for a field.
    fn share(&mut self, other: &Self, path: &str) {
        let inner = format!("{path}.");
        let is_inner = |key: &String| key.starts_with(&inner);
        let fields = other.fields.iter().filter(|(key, _)| is_inner(key));
        self.fields
            .extend(fields.map(|(key, name)| (key.clone(), name.clone())));
        let types = other.types.iter();
        let types = types.filter(|(key, _)| *key == path || is_inner(key));
        self.types
            .extend(types.map(|(key, name)| (key.clone(), name.clone())));
        let variants = other.variants.iter();
        let variants = variants.filter(|(key, _)| *key == path || is_inner(key));
        self.variants
            .extend(variants.map(|(key, names)| (key.clone(), names.clone())));
    }

    fn name_shape(&mut self, path: &str, shape: &Shape, types: &mut BTreeSet<String>) {
        match shape {
            Shape::Nullable(inner) => self.name_shape(path, inner, types),
            Shape::List(items) => self.name_shape(&item(path), items, types),
            Shape::Struct(members) => {
                let name = free(upper_camel(&format!("{}{path}", self.prefix)).0, types);
                self.types.insert(path.to_owned(), name);
                self.name_members(&format!("{path}."), members, types);
            }
            Shape::Enum(texts) => {
                let name = free(upper_camel(&format!("{}{path}", self.prefix)).0, types);
                self.types.insert(path.to_owned(), name);
                let mut taken = BTreeSet::new();
                let variants = texts
                    .iter()
                    .map(|text| free(upper_camel(text).0, &mut taken));
                self.variants.insert(path.to_owned(), variants.collect());
            }
            _ => {}
        }
    }

    /// Returns the identifier of a field.
    pub(super) fn field(&self, path: &str) -> Ident {
        identifier(self.fields.get(path))
    }

    pub(super) fn type_name(&self, path: &str) -> Ident {
        identifier(self.types.get(path))
    }

    /// Returns the variant of an enum's text, unless it isn't among the enum's.
    pub(super) fn variant(&self, path: &str, texts: &[String], text: &str) -> Option<TokenStream> {
        let at = texts.iter().position(|other| other == text)?;
        let variant = self.variants.get(path)?.get(at)?;
        let name = self.type_name(path);
        Some(quote!(data::#name::#variant))
    }

    /// Returns the type of a value of that shape.
    ///
    /// `inside` is true for code in the module of the types that it names.
    pub(super) fn rust(&self, path: &str, shape: &Shape, inside: bool) -> TokenStream {
        match shape {
            Shape::Bool => quote!(bool),
            Shape::Int(range) => {
                let name = format_ident!("{}", integer_type(*range));
                quote!(#name)
            }
            Shape::Float | Shape::Number => quote!(f64),
            Shape::Text => quote!(String),
            Shape::Enum(_) | Shape::Struct(_) => {
                let name = self.type_name(path);
                if inside {
                    quote!(#name)
                } else {
                    quote!(data::#name)
                }
            }
            Shape::List(items) => {
                let items = self.rust(&item(path), items, inside);
                quote!(Vec<#items>)
            }
            Shape::Nullable(inner) => {
                let inner = self.rust(path, inner, inside);
                quote!(Option<#inner>)
            }
            Shape::Null | Shape::Free => quote!(runtime::Datum),
        }
    }
}

/// The data of one event, with the names that it has in Rust.
pub(super) struct Payload {
    pub(super) event: Handle<Event>,
    /// The struct.
    pub(super) name: Ident,
    pub(super) data: Data,
    /// The fields whose types are the context's.
    pub(super) shared: BTreeSet<String>,
}

impl Payload {
    /// Returns true if the event can't be sent without it.
    pub(super) fn is_required(&self) -> bool {
        let mut members = self.data.layout.members.iter();
        members.any(|member| !member.optional)
    }

    /// Returns true if it has a field of that name.
    pub(super) fn has(&self, name: Option<&str>) -> bool {
        let mut members = self.data.layout.members.iter();
        members.any(|member| Some(member.name.as_str()) == name)
    }
}

/// Names the data of all events. `types` are the names that types have already.
fn payloads(
    machine: &Machine,
    names: &Names,
    context: &Data,
    types: &mut BTreeSet<String>,
) -> Vec<Payload> {
    let mut structs = BTreeSet::from(["EventData".to_owned()]);
    let payloads = context.layout.payloads.iter().map(|payload| {
        let members = &payload.layout.members;
        let event = &machine.events.at(payload.event).id;
        let variant = names.event(payload.event);
        let mut data = Data::empty(format!("{event}."), Layout::with(members.clone()));
        let mut shared = BTreeSet::new();
        let mut taken = BTreeSet::new();
        for member in members {
            data.name_field(&member.name, &member.name, &mut taken);
            let own = context.layout.members.iter();
            let own = own.filter(|own| own.name == member.name && own.shape == member.shape);
            if own.count() > 0 {
                data.share(context, &member.name);
                shared.insert(member.name.clone());
            } else {
                data.name_shape(&member.name, &member.shape, types);
            }
        }
        Payload {
            event: payload.event,
            // `Self_` is what `self` becomes; with more after it, it needs no `_`.
            name: free(
                format!("{}Data", variant.trim_end_matches('_')),
                &mut structs,
            ),
            data,
            shared,
        }
    });
    payloads.collect()
}

/// Returns true if expressions read event data that has a struct.
pub(super) fn is_read(machine: &Machine, payloads: &[Payload]) -> bool {
    let mut fields = machine.fields.iter();
    fields.any(|(_, field)| {
        let name = inside(&field.path).and_then(|path| path.split('.').next());
        payloads.iter().any(|payload| payload.has(name))
    })
}

/// Returns true if values of that shape are copied.
pub(super) fn is_copy(shape: &Shape) -> bool {
    match shape {
        Shape::Bool | Shape::Int(_) | Shape::Float | Shape::Number | Shape::Enum(_) => true,
        Shape::Nullable(inner) => is_copy(inner),
        Shape::Text | Shape::List(_) | Shape::Struct(_) | Shape::Null | Shape::Free => false,
    }
}

/// Returns the smallest type that has the integers.
pub(super) fn integer_type(range: Range) -> &'static str {
    let types = ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"];
    let fitting = types.into_iter().find(|name| limits(name).contains(range));
    fitting.unwrap_or("i64")
}

/// Returns the range of an integer type.
pub(super) fn limits(name: &str) -> Range {
    let bits: u32 = name
        .get(1..)
        .and_then(|bits| bits.parse().ok())
        .unwrap_or(64);
    if name.starts_with('u') {
        let most = (1_i128 << bits) - 1;
        return Range { least: 0, most };
    }
    let half = 1_i128 << (bits - 1);
    Range {
        least: -half,
        most: half - 1,
    }
}

/// Returns true if comparing a field with an integer is a question.
///
/// An integer at the end of the field's type, or beyond, answers most comparisons on its own, and compilers warn about
/// that. `sign` follows the field.
pub(super) fn is_inside(shape: &Shape, sign: &str, value: i128) -> bool {
    let Shape::Int(range) = shape else {
        return false;
    };
    let limits = limits(integer_type(*range));
    let is_end = match sign {
        "==" | "!=" => false,
        ">" => value == limits.most,
        "<" => value == limits.least,
        _ => value == limits.least || value == limits.most,
    };
    limits.least <= value && value <= limits.most && !is_end
}

/// Returns true if a field belongs to the event's data.
pub(super) fn is_of_event(path: &str) -> bool {
    path == "event" || path.starts_with("event.")
}

/// Returns the path of the items of a list.
pub(super) fn item(path: &str) -> String {
    format!("{path}.item")
}

fn identifier(name: Option<&Ident>) -> Ident {
    // INVARIANT: every path of the layout was named.
    let name = name.cloned();
    name.unwrap_or_else(|| Ident::new("unnamed", Span::call_site()))
}

/// Returns the name, followed by as many `_` as make it free.
fn free(mut name: String, taken: &mut BTreeSet<String>) -> Ident {
    while !taken.insert(name.clone()) {
        name.push('_');
    }
    Ident::new(&name, Span::call_site())
}
