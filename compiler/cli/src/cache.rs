//! The cache of `lint`: the specs in which it found nothing.
//!
//! A file with findings is always compiled again, so the cache needn't keep any; an author works on few of them at once.
//! An entry's key is a hash of everything that the result depends on: the version and the sources of this program, the
//! file's name, its content, and the findings that the project wants. Another program and a changed file thus have other keys, and nothing is ever out of date.
//!
//! Each folder in which `lint` is called has a file of its own below the user's folder for caches. It is written whole
//! under another name and then renamed. Of two processes that write at once the later one counts, which only costs time.
//! An entry checks itself, so a damaged file has fewer entries and no wrong ones.
//!
//! Nothing here fails: without a cache, `lint` compiles every file.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use statemark_runs::Hash;
use statemark_runs::files::{create_new, make_private_folder};

use crate::environment::{self, user_folder};
use crate::files;

/// Most entries of a file; past it, those that the latest run had no use for are dropped.
///
/// Why: 2.6 MB are read at once.
const MAX_ENTRIES: usize = 1 << 16;

/// Longest time for which a file is kept that nobody writes. Why: its folder is likely gone.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Most files that are kept, the latest ones.
///
/// Why: every folder in which `lint` was ever called has one.
const MAX_FILES: usize = 100;

/// Length of a key. Unit: bytes.
const KEY: usize = 32;

/// Length of an entry: a key, a number of machines, and the number's complement. Unit: bytes.
const ENTRY: usize = KEY + 4 + 4;

/// The identity of this program: its version, and its sources as `build.rs` found them.
const PROGRAM: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("STATEMARK_SOURCES"));

/// The key of an entry.
pub(crate) type Key = Hash;

/// The results of earlier runs in the current folder.
#[derive(Debug)]
pub(crate) struct Cache {
    path: PathBuf,
    /// A hash of [`PROGRAM`].
    program: Hash,
    /// Entries in the order of their keys.
    entries: Vec<u8>,
    /// The keys that this run has asked for, with the number of machines; true for those that it has added.
    used: Mutex<Vec<(Key, u32, bool)>>,
}

impl Cache {
    /// Opens the cache of the current folder; `None` if this user has no folder for caches.
    pub(crate) fn open() -> Option<Self> {
        let folder = user_folder(&environment::CACHE_HOME, ".cache")?;
        let here = std::env::current_dir().ok()?;
        let name = Hash::digest(here.as_os_str().as_encoded_bytes());
        let path = folder.join("statemark/lint").join(name.to_string());
        let entries = files::read(&path, MAX_ENTRIES * ENTRY).ok();
        Some(Self {
            path,
            program: Hash::digest(PROGRAM.as_bytes()),
            entries: entries.and_then(Result::ok).unwrap_or_default(),
            used: Mutex::default(),
        })
    }

    /// Returns the key of a file by its name, its content, and what the project wants to know of it.
    pub(crate) fn key(&self, name: &str, rules: &str, content: &[u8]) -> Key {
        let length = KEY + 16 + name.len() + rules.len() + content.len();
        let mut bytes = Vec::with_capacity(length);
        bytes.extend_from_slice(self.program.as_bytes());
        for part in [name, rules] {
            // What ends where the next part begins must not be mistaken for something longer.
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes.extend_from_slice(content);
        Hash::digest(&bytes)
    }

    /// Returns the number of machines of a file in which nothing was found.
    pub(crate) fn get(&self, key: &Key) -> Option<usize> {
        let count = find(&self.entries, key)?;
        self.note(*key, count, false);
        usize::try_from(count).ok()
    }

    /// Adds a file in which nothing was found, with the number of its machines.
    pub(crate) fn add(&self, key: Key, machine_count: usize) {
        if let Ok(count) = u32::try_from(machine_count) {
            self.note(key, count, true);
        }
    }

    fn note(&self, key: Key, count: u32, is_new: bool) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.push((key, count, is_new));
    }

    /// Writes what was added, if anything was.
    pub(crate) fn save(self) {
        let used = self.used.into_inner();
        let used = used.unwrap_or_else(PoisonError::into_inner);
        if !used.iter().any(|(_, _, is_new)| *is_new) {
            return;
        }
        let added = used.iter().filter(|(_, _, is_new)| *is_new);
        let kept = self.entries.as_chunks::<ENTRY>().0;
        let entries = if kept.len() + added.clone().count() <= MAX_ENTRIES {
            let added = added.map(|(key, count, _)| entry(key, *count));
            kept.iter().copied().chain(added).collect()
        } else {
            let used = used.iter().take(MAX_ENTRIES);
            used.map(|(key, count, _)| entry(key, *count)).collect()
        };
        write(&self.path, entries);
    }
}

