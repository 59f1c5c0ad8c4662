//! The context of a machine whose data is declared, as Rust: the struct `Context`, and the types of what is inside it.
//!
//! A field's type is its [`Shape`]; `Option` stands for what may be absent, and for `null`. The beside files say how
//! expressions read the fields, and how assignments write them so that they can be taken back.
//!
//! Deliberately not here: what the shapes are (`pass/shape`).

pub(super) mod assign;
mod convert;
pub(super) mod payload;
pub(super) mod read;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};

use self::payload::Payload;
use super::docs;
use super::expression::has;
use super::facts::Facts;
use crate::ir::Machine;
use crate::pass::names::{Names, snake, upper_camel};
use crate::pass::shape::{Layout, Member, Range, Shape};

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
    types: BTreeMap<String, Ident>,
    /// The identifiers of the texts of each enum.
    variants: BTreeMap<String, Vec<Ident>>,
    /// What stands before a path in the names of types.
    prefix: String,
    /// The data of events.
    pub(super) payloads: Vec<Payload>,
}

impl Data {
    pub(super) fn of(machine: &Machine, names: &Names) -> Option<Self> {
        let mut data = Self::empty(String::new(), Layout::infer(machine)?);
        let mut taken = TAKEN.iter().map(|&name| name.to_owned()).collect();
        let members = data.layout.members.clone();
        data.name_members("", &members, &mut taken);
        data.payloads = payload::payloads(machine, names, &data, &mut taken);
        Some(data)
    }

    /// Nothing named yet.
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

