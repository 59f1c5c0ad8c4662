//! Pins: the definitions of tools as they were first seen, or as a person has accepted them since.
//!
//! They stand in `statemark.lock` beside `statemark.toml`, whole, so that a review shows what has changed and a refusal can
//! say it. A server that tells models something else than what was read is the attack that this is about.
//!
//! What to rely on: the file is replaced and never written into; tools and keys are sorted, so the same pins are the same
//! bytes; a pin whose hash isn't that of its definition counts as changed.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use similar::TextDiff;
use statemark_runs::Hash;
use statemark_runs::files::{FolderLock, PendingFile, read_regular};
use statemark_text::visible;

use crate::declaration::NewTools;

/// The name of the file.
pub const LOCK_FILE: &str = "statemark.lock";

/// Largest lock. Unit: bytes. Why: some thousand tools.
const MAX_LOCK: u64 = 16 << 20;

/// The version of the file's format.
const VERSION: u32 = 1;

/// Lines around a change in a diff. Why: the key that a text belongs to.
const CONTEXT: usize = 2;

/// The definition of a tool, as a person has read it or nobody has yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pin {
    /// The hash of the definition.
    pub sha256: Hash,
    /// The whole tool, as its server listed it.
    pub definition: Value,
}

impl Pin {
    /// Pins a definition.
    #[must_use]
    pub fn new(definition: &Value) -> Self {
        Self {
            sha256: hash(definition),
            definition: definition.clone(),
        }
    }
}

/// Returns the hash of a definition. Keys of JSON are sorted, so that their order doesn't matter.
#[must_use]
pub fn hash(definition: &Value) -> Hash {
    Hash::digest(definition.to_string().as_bytes())
}

/// The pins of a server's tools, by the names that the server has for them.
pub type Pins = BTreeMap<String, Pin>;

/// The content of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: u32,
    servers: BTreeMap<String, Pins>,
}

/// The reasons why pins can't be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// The file can't be read or written.
    #[error("`{LOCK_FILE}` can't be used: {0}")]
    Io(#[from] io::Error),
    /// The file isn't one of ours.
    #[error("`{LOCK_FILE}` can't be read: {cause}")]
    Malformed {
        /// The defect.
        cause: String,
    },
}

/// The file with the pins of a project.
#[derive(Clone, Debug)]
pub struct Lock {
    path: PathBuf,
}

impl Lock {
    /// Returns the lock of a project, which need not exist.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Self {
        Self {
            path: folder.join(LOCK_FILE),
        }
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the pins of a server; none if it has none yet.
    ///
    /// # Errors
    ///
    /// The file can't be read, or isn't a lock.
    pub fn read(&self, server: &str) -> Result<Option<Pins>, LockError> {
        Ok(self.content()?.servers.remove(server))
    }

    /// Reads the pins of every server; none if there is no lock.
    ///
    /// # Errors
    ///
    /// The file can't be read, or isn't a lock.
    pub fn read_all(&self) -> Result<Option<BTreeMap<String, Pins>>, LockError> {
        match self.path.exists() {
            true => Ok(Some(self.content()?.servers)),
            false => Ok(None),
        }
    }

    /// Changes the pins of a server, in the file as it is now.
    ///
    /// # Errors
    ///
    /// The file can't be read or written.
    pub fn change(&self, server: &str, change: impl FnOnce(&mut Pins)) -> Result<(), LockError> {
        // Another server may be pinned meanwhile, and another process may serve the same project.
        let _alone = self.path.parent().map(FolderLock::take);
        let mut content = self.content()?;
        let before = content.clone();
        content.version = VERSION;
        change(content.servers.entry(server.to_owned()).or_default());
        if content != before {
            self.write(&content)?;
        }
        Ok(())
    }