/// Returns the bytes of an entry.
fn entry(key: &Key, count: u32) -> [u8; ENTRY] {
    let mut bytes = [0; ENTRY];
    let parts = key.as_bytes().iter().copied();
    let parts = parts.chain(count.to_le_bytes());
    let parts = parts.chain((!count).to_le_bytes());
    bytes
        .iter_mut()
        .zip(parts)
        .for_each(|(byte, part)| *byte = part);
    bytes
}

/// Finds the count of a key among sorted entries.
fn find(entries: &[u8], key: &Key) -> Option<u32> {
    let (entries, _) = entries.as_chunks::<ENTRY>();
    let found = entries.partition_point(|entry| entry.as_slice() < key.as_bytes().as_slice());
    let (found, counts) = entries.get(found)?.split_first_chunk::<KEY>()?;
    let (count, complement) = counts.split_first_chunk::<4>()?;
    let count = u32::from_le_bytes(*count);
    let is_whole = found == key.as_bytes() && complement == (!count).to_le_bytes();
    is_whole.then_some(count)
}

/// Writes entries, and removes the files of folders that nobody has linted for long.
fn write(path: &Path, mut entries: Vec<[u8; ENTRY]>) {
    entries.sort_unstable();
    entries.dedup();
    let Some(folder) = path.parent() else {
        return;
    };
    let temporary = path.with_extension(std::process::id().to_string());
    // A file of that name is from a process that is gone.
    drop(fs::remove_file(&temporary));
    let outcome = make_private_folder(folder)
        .and_then(|()| create_new(&temporary)?.write_all(entries.as_flattened()))
        .and_then(|()| fs::rename(&temporary, path));
    if outcome.is_err() {
        // Whatever the reason, it is no reason to fail a lint.
        drop(fs::remove_file(&temporary));
    }
    let is_new = |(modified, _): &(SystemTime, PathBuf)| {
        modified.elapsed().map_or(true, |age| age <= MAX_AGE)
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let dated =
        entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())));
    let mut found: Vec<(SystemTime, PathBuf)> = dated.collect();
    found.sort_unstable_by(|one, other| other.cmp(one));
    for (index, file) in found.iter().enumerate() {
        if index >= MAX_FILES || !is_new(file) {
            drop(fs::remove_file(&file.1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(path: &Path) -> Cache {
        Cache {
            path: path.to_owned(),
            program: Hash::ZERO,
            entries: fs::read(path).unwrap_or_default(),
            used: Mutex::default(),
        }
    }

    #[test]
    fn what_was_added_is_found_again() {
        let folder = std::env::temp_dir().join(format!("statemark-cache-{}", std::process::id()));
        let path = folder.join("entries");
        let first = opened(&path);
        let keys: Vec<Key> = (0_u8..50)
            .map(|number| first.key("a.md", "", &[number]))
            .collect();
        for (count, key) in keys.iter().enumerate() {
            assert_eq!(first.get(key), None);
            first.add(*key, count);
        }
        first.save();
        let second = opened(&path);
        for (count, key) in keys.iter().enumerate() {
            assert_eq!(second.get(key), Some(count));
        }
        for other in [
            second.key("b.md", "", &[0]),
            second.key("a.md", "", &[0, 0]),
            second.key("a.md", "rules", &[0]),
            second.key("", "a.md", b"\0"),
        ] {
            assert_eq!(second.get(&other), None);
        }
        // Nothing was added, so nothing is written.
        fs::remove_file(&path).unwrap();
        second.save();
        assert!(!path.exists());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_damaged_entry_is_none() {
        let key = Hash::digest(b"key");
        let whole = [entry(&Hash::ZERO, 1), entry(&key, 7)];
        let whole = whole.as_flattened();
        assert_eq!(find(whole, &key), Some(7));
        for position in ENTRY..whole.len() {
            let mut damaged = whole.to_vec();
            damaged[position] ^= 4;
            assert_eq!(find(&damaged, &key), None, "{position}");
            assert_eq!(find(&whole[..position], &key), None, "{position}");
        }
        assert_eq!(find(&[0; 3 * ENTRY], &Hash::ZERO), None);
    }

    #[test]
    fn files_of_forgotten_folders_are_removed() {
        let folder = std::env::temp_dir().join(format!("statemark-caches-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let old = fs::File::create(folder.join("old")).unwrap();
        let past = SystemTime::now() - MAX_AGE - Duration::from_secs(60);
        old.set_modified(past).unwrap();
        fs::write(folder.join("young"), "").unwrap();
        write(&folder.join("written"), vec![entry(&Hash::ZERO, 1)]);
        let mut names: Vec<String> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["written", "young"]);
        fs::remove_dir_all(folder).unwrap();
    }
}
