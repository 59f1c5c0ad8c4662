//! Files, opened without trust in what stands in their place.
//!
//! A store, its lock, a token or a temporary file stands in a folder that somebody else may have filled: a repository that
//! was cloned, or a folder that all users share. So a file of our own ([`open`], [`open_or_create`], [`create_new`]) is
//! opened without following a link in the last part of its path, has to be a regular file of this process's user, and can
//! be read by its owner alone from birth. A file that somebody else wrote ([`open_regular`]) may be reached through links,
//! and has to be a regular file, too.
//!
//! What is replaced has the old text or the new one ([`PendingFile`]), and who changes what it has read keeps others out
//! meanwhile ([`FolderLock`]).
//!
//! What to rely on: no opening waits. A pipe or a device in a file's place is an error at once, and so is a folder.
//!
//! Deliberately not here: links in the folders of a path. Who names a path means its folders.

mod replace;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

pub use replace::{FolderLock, PendingFile};

/// The reasons why what stands in a file's place isn't opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAFile {
    /// A symbolic link.
    #[error("it is a link, which isn't followed here: name the file itself")]
    Link,
    /// A folder.
    #[error("it is a folder")]
    Folder,
    /// A pipe, a socket or a device.
    #[error("it is a pipe or a device, not a file")]
    Special,
    /// A file of another user.
    #[error("it belongs to another user: run as that user, or `chown` it")]
    Foreign,
    /// A file with more bytes than are read.
    #[error("it has more than {max} bytes")]
    TooLarge {
        /// The most that are read. Unit: bytes.
        max: u64,
    },
}

impl From<NotAFile> for io::Error {
    fn from(problem: NotAFile) -> Self {
        let kind = match problem {
            NotAFile::Folder => io::ErrorKind::IsADirectory,
            NotAFile::Foreign => io::ErrorKind::PermissionDenied,
            NotAFile::TooLarge { .. } => io::ErrorKind::FileTooLarge,
            NotAFile::Link | NotAFile::Special => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, problem)
    }
}

/// Opens a file of our own for reading.
///
/// # Errors
///
/// As the system's; [`NotAFile`] if it isn't a regular file of this user.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    check_own(path, open_with(options.read(true), path, true)?)
}

/// Opens a file of our own for reading and writing, and makes it if there is none.
///
/// # Errors
///
/// As [`open`]'s.
pub fn open_or_create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false);
    check_own(path, open_with(options, path, true)?)
}

/// Makes a file of our own that isn't there yet, not even as a link, for writing.
///
/// # Errors
///
/// As the system's; `AlreadyExists`.
pub fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    open_with(options.write(true).create_new(true), path, true)
}

/// Opens a regular file, whoever wrote it, for reading.
///
/// # Errors
///
/// As the system's; [`NotAFile`] if it isn't a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    check_regular(open_with(options.read(true), path, false)?)
}

/// Reads a file of our own as text, if there is one. What isn't UTF-8 is replaced.
///
/// # Errors
///
/// As [`open`]'s; [`NotAFile::TooLarge`] if it has more than `max` bytes.
pub fn read_own(path: &Path, max: u64) -> io::Result<Option<String>> {
    read(open(path), max)
}

/// Reads a regular file as text, whoever wrote it, if there is one. What isn't UTF-8 is replaced.
///
/// # Errors
///
/// As [`open_regular`]'s; [`NotAFile::TooLarge`] if it has more than `max` bytes.
pub fn read_regular(path: &Path, max: u64) -> io::Result<Option<String>> {
    read(open_regular(path), max)
}

/// Makes a folder for its owner alone, and the folders that it is in, unless they exist.
///
/// # Errors
///
/// As the system's.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Fails if something is no regular file of this user, or is reached through a link. Opens nothing.
///
/// The locks of a process on a file end when it closes any opened file of it, so one that SQLite has isn't opened.
///
/// # Errors
///
/// As the system's; [`NotAFile`].
pub fn check_own_file(path: &Path) -> io::Result<()> {
    let facts = fs::symlink_metadata(path)?;
    let kind = facts.file_type();
    let problem = if kind.is_symlink() {
        NotAFile::Link
    } else if kind.is_dir() {
        NotAFile::Folder
    } else if !kind.is_file() {
        NotAFile::Special
    } else if is_foreign(&facts) {
        NotAFile::Foreign
    } else {
        return Ok(());
    };
    Err(problem.into())
}

