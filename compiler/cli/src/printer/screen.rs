//! The whole screen of a terminal, for a view that people watch, and texts laid out for it.
//!
//! What to rely on: the terminal is as it was once a [`Screen`] is dropped, and while it is [suspended](Screen::suspend). A
//! panic restores it before its message is printed; whoever opens a screen ends it on a signal.
//!
//! Texts come with the printer's own colors, from the functions whose texts commands print. Everything else in them is shown
//! by the same rule: what can't be seen stands as what it is.

use std::io::{self, Stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Size;
use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::terminal::Terminal;
use ratatui_core::text::{Line, Span};
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::event::{self, Event, KeyEvent, KeyEventKind};
use ratatui_crossterm::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui_crossterm::crossterm::{cursor, execute};
use statemark_text::visible;

use super::quoted::MARK;
use super::{WIDTH, own_prefix};

/// True while a screen is shown: a panic restores the terminal then, once.
static IS_SHOWN: AtomicBool = AtomicBool::new(false);

/// Indent of the further lines of a wrapped one, beyond its own. Unit: columns.
const HANGING: usize = 2;

/// The screen of a terminal, shown instead of what stood there.
pub(crate) struct Screen {
    drawn: Drawn,
}

/// A drawer of a screen of some size.
struct Drawn {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    size: Size,
}

impl Screen {
    /// Takes the terminal's screen.
    pub(crate) fn open() -> io::Result<Self> {
        static FIRST: Once = Once::new();
        FIRST.call_once(|| {
            end_with_terminal();
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                hide();
                before(panic);
            }));
        });
        show()?;
        let drawn = Drawn::nothing().inspect_err(|_| hide())?;
        Ok(Self { drawn })
    }

    /// Draws the screen anew; what hasn't changed isn't written.
    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        let drawn = &mut self.drawn;
        if drawn.terminal.size()? != drawn.size {
            *drawn = Drawn::nothing()?;
        }
        drawn.terminal.draw(|frame| draw(frame.buffer_mut()))?;
        Ok(())
    }

    /// Waits for a key that is pressed, at most so long. Returns none as well where the screen was resized.
    ///
    /// # Errors
    ///
    /// The terminal is gone.
    pub(crate) fn wait_for_key(&self, longest: Duration) -> io::Result<Option<KeyEvent>> {
        if !event::poll(longest)? {
            return Ok(None);
        }
        Ok(match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => Some(key),
            _ => None,
        })
    }

    /// Gives the terminal back as it was, acts, and takes it again.
    ///
    /// # Errors
    ///
    /// The terminal is gone.
    pub(crate) fn suspend<T>(&mut self, act: impl FnOnce() -> T) -> io::Result<T> {
        hide();
        let outcome = act();
        show()?;
        self.drawn = Drawn::nothing()?;
        Ok(outcome)
    }
}

/// Ends the process once its terminal is gone. Nobody is there then to whom anything could be said.
///
/// No signal tells a process that isn't of the terminal's session, and the library doesn't either: it would read nothing
/// from the terminal, again and again, and come back no more. Asking before each of its calls would leave the moment
/// between; so a thread waits for it.
#[cfg(unix)]
#[expect(
    clippy::exit,
    reason = "what restores the terminal would fail, and say so to it"
)]
fn end_with_terminal() {
    use rustix::event::{PollFd, PollFlags, poll};
    std::thread::spawn(|| {
        let stdin = io::stdin();
        // No input is waited for: that the terminal is gone is told all the same.
        let mut waited = [PollFd::new(&stdin, PollFlags::empty())];
        while let Err(rustix::io::Errno::INTR) = poll(&mut waited, None) {}
        std::process::exit(2);
    });
}

#[cfg(not(unix))]
const fn end_with_terminal() {}

impl Drop for Screen {
    fn drop(&mut self) {
        hide();
    }
}

