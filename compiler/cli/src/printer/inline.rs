//! Pictures within a terminal's text: what the terminal can show, and how it is told to.
//!
//! A terminal is asked, which is the only way that holds through windows in windows and connections to other machines: for
//! kitty's protocol, for its background, and for what it is, which each answers. iTerm2's protocol has no question, and is
//! known by the name of the program.

use std::io::{self, IsTerminal as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ratatui_crossterm::crossterm::terminal::window_size;

use crate::environment;

/// Asks for kitty's pictures, for the background, and, which every terminal answers, for what it is.
///
/// Source: <https://sw.kovidgoyal.net/kitty/graphics-protocol/#querying-support-and-available-transmission-mediums>, xterm's
/// control sequences (OSC 11, DA1).
const QUESTIONS: &str = "\u{1b}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1b}\\\u{1b}]11;?\u{1b}\\\u{1b}[c";

/// The programs that know iTerm2's protocol, by their `TERM_PROGRAM`.
const ITERM: [&str; 5] = ["iTerm.app", "WezTerm", "vscode", "mintty", "rio"];

/// Most bytes of a part of a picture in kitty's protocol. Source: its documentation.
const CHUNK: usize = 4096;

/// The window where a terminal doesn't say how large it is. Unit: pixels.
const WIDTH: u16 = 800;

/// A way in which a terminal shows pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// kitty's, of kitty, Ghostty, Konsole, WezTerm and others.
    Kitty,
    /// iTerm2's, of iTerm2, WezTerm, VS Code and others.
    Iterm,
}

/// A terminal that shows pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Canvas {
    pub(crate) protocol: Protocol,
    /// True if its background is dark.
    pub(crate) is_dark: bool,
}

/// The room in a terminal's window. Unit: pixels; 0 where it doesn't say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) line_height: u16,
    pub(crate) width: u16,
}

/// Returns how the terminal of the results shows pictures, if it does.
pub(crate) fn find_canvas() -> Option<Canvas> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let answers = ask().unwrap_or_default();
    parse_answers(&answers, environment::TERM_PROGRAM.text().as_deref())
}

/// Reads the answers to [`QUESTIONS`], and the name of the program.
fn parse_answers(answers: &str, program: Option<&str>) -> Option<Canvas> {
    let protocol = if answers.contains("_Gi=31;OK") {
        Protocol::Kitty
    } else if program.is_some_and(|program| ITERM.contains(&program)) {
        Protocol::Iterm
    } else {
        return None;
    };
    let is_dark = background(answers).is_some_and(|light| light < 0x80);
    Some(Canvas { protocol, is_dark })
}

/// Returns how light the background is, from 0 to 255: `]11;rgb:1e1e/1e1e/1e1e`.
fn background(answers: &str) -> Option<u32> {
    let (_, colors) = answers.split_once("]11;rgb:")?;
    let end = colors.find(['\u{1b}', '\u{7}']).unwrap_or(colors.len());
    let colors = colors.get(..end)?;
    let mut sum = 0;
    for color in colors.splitn(3, '/') {
        sum += u32::from_str_radix(color.get(..2)?, 16).ok()?;
    }
    Some(sum / 3)
}

/// Returns the room in the terminal's window.
pub(crate) fn room() -> Room {
    let Ok(size) = window_size() else {
        return Room {
            line_height: 0,
            width: WIDTH,
        };
    };
    Room {
        line_height: size.height / size.rows.max(1),
        width: if size.width == 0 { WIDTH } else { size.width },
    }
}

/// Returns what has a terminal show a PNG where its cursor is, on lines of its own.
pub(crate) fn encode(protocol: Protocol, png: &[u8]) -> String {
    let base64 = STANDARD.encode(png);
    let mut text = String::new();
    match protocol {
        Protocol::Kitty => {
            // Base64 is ASCII, so that a part ends between two characters.
            let parts: Vec<&[u8]> = base64.as_bytes().chunks(CHUNK).collect();
            for (number, part) in parts.iter().enumerate() {
                let more = u8::from(number + 1 < parts.len());
                let first = if number == 0 { "f=100,a=T,q=2," } else { "" };
                let part = String::from_utf8_lossy(part);
                text += &format!("\u{1b}_G{first}m={more};{part}\u{1b}\\");
            }
        }
        Protocol::Iterm => {
            let size = png.len();
            text += &format!(
                "\u{1b}]1337;File=inline=1;size={size};preserveAspectRatio=1:{base64}\u{7}"
            );
        }
    }
    text + "\n"
}

