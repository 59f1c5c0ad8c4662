//! Lines of the screen: wrapping, colors, cells; and the terminal, which a panic restores.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;

use proptest::prelude::*;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};

use super::*;

fn text(line: &Line<'_>) -> String {
    line.iter().map(|span| span.content.as_ref()).collect()
}

fn wrapped(text_to_wrap: &str, columns: usize) -> Vec<String> {
    let lines = wrap_lines(&lay_out(text_to_wrap), columns);
    lines.iter().map(text).collect()
}

#[test]
fn lines_are_wrapped_at_blanks() {
    assert_eq!(wrapped("a bc def", 8), ["a bc def"]);
    assert_eq!(wrapped("a bc def ghij", 8), ["a bc def", "  ghij"]);
    assert_eq!(wrapped("  ab cdef gh", 9), ["  ab cdef", "   gh"]);
    assert_eq!(wrapped("abcdefghij", 4), ["abcd", " efg", " hij"]);
    assert_eq!(wrapped("日本語", 4), ["日本", " 語"]);
    assert_eq!(wrapped("日本a", 1), ["a"]);
    assert_eq!(wrapped("a", 0), [""]);
}

#[test]
fn only_our_own_colors_are_colors() {
    let own = own_prefix();
    let painted = format!("a {own}1;31mred\u{1b}[2J{own}0m \u{1b}[32mplain");
    let lines = lay_out(&painted);
    assert_eq!(text(&lines[0]), r"a red\u{1b}[2J \u{1b}[32mplain");
    let styles: Vec<Style> = lines[0].iter().map(|span| span.style).collect();
    let red = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
    assert_eq!(styles, [Style::new(), red, Style::new()]);
}

#[test]
fn a_cell_is_cut_or_filled() {
    assert_eq!(fill("abcdef", 4), "abc…");
    assert_eq!(fill("ab", 4), "ab  ");
    assert_eq!(fill("日本語", 4), "日… ");
    assert_eq!(fill("a\nb", 3), "a⏎b");
    assert_eq!(fill("ab", 0), "");
}

proptest! {
    /// Nothing is wider than the screen, and nothing is lost that a column has room for.
    #[test]
    fn wrapped_lines_have_room_and_lose_nothing(
        words in "[a-z日é👩‍💻\u{1b}\\[ \n]{0,120}|\\PC{0,80}",
        columns in 0_usize..30,
    ) {
        let lines = lay_out(&words);
        for line in wrap_lines(&lines, columns) {
            prop_assert!(line.width() <= columns);
        }
        if columns >= 8 {
            let letters = |lines: &[Line<'_>]| -> String {
                lines.iter().flat_map(|line| text(line).chars().collect::<Vec<_>>()).filter(|it| *it != ' ').collect()
            };
            prop_assert_eq!(letters(&wrap_lines(&lines, columns)), letters(&lines));
        }
        for columns in [columns, 3] {
            prop_assert!(columns_of(&fill(&words, columns)) == columns);
        }
    }
}

/// A part of the test below: a process that panics while it shows a screen.
#[test]
#[ignore = "the test below starts it at a terminal"]
fn panic_with_a_screen() {
    let _screen = Screen::open().unwrap();
    panic!("the message comes last");
}

#[test]
fn a_panic_restores_the_terminal_before_its_message() {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let path = std::ffi::OsStr::from_bytes(name.as_bytes());
    let end = File::options().read(true).write(true).open(path).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "--ignored", "--nocapture"])
        .arg("printer::screen::tests::panic_with_a_screen")
        .stdin(end.try_clone().unwrap())
        .stdout(end.try_clone().unwrap())
        .stderr(end.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    drop(command);
    let modes = {
        child.wait().unwrap();
        tcgetattr(&end).unwrap().local_modes
    };
    drop(end);
    let mut seen = Vec::new();
    // A terminal whose other end is gone is an error, and the end of what there is to see.
    let _ = File::from(terminal).read_to_end(&mut seen);
    let seen = String::from_utf8_lossy(&seen);
    assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO));
    let shown = seen.find("\u{1b}[?1049h").unwrap();
    let hidden = seen.find("\u{1b}[?1049l").unwrap();
    let message = seen.find("the message comes last").unwrap();
    assert!(shown < hidden && hidden < message, "{seen}");
}
