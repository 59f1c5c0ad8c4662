//! Reading and writing files.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use statemark_runs::files::{NotAFile, PendingFile, open_regular};
use statemark_runs::find_working_copy;
use statemark_runs::policy::is_obeyed_path;
use statemark_text::visible;

use crate::failure::{Failure, system_message};

/// Returns a path as diagnostics name it: with `/`, without `./` in front, on one line.
///
/// A name may have line ends and commands to a terminal in it, and whoever reads our lines obeys some of them.
pub(crate) fn display(path: &Path) -> String {
    visible::line(&spell(path)).into_owned()
}

pub(crate) fn spell(path: &Path) -> String {
    let parts: Vec<String> = path
        .components()
        .filter(|part| !matches!(part, Component::CurDir))
        .map(|part| match part {
            Component::RootDir => String::new(),
            other => other.as_os_str().to_string_lossy().into_owned(),
        })
        .collect();
    match parts.as_slice() {
        [] => ".".to_owned(),
        [root] if root.is_empty() => "/".to_owned(),
        _ => parts.join("/"),
    }
}

/// Reads a file that has at most `max` bytes, or standard input if the path is `-`.
pub(crate) fn read_whole(path: &Path, max: usize) -> Result<Vec<u8>, Failure> {
    read(path, max)?.map_err(|size| {
        let path = display(path);
        Failure::new(format!("`{path}` has {size} bytes; at most {max} are read"))
    })
}

/// Reads a file, or standard input if the path is `-`.
///
/// An inner error is the size of a file that has more than `max` bytes.
pub(crate) fn read(path: &Path, max: usize) -> Result<Result<Vec<u8>, u64>, Failure> {
    if path == Path::new("-") {
        let bytes = read_up_to(&mut io::stdin().lock(), 0, max);
        return bytes.map_err(|error| unreadable(path, &error));
    }
    if is_descriptor(path) {
        let bytes = File::open(path).and_then(|mut file| read_up_to(&mut file, 0, max));
        return bytes.map_err(|error| unreadable(path, &error));
    }
    let mut file = open(path)?;
    let size = file.metadata().map(|facts| facts.len()).unwrap_or(0);
    match usize::try_from(size) {
        Ok(size) if size <= max => {
            read_up_to(&mut file, size, max).map_err(|error| unreadable(path, &error))
        }
        _ => Ok(Err(size)),
    }
}

/// Reports whether a path is a descriptor that the caller has handed over, as a shell's `<(…)` is.
///
/// It is read like standard input: whoever calls knows what is at its other end.
pub(crate) fn is_descriptor(path: &Path) -> bool {
    let folder = path.parent();
    let is_number = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    folder.is_some_and(|it| it == Path::new("/dev/fd") || it == Path::new("/proc/self/fd"))
        && path
            .file_name()
            .and_then(|it| it.to_str())
            .is_some_and(is_number)
}

/// Opens a file for reading. Nothing waits for the other end of a pipe.
pub(crate) fn open(path: &Path) -> Result<File, Failure> {
    open_regular(path).map_err(|error| unreadable(path, &error))
}

/// Reads at most `max` bytes of a file that is expected to have `size`.
fn read_up_to(from: &mut impl Read, size: usize, max: usize) -> io::Result<Result<Vec<u8>, u64>> {
    /// Room past the end. Unit: bytes.
    ///
    /// Why: with less, the standard library first tries whether that was the end.
    const SPARE: usize = 32;
    let mut bytes = Vec::with_capacity(size.min(max).saturating_add(SPARE));
    let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    from.take(limit).read_to_end(&mut bytes)?;
    if bytes.len() > max {
        return Ok(Err(limit));
    }
    Ok(Ok(bytes))
}

/// Writes a file whole or not at all, over one that is there.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let write = || {
        let pending = PendingFile::new(path, true)?;
        pending.create_shared()?.write_all(bytes)?;
        pending.finish()
    };
    write().map_err(|error| unwritable(path, &error))
}

/// Names, on whatever level and in lower case, that no result takes.
const KEPT: [&str; 4] = [".git", ".statemark", "statemark.lock", "statemark.toml"];

/// Checks that a result may be written to a path that somebody names.
///
/// # Errors
///
/// Something is there that holds agents or keeps runs: a store, the configuration, or a client's settings. To replace it
/// by a result is a mistake, or the attempt of an agent that is granted this command.
pub(crate) fn check_output(path: &Path) -> Result<(), Failure> {
    let real = check_place(path)?;
    let name = real.as_os_str().to_string_lossy().into_owned();
    let base = ["-wal", "-shm", "-journal", "-mark"]
        .iter()
        .find_map(|end| name.strip_suffix(end));
    let files = [Some(real), base.map(PathBuf::from)];
    let is_store = |file: PathBuf| open_regular(&file).is_ok_and(statemark_runs::store::is_store);
    if files.into_iter().flatten().any(is_store) {
        return Err(not_replaced(path));
    }
    Ok(())
}

