//! `graph`: a drawing of a machine, or of the way of a run.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use statemark_compiler::back;
use statemark_compiler::back::svg::{self, Theme};
use statemark_runs::load_trail;

use crate::args::{StoreArgs, TextFormat};
use crate::catalog;
use crate::drawing::{drawing_options, undrawable};
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::files;
use crate::picture::{self, Picture};
use crate::printer::{self, Printer};
use crate::runs;
use crate::specs::{LoadedMachine, load};

/// Draw a machine, or the way of a run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark graph door.md -o door.svg         a drawing, light or dark as the reader's system\n  \
                        statemark graph door.md --format dot        the graph, for Graphviz\n  \
                        statemark graph --run build-7 -o way.svg    with what the run visited, how long, by which way\n  \
                        statemark graph door.md -o door.png         a picture, or a `.pdf`: with the feature `pictures`\n\n\
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
    /// The form: svg, dot, png or pdf; by default that of the file, else svg
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
    Png,
    Pdf,
}

impl Form {
    /// Returns the picture that a drawing is made into, if it is.
    const fn picture(self) -> Option<Picture> {
        match self {
            Self::Svg | Self::Dot => None,
            Self::Png => Some(Picture::Png),
            Self::Pdf => Some(Picture::Pdf),
        }
    }
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
    if form.picture().is_some() {
        picture::check()?;
    }
    let drawing = match (&args.run, &args.spec) {
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
    let written = match form.picture() {
        Some(picture) => picture::draw(&drawing, picture)?,
        None => drawing.into_bytes(),
    };
    match &args.output {
        Some(path) => {
            files::check_output(path)?;
            files::write(path, &written)?;
            printer.result(&format!("{}\n", files::display(path)));
        }
        None if form.picture().is_some() && printer::is_result_at_terminal() => {
            return Err(Failure::new("a picture isn't written to a terminal")
                .with_help("`-o FILE` names a file; `statemark show SPEC --graph` shows it in terminals that can"));
        }
        None if form.picture().is_some() => printer.raw(&written),
        None => printer.content(&written),
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
        (None, Some("png")) => Ok(Form::Png),
        (None, Some("pdf")) => Ok(Form::Pdf),
        (None, Some(ending)) => Err(Failure::new(format!("`.{ending}` is no form of drawings"))
            .with_help(
                "the file ends in `.svg`, `.dot`, `.png` or `.pdf`; or name the form by `--format`",
            )),
    }
}

fn draw_machine(loaded: &LoadedMachine, args: &GraphArgs, form: Form) -> Result<String, Failure> {
    let mut options = svg::Options::default();
    options.theme = theme(args, form);
    Ok(match (form, &loaded.valid) {
        (Form::Dot, Some(valid)) => back::dot::write(valid),
        (Form::Dot, None) => back::dot::write_table(&loaded.table),
        (_, Some(valid)) => svg::write(valid, &options).map_err(undrawable)?,
        (_, None) => svg::write_table(&loaded.table, &options).map_err(undrawable)?,
    })
}

/// Returns the colors of a drawing. A picture can't have those of its reader's system.
fn theme(args: &GraphArgs, form: Form) -> Theme {
    match (args.theme, form.picture()) {
        (Colors::Auto, Some(_)) => Theme::Light,
        (colors, _) => colors.into(),
    }
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
    options.theme = theme(args, form);
    catalog::draw_run(&loaded.workflow, &options).map_err(undrawable)
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