/// Asks the terminal, and returns its answers. Returns none where nobody would read them.
#[cfg(unix)]
fn ask() -> Option<String> {
    use std::io::{Read as _, Write as _};

    use rustix::termios::{OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};

    /// Longest wait for a part of the answers. Unit: tenths of a second.
    ///
    /// Why: a connection to another machine takes that.
    const WAIT: u8 = 3;
    /// Most bytes of the answers.
    const MAX_ANSWERS: usize = 1024;

    let mut stdin = io::stdin();
    let before = tcgetattr(&stdin).ok()?;
    let mut raw = before.clone();
    raw.make_raw();
    raw.special_codes[SpecialCodeIndex::VMIN] = 0;
    raw.special_codes[SpecialCodeIndex::VTIME] = WAIT;
    tcsetattr(&stdin, OptionalActions::Now, &raw).ok()?;
    let mut answers = Vec::new();
    let mut out = io::stdout();
    if out.write_all(QUESTIONS.as_bytes()).is_ok() && out.flush().is_ok() {
        let mut byte = [0];
        while answers.len() < MAX_ANSWERS && !is_whole(&answers) {
            match stdin.read(&mut byte) {
                Ok(1) => answers.extend(byte),
                _ => break,
            }
        }
    }
    // A terminal that can't be told is gone.
    let _ = tcsetattr(&stdin, OptionalActions::Now, &before);
    Some(String::from_utf8_lossy(&answers).into_owned())
}

#[cfg(not(unix))]
fn ask() -> Option<String> {
    None
}

/// Reports whether the last of the answers has come: `ESC [ ? … c`.
#[cfg(unix)]
fn is_whole(answers: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answers);
    let last = text
        .rsplit_once("\u{1b}[?")
        .map(|(_, last)| last.to_owned());
    last.is_some_and(|last| last.ends_with('c'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_known_by_its_answers() {
        let kitty = "\u{1b}_Gi=31;OK\u{1b}\\\u{1b}]11;rgb:1e1e/2020/3030\u{1b}\\\u{1b}[?62;c";
        let xterm = "\u{1b}]11;rgb:ffff/ffff/dddd\u{7}\u{1b}[?64;1;2c";
        let canvas = |protocol, is_dark| Some(Canvas { protocol, is_dark });
        for (answers, program, expected) in [
            (kitty, None, canvas(Protocol::Kitty, true)),
            (kitty, Some("WezTerm"), canvas(Protocol::Kitty, true)),
            (xterm, Some("vscode"), canvas(Protocol::Iterm, false)),
            ("", Some("iTerm.app"), canvas(Protocol::Iterm, false)),
            (xterm, None, None),
            // A window of another program, whose name leads nowhere.
            (xterm, Some("tmux"), None),
            ("\u{1b}_Gi=31;ENOTSUPPORTED\u{1b}\\", None, None),
            (
                "\u{1b}]11;rgb:zz\u{1b}[?6c",
                Some("rio"),
                canvas(Protocol::Iterm, false),
            ),
            ("\u{1b}]11;rgb:日本/語", None, None),
        ] {
            assert_eq!(parse_answers(answers, program), expected, "{answers:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_last_answer_ends_the_wait() {
        assert!(is_whole(b"\x1b_Gi=31;OK\x1b\\\x1b[?62;c"));
        assert!(!is_whole(b"\x1b_Gi=31;OK\x1b\\"));
        assert!(!is_whole(b"\x1b[?62;"));
        assert!(!is_whole(b""));
    }

    #[test]
    fn a_picture_comes_whole_in_parts() {
        let png = vec![7; 4000];
        let text = encode(Protocol::Kitty, &png);
        let parts: Vec<&str> = text.trim_end().split_terminator("\u{1b}\\").collect();
        assert_eq!(parts.len(), 2);
        let data: Vec<&str> = parts
            .iter()
            .map(|part| part.split_once(';').unwrap().1)
            .collect();
        assert!(parts[0].starts_with("\u{1b}_Gf=100,a=T,q=2,m=1;"));
        assert!(parts[1].starts_with("\u{1b}_Gm=0;"));
        assert_eq!(data[0].len(), CHUNK);
        assert_eq!(STANDARD.decode(data.concat()).unwrap(), png);
        let text = encode(Protocol::Iterm, &png);
        let (head, data) = text.trim_end().split_once(':').unwrap();
        assert_eq!(
            head,
            "\u{1b}]1337;File=inline=1;size=4000;preserveAspectRatio=1"
        );
        assert_eq!(
            STANDARD.decode(data.trim_end_matches('\u{7}')).unwrap(),
            png
        );
    }
}
