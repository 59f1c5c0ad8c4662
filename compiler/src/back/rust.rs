//! Rust source: a module of typed states and events that runs the machine without a table.
//!
//! [`write_module`] gives tokens to the macro, `write_file` (feature `build`) a formatted file to build scripts and the
//! command line. Both hold the same module; its own docs and `tests/rust/` show it.
//!
//! - The step algorithm is flattened: the reaction of each state to each event is written out, in the order of SCXML's
//!   appendix D, and observed exactly as the table engine's steps are. Large machines are const rows, so that they compile
//!   in linear time, and so are machines with parallel states, history, timers, assignments or conditional actions:
//!   [`statemark_runtime::generated`] steps both by the table engine's own algorithms.
//! - The API depends on what the machine does, never on its size.
//! - The code needs `statemark-runtime` and nothing else, has no `unsafe`, and can't panic.
//! - Ids in it are the indexes of the [IR](crate::ir), so that records of all engines agree.
//! - A machine owns its data if the spec declares them: expressions read the fields of a struct `Context`. Otherwise the
//!   host is asked for a `Value` by name.
//! - An event whose schema lists the fields of its data is sent with a struct of them. Fields that the context declares as
//!   well are merged into it.
//!
//! The files are floors, and each uses only those below it: `tokens`, `layout`, `facts`, `docs`, `expr`, `actions`,
//! `types`, `machine`, then the strategies `step` and `walk`, and `typestate`; `outline` is what is written of a machine with
//! errors. This file assembles the module.
//!
//! - A label that leads to several places from one state is an error: sending one has to be answered by a question.
//!
//! - A snapshot is of one build, numbers and a hash; what is saved goes by names (`statemark_runtime::Saved`), with the
//!   context, timers and effects that are due.

mod actions;
mod docs;
mod expr;
mod facts;
#[cfg(feature = "build")]
mod file;
mod layout;
mod machine;
mod outline;
mod places;
mod step;
mod tokens;
mod types;
mod typestate;
mod walk;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;
use statemark_runtime::Part;

use self::facts::Facts;
pub use self::facts::Options;
#[cfg(feature = "build")]
pub use self::file::write_file;
pub use self::outline::write_outline;
use self::types::{context, effect, event, host, state};
use crate::back::table;
use crate::ir::Machine;
use crate::pass::names;
use crate::valid::Valid;

/// Returns why the states of a machine can't be types, if they can't.
///
/// Its states are nested, a guard or the machine itself chooses the next state, or it is too large to be written out.
#[must_use]
pub fn typestate_obstacle(valid: &Valid) -> Option<String> {
    let options = Options::default();
    typestate::obstacle(&Facts::new(valid, &options))
}

/// Returns the name of the module that [`write_module`] writes.
#[must_use]
pub fn module_name(machine: &Machine, options: &Options) -> String {
    let id = options.module.as_deref().unwrap_or(&machine.id.value);
    names::snake(id).0
}

/// Writes a machine as `pub mod <id> { … }`.
#[must_use]
pub fn write_module(valid: &Valid, options: &Options) -> TokenStream {
    let facts = Facts::new(valid, options);
    let module = Ident::new(&module_name(valid, options), Span::call_site());
    let docs = docs::module(valid, &facts);
    let allowed = allowed(&facts);
    let Some(body) = body(valid, &facts) else {
        return quote! { #docs pub mod #module {} };
    };
    quote! {
        #docs
        #allowed
        pub mod #module {
            #body
        }
    }
}

fn table_hash(valid: &Valid, options: &Options) -> [u8; 32] {
    options
        .table_hash
        .unwrap_or_else(|| table::hash(&table::write(valid)))
}

