//! Files of a store: their permissions, and the file system that they lie on.

use std::io;
use std::path::Path;

use super::error;
use statemark_runs::files::{check_own_file, make_private_folder, open_or_create};
use statemark_runs::store::StoreError;

/// Makes the file if there is none, and refuses a place where it wouldn't be safe.
///
/// SQLite gives the files beside its own the same mode.
pub(super) fn prepare(path: &Path) -> Result<(), StoreError> {
    let failed = |error: io::Error| error::refused(format!("`{}`: {error}", path.display()));
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        make_private_folder(folder).map_err(failed)?;
    }
    if let Some(system) = file_system(folder).filter(|system| is_remote(system)) {
        return Err(error::refused(format!(
            "`{}` is on a network file system ({system}), where several machines can't share a write-ahead log; \
             keep the store on a local disk, or use PostgreSQL",
            path.display()
        )));
    }
    let checked = match check_own_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => open_or_create(path).map(drop),
        checked => checked,
    };
    checked.map_err(failed)
}

/// Returns the kind of file system that a folder lies on, where the system says it.
fn file_system(folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    mounted_at(&mounts, folder.to_str()?)
}

/// Returns the kind of the last mount that a path lies in.
/// `proc_pid_mountinfo(5)` lists the mounts: the mount point is the fifth field, and the kind the first after a lone
/// `-`.
fn mounted_at(mounts: &str, path: &str) -> Option<String> {
    let mut found: Option<(usize, &str)> = None;
    for line in mounts.lines() {
        let Some((mount, kind)) = line.split_once(" - ") else {
            continue;
        };
        let (Some(point), Some(kind)) = (mount.split(' ').nth(4), kind.split(' ').next()) else {
            continue;
        };
        let point = point.replace("\\040", " ");
        let inside = Path::new(path).starts_with(&point);
        // Of two mounts on one point the later one is seen.
        if inside && found.is_none_or(|(length, _)| point.len() >= length) {
            found = Some((point.len(), kind));
        }
    }
    found.map(|(_, kind)| kind.to_owned())
}

/// Reports whether another machine keeps the files.
fn is_remote(system: &str) -> bool {
    let kind = system.strip_prefix("fuse.").unwrap_or(system);
    let known = [
        "9p",
        "afs",
        "ceph",
        "cifs",
        "davfs",
        "gfs2",
        "glusterfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "rclone",
        "s3fs",
        "smb3",
        "smbfs",
        "sshfs",
    ];
    known.contains(&kind)
}

/// A folder for one test, which is removed with it.
#[cfg(test)]
pub(super) struct Scratch(pub(super) std::path::PathBuf);

#[cfg(test)]
impl Scratch {
    /// Makes the folder of a test.
    pub(super) fn new(test: &str) -> Self {
        let name = format!("statemark-{test}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        make_private_folder(&folder).unwrap();
        Self(folder)
    }
}

#[cfg(test)]
impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw
31 22 0:27 / /home rw shared:9 - nfs4 server:/home rw,vers=4.2
32 31 0:28 / /home/me/my\\040disk rw - ext4 /dev/sdb1 rw
33 22 0:29 / /mnt/c rw,noatime - 9p drvfs rw
34 22 0:30 / /remote rw - fuse.sshfs me@host: rw
";

    #[test]
    fn the_innermost_mount_counts() {
        let at = |path| mounted_at(MOUNTS, path).unwrap();
        assert_eq!(at("/var/lib"), "ext4");
        assert_eq!(at("/home/me"), "nfs4");
        assert_eq!(at("/homely"), "ext4");
        assert_eq!(at("/home/me/my disk/.statemark"), "ext4");
        assert_eq!(at("/mnt/c/Users"), "9p");
        assert_eq!(at("/remote"), "fuse.sshfs");
        assert_eq!(mounted_at("nonsense - \n\n - ", "/"), None);
    }

    #[test]
    fn file_systems_of_other_machines_are_known() {
        for system in ["nfs", "nfs4", "cifs", "9p", "fuse.sshfs"] {
            assert!(is_remote(system), "{system}");
        }
        for system in ["ext4", "btrfs", "overlay", "tmpfs", "fuse.bindfs", "zfs"] {
            assert!(!is_remote(system), "{system}");
        }
    }
}