/// Fails if something is no folder of this user, or is reached through a link.
///
/// # Errors
///
/// As the system's; [`NotAFile::Link`], [`NotAFile::Foreign`], `NotADirectory`.
pub fn check_own_folder(path: &Path) -> io::Result<()> {
    let facts = fs::symlink_metadata(path)?;
    if facts.is_symlink() {
        return Err(NotAFile::Link.into());
    }
    if !facts.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    if is_foreign(&facts) {
        return Err(NotAFile::Foreign.into());
    }
    Ok(())
}

fn read(opened: io::Result<File>, max: u64) -> io::Result<Option<String>> {
    let file = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut bytes = Vec::new();
    file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > max {
        return Err(NotAFile::TooLarge { max }.into());
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

fn check_regular(file: File) -> io::Result<File> {
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(NotAFile::Folder.into());
    }
    if !kind.is_file() {
        return Err(NotAFile::Special.into());
    }
    Ok(file)
}

fn check_own(path: &Path, file: File) -> io::Result<File> {
    // Where a link can't be refused when it is opened, it is looked for.
    #[cfg(not(unix))]
    if fs::symlink_metadata(path)?.is_symlink() {
        return Err(NotAFile::Link.into());
    }
    let _ = path;
    let file = check_regular(file)?;
    if is_foreign(&file.metadata()?) {
        return Err(NotAFile::Foreign.into());
    }
    Ok(file)
}

#[cfg(unix)]
fn is_foreign(facts: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(facts) != rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_foreign(_: &fs::Metadata) -> bool {
    false
}

/// Opens a file without waiting for anybody, and without following a link if it is our own.
#[cfg(unix)]
fn open_with(options: &mut OpenOptions, path: &Path, is_own: bool) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::OFlags;

    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    if is_own {
        options.mode(0o600);
        flags |= OFlags::NOFOLLOW;
    }
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    options.custom_flags(flags).open(path).map_err(|error| {
        let kind = fs::symlink_metadata(path).map(|facts| facts.file_type());
        match kind {
            Ok(kind)
                if is_own && kind.is_symlink() && error.kind() != io::ErrorKind::AlreadyExists =>
            {
                NotAFile::Link.into()
            }
            // A pipe without a reader, or a socket.
            Ok(kind) if !kind.is_file() && !kind.is_dir() && !kind.is_symlink() => {
                NotAFile::Special.into()
            }
            _ => error,
        }
    })
}

#[cfg(not(unix))]
fn open_with(options: &mut OpenOptions, path: &Path, _: bool) -> io::Result<File> {
    options.open(path)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn problem(opened: io::Result<File>) -> String {
        opened.unwrap_err().to_string()
    }

    #[test]
    fn only_regular_files_of_our_own_are_opened() {
        let name = format!("statemark-files-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        make_private_folder(&folder).unwrap();
        let (file, link, pipe) = (
            folder.join("file"),
            folder.join("link"),
            folder.join("pipe"),
        );
        drop(open_or_create(&file).unwrap());
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(
            create_new(&file).unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        symlink(&file, &link).unwrap();
        for opened in [open(&link), open_or_create(&link)] {
            assert_eq!(problem(opened), NotAFile::Link.to_string());
        }
        assert_eq!(
            create_new(&link).unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        open_regular(&link).unwrap();
        rustix::fs::mkfifoat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        )
        .unwrap();
        for opened in [open(&pipe), open_or_create(&pipe), open_regular(&pipe)] {
            assert_eq!(problem(opened), NotAFile::Special.to_string());
        }
        assert_eq!(problem(open_regular(&folder)), NotAFile::Folder.to_string());
        fs::write(&file, "12345").unwrap();
        assert_eq!(read_own(&file, 5).unwrap().unwrap(), "12345");
        assert!(
            read_own(&file, 4)
                .unwrap_err()
                .to_string()
                .contains("4 bytes")
        );
        assert_eq!(read_own(&folder.join("none"), 4).unwrap(), None);
        check_own_folder(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
    }
}
