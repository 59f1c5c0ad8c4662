//! Log lines, on standard error: what a server does, for those who run it.
//!
//! What to rely on: a line is one event; it has no secret that the environment or its shape gives away, and no character
//! that a terminal obeys. Without a level nothing subscribes to events, and they cost a load.
//!
//! Deliberately not here: files and their rotation. Service managers and containers keep what is written to standard error.

use std::io::{self, Write};

use clap::ValueEnum;
use statemark_runs::Redactor;
use statemark_text::visible;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::args::TextFormat;
use crate::environment;
use crate::failure::Failure;
use crate::printer;

/// The beginning of our own modules' paths. Other crates' events are about their insides.
const OWN: &str = "statemark";

/// The least severe lines that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl LogLevel {
    const fn filter(self) -> LevelFilter {
        match self {
            Self::Off => LevelFilter::OFF,
            Self::Error => LevelFilter::ERROR,
            Self::Warn => LevelFilter::WARN,
            Self::Info => LevelFilter::INFO,
            Self::Debug => LevelFilter::DEBUG,
            Self::Trace => LevelFilter::TRACE,
        }
    }
}

/// Begins to write log lines of a level: the flag's, else the environment's, else the default.
pub(crate) fn begin(
    flag: Option<LogLevel>,
    format: TextFormat,
    default: LogLevel,
) -> Result<(), Failure> {
    let level = match (flag, environment::LOG.text()) {
        (Some(level), _) => level,
        (None, None) => default,
        (None, Some(value)) => LogLevel::from_str(&value, true).map_err(|_| {
            let allowed = "off, error, warn, info, debug or trace";
            Failure::bad_variable(&environment::LOG, &value, allowed)
        })?,
    };
    if level == LogLevel::Off {
        return Ok(());
    }
    let lines = tracing_subscriber::fmt::layer().with_ansi(false);
    let targets = Targets::new().with_target(OWN, level.filter());
    let registry = tracing_subscriber::registry().with(targets);
    let output = Output {
        redactor: Redactor::from_environment(&[]),
        format,
    };
    // A subscriber that is there already goes on; a process begins once.
    drop(match format {
        TextFormat::Text => {
            let lines = lines.with_target(false).with_writer(output);
            tracing::subscriber::set_global_default(registry.with(lines))
        }
        TextFormat::Json => {
            let lines = lines.json().flatten_event(true).with_writer(output);
            tracing::subscriber::set_global_default(registry.with(lines))
        }
    });
    Ok(())
}

/// The place where lines go.
struct Output {
    redactor: Redactor,
    format: TextFormat,
}

impl<'o> MakeWriter<'o> for Output {
    type Writer = Lines<'o>;

    fn make_writer(&'o self) -> Lines<'o> {
        Lines(self)
    }
}

/// A writer that gets one line at a time, whole.
struct Lines<'o>(&'o Output);

impl Write for Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        printer::print_log_line(&self.0.clean(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output {
    /// Returns a line without secrets, in which hidden characters are visible.
    fn clean(&self, bytes: &[u8]) -> String {
        let line = String::from_utf8_lossy(bytes);
        let line = self.redactor.redact_str(line.trim_end_matches('\n'));
        match self.format {
            TextFormat::Text => visible::line(&line).into_owned(),
            TextFormat::Json => visible::json(&line).into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes an event through a whole subscriber, and returns its line.
    fn line(format: TextFormat) -> String {
        use std::sync::{Arc, Mutex};

        #[derive(Clone, Default)]
        struct Kept(Arc<Mutex<Vec<u8>>>);
        impl Write for Kept {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.lock().unwrap().extend(bytes);
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }

        let kept = Kept::default();
        let writer = kept.clone();
        let lines = tracing_subscriber::fmt::layer()
            .with_ansi(false)
            .without_time();
        let write = || {
            let cause = "no such\nhost \u{1b}[2J\u{202e} s3cret-of-the-store";
            tracing::error!(cause, path = "/a\r\nERROR forged", peer = %"x\ny", "it \u{7}failed");
        };
        match format {
            TextFormat::Text => {
                let lines = lines.with_writer(move || writer.clone());
                let registry = tracing_subscriber::registry().with(lines);
                tracing::subscriber::with_default(registry, write);
            }
            TextFormat::Json => {
                let lines = lines
                    .json()
                    .flatten_event(true)
                    .with_writer(move || writer.clone());
                let registry = tracing_subscriber::registry().with(lines);
                tracing::subscriber::with_default(registry, write);
            }
        }
        let secret = (
            "STORE_PASSWORD".to_owned(),
            "s3cret-of-the-store".to_owned(),
        );
        let output = Output {
            redactor: Redactor::new([secret]),
            format,
        };
        let bytes = kept.0.lock().unwrap().clone();
        output.clean(&bytes)
    }

    #[test]
    fn a_line_has_no_secret_and_nothing_that_a_terminal_obeys() {
        for format in [TextFormat::Text, TextFormat::Json] {
            let line = line(format);
            assert!(line.contains("[redacted:STORE_PASSWORD]"), "{line}");
            assert!(!line.contains("s3cret"), "{line}");
            assert!(!line.contains(visible::is_hidden), "{line:?}");
        }
        let json: serde_json::Value = serde_json::from_str(&line(TextFormat::Json)).unwrap();
        assert_eq!(json["path"], "/a\r\nERROR forged");
        assert_eq!(json["level"], "ERROR");
    }
}
