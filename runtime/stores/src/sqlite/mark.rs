//! The high-water mark: a file beside the store that says how far the store went.
//!
//! A log that is cut, removed or damaged loses its end, and what is left is a whole store of an earlier time. The mark
//! tells: it has the number of changes that the store had seen, and the number of its runs.
//!
//! What to rely on: the mark may lag, and it never leads. It is written after a commit, so after the log has reached the
//! disk, by the one process that holds the writers' lock, and before that lock is released. So marks of several processes
//! follow one another as their commits do; a process that dies in between leaves the mark of the commit before. The mark
//! itself is never synced: a machine that loses power loses the end of the mark, and what is left is an older mark, or one
//! that can't be read, which says nothing.
//!
//! Deliberately not here: a proof against somebody who can write the files. Whoever can change the store can change the
//! mark; anchors that are kept elsewhere are for that ([`maintenance::verify`](statemark_runs::maintenance::verify())).

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::error::Doing as _;
use statemark_runs::files;
use statemark_runs::store::StoreError;

/// The extent of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The number of changes that it has seen.
    pub(super) version: u64,
    /// The number of its runs, its own journal included.
    pub(super) runs: u64,
}

/// The file of the mark.
pub(super) struct MarkFile {
    path: PathBuf,
    /// None until it is written for the first time.
    file: Option<File>,
    /// The mark that this process has written last.
    written: Option<Mark>,
}

/// The first word of the file. The number is the format's.
const WORD: &str = "statemark-mark-1";

/// Most bytes that are read of the file. Why: it is one line of half as many.
const MAX_SIZE: u64 = 256;

impl Mark {
    /// Reads how far a store has gone, in one transaction with whatever else is read there.
    pub(super) fn of_store(connection: &Connection) -> Result<Self, StoreError> {
        let sql = "SELECT (SELECT value FROM counts WHERE name = 'version'),
                          (SELECT value FROM counts WHERE name = 'runs')";
        let mut statement = connection.prepare_cached(sql).doing("reading")?;
        let read =
            statement.query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)));
        let (version, runs) = read.doing("reading")?;
        Ok(Self {
            version: version.unsigned_abs(),
            runs: runs.unsigned_abs(),
        })
    }

    fn line(self) -> String {
        let text = format!("{WORD} {:020} {:020}", self.version, self.runs);
        let sum = checksum(&text);
        format!("{text} {sum:016x}\n")
    }

    fn parse(text: &str) -> Option<Self> {
        let (body, sum) = text.lines().next()?.rsplit_once(' ')?;
        if u64::from_str_radix(sum, 16).ok()? != checksum(body) {
            return None;
        }
        let mut words = body.split(' ');
        if words.next()? != WORD {
            return None;
        }
        Some(Self {
            version: words.next()?.parse().ok()?,
            runs: words.next()?.parse().ok()?,
        })
    }
}

/// Returns a checksum of a line, by which half a line is none. Source: FNV-1a.
fn checksum(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Returns the path of the mark of a store.
pub(super) fn path_of(store: &Path) -> PathBuf {
    let mut path = store.as_os_str().to_owned();
    path.push("-mark");
    PathBuf::from(path)
}

/// Reads the mark of a store, if there is one that can be read.
pub(super) fn read(store: &Path) -> Option<Mark> {
    let text = files::read_own(&path_of(store), MAX_SIZE).ok()??;
    Mark::parse(&text)
}

impl MarkFile {
    /// Returns the file of the mark of a store. It needn't exist.
    pub(super) fn new(store: &Path) -> Self {
        Self {
            path: path_of(store),
            file: None,
            written: None,
        }
    }

    /// Writes a mark after its commit, under the writers' lock. A mark that can't be written only lags.
    pub(super) fn write(&mut self, mark: Mark) {
        if self.written == Some(mark) {
            return;
        }
        if self.file.is_none() {
            self.file = files::open_or_create(&self.path).ok();
        }
        let written = self.file.as_mut().is_some_and(|file| {
            // One write of one line: what is there before and after has the same length.
            let start = file.seek(SeekFrom::Start(0));
            start.is_ok() && file.write_all(mark.line().as_bytes()).is_ok()
        });
        self.written = written.then_some(mark);
    }
}

/// Describes what a store lacks of what its mark says, if it lacks something.
///
/// The mark has to be read before the store: others may write meanwhile.
pub(super) fn missing(
    connection: &Connection,
    mark: Option<Mark>,
) -> Result<Option<String>, StoreError> {
    let found = Mark::of_store(connection)?;
    let count = "SELECT count(*) FROM runs";
    let rows = connection.query_row(count, [], |row| row.get::<_, i64>(0));
    let rows = rows.doing("reading")?.unsigned_abs();
    if let Some(mark) = mark
        && found.version < mark.version
    {
        let (had, has) = (mark.version, found.version);
        return Ok(Some(format!(
            "it had seen {had} changes, and what is left ends with change {has}"
        )));
    }
    let expected = match mark {
        Some(mark) if mark.version == found.version => mark.runs,
        _ => found.runs,
    };
    if rows < expected || found.runs < expected {
        let gone = expected.saturating_sub(rows.min(found.runs));
        let plural = if gone == 1 { " is" } else { "s are" };
        return Ok(Some(format!(
            "{gone} run{plural} gone, and nobody has pruned that many"
        )));
    }
    Ok(None)
}

/// Describes a loss that shows before the file is opened: it is empty, and had something in it.
pub(super) fn emptied(store: &Path, mark: Option<Mark>) -> Option<String> {
    // Not opened, since closing it would end this process's locks on it.
    let is_empty = match std::fs::symlink_metadata(store) {
        Ok(facts) => facts.is_file() && facts.len() == 0,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    let mark = mark.filter(|mark| is_empty && mark.version > 0)?;
    Some(format!(
        "it had seen {} changes, and its file is empty",
        mark.version
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_back_and_half_a_line_says_nothing() {
        let mark = Mark {
            version: 73,
            runs: 12,
        };
        let line = mark.line();
        assert_eq!(Mark::parse(&line), Some(mark));
        for end in 0..line.len() - 1 {
            let half: String = line.chars().take(end).collect();
            assert_eq!(Mark::parse(&half), None, "{end}");
        }
        for at in 0..line.len() - 1 {
            let mut torn = line.clone().into_bytes();
            torn[at] ^= 1;
            assert_eq!(Mark::parse(&String::from_utf8(torn).unwrap()), None, "{at}");
        }
    }
}
