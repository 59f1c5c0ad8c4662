//! The macro of Statemark: arguments in, the compiler's tokens out.
//!
//! Thin: `arguments` reads the arguments, `spec` finds the text, the compiler does the rest.
//! Users name it `statemark::machine!`, where it is documented.
//!
//! A macro can't warn on stable Rust. A warning is therefore the note of a deprecated constant, which is used where the
//! macro is called: rustc shows it there, and `deprecated` is the lint that silences or denies it.

mod arguments;
mod spec;

use arguments::Arguments;
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use spec::Spec;
use statemark_compiler::back::rust;
use statemark_compiler::diag::render::{self, Style};
use statemark_compiler::diag::{Diagnostic, Severity};
use statemark_compiler::ir::Machine;
use statemark_compiler::source::Sources;
use statemark_compiler::{Compiled, Options, compile};

/// Compiles a spec into a module for each machine in it.
///
/// ```text
/// machine!("turnstile.md");            // in this source file's folder, else in the package's root
/// machine!("door.md" as gate);         // the module is `gate`
/// machine!("door.md", typestate);      // with the states as types, too
/// machine!("door.md", actions_fail);   // the host's actions can fail, unless the spec says otherwise
/// machine!("door.md", deny_warnings);  // a warning is an error
/// machine!(r#"## STATE-MACHINE …"#);   // the spec itself: a text of several lines
/// ```
///
/// A spec with errors doesn't compile: the message shows every finding with the lines of the Markdown. A warning is shown
/// as the use of something deprecated. When the spec changes, the crate is compiled again.
#[proc_macro]
pub fn machine(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let arguments = match syn::parse::<Arguments>(input) {
        Ok(arguments) => arguments,
        Err(fault) => return fault.into_compile_error().into(),
    };
    match Spec::find(&arguments.text) {
        Ok(spec) => expand(&arguments, &spec),
        Err(message) => {
            let text = arguments.text.value();
            let mut options = options(&arguments, &text);
            options.module.get_or_insert_with(|| default_module(&text));
            rust::write_outline(&[], &options, &error(&arguments, &message))
        }
    }
    .into()
}

/// Returns the name of the module if nothing else names it: the file's without its extension.
fn default_module(path: &str) -> String {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    file.split('.').next().unwrap_or(file).to_owned()
}

/// Writes the modules, or the reason why there are none; either way the file is watched.
fn expand(arguments: &Arguments, spec: &Spec) -> TokenStream {
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
        Some(message) => outline(arguments, &compiled, spec, &message),
        None => modules(arguments, &compiled, &spec.name),
    };
    let warnings = compiled.diagnostics.iter().filter(|it| is_warning(it));
    let warnings = warnings.map(|warning| warn(arguments, warning, &sources));
    // Those of a spec with errors are part of its message.
    let has_modules = compiled
        .diagnostics
        .iter()
        .all(|it| !is_denied(arguments, it));
    let warnings = warnings.filter(|_| has_modules);
    quote! { #watch #(#warnings)* #body }
}

/// Returns the reason why there are no modules.
fn objection(
    arguments: &Arguments,
    compiled: &Compiled,
    sources: &Sources,
    name: &str,
) -> Option<String> {
    if compiled
        .diagnostics
        .iter()
        .any(|it| is_denied(arguments, it))
    {
        let style = Style::default();
        let full = render::full(&compiled.diagnostics, sources, &style);
        let footer = render::footer(&compiled.diagnostics, &style);
        return Some(format!("{}\n\n{}", footer.trim_end(), full.trim_end()));
    }
    if compiled.machines.is_empty() {
        let nearly = render::full(&compiled.diagnostics, sources, &Style::default());
        let lacks = format!("no state machine in {name}: it needs a section `## STATE-MACHINE`");
        return Some(format!("{lacks}\n\n{nearly}").trim_end().to_owned());
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

/// Returns true if a finding leaves no modules.
fn is_denied(arguments: &Arguments, diagnostic: &Diagnostic) -> bool {
    let is_error = diagnostic.severity == Severity::Error;
    is_error || (arguments.deny_warnings && is_warning(diagnostic))
}

fn is_warning(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Warning
}

/// Writes a module for each machine.
fn modules(arguments: &Arguments, compiled: &Compiled, name: &str) -> TokenStream {
    let options = options(arguments, name);
    let machines = compiled.machines.iter();
    machines
        .map(|valid| rust::write_module(valid, &options))
        .collect()
}

/// Writes the error, with the names of all machines.
fn outline(arguments: &Arguments, compiled: &Compiled, spec: &Spec, message: &str) -> TokenStream {
    let mut options = options(arguments, &spec.name);
    if spec.watched.is_some() && compiled.found == 0 {
        let name = default_module(&spec.name);
        options.module.get_or_insert(name);
    }
    let valid = compiled.machines.iter().map(|valid| &**valid);
    let machines: Vec<&Machine> = valid.chain(&compiled.broken).collect();
    rust::write_outline(&machines, &options, &error(arguments, message))
}

fn options(arguments: &Arguments, source: &str) -> rust::Options {
    let mut options = rust::Options::default();
    options.runtime = "::statemark::runtime".to_owned();
    options.module = arguments.module.as_ref().map(ToString::to_string);
    options.source = Some(source.to_owned());
    options.typestate = arguments.typestate;
    options.drawing = true;
    options
}

/// Writes a warning that rustc shows where the macro is called.
fn warn(arguments: &Arguments, warning: &Diagnostic, sources: &Sources) -> TokenStream {
    let span = arguments.text.span();
    let style = Style::default();
    let one = std::slice::from_ref(warning);
    let short = render::concise(one, sources, &style);
    let full = render::full(one, sources, &style);
    let lines: Vec<&str> = full.trim_end().lines().skip(1).collect();
    let note = format!("{}\n{}", short.trim_end(), lines.join("\n"));
    let name = Ident::new(warning.code.id(), span);
    quote_spanned! { span =>
        const _: () = {
            #[deprecated(note = #note)]
            const #name: () = ();
            #name
        };
    }
}

/// Writes the macro call that reports an error.
fn error(arguments: &Arguments, message: &str) -> TokenStream {
    let span = arguments.text.span();
    quote_spanned! { span => ::core::compile_error! { #message } }
}
