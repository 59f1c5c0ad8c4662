//! Files with the output of commands that printed more than an answer has.
//!
//! They lie in `.statemark/output`, which is no part of the repository, of checkpoints or of what commands can write. Secrets
//! are taken out as they are of answers. The oldest make room for new ones.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use statemark_runs::Redactor;
use statemark_runs::check::LongOutput;

use crate::workspace::OUTPUT;

/// Most files. Why: whoever has run twenty commands since doesn't look at the first one's output.
const MAX_FILES: usize = 20;

/// Tells the outputs of one millisecond apart.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// Writes outputs to a new file of a project, and returns its path from the root.
///
/// # Errors
///
/// The file can't be written.
pub(super) fn keep(root: &Path, long: &LongOutput) -> io::Result<String> {
    let folder = root.join(OUTPUT);
    make_folder(&folder)?;
    make_room(&folder)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default().as_millis();
    let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let name = format!("{now:013}-{process}-{count}.txt");
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(folder.join(&name))?;
    let redactor = Redactor::from_environment(&[]);
    for (title, text) in [("stdout", &long.stdout), ("stderr", &long.stderr)] {
        writeln!(file, "== {title} ==\n{}", redactor.redact_str(text))?;
    }
    Ok(format!("{OUTPUT}/{name}"))
}

/// Makes the folder, for its owner alone; a link in its place is nobody's to follow.
fn make_folder(whole: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    for folder in whole.parent().into_iter().chain([whole]) {
        match fs::symlink_metadata(folder) {
            Ok(facts) if facts.is_dir() => {}
            Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => match builder.create(folder) {
                // Another command was quicker. What stands there is looked at as this one's own would be.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    return make_folder(whole);
                }
                made => made?,
            },
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Removes the oldest files, so that there is room for one. Their names begin with their times.
fn make_room(folder: &Path) -> io::Result<()> {
    let entries = fs::read_dir(folder)?.flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.sort_unstable();
    let over = (files.len() + 1).saturating_sub(MAX_FILES);
    files.truncate(over);
    files
        .iter()
        .try_for_each(|file| match fs::remove_file(file) {
            // Another command has made room, too.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_outputs_are_there_without_secrets() {
        let name = format!("statemark-output-{}", std::process::id());
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(&root).unwrap();
        let secret = format!("ghp_{}", "a1B2".repeat(9));
        let mut last = String::new();
        for number in 0..MAX_FILES + 3 {
            let long = LongOutput {
                stdout: format!("number {number} {secret}"),
                stderr: String::new(),
            };
            last = keep(&root, &long).unwrap();
        }
        assert_eq!(fs::read_dir(root.join(OUTPUT)).unwrap().count(), MAX_FILES);
        let text = fs::read_to_string(root.join(last)).unwrap();
        assert!(text.starts_with("== stdout ==\nnumber 22 "), "{text}");
        assert!(!text.contains(&secret), "{text}");
        fs::remove_dir_all(&root).unwrap();
        fs::create_dir_all(root.join(".statemark")).unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/tmp", root.join(OUTPUT)).unwrap();
            assert!(keep(&root, &LongOutput::default()).is_err());
        }
        fs::remove_dir_all(&root).unwrap();
    }
}