impl Drawn {
    /// Clears the screen.
    ///
    /// The library would ask the terminal where its cursor is, which not every one answers.
    fn nothing() -> io::Result<Self> {
        execute!(io::stdout(), Clear(ClearType::All))?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        let size = terminal.size()?;
        Ok(Self { terminal, size })
    }
}

fn show() -> io::Result<()> {
    enable_raw_mode()?;
    IS_SHOWN.store(true, Ordering::SeqCst);
    execute!(io::stdout(), EnterAlternateScreen, cursor::Hide).inspect_err(|_| hide())
}

/// Restores the terminal, if a screen is shown. One that is gone has nothing to restore.
fn hide() {
    if IS_SHOWN.swap(false, Ordering::SeqCst) {
        drop(disable_raw_mode());
        drop(execute!(io::stdout(), LeaveAlternateScreen, cursor::Show));
    }
}

/// Stops the process until a shell continues it, as Ctrl-Z does.
///
/// Raw terminals send a key instead of the signal.
#[cfg(unix)]
pub(crate) fn stop_process() {
    use rustix::process::{Signal, getpid, kill_process};
    // A system that doesn't stop it leaves it running.
    let _ = kill_process(getpid(), Signal::TSTP);
}

#[cfg(not(unix))]
pub(crate) const fn stop_process() {}

/// Returns the lines of a text that has the printer's own colors.
///
/// All else that is hidden in them is shown.
pub(crate) fn lay_out(text: &str) -> Vec<Line<'static>> {
    text.lines().map(lay_out_line).collect()
}

fn lay_out_line(line: &str) -> Line<'static> {
    let own = own_prefix();
    let mut style = Style::new();
    let mut spans = Vec::new();
    for (number, part) in line.split(own).enumerate() {
        let mut rest = part;
        if number > 0 {
            let (codes, after) = part.split_once('m').unwrap_or((part, ""));
            style = style_of(codes);
            rest = after;
        }
        if !rest.is_empty() {
            spans.push(Span::styled(visible::line(rest).into_owned(), style));
        }
    }
    Line::from(spans)
}

/// Returns the style that the printer's own colors stand for.
fn style_of(codes: &str) -> Style {
    let plain = Style::new();
    codes.split(';').fold(plain, |style, code| match code {
        "1" => style.add_modifier(Modifier::BOLD),
        "2" => style.add_modifier(Modifier::DIM),
        "31" => style.fg(Color::Red),
        "32" => style.fg(Color::Green),
        "33" => style.fg(Color::Yellow),
        "36" => style.fg(Color::Cyan),
        _ => plain,
    })
}

/// Returns the columns of the terminal to which a stream goes; [`WIDTH`] where it doesn't tell.
#[cfg(unix)]
pub(crate) fn columns(stream: impl std::os::fd::AsFd) -> usize {
    let size = rustix::termios::tcgetwinsize(stream);
    let columns = size.map(|size| usize::from(size.ws_col));
    columns.ok().filter(|it| *it > 0).unwrap_or(WIDTH)
}

#[cfg(not(unix))]
pub(crate) fn columns(_: impl io::Write) -> usize {
    let size = ratatui_crossterm::crossterm::terminal::size();
    let columns = size.map(|(columns, _)| usize::from(columns));
    columns.ok().filter(|it| *it > 0).unwrap_or(WIDTH)
}

/// Returns the columns that a text takes.
pub(crate) fn columns_of(text: &str) -> usize {
    Span::raw(text).width()
}

/// Returns one line of somebody's text in so many columns.
///
/// It is cut with `…` where it is longer, and filled up where it is shorter.
pub(crate) fn fill(text: &str, columns: usize) -> String {
    let text = visible::line(text);
    let mut cut = cut_to(&text, columns);
    let missing = columns.saturating_sub(columns_of(&cut));
    cut.push_str(&" ".repeat(missing));
    cut
}