/// Checks that nothing in a path holds agents or keeps runs by its name. Returns it without links.
///
/// # Errors
///
/// Something does.
pub(crate) fn check_place(path: &Path) -> Result<PathBuf, Failure> {
    check_within(path)?;
    // The folder may be a link, or the current one, where the file isn't there yet.
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize();
    let named = folder.ok().zip(path.file_name());
    let named = named.map(|(folder, name)| folder.join(name));
    let real = path.canonicalize().ok().or(named);
    let real = real.unwrap_or_else(|| path.to_owned());
    let is_kept = [&real, path].into_iter().any(|path| {
        is_obeyed_path(path)
            || path.iter().any(|name| {
                let name = name.to_string_lossy().to_lowercase();
                KEPT.contains(&name.as_str())
            })
    });
    if is_kept {
        return Err(not_replaced(path));
    }
    Ok(real)
}

/// Fails if a link leads out of its repository on the way to what is to be written.
///
/// A cloned repository may bring one along, and commands name its folders.
fn check_within(path: &Path) -> Result<(), Failure> {
    let whole = std::path::absolute(path).map_err(|error| unwritable(path, &error))?;
    for link in whole.ancestors().filter(|it| it.is_symlink()) {
        let folder = link.parent().unwrap_or(link);
        let Some(top) = find_working_copy(folder) else {
            continue;
        };
        // Nothing is written through a dangling one.
        if leads_out(link, top).unwrap_or(false) {
            let (path, link) = (display(path), display(link));
            let message =
                format!("`{path}` isn't written: the link `{link}` leads out of its repository");
            return Err(Failure::new(message).with_help("name the place itself"));
        }
    }
    Ok(())
}

/// Reports whether a link leads out of a folder.
///
/// # Errors
///
/// It leads nowhere.
pub(crate) fn leads_out(link: &Path, folder: &Path) -> io::Result<bool> {
    Ok(!link.canonicalize()?.starts_with(folder.canonicalize()?))
}

fn not_replaced(path: &Path) -> Failure {
    let path = display(path);
    Failure::new(format!(
        "`{path}` isn't replaced by a result: it keeps runs, or says what holds agents"
    ))
    .with_help("name another file")
}

/// Writes a file that is there anew, whole or not at all, with the permissions that it has.
///
/// A link stays one: the file that it leads to is written.
pub(crate) fn rewrite(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    check_within(path)?;
    let write = || {
        let real = path.canonicalize()?;
        let permissions = fs::metadata(&real)?.permissions();
        // Replacing it would need no right to the file itself.
        if permissions.readonly() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let pending = PendingFile::new(&real, true)?;
        let mut file = pending.create()?;
        file.write_all(bytes)?;
        file.set_permissions(permissions)?;
        drop(file);
        pending.finish()
    };
    write().map_err(|error| unwritable(path, &error))
}

/// Writes a file that must not be there yet.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    check_within(path)?;
    let outcome = File::create_new(path).and_then(|mut file| file.write_all(bytes));
    outcome.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => exists(path),
        _ => unwritable(path, &error),
    })
}

/// Makes a folder, and the folders that it is in.
pub(crate) fn make_folder(path: &Path) -> Result<(), Failure> {
    // The folder of a bare name is the current one, which is there.
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    check_within(path)?;
    fs::create_dir_all(path).map_err(|error| unwritable(path, &error))
}

/// Makes the failure of a file or folder that can't be read.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound => return missing(path),
        io::ErrorKind::IsADirectory => return is_folder(path),
        _ => {}
    }
    let message = system_message(error);
    let failure = Failure::new(format!("`{}` can't be read: {message}", display(path)));
    let problem = error.get_ref().and_then(|it| it.downcast_ref::<NotAFile>());
    match problem {
        Some(NotAFile::Special) => {
            failure.with_help("name a file; where `-` may stand, it is standard input")
        }
        _ => failure,
    }
}

/// Makes the failure of a file or folder that can't be written.
pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Failure {
    match (error.kind(), path.parent()) {
        (io::ErrorKind::IsADirectory, _) => is_folder(path),
        (io::ErrorKind::AlreadyExists, _) => {
            let help = "`--overwrite` replaces it; nothing was written";
            Failure::new(format!("`{}` exists already", display(path))).with_help(help)
        }
        (io::ErrorKind::NotFound, Some(folder)) => missing(folder),
        _ => {
            let message = system_message(error);
            Failure::new(format!("`{}` can't be written: {message}", display(path)))
        }
    }
}

/// Makes the failure of a file that would be overwritten.
pub(crate) fn exists(path: &Path) -> Failure {
    Failure::new(format!("`{}` exists already", display(path)))
        .with_help("choose another name or another folder; nothing was written")
}

fn missing(path: &Path) -> Failure {
    Failure::new(format!("there is no file or folder `{}`", display(path)))
        .with_help("paths are relative to the current folder")
}

fn is_folder(path: &Path) -> Failure {
    Failure::new(format!("`{}` is a folder", display(path))).with_help("name a file")
}
