//! Widths of text, without fonts.
//!
//! The table has the advance widths of the metric-compatible family that browsers have under one name or another (Arial,
//! Helvetica, Liberation Sans). Other fonts are wider by up to a sixth, so a [`Font`] measures with a margin; boxes have
//! padding on top of that.

use statemark_text::visible;

/// Advance widths of `' '..='~'`. Unit: thousandths of the font size.
const REGULAR: [i64; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

/// Advance widths of `' '..='~'` in bold. Unit: thousandths of the font size.
const BOLD: [i64; 95] = [
    278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667,
    611, 778, 722, 278, 556, 722, 611, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 333, 278, 333, 584, 556, 333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556,
    278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584,
];

/// Margin for other fonts.
///
/// Unit: hundredths of the width. Why: half of what the widest common one needs; padding has the rest.
const MARGIN: i64 = 106;

/// A size and weight of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Font {
    /// The font size. Unit: tenths of a pixel.
    pub(super) size: i64,
    /// True for bold.
    pub(super) bold: bool,
}

impl Font {
    /// Returns the width of a line. Unit: pixels, rounded up.
    pub(super) fn width(self, line: &str) -> i64 {
        let table = if self.bold { &BOLD } else { &REGULAR };
        let sum: i64 = line.chars().map(|letter| advance(table, letter)).sum();
        (sum * self.size * MARGIN + 999_999) / 1_000_000
    }

    /// Returns the distance between lines. Unit: pixels.
    pub(super) const fn line_height(self) -> i64 {
        (self.size * 13 + 99) / 100
    }

    /// Breaks a text into lines of at most a width, at spaces if there are any.
    ///
    /// A word that is wider is broken behind `_`, `.`, `/` or `-`, else between letters. What can't be seen is shown as what
    /// it is, before it is measured.
    pub(super) fn wrap(self, text: &str, width: i64) -> Vec<String> {
        let mut lines = Vec::new();
        for paragraph in text.lines() {
            let mut line = String::new();
            for word in paragraph.split_whitespace() {
                let word = visible::line(word);
                for (index, piece) in self.pieces(&word, width).into_iter().enumerate() {
                    let space = if index == 0 && !line.is_empty() {
                        " "
                    } else {
                        ""
                    };
                    let longer = format!("{line}{space}{piece}");
                    if line.is_empty() || self.width(&longer) <= width {
                        line = longer;
                    } else {
                        lines.push(std::mem::replace(&mut line, piece));
                    }
                }
            }
            if !line.is_empty() {
                lines.push(line);
            }
        }
        lines
    }

    /// Breaks a word into pieces that fit into a width each.
    fn pieces(self, word: &str, width: i64) -> Vec<String> {
        if self.width(word) <= width {
            return vec![word.to_owned()];
        }
        let mut pieces = Vec::new();
        let mut piece = String::new();
        for letter in word.chars() {
            piece.push(letter);
            let is_end =
                matches!(letter, '_' | '.' | '/' | '-' | ',') && self.width(&piece) * 2 > width;
            if is_end || self.width(&piece) + self.size / 10 > width {
                pieces.push(std::mem::take(&mut piece));
            }
        }
        if !piece.is_empty() {
            pieces.push(piece);
        }
        pieces
    }
}

/// Returns the advance width of a letter. Unit: thousandths of the font size.
fn advance(table: &[i64; 95], letter: char) -> i64 {
    let code = u32::from(letter);
    let known = code
        .checked_sub(32)
        .and_then(|index| usize::try_from(index).ok());
    if let Some(width) = known.and_then(|index| table.get(index)) {
        return *width;
    }
    match code {
        // Marks that stand on the letter before, joiners and variation selectors.
        0x300..=0x36f | 0x200b..=0x200f | 0xfe00..=0xfe0f | 0x20d0..=0x20ff => 0,
        0..0x20 => 0,
        0xa0..0x370 => 600,
        0x370..0x1100 => 680,
        0x2010..0x2030 => 560,
        // East Asian letters are square, emoji somewhat wider.
        0x1100..0x1200 | 0x2e80..0xa4d0 | 0xac00..0xd7a4 | 0xf900..0xfb00 | 0xff00..0xff61 => 1_000,
        0x1f000..0x20000 => 1_350,
        0x20000..0x40000 => 1_000,
        _ => 900,
    }
}

#[cfg(test)]
mod tests {
    use super::Font;

    const FACE: Font = Font {
        size: 130,
        bold: false,
    };

    #[test]
    fn text_is_broken_at_spaces_and_long_words_anywhere() {
        assert_eq!(FACE.wrap("one two three", 52), ["one two", "three"]);
        assert_eq!(FACE.wrap("a\nb", 100), ["a", "b"]);
        assert!(FACE.wrap("", 100).is_empty());
        let lines = FACE.wrap(&"x".repeat(100), 100);
        assert!(lines.len() > 1 && lines.iter().all(|line| FACE.width(line) <= 100));
        assert_eq!(lines.concat().len(), 100);
        assert_eq!(
            FACE.wrap("waiting_for_approval", 100),
            ["waiting_", "for_approval"]
        );
    }

    #[test]
    fn letters_of_other_scripts_have_widths() {
        assert_eq!(FACE.width("e\u{301}"), FACE.width("e"));
        assert!(FACE.width("状態") > FACE.width("st"));
        assert!(FACE.width("🚀") > FACE.width("M"));
    }
}
