//! A git directory of our own, in the folder `.statemark` of a working copy.
//!
//! Git reads the configuration of the directory that it works in, and a configuration can name programs. So nothing is read
//! from the repository's own directory but data ([`Theirs`]), and not even from what is kept here: each [`Session`] is a
//! fresh directory with a configuration that was just written, over objects that stay.
//!
//! ```text
//! .statemark/checkpoints.git/HEAD, config    for people who look into it with git; we never read them
//!                            objects/        what is kept
//!                            refs/statemark/ the commits, so that nobody's `gc` removes them
//!                            restore.lock    held by whoever puts files back
//!                            session-…/      GIT_DIR of one operation
//! ```
//!
//! [`Theirs`]: super::theirs::Theirs

use std::fs::{self, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::theirs::Format;
use super::{GitError, failed};
use crate::files::{
    check_own_folder, create_new, make_private_folder, open_or_create, read_regular,
};

/// The folder of what is ours in a working copy.
const FOLDER: &str = ".statemark";

/// The file beside which git looks for nothing else to ignore.
const IGNORE: &str = ".gitignore";

/// The beginning of sessions' names.
const SESSION: &str = "session-";

/// The age at which a session's folder is litter of a process that died.
///
/// Why: no copy of files takes a day.
const LITTER_AGE: Duration = Duration::from_secs(24 * 3_600);

/// The longest wait for another process that puts files back. Why: a caller has given up by then.
const PATIENCE: Duration = Duration::from_secs(60);

/// The interval of looks at a lock. Why: putting files back takes longer.
const POLL: Duration = Duration::from_millis(20);

/// Largest list of ignored files that is taken over. Unit: bytes. Why: people write it by hand.
const MAX_EXCLUDE: u64 = 1 << 20;

/// The directory that keeps the checkpoints of a working copy.
#[derive(Clone, Debug)]
pub(super) struct OwnGit {
    path: PathBuf,
}

impl OwnGit {
    /// Opens the directory of a working copy, and makes it if there is none.
    ///
    /// # Errors
    ///
    /// A part of it is a link or another user's: a repository that was cloned may have brought it along.
    pub(super) fn open(working_copy: &Path, format: Format) -> Result<Self, GitError> {
        let doing = "opening the folder of checkpoints";
        let name = match format {
            Format::Sha1 => "checkpoints.git",
            Format::Sha256 => "checkpoints-sha256.git",
        };
        let folder = working_copy.join(FOLDER);
        let own = Self {
            path: folder.join(name),
        };
        let prepare = || -> io::Result<()> {
            make_own_folder(&folder)?;
            if !folder.join(IGNORE).is_symlink() && !folder.join(IGNORE).exists() {
                write_durably(&folder.join(IGNORE), b"*\n")?;
            }
            make_own_folder(&own.path)?;
            for part in [
                "objects",
                "objects/pack",
                "objects/info",
                "refs",
                "refs/statemark",
            ] {
                make_own_folder(&own.path.join(part))?;
            }
            for entry in fs::read_dir(own.path.join("objects"))? {
                match check_own_folder(&entry?.path()) {
                    // A folder of another process's git, which is done with it.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    checked => checked?,
                }
            }
            // Objects of elsewhere may vanish, and none are ours.
            for name in ["alternates", "http-alternates"] {
                if own
                    .path
                    .join("objects/info")
                    .join(name)
                    .symlink_metadata()
                    .is_ok()
                {
                    return Err(io::Error::other(format!(
                        "`objects/info/{name}` isn't ours"
                    )));
                }
            }
            if !own.path.join("HEAD").exists() {
                write_durably(&own.path.join("config"), format.config().as_bytes())?;
                write_durably(&own.path.join("HEAD"), NO_BRANCH)?;
            }
            own.remove_litter()
        };
        prepare().map_err(|error| {
            let (path, help) = (
                own.path.display(),
                "move it away, and checkpoints begin anew",
            );
            failed(doing, format!("`{path}`: {error}; {help}"))
        })?;
        Ok(own)
    }

    /// Returns the folder of the objects.
    pub(super) fn objects(&self) -> PathBuf {
        self.path.join("objects")
    }

    /// Begins a session. Files that the repository's own list ignores are ignored.
    pub(super) fn begin(
        &self,
        format: Format,
        exclude: Option<&Path>,
    ) -> Result<Session, GitError> {
        let doing = "opening the folder of checkpoints";
        let path = self.path.join(format!("{SESSION}{}", uuid::Uuid::now_v7()));
        let session = Session { path };
        let prepare = || -> io::Result<()> {
            make_private_folder(&session.path.join("refs"))?;
            make_private_folder(&session.path.join("info"))?;
            create_new(&session.path.join("config"))?.write_all(format.config().as_bytes())?;
            create_new(&session.path.join("HEAD"))?.write_all(NO_BRANCH)?;
            let exclude = exclude
                .map(|path| read_regular(path, MAX_EXCLUDE))
                .transpose()?;
            let exclude = exclude.flatten().unwrap_or_default();
            create_new(&session.path.join("info/exclude"))?.write_all(exclude.as_bytes())
        };
        prepare().map_err(|error| failed(doing, error))?;
        Ok(session)
    }

    /// Writes a reference, so that its commit is kept.
    pub(super) fn keep(&self, reference: &str, commit: &str) -> Result<(), GitError> {
        let path = self.path.join(reference);
        let write = || -> io::Result<()> {
            if let Some(folder) = path.parent() {
                make_own_folder(folder)?;
            }
            let temporary = path.with_extension(format!("{}.tmp", uuid::Uuid::now_v7()));
            write_durably(&temporary, format!("{commit}\n").as_bytes())?;
            fs::rename(&temporary, &path)
        };
        write().map_err(|error| failed("keeping the checkpoint", error))
    }

    /// Waits for the turn of this process to put files back.
    ///
    /// The kernel releases the lock of a process that dies.
    pub(super) fn lock(&self) -> Result<WorkingCopyLock, GitError> {
        let doing = "the working copy can't be locked";
        let path = self.path.join("restore.lock");
        let until = Instant::now() + PATIENCE;
        loop {
            let file = open_or_create(&path).map_err(|error| failed(doing, error))?;
            match file.try_lock() {
                // Whoever had it before has removed it, so that the file of that name is another one.
                Ok(()) if !is_at(&file, &path) => {}
                Ok(()) => return Ok(WorkingCopyLock { path, _file: file }),
                Err(TryLockError::Error(error)) => return Err(failed(doing, error)),
                Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(POLL),
                Err(TryLockError::WouldBlock) => {
                    let seconds = PATIENCE.as_secs();
                    let cause =
                        format!("another process has put files back for {seconds} s; try again");
                    return Err(failed(doing, cause));
                }
            }
        }
    }

    /// Removes the sessions of processes that died.
    fn remove_litter(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let is_session = entry.file_name().to_string_lossy().starts_with(SESSION);
            let age = entry.metadata().and_then(|facts| facts.modified());
            let age = age.map(|time| SystemTime::now().duration_since(time).unwrap_or_default());
            if is_session && age.is_ok_and(|age| age > LITTER_AGE) {
                // What can't be removed harms nobody.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        Ok(())
    }
}

/// A branch that doesn't exist, as `HEAD`: git wants one.
const NO_BRANCH: &[u8] = b"ref: refs/heads/none\n";

/// A lock on a working copy; dropping it removes the file, and so releases the lock.
pub(crate) struct WorkingCopyLock {
    path: PathBuf,
    _file: fs::File,
}

impl Drop for WorkingCopyLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The git directory of one operation, which is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Session {
    path: PathBuf,
}

impl Session {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // A folder that stays is litter, and no reason to fail.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Makes a folder unless it is there, and fails if it is a link or another user's.
fn make_own_folder(path: &Path) -> io::Result<()> {
    if path.symlink_metadata().is_err() {
        make_private_folder(path)?;
    }
    check_own_folder(path)
}

/// Writes a file that survives a power failure, unless another process was faster.
fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = match create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        file => file?,
    };
    file.write_all(bytes)?;
    file.sync_all()
}

/// Reports whether an open file is the one at a path.
#[cfg(unix)]
fn is_at(file: &fs::File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |facts: fs::Metadata| (facts.dev(), facts.ino());
    let there = fs::symlink_metadata(path).map(id);
    file.metadata()
        .map(id)
        .is_ok_and(|id| there.is_ok_and(|there| there == id))
}

#[cfg(not(unix))]
fn is_at(_: &fs::File, path: &Path) -> bool {
    path.exists()
}
