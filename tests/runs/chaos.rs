//! Processes that are killed, stopped and crowded while they write to one file.
//!
//! A process of these tests is this program again, told by its environment to play a part. `STATEMARK_CHAOS=long` lets
//! them go on until 50 processes were killed and 20,000 appends acknowledged; else each test takes a few seconds.

mod approved;
mod fair;
mod killed;
mod power;
mod stopped;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use statemark_runs::SystemClock;
use statemark_stores::SqliteStore;

use crate::stores::sqlite::folder;

const PART: &str = "STATEMARK_CHAOS_PART";
const FOLDER: &str = "STATEMARK_CHAOS_FOLDER";
const NAME: &str = "STATEMARK_CHAOS_NAME";
const BEFORE: &str = "STATEMARK_CHAOS_BEFORE";

/// What a process is told.
struct Told {
    folder: PathBuf,
    /// Who it is.
    name: String,
    /// Whom it follows, if it follows anybody.
    before: Option<String>,
}

/// The part that this process is told to play. Asked as a test among others, it plays none.
#[test]
fn part() {
    let Ok(part) = std::env::var(PART) else {
        return;
    };
    let told = Told {
        folder: std::env::var_os(FOLDER).unwrap().into(),
        name: std::env::var(NAME).unwrap(),
        before: std::env::var(BEFORE).ok(),
    };
    match part.as_str() {
        "approver" => approved::approver(&told),
        "writer" => killed::write(&told),
        "holder" => stopped::hold(&told),
        "crowd" => fair::crowd(&told),
        "few" => power::few(&told),
        other => panic!("no part `{other}`"),
    }
}

/// A process that plays a part, not yet begun.
fn process(part: &str, folder: &Path, name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["chaos::part", "--exact", "--nocapture"])
        .env(PART, part)
        .env(FOLDER, folder)
        .env(NAME, name)
        .stdout(Stdio::null());
    command
}

fn begin(mut command: Command) -> Child {
    command.spawn().unwrap()
}

fn is_long() -> bool {
    std::env::var("STATEMARK_CHAOS").is_ok_and(|it| it == "long")
}

fn new_folder() -> PathBuf {
    let folder = folder();
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn open(folder: &Path) -> SqliteStore {
    SqliteStore::open(&folder.join("runs.db"), SystemClock).unwrap()
}

/// Tells other processes of the folder something.
fn notify(folder: &Path, word: &str) {
    std::fs::write(folder.join(word), "").unwrap();
}

/// Waits until another process has told it.
fn hear(folder: &Path, word: &str) {
    let begun = Instant::now();
    while !folder.join(word).exists() {
        let waited = begun.elapsed();
        assert!(waited < Duration::from_secs(60), "nobody says `{word}`");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Numbers that look random, and are the same each time.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn of(name: &str) -> Self {
        let seed = name.bytes().fold(0xcbf2_9ce4_8422_2325, |seed: u64, byte| {
            (seed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(seed | 1)
    }

    /// A number below another.
    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % most
    }
}