    fn content(&self) -> Result<Content, LockError> {
        let malformed = |cause: String| LockError::Malformed { cause };
        let Some(text) = read_regular(&self.path, MAX_LOCK)? else {
            return Ok(Content::default());
        };
        let content: Content =
            serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))?;
        if content.version != VERSION {
            let version = content.version;
            return Err(malformed(format!(
                "it has version {version}, and this program knows {VERSION}"
            )));
        }
        Ok(content)
    }

    /// Replaces the file, so that a reader has the old one or the new one.
    fn write(&self, content: &Content) -> Result<(), LockError> {
        let text = serde_json::to_string_pretty(content).map_err(io::Error::from)?;
        // Nobody looks at invisible characters in a review.
        let text = visible::json(&text);
        let pending = PendingFile::new(&self.path, true)?;
        let mut file = pending.create_shared()?;
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        Ok(pending.finish()?)
    }
}

/// The relation of a tool to its pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The pinned definition.
    Pinned,
    /// A tool that is seen for the first time, and is to be pinned.
    First,
    /// A known server didn't have it before, and nobody has accepted it yet.
    New,
    /// Another definition than the pinned one.
    Changed,
    /// The server doesn't have it any more.
    Gone,
}

impl Standing {
    /// Returns whether the tool may be offered and called.
    #[must_use]
    pub const fn is_offered(self) -> bool {
        matches!(self, Self::Pinned | Self::First)
    }

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::First => "first",
            Self::New => "new",
            Self::Changed => "changed",
            Self::Gone => "gone",
        }
    }
}

/// Compares the tools that a server lists with its pins; `None` if it has none yet.
#[must_use]
pub(crate) fn compare(
    pins: Option<&Pins>,
    listed: &BTreeMap<String, Value>,
    new_tools: NewTools,
) -> BTreeMap<String, Standing> {
    let mut all = BTreeMap::new();
    for (name, definition) in listed {
        let standing = match pins.map(|pins| pins.get(name)) {
            None => Standing::First,
            Some(None) if new_tools == NewTools::Pin => Standing::First,
            Some(None) => Standing::New,
            Some(Some(pin)) => {
                let found = hash(definition);
                if pin.sha256 == found && hash(&pin.definition) == found {
                    Standing::Pinned
                } else {
                    Standing::Changed
                }
            }
        };
        all.insert(name.clone(), standing);
    }
    let gone = pins.into_iter().flat_map(Pins::keys);
    for name in gone.filter(|name| !listed.contains_key(*name)) {
        all.insert(name.clone(), Standing::Gone);
    }
    all
}

