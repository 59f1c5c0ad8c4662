//! `graph`: a drawing of a machine, or of the way of a run.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use statemark_compiler::back;
use statemark_compiler::back::svg::{self, Theme};
use statemark_runs::load_trail;

use crate::args::{StoreArgs, TextFormat};
use crate::catalog;
use crate::drawing::drawing_options;
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::files;
use crate::printer::Printer;
use crate::runs;
use crate::specs::{LoadedMachine, load};

/// Draw a machine, or the way of a run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark graph door.md -o door.svg         a drawing, light or dark as the reader's system\n  \
                        statemark graph door.md --format dot        the graph, for Graphviz\n  \
                        statemark graph --run build-7 -o way.svg    with what the run visited, how long, by which way\n\n\
                        It needs no browser, and what it writes needs no network.")]
pub(crate) struct GraphArgs {
    /// A spec, or a table that `build` wrote
    #[arg(
        value_name = "SPEC",
        required_unless_present = "run",
        conflicts_with = "run"
    )]
    spec: Option<PathBuf>,
    /// The machine, if the spec has several
    #[arg(long, value_name = "ID", requires = "spec")]
    machine: Option<String>,
    /// Draw the workflow of a run, with its way: the run, or the beginning of its id
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// The file to write; its ending says the form
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The form: svg or dot; by default that of the file, else svg
    #[arg(long, value_enum, value_name = "FORM", hide_possible_values = true)]
    format: Option<Form>,
    /// The colors: auto, light or dark
    #[arg(long, value_enum, value_name = "THEME", default_value_t = Colors::Auto, hide_possible_values = true)]
    theme: Colors,
    /// Where runs are kept: a file or an address [env: STATEMARK_STORE; else statemark.toml; default: .statemark/runs.db]
    #[arg(long, value_name = "STORE", requires = "run")]
    store: Option<String>,
}

/// A form of drawings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Svg,
    Dot,
}

/// The colors of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Colors {
    Auto,
    Light,
    Dark,
}

/// Draws a machine.
pub(super) fn run(args: &GraphArgs, printer: &mut Printer) -> CommandResult {
    let form = form(args)?;
    let text = match (&args.run, &args.spec) {
        (Some(run), _) => draw_run(run, args, form)?,
        (None, Some(spec)) => {
            let machine = args.machine.as_deref();
            let Some(loaded) = load(spec, machine, TextFormat::Text, printer)? else {
                return Ok(ExitStatus::Findings);
            };
            draw_machine(&loaded, args, form)?
        }
        (None, None) => return Err(Failure::new("neither a spec nor a run is named")),
    };
    match &args.output {
        Some(path) => {
            files::write(path, text.as_bytes())?;
            printer.result(&format!("{}\n", files::display(path)));
        }
        None => printer.content(text.as_bytes()),
    }
    Ok(ExitStatus::Clean)
}

/// Returns the form that was asked for, by name or by the ending of the file.
fn form(args: &GraphArgs) -> Result<Form, Failure> {
    let ending = args.output.as_deref().and_then(Path::extension);
    let ending = ending.map(|it| it.to_string_lossy().to_ascii_lowercase());
    match (args.format, ending.as_deref()) {
        (Some(form), _) => Ok(form),
        (None, None | Some("svg")) => Ok(Form::Svg),
        (None, Some("dot" | "gv")) => Ok(Form::Dot),
        (None, Some(ending @ ("png" | "pdf"))) => Err(Failure::new(format!(
            "this program writes no `{ending}`: it draws as SVG"
        ))
        .with_help("write an `.svg` with `--theme light`, and convert it: `rsvg-convert`, `resvg` and Inkscape read it")),
        (None, Some(ending)) => Err(Failure::new(format!("`.{ending}` is no form of drawings"))
            .with_help("the file ends in `.svg` or `.dot`; or name the form by `--format`")),
    }
}

fn draw_machine(loaded: &LoadedMachine, args: &GraphArgs, form: Form) -> Result<String, Failure> {
    let mut options = svg::Options::default();
    options.theme = args.theme.into();
    Ok(match (form, &loaded.valid) {
        (Form::Svg, Some(valid)) => svg::write(valid, &options),
        (Form::Svg, None) => svg::write_table(&loaded.table, &options),
        (Form::Dot, Some(valid)) => back::dot::write(valid),
        (Form::Dot, None) => back::dot::write_table(&loaded.table),
    })
}

/// Draws the workflow of a run: that of the spec if it is the same, else that of the run's own table.
fn draw_run(id: &str, args: &GraphArgs, form: Form) -> Result<String, Failure> {
    let store = StoreArgs {
        store: args.store.clone(),
        json: false,
    };
    let runs = runs::open(&store)?;
    let loaded = runs::load(&runs, id)?;
    if form == Form::Dot {
        return Ok(back::dot::write_table(loaded.workflow.table()));
    }
    let trail = load_trail(&runs, &loaded)?;
    let mut options = drawing_options(Some(&trail));
    options.theme = args.theme.into();
    Ok(catalog::draw_run(&loaded.workflow, &options))
}

impl From<Colors> for Theme {
    fn from(colors: Colors) -> Self {
        match colors {
            Colors::Auto => Self::Auto,
            Colors::Light => Self::Light,
            Colors::Dark => Self::Dark,
        }
    }
}
