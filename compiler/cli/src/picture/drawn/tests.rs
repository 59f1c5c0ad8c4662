//! Pictures that are drawn: their size, their texts, and what is said where no font is there.

use super::*;

const SVG: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" class="statemark" viewBox="0 0 100 40" width="100" height="40">
<style>svg.statemark{font-family:"No Such Font",sans-serif}.statemark .page{fill:#ffffff}.statemark text{fill:#000000}</style>
<rect class="page" width="100" height="40"/><text x="10" y="30">state</text></svg>"##;

/// The width and the height in a PNG's header.
fn size(png: &[u8]) -> (u32, u32) {
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
fn a_picture_has_the_texts_of_its_drawing() {
    let with = draw(SVG, Picture::Png).unwrap();
    let without = draw(&SVG.replace(">state<", "><"), Picture::Png).unwrap();
    assert_eq!(size(&with), (200, 80));
    assert_ne!(with, without);
    let pdf = draw(SVG, Picture::Pdf).unwrap();
    assert!(pdf.starts_with(b"%PDF-"));
    let text = String::from_utf8_lossy(&pdf).into_owned();
    assert!(text.contains("/FontName"), "the texts have a font");
}

#[test]
fn without_a_font_there_is_no_picture() {
    let failure = parse(SVG, Database::new()).unwrap_err();
    assert!(failure.to_string().contains("there is no font"));
}

#[test]
fn a_drawing_that_is_too_large_for_pixels_is_refused() {
    let large = SVG.replace(
        "width=\"100\" height=\"40\"",
        "width=\"90000\" height=\"90000\"",
    );
    let failure = draw(&large, Picture::Png).unwrap_err();
    assert!(failure.to_string().contains("90000 × 90000"), "{failure}");
}

#[test]
fn a_terminal_has_room_for_its_picture() {
    let shown = |line_height, width| {
        let room = Room { line_height, width };
        size(&draw_for_terminal(SVG, room).unwrap())
    };
    assert_eq!(shown(17, 800), (100, 40));
    assert_eq!(shown(34, 800), (200, 80));
    assert_eq!(shown(34, 50), (50, 20));
    // A terminal that doesn't say.
    assert_eq!(shown(0, 800), (100, 40));
}