fn cut_to(text: &str, columns: usize) -> String {
    if columns_of(text) <= columns {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut left = columns.saturating_sub(1);
    for grapheme in Span::raw(text).styled_graphemes(Style::new()) {
        let wide = columns_of(grapheme.symbol);
        if wide > left {
            break;
        }
        left -= wide;
        cut.push_str(grapheme.symbol);
    }
    if columns > 0 {
        cut.push('…');
    }
    cut
}

/// A character as it is shown, with its style and the columns that it takes.
#[derive(Clone, Copy)]
struct Cell<'l> {
    symbol: &'l str,
    style: Style,
    columns: usize,
}

/// Wraps lines at blanks into so many columns. A word that is longer is broken.
///
/// Further lines are indented; those of a [quoted](super::quoted) text have its mark. A character that is wider than all
/// columns is left out.
pub(crate) fn wrap_lines(lines: &[Line<'static>], columns: usize) -> Vec<Line<'static>> {
    let mut wrapped = Vec::with_capacity(lines.len());
    for line in lines {
        if line.width() <= columns {
            wrapped.push(line.clone());
        } else {
            wrap_into(line, columns, &mut wrapped);
        }
    }
    wrapped
}

fn wrap_into(line: &Line<'static>, columns: usize, wrapped: &mut Vec<Line<'static>>) {
    let cells: Vec<Cell<'_>> = line
        .styled_graphemes(Style::new())
        .map(|grapheme| Cell {
            symbol: grapheme.symbol,
            style: grapheme.style,
            columns: columns_of(grapheme.symbol),
        })
        .filter(|cell| cell.columns <= columns)
        .collect();
    let blanks = cells.iter().take_while(|cell| cell.symbol == " ").count();
    let indent = (blanks + HANGING).min(columns / 3);
    let blank = Cell {
        symbol: " ",
        style: Style::new(),
        columns: 1,
    };
    let has_mark = cells.get(blanks).is_some_and(|cell| cell.symbol == MARK);
    let head: Vec<Cell<'_>> = match cells.get(..blanks + HANGING) {
        Some(head) if has_mark => head.to_vec(),
        _ => vec![blank; indent],
    };
    let mut row: Vec<Cell<'_>> = Vec::new();
    let (mut used, mut is_first) = (0, true);
    let mut begin = if has_mark { head.len() } else { blanks };
    for cell in cells {
        let is_blank = cell.symbol == " ";
        while used + cell.columns > columns {
            let width = |cells: &[Cell<'_>]| cells.iter().map(|cell| cell.columns).sum::<usize>();
            let has_room = |width: usize| head.len() + width + cell.columns <= columns;
            let at = row.iter().rposition(|cell| cell.symbol == " ");
            let at = at.filter(|at| *at >= begin && !is_blank);
            // No row goes without its mark for the sake of a whole word.
            let at = at
                .filter(|at| !has_mark || row.get(at + 1..).is_some_and(|it| has_room(width(it))));
            let rest = at.map_or_else(Vec::new, |at| row.split_off(at + 1));
            wrapped.push(joined(&row));
            let width = width(&rest);
            begin = if has_room(width) { head.len() } else { 0 };
            row.clear();
            row.extend(head.iter().take(begin));
            row.extend(rest);
            used = begin + width;
            is_first = false;
        }
        // The blank at which a line was broken begins none.
        if !is_blank || is_first || row.len() > begin {
            used += cell.columns;
            row.push(cell);
        }
    }
    wrapped.push(joined(&row));
}

fn joined(row: &[Cell<'_>]) -> Line<'static> {
    let end = row.iter().rposition(|cell| cell.symbol != " ");
    let row = row.get(..end.map_or(0, |end| end + 1)).unwrap_or(row);
    let spans = row.chunk_by(|one, other| one.style == other.style);
    let spans = spans.map(|cells| {
        let text: String = cells.iter().map(|cell| cell.symbol).collect();
        let style = cells.first().map(|cell| cell.style).unwrap_or_default();
        Span::styled(text, style)
    });
    Line::from(spans.collect::<Vec<_>>())
}

#[cfg(all(test, unix))]
mod tests;
