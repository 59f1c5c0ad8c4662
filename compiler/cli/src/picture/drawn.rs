//! Pictures, by resvg and svg2pdf.

use std::fmt::Display;
use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Family, Query};
use resvg::usvg::{Options, Tree};

use super::Picture;
use crate::failure::Failure;
use crate::printer::inline::Room;

/// Pixels for each of a drawing's. Why: screens have two, and print more.
const SCALE: f32 = 2.0;

/// Smallest scale of a file. Why: below it nobody can read the texts.
const MIN_SCALE: f32 = 0.5;

/// Most pixels of a picture. Why: each takes four bytes of memory.
const MAX_PIXELS: f32 = 100e6;

/// Height of a line of text in a drawing. Unit: pixels.
///
/// Why: a terminal's lines are that high where its letters are as large.
const LINE_HEIGHT: f32 = 17.0;

/// The fonts that a drawing is measured for, then those that most systems have.
const FONTS: [&str; 10] = [
    "Helvetica Neue",
    "Helvetica",
    "Arial",
    "Liberation Sans",
    "Arimo",
    "Nimbus Sans",
    "DejaVu Sans",
    "Noto Sans",
    "Segoe UI",
    "Cantarell",
];

/// Checks that this program draws pictures.
#[expect(
    clippy::unnecessary_wraps,
    reason = "a program without pictures refuses here"
)]
pub(crate) const fn check() -> Result<(), Failure> {
    Ok(())
}

/// Returns a drawing as a picture.
pub(crate) fn draw(svg: &str, picture: Picture) -> Result<Vec<u8>, Failure> {
    let mut fonts = Database::new();
    fonts.load_system_fonts();
    let tree = parse(svg, fonts)?;
    match picture {
        Picture::Png => paint(&tree, SCALE, MIN_SCALE),
        Picture::Pdf => {
            let (conversion, page) = Default::default();
            svg2pdf::to_pdf(&tree, conversion, page).map_err(|error| defect(&error))
        }
    }
}

/// Returns a drawing as a PNG for a terminal.
///
/// Its texts are as large as the terminal's, and it is no wider than its window.
pub(crate) fn draw_for_terminal(svg: &str, room: Room) -> Result<Vec<u8>, Failure> {
    let mut fonts = Database::new();
    fonts.load_system_fonts();
    let tree = parse(svg, fonts)?;
    let texts = f32::from(room.line_height) / LINE_HEIGHT;
    let window = f32::from(room.width) / tree.size().width();
    paint(&tree, texts.clamp(1.0, SCALE).min(window), 0.0)
}

fn parse(svg: &str, fonts: Database) -> Result<Tree, Failure> {
    let fonts = choose_font(fonts).ok_or_else(|| {
        Failure::new("there is no font on this system for the texts of a picture").with_help(
            "install one, such as Liberation Sans or DejaVu Sans (`fonts-liberation`, `fonts-dejavu-core`); or write an `.svg`",
        )
    })?;
    let options = Options {
        fontdb: Arc::new(fonts),
        ..Options::default()
    };
    Tree::from_str(svg, &options).map_err(|error| defect(&error))
}

/// Makes one of the fonts the one for texts whose own fonts aren't there, if there is any.
fn choose_font(mut fonts: Database) -> Option<Database> {
    let has = |name: &&&str| {
        let families = [Family::Name(name)];
        let query = Query {
            families: &families,
            ..Query::default()
        };
        fonts.query(&query).is_some()
    };
    let known = FONTS.iter().find(has).map(|name| (*name).to_owned());
    // One that nobody thought of is better than none.
    let any = || {
        let mut all = fonts.faces();
        let font = all.find(|font| !font.monospaced)?;
        font.families.first().map(|(name, _)| name.clone())
    };
    let sans = known.or_else(any)?;
    fonts.set_sans_serif_family(sans);
    Some(fonts)
}

/// Returns a drawing as a PNG, in a scale that has room in memory, and isn't below another.
fn paint(tree: &Tree, scale: f32, min_scale: f32) -> Result<Vec<u8>, Failure> {
    let size = tree.size();
    let fitting = (MAX_PIXELS / (size.width() * size.height())).sqrt();
    let scale = scale.min(fitting);
    let scaled = size.to_int_size().scale_by(scale);
    let pixels = scaled.and_then(|size| Pixmap::new(size.width(), size.height()));
    let Some(mut pixels) = pixels.filter(|_| scale >= min_scale) else {
        let (width, height) = (size.width(), size.height());
        return Err(Failure::new(format!(
            "the drawing is too large for pixels: {width} × {height}"
        ))
        .with_help("write a `.pdf` or an `.svg`, which have none"));
    };
    let transform = Transform::from_scale(scale, scale);
    resvg::render(tree, transform, &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| defect(&error))
}

fn defect(error: &dyn Display) -> Failure {
    Failure::new(format!("the drawing can't be made a picture: {error}"))
        .with_help("this is a defect of Statemark; an `.svg` can be written")
}

#[cfg(test)]
mod tests;
