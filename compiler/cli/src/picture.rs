//! Drawings as pictures, PNG and PDF.
//!
//! That is the feature `pictures`, which most don't need and which brings many crates.
//!
//! A drawing names fonts and has none in it. Pictures have their letters from the fonts of the system, and are refused where
//! there is none; nothing is fetched.

/// A form of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Picture {
    Png,
    Pdf,
}

#[cfg(feature = "pictures")]
mod drawn;

#[cfg(feature = "pictures")]
pub(crate) use self::drawn::{check, draw, draw_for_terminal};
#[cfg(not(feature = "pictures"))]
pub(crate) use self::refused::{check, draw, draw_for_terminal};

#[cfg(not(feature = "pictures"))]
mod refused {
    use super::Picture;
    use crate::failure::Failure;
    use crate::printer::inline::Room;

    /// Fails: this program draws no pictures.
    pub(crate) fn check() -> Result<(), Failure> {
        Err(
            Failure::new("this program draws no pictures: it was built without the feature `pictures`")
                .with_help(
                    "install it with `cargo install … --features pictures`; or `statemark graph SPEC --theme light -o FILE.svg` writes \
                     a drawing, which `rsvg-convert`, `resvg` and Inkscape convert",
                ),
        )
    }

    /// Fails as [`check`] does.
    pub(crate) fn draw(_: &str, _: Picture) -> Result<Vec<u8>, Failure> {
        check().map(|()| Vec::new())
    }

    /// Fails as [`check`] does.
    pub(crate) fn draw_for_terminal(_: &str, _: Room) -> Result<Vec<u8>, Failure> {
        check().map(|()| Vec::new())
    }
}