/// Writes the difference between the pinned definition of a tool and another one, line by line.
#[must_use]
pub(crate) fn diff(pinned: Option<&Value>, listed: Option<&Value>) -> String {
    let text =
        |value: Option<&Value>| value.map_or_else(String::new, |value| format!("{value:#}\n"));
    let (before, after) = (text(pinned), text(listed));
    let diff = TextDiff::from_lines(&before, &after);
    let diff = diff.unified_diff().context_radius(CONTEXT).to_string();
    visible::lines(&diff, |_| 0).into_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    #[test]
    fn every_part_of_a_definition_counts() {
        let tool = json!({
            "name": "a", "title": "A", "description": "does a",
            "inputSchema": {"type": "object", "properties": {"x": {"description": "the x"}}},
            "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true},
            "icons": [{"src": "a.png"}], "_meta": {"b": 1},
        });
        let pins = Pins::from([("a".to_owned(), Pin::new(&tool))]);
        let standing = |listed: &Value| {
            let listed = BTreeMap::from([("a".to_owned(), listed.clone())]);
            compare(Some(&pins), &listed, NewTools::Quarantine)["a"]
        };
        assert_eq!(standing(&tool), Standing::Pinned);
        for pointer in [
            "/title",
            "/description",
            "/inputSchema/properties/x/description",
            "/outputSchema/type",
            "/annotations/readOnlyHint",
            "/icons/0/src",
            "/_meta/b",
        ] {
            let mut other = tool.clone();
            *other.pointer_mut(pointer).unwrap() = json!("else");
            assert_eq!(standing(&other), Standing::Changed, "{pointer}");
        }
        for key in tool.as_object().unwrap().keys() {
            let mut other = tool.clone();
            other.as_object_mut().unwrap().remove(key);
            assert_eq!(standing(&other), Standing::Changed, "without {key}");
        }
    }

    #[test]
    fn first_tools_are_pinned_and_later_ones_wait() {
        let listed = BTreeMap::from([("a".to_owned(), json!({})), ("b".to_owned(), json!({}))]);
        let first = compare(None, &listed, NewTools::Quarantine);
        assert_eq!(first["b"], Standing::First);
        let pins = Pins::from([
            ("a".to_owned(), Pin::new(&json!({}))),
            ("c".to_owned(), Pin::new(&json!({}))),
        ]);
        let later = compare(Some(&pins), &listed, NewTools::Quarantine);
        assert_eq!(later["a"], Standing::Pinned);
        assert_eq!(later["b"], Standing::New);
        assert_eq!(later["c"], Standing::Gone);
        assert_eq!(
            compare(Some(&pins), &listed, NewTools::Pin)["b"],
            Standing::First
        );
        // A server whose tools were all taken back is known all the same.
        let none = Pins::new();
        assert_eq!(
            compare(Some(&none), &listed, NewTools::Quarantine)["a"],
            Standing::New
        );
    }

    #[test]
    fn a_forged_pin_counts_as_changed() {
        let listed = BTreeMap::from([("a".to_owned(), json!({"description": "evil"}))]);
        let mut pin = Pin::new(&json!({"description": "good"}));
        pin.sha256 = hash(&listed["a"]);
        let pins = Pins::from([("a".to_owned(), pin)]);
        let standings = compare(Some(&pins), &listed, NewTools::Quarantine);
        assert_eq!(standings["a"], Standing::Changed);
    }

    #[test]
    fn a_diff_shows_the_lines_and_what_cant_be_seen() {
        let before = json!({"description": "reads a file", "name": "read"});
        let after = json!({"description": "reads a file\u{202e}", "name": "read"});
        let diff = diff(Some(&before), Some(&after));
        assert!(
            diff.contains("-  \"description\": \"reads a file\","),
            "{diff}"
        );
        assert!(
            diff.contains("+  \"description\": \"reads a file\\u{202e}\","),
            "{diff}"
        );
    }

    #[test]
    fn the_file_is_sorted_and_read_back() {
        let folder = std::env::temp_dir().join(format!("statemark-lock-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let lock = Lock::in_folder(&folder);
        assert!(lock.read("b").unwrap().is_none());
        for server in ["b", "a"] {
            let pin = |pins: &mut Pins| {
                for tool in ["z", "y"] {
                    pins.insert(tool.to_owned(), Pin::new(&json!({"name": tool, "a": 1})));
                }
            };
            lock.change(server, pin).unwrap();
        }
        let text = fs::read_to_string(lock.path()).unwrap();
        let places = ["\"a\": {", "\"y\": {", "\"z\": {", "\"b\": {"].map(|it| text.find(it));
        assert!(places.is_sorted() && places[0].is_some(), "{text}");
        assert_eq!(lock.read("b").unwrap().unwrap().len(), 2);
        assert_eq!(
            fs::read_dir(&folder).unwrap().count(),
            1,
            "nothing else is left"
        );
        fs::write(lock.path(), "{\"version\": 2, \"servers\": {}}").unwrap();
        assert!(
            lock.read("b")
                .unwrap_err()
                .to_string()
                .contains("version 2")
        );
        fs::remove_dir_all(folder).unwrap();
    }

    /// The servers of a project are first seen at once, by threads of one process and by other processes.
    #[test]
    fn servers_that_are_pinned_at_once_keep_their_pins() {
        let name = format!("statemark-lock-at-once-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        drop(fs::remove_dir_all(&folder));
        fs::create_dir_all(&folder).unwrap();
        let lock = Lock::in_folder(&folder);
        std::thread::scope(|scope| {
            for server in 0..8 {
                let lock = &lock;
                scope.spawn(move || {
                    let pin = |pins: &mut Pins| {
                        pins.insert("y".to_owned(), Pin::new(&json!({"name": "y"})));
                    };
                    lock.change(&format!("s{server}"), pin).unwrap();
                });
            }
        });
        assert_eq!(lock.read_all().unwrap().unwrap().len(), 8);
        fs::remove_dir_all(folder).unwrap();
    }
}
