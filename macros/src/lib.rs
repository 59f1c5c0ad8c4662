//! The macro of Statemark: arguments in, the compiler's tokens out.
//!
//! Thin: `arguments` reads the arguments, `spec` finds the text, the compiler does the rest.
//! Users name it `statemark::machine!`, where it is documented.

mod arguments;
mod spec;

use arguments::Arguments;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use spec::Spec;
use statemark_compiler::back::rust;
use statemark_compiler::diag::render::{self, Style};
use statemark_compiler::diag::{Diagnostic, Severity};
use statemark_compiler::source::Sources;
use statemark_compiler::{Compiled, Options, compile};

/// Compiles a spec into a module for each machine in it.
///
/// ```text
/// machine!("turnstile.md");            // in this source file's folder, else in the package's root
/// machine!("door.md" as gate);         // the module is `gate`
/// machine!("door.md", typestate);      // with the states as types, too
/// machine!("door.md", actions_fail);   // the host's actions can fail, unless the spec says otherwise
/// machine!(r#"## STATE-MACHINE …"#);   // the spec itself: a text of several lines
/// ```
///
/// A spec with errors doesn't compile: the message shows every finding with the lines of the Markdown. When the spec
/// changes, the crate is compiled again.
#[proc_macro]
pub fn machine(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let arguments = match syn::parse::<Arguments>(input) {
        Ok(arguments) => arguments,
        Err(fault) => return fault.into_compile_error().into(),
    };
    let span = arguments.text.span();
    match Spec::find(&arguments.text) {
        Ok(spec) => expand(&arguments, &spec),
        Err(message) => error(span, &message),
    }
    .into()
}

/// Writes the modules, or the reason why there are none; either way the file is watched.
fn expand(arguments: &Arguments, spec: &Spec) -> TokenStream {
    let span = arguments.text.span();
    let watch = spec.watched.as_ref().map(|path| {
        quote! { const _: &[u8] = ::core::include_bytes!(#path); }
    });
    let mut sources = Sources::new();
    sources.add(spec.name.clone(), spec.text.clone());
    let mut options = Options::default();
    options.format = spec.format;
    options.actions_fail = arguments.actions_fail;
    options.for_rust = true;
    let compiled = compile(&sources, &options);
    let body = match objection(arguments, &compiled, &sources, &spec.name) {
        Some(message) => error(span, &message),
        None => modules(arguments, &compiled, &spec.name),
    };
    quote! { #watch #body }
}

/// Returns the reason why there are no modules.
fn objection(
    arguments: &Arguments,
    compiled: &Compiled,
    sources: &Sources,
    name: &str,
) -> Option<String> {
    if compiled.diagnostics.iter().any(is_error) {
        let style = Style::default();
        let full = render::full(&compiled.diagnostics, sources, &style);
        let footer = render::footer(&compiled.diagnostics, &style);
        return Some(format!("{}\n\n{}", footer.trim_end(), full.trim_end()));
    }
    if compiled.machines.is_empty() {
        return Some(format!(
            "no state machine in {name}: it needs a section `## STATE-MACHINE`"
        ));
    }
    if arguments.module.is_some() && compiled.machines.len() > 1 {
        let count = compiled.machines.len();
        return Some(format!("`as` names one machine, but {name} has {count}"));
    }
    let machines = compiled.machines.iter().filter(|_| arguments.typestate);
    let mut obstacles = machines.filter_map(|valid| {
        let obstacle = rust::typestate_obstacle(valid)?;
        Some(format!(
            "the states of `{}` can't be types: {obstacle}",
            valid.id.value
        ))
    });
    obstacles.next()
}

fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error
}

/// Writes a module for each machine.
fn modules(arguments: &Arguments, compiled: &Compiled, name: &str) -> TokenStream {
    compiled
        .machines
        .iter()
        .map(|valid| {
            let mut options = rust::Options::default();
            options.runtime = "::statemark::runtime".to_owned();
            options.module = arguments.module.as_ref().map(ToString::to_string);
            options.source = Some(name.to_owned());
            options.typestate = arguments.typestate;
            rust::write_module(valid, &options)
        })
        .collect()
}

fn error(span: Span, message: &str) -> TokenStream {
    quote_spanned! { span => ::core::compile_error! { #message } }
}