    fn name_members(&mut self, around: &str, members: &[Member], types: &mut BTreeSet<String>) {
        let mut taken = BTreeSet::new();
        for member in members {
            let path = format!("{around}{}", member.name);
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

    /// The identifier of a field.
    pub(super) fn field(&self, path: &str) -> Ident {
        named(self.fields.get(path))
    }

    fn type_name(&self, path: &str) -> Ident {
        named(self.types.get(path))
    }

    /// A text of an enum as its variant, unless it isn't among the enum's.
    fn variant(&self, path: &str, texts: &[String], text: &str) -> Option<TokenStream> {
        let at = texts.iter().position(|other| other == text)?;
        let variant = self.variants.get(path)?.get(at)?;
        let name = self.type_name(path);
        Some(quote!(data::#name::#variant))
    }

    /// The type of a value of that shape. `inside` says that the code stands beside the types it names.
    fn rust(&self, path: &str, shape: &Shape, inside: bool) -> TokenStream {
        match shape {
            Shape::Bool => quote!(bool),
            Shape::Int(range) => {
                let name = format_ident!("{}", integer(*range));
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

/// The path of the items of a list.
fn item(path: &str) -> String {
    format!("{path}.item")
}

fn named(name: Option<&Ident>) -> Ident {
    // INVARIANT: every path of the layout was named.
    let name = name.cloned();
    name.unwrap_or_else(|| Ident::new("unnamed", Span::call_site()))
}

/// The name, with as many `_` behind it as make it free.
fn free(mut name: String, taken: &mut BTreeSet<String>) -> Ident {
    while !taken.insert(name.clone()) {
        name.push('_');
    }
    Ident::new(&name, Span::call_site())
}

/// The smallest type that has the integers.
pub(super) fn integer(range: Range) -> &'static str {
    let types = ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"];
    let fitting = types.into_iter().find(|name| limits(name).contains(range));
    fitting.unwrap_or("i64")
}

/// What a type has.
fn limits(name: &str) -> Range {
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

/// Whether the machine can begin without being given a context: every field that is always there has an initial value.
pub(super) fn has_initial(facts: &Facts<'_>) -> bool {
    let data = facts.data.as_ref();
    data.is_none_or(|data| value::initial(facts.machine, data).is_some())
}

/// The parameter of what begins with a given context.
pub(super) fn parameter(facts: &Facts<'_>) -> Option<TokenStream> {
    facts.data.is_some().then(|| quote!(context: Context,))
}

/// What reads the context of a machine, and gives it back.
pub(super) fn accessors(facts: &Facts<'_>) -> Option<TokenStream> {
    facts.data.is_some().then(|| {
        quote! {
            /// The data.
            #[must_use]
            pub const fn context(&self) -> &Context {
                &self.context
            }

            /// The data, to change between two steps.
            #[must_use]
            pub const fn context_mut(&mut self) -> &mut Context {
                &mut self.context
            }

            /// Gives the host and the data back.
            #[must_use]
            pub fn into_parts(self) -> (H, Context) {
                (self.host, self.context)
            }
        }
    })
}

/// `new` and `new_observed`, which begin with the initial context. `result` is what they give.
pub(super) fn constructors(
    facts: &Facts<'_>,
    docs: &TokenStream,
    result: &TokenStream,
) -> Option<TokenStream> {
    (facts.data.is_some() && has_initial(facts)).then(|| {
        quote! {
            /// A machine in its initial state with its initial context, its entry actions carried out.
            #docs
            pub fn new(host: H) -> #result {
                Self::with_context(host, Context::initial())
            }

            /// [`Machine::new`], watched.
            #docs
            pub fn new_observed<O: runtime::Observer>(host: H, observer: &mut O) -> #result {
                Self::with_context_observed(host, Context::initial(), observer)
            }
        }
    })
}

/// `Context`, and the module `data` with the types inside of it.
pub(super) fn write(facts: &Facts<'_>) -> Option<TokenStream> {
    let data = facts.data.as_ref()?;
    let fields = members(data, "", &data.layout.members, false);
    let initial = value::initial(facts.machine, data).map(|initial| {
        quote! {
            impl Context {
                /// What the machine begins with.
                #[must_use]
                pub fn initial() -> Self {
                    #initial
                }
            }

            impl Default for Context {
                fn default() -> Self {
                    Self::initial()
                }
            }
        }
    });
    let mut types = TokenStream::new();
    write_types(data, "", &data.layout.members, &mut types);
    payload::write_types(data, &mut types);
    let types = (!types.is_empty()).then(|| {
        let imports = imports(&types);
        let runtime = (names(&types, "runtime") || !imports.is_empty()).then(|| {
            quote!(
                use super::runtime;
            )
        });
        let told = if data.payloads.is_empty() {
            quote!(
                /// The types of what is in a [`Context`].
            )
        } else {
            quote!(
                /// The types of what is in a [`Context`] and in the data of events.
            )
        };
        quote! {
            #told
            pub mod data {
                #runtime
                #imports

                #types
            }
        }
    });
    let context = quote! {
        /// The data of the machine. Actions that assign change it, and its owner between two steps.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Context {
            #fields
        }

        #initial
    };
    let undo = assign::undo(facts);
    let payloads = payload::write(facts);
    let imports = imports(&quote!(#context #payloads #undo));
    Some(quote!(#imports #context #payloads #types))
}

/// The imports of what has an allocator, which a crate without the standard library has to import.
fn imports(code: &TokenStream) -> TokenStream {
    let used = ["String", "Vec"].map(|name| names(code, name));
    match used {
        [true, true] => quote!(
            use runtime::generated::{String, Vec};
        ),
        [true, false] => quote!(
            use runtime::generated::String;
        ),
        [false, true] => quote!(
            use runtime::generated::Vec;
        ),
        [false, false] => quote!(),
    }
}

/// Whether code names something, at any depth.
fn names(code: &TokenStream, name: &str) -> bool {
    has(
        code,
        &|token| matches!(token, TokenTree::Ident(it) if it == name),
    )
}

/// The fields of a struct.
fn members(data: &Data, around: &str, members: &[Member], inside: bool) -> TokenStream {
    let fields = members.iter().map(|member| {
        let path = format!("{around}{}", member.name);
        let name = data.field(&path);
        let mut kind = data.rust(&path, &member.shape, inside);
        if member.optional {
            kind = quote!(Option<#kind>);
        }
        let docs = docs::doc(&told(member, &path));
        quote!(#docs pub #name: #kind,)
    });
    quote!(#(#fields)*)
}

/// What the docs of a field say.
fn told(member: &Member, path: &str) -> String {
    let mut text = match &member.docs {
        Some(docs) => docs.trim().to_owned(),
        None => format!("`{path}` in the spec."),
    };
    let none = match (member.optional, &member.shape) {
        (true, Shape::Nullable(_)) => "`None` where it is absent, `Some(None)` where it is `null`.",
        (true, _) => "`None` where it is absent.",
        (false, Shape::Nullable(_)) => "`None` where it is `null`.",
        _ => "",
    };
    if !none.is_empty() {
        text.push_str("\n\n");
        text.push_str(none);
    }
    if let Shape::Int(range) = &member.shape
        && limits(integer(*range)) != *range
        && *range != Range::COMPUTED
    {
        let Range { least, most } = range;
        text.push_str(&format!("\n\nFrom {least} to {most}."));
    }
    text
}

fn write_types(data: &Data, around: &str, members: &[Member], types: &mut TokenStream) {
    for member in members {
        let path = format!("{around}{}", member.name);
        write_type(data, &path, &member.shape, types);
    }
}

fn write_type(data: &Data, path: &str, shape: &Shape, types: &mut TokenStream) {
    match shape {
        Shape::Nullable(inner) => write_type(data, path, inner, types),
        Shape::List(items) => write_type(data, &item(path), items, types),
        Shape::Struct(inner) => {
            let name = data.type_name(path);
            let around = format!("{path}.");
            let fields = members(data, &around, inner, true);
            let docs = docs::doc(&format!("`{}{path}` in the spec.", data.prefix));
            types.extend(quote! {
                #docs
                #[derive(Clone, Debug, PartialEq)]
                pub struct #name {
                    #fields
                }
            });
            write_types(data, &around, inner, types);
        }
        Shape::Enum(texts) => types.extend(write_enum(data, path, texts)),
        _ => {}
    }
}

fn write_enum(data: &Data, path: &str, texts: &[String]) -> TokenStream {
    let name = data.type_name(path);
    let variants = data.variants.get(path).map_or(&[][..], Vec::as_slice);
    let told = texts.iter().map(|text| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        docs::doc(&format!("`{}`", text.replace('`', "'")))
    });
    let prefix = &data.prefix;
    let docs = docs::doc(&format!("`{prefix}{path}` in the spec: one of its texts."));
    quote! {
        #docs
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum #name {
            #(#told #variants,)*
        }

        impl #name {
            /// Every one, in the order of the spec.
            pub const ALL: &'static [Self] = &[#(Self::#variants),*];

            /// Its text in the spec.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    #(Self::#variants => #texts,)*
                }
            }

            /// The one of that text.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().find(|one| one.name() == name).copied()
            }
        }

        impl ::core::fmt::Display for #name {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                out.write_str(self.name())
            }
        }

        impl runtime::generated::Plain for #name {
            fn value(&self) -> runtime::Value<'_> {
                runtime::Value::Text(self.name())
            }

            fn from_value(value: runtime::Value<'_>) -> Result<Self, runtime::Fault> {
                match value {
                    runtime::Value::Text(text) => {
                        Self::from_name(text).ok_or(runtime::Fault::WrongKind)
                    }
                    runtime::Value::Absent => Err(runtime::Fault::Absent),
                    _ => Err(runtime::Fault::WrongKind),
                }
            }
        }
    }
}