/// Returns why a machine can't be Rust: one of its labels leads to several places from one state.
///
/// [`crate::Options::for_rust`] makes that an error with its place in the spec.
fn ambiguity(valid: &Valid) -> Option<String> {
    let ambiguity = valid.ambiguities.first()?;
    let label = &valid.events.at(ambiguity.label).id;
    let source = &valid.states.at(ambiguity.source).id;
    Some(format!(
        "`{label}` leads to several places from `{source}`, and nobody can ask a program which of them it means: give the ways guards, or labels of their own"
    ))
}

/// Writes everything in the module; `None` for a machine without a state.
fn body(valid: &Valid, facts: &Facts<'_>) -> Option<TokenStream> {
    if let Some(obstacle) = ambiguity(valid) {
        return Some(quote!(compile_error!(#obstacle);));
    }
    let initial = facts.initial();
    if facts.leaves.is_empty() || (initial.is_none() && facts.is_plain) {
        return None;
    }
    let runtime: TokenStream = facts.options.runtime.parse().ok()?;
    let hash = table_hash(valid, facts.options).map(Literal::u8_unsuffixed);
    let behavior = table::part_hash(&table::sections(valid), Part::Behavior);
    let behavior = behavior.map(Literal::u8_unsuffixed);
    let one_leaf = initial.filter(|_| !facts.has_regions);
    let states = state::write(facts, one_leaf);
    let supers = state::write_supers(facts);
    let events = event::write(facts);
    let context = context::write(facts);
    let host = host::write(facts);
    let effects = effect::write(facts);
    let machine = match initial {
        Some(initial) if !facts.walked => step::write(facts, initial),
        _ => walk::write(facts),
    };
    let snapshot = if facts.is_plain {
        quote!(
            pub use runtime::generated::{RestoreError, Snapshot};
        )
    } else {
        quote!(
            pub use runtime::generated::{RestoreError, WalkSnapshot as Snapshot};
        )
    };
    let lookup = facts.is_large.then(|| state::write_lookups(facts));
    let typestate = typestate::write(facts);
    Some(quote! {
        use #runtime as runtime;
        #snapshot

        /// The hash of the machine's table.
        pub const TABLE: [u8; 32] = [#(#hash),*];

        /// The hash of the machine's behavior. Snapshots carry it, and fit only a machine with the same hash.
        pub const BEHAVIOR: [u8; 32] = [#(#behavior),*];

        #states
        #supers
        #events
        #context
        #host
        #effects
        #machine
        #lookup
        #typestate
    })
}

/// Allows what can't be avoided in code whose names, prose and uses its author doesn't know.
fn allowed(facts: &Facts<'_>) -> TokenStream {
    let lookup = facts.is_large.then(|| quote!(clippy::indexing_slicing,));
    let walked = facts
        .walked
        .then(|| quote!(clippy::if_same_then_else, clippy::single_match,));
    let guards = facts.has_guards.then(|| {
        quote! {
            clippy::nonminimal_bool,
            clippy::overly_complex_bool_expr,
            clippy::same_functions_in_if_condition,
            clippy::unused_self,
        }
    });
    let fails = facts.fails.then(|| quote!(clippy::unnecessary_wraps,));
    let payloads = (!facts.payloads().is_empty()).then(|| quote!(clippy::large_enum_variant,));
    let context = facts.data.as_ref().map(|_| {
        quote! {
            #payloads
            clippy::option_option,
            clippy::struct_excessive_bools,
            clippy::struct_field_names,
        }
    });
    // Delays are numbers, as those of a context are.
    let numbers = (facts.data.is_some() || !facts.machine.timers.is_empty())
        .then(|| quote!(clippy::unreadable_literal,));
    quote! {
        #[allow(
            clippy::allow_attributes,
            clippy::doc_link_with_quotes,
            clippy::doc_markdown,
            clippy::enum_variant_names,
            clippy::match_same_arms,
            clippy::too_many_lines,
            #lookup
            #walked
            #guards
            #fails
            #context
            #numbers
            dead_code,
            rustdoc::all,
            unreachable_pub,
            reason = "names and prose are the spec's, and the crate that includes this decides what it uses"
        )]
    }
}
