//! The bounds within which a check writes: below its project, and not where the project's store is.
//!
//! Landlock only grants: whoever may write below a folder may write into each folder in it. So the folders `.statemark` are
//! taken out another way, the first that the kernel allows:
//!
//! 1. In namespaces of its own the check sees them mounted read-only. It is entered twice, because what a namespace of
//!    users inherits from another can't be unmounted in it, not even by root.
//! 2. Without namespaces, what stands in the project is granted entry by entry. The check writes into all of it, and makes
//!    nothing new right in the project's folder. What it can still change is who else may read and write there (`chmod`),
//!    which Landlock doesn't know.
//! 3. Without Landlock too, nothing holds, and the result says so.
//!
//! Who can't write elsewhere could have it written: by a program of the same user that starts others for whoever asks it over
//! a socket (a terminal multiplexer, a bus of a session, containers), or by the keys of an agent. So a check reaches no socket at
//! which such a program has listened before the check began: where it has namespaces, a socket with a path has an empty file
//! in its place; Landlock keeps it from those without one. Its own sockets it reaches.
//!
//! Deliberately not here: servers that listen at ports; a store that lies elsewhere in the project, and the stores of other projects in one working copy.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use landlock::{
    ABI, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change, mount_remount,
};
use rustix::process::{getegid, geteuid};
use rustix::thread::UnshareFlags;

use super::Bound;
use super::launch::{COMMAND, MAP, THIS, TRY};

/// Devices that programs write to.
const DEVICES: [&str; 9] = [
    "/dev/full",
    "/dev/null",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/random",
    "/dev/shm",
    "/dev/tty",
    "/dev/urandom",
    "/dev/zero",
];

/// The folder for temporary files that programs name themselves.
const TEMPORARY: &str = "/tmp";

/// The flags of a mount that a namespace doesn't take away, as they are read and as they are set.
const KEPT: [(StatVfsMountFlags, MountFlags); 6] = [
    (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
    (StatVfsMountFlags::NODEV, MountFlags::NODEV),
    (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
    (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
    (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
    (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
];

impl Bound {
    const ALL: [Self; 3] = [Self::Mounted, Self::Granted, Self::Open];

    /// Returns the word for it in a report.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Mounted => "mounted",
            Self::Granted => "granted",
            Self::Open => "open",
        }
    }

    /// Reads the word for it in a report.
    pub(super) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|bound| bound.word() == word)
    }
}

/// The folders that a check may write in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reach {
    /// Folders that it writes below: its project's first, then those that a person allows.
    pub(super) writable: Vec<PathBuf>,
    /// Folders in them that it doesn't, and files anywhere that it doesn't read.
    pub(super) closed: Vec<PathBuf>,
}

impl Reach {
    /// Reports whether it is kept from nothing.
    fn is_open(&self) -> bool {
        self.closed.is_empty() && self.writable == [Path::new("/")]
    }
}

/// Confines this process, which has no other thread.
///
/// # Errors
///
/// The kernel has what is needed, and refuses it.
pub(super) fn confine(reach: &Reach) -> io::Result<Bound> {
    let closed: Vec<&Path> = reach.closed.iter().map(PathBuf::as_path).collect();
    let temporary = [std::env::temp_dir(), PathBuf::from(TEMPORARY)];
    let is_mounted = reach.is_open() || mount_read_only(&closed, reach, &temporary)?;
    let folders = reach.writable.iter().cloned();
    let mut granted: Vec<PathBuf> = match is_mounted {
        true => folders.collect(),
        false => folders.flat_map(|it| open_parts(it, &closed)).collect(),
    };
    granted.extend(temporary);
    granted.extend(DEVICES.iter().map(PathBuf::from));
    let is_restricted = restrict(granted, reach.is_open()).map_err(io::Error::other)?;
    Ok(match (is_mounted, is_restricted) {
        (true, _) => Bound::Mounted,
        (false, true) => Bound::Granted,
        (false, false) => Bound::Open,
    })
}

/// Mounts folders read-only for this process and those that it begins.
///
/// Returns false where the system doesn't let it.
///
/// # Errors
///
/// It failed half-way, so that this process is no longer as it was.
fn mount_read_only(closed: &[&Path], reach: &Reach, temporary: &[PathBuf]) -> io::Result<bool> {
    // In a child first: what fails half-way isn't taken back.
    if !is_possible(closed) {
        return Ok(false);
    }
    let (project, allowed) = reach.writable.split_at(reach.writable.len().min(1));
    let writable: Vec<&Path> = project
        .iter()
        .chain(temporary)
        .map(PathBuf::as_path)
        .collect();
    mount_closed(closed, &writable, allowed)?;
    Ok(true)
}

/// Reports whether a process like this one can mount folders read-only.
fn is_possible(closed: &[&Path]) -> bool {
    let mut trial = Command::new(THIS);
    trial.args([COMMAND, TRY]).args(closed);
    let trial = trial.stdin(Stdio::null()).stdout(Stdio::null());
    let status = trial.stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Enters namespaces of users and mounts in which folders are read-only, and stay so.
///
/// Files are empty, and so are sockets at which programs listen. What lies in `writable` folders keeps its place, where a socket is in it. Those in `allowed` folders are reached.
pub(super) fn mount_closed(
    closed: &[&Path],
    writable: &[&Path],
    allowed: &[PathBuf],
) -> io::Result<()> {
    enter_namespaces()?;
    let apart = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", apart)?;
    hide_sockets(writable, allowed)?;
    for folder in closed {
        if !folder.is_dir() {
            // A file with a secret: nobody reads anything in it.
            mount_bind_recursive("/dev/null", *folder)?;
            continue;
        }
        mount_bind_recursive(*folder, *folder)?;
        let found = statvfs(*folder)?.f_flag;
        let kept = KEPT.iter().filter(|(read, _)| found.contains(*read));
        let flags = kept.fold(MountFlags::BIND | MountFlags::RDONLY, |flags, (_, set)| {
            flags | *set
        });
        mount_remount(*folder, flags, c"")?;
    }
    enter_namespaces()?;
    // A folder that this process stands in is still the one under the mount.
    std::env::set_current_dir(std::env::current_dir()?)
}

/// Puts an empty file in the place of each socket at which a program of this user or of root listens.
///
/// A socket is found by the path that it was bound to. So that this path stays true, what is above it can't be moved.
fn hide_sockets(writable: &[&Path], allowed: &[PathBuf]) -> io::Result<()> {
    let user = geteuid().as_raw();
    let session = PathBuf::from(format!("/run/user/{user}"));
    let is_used = |folder: &Path| folder.starts_with(&session);
    let is_used = writable.iter().any(|it| is_used(it)) || allowed.iter().any(|it| is_used(it));
    if session.is_dir() && !is_used {
        // Those of a session come and go, and all are in one folder. Where it can't be covered, those that are there are.
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        let _ = mount("tmpfs", &session, "tmpfs", flags, c"mode=0700");
    }
    let list = fs::read("/proc/net/unix").unwrap_or_default();
    let sockets = listening(&list);
    let is_ours = |path: &PathBuf| {
        let facts = fs::symlink_metadata(path);
        facts.is_ok_and(|it| it.file_type().is_socket() && [0, user].contains(&it.uid()))
    };
    let is_allowed = |path: &PathBuf| {
        let real = path.canonicalize();
        let real = real.as_ref().unwrap_or(path);
        allowed
            .iter()
            .any(|it| path.starts_with(it) || real.starts_with(it))
    };
    let sockets = sockets
        .into_iter()
        .filter(|it| !is_allowed(it) && is_ours(it));
    let sockets: BTreeSet<PathBuf> = sockets.collect();
    let mut held = BTreeSet::new();
    for socket in &sockets {
        let above = socket.ancestors().skip(1);
        let is_within = |folder: &&Path| {
            let mut writable = writable.iter();
            writable.any(|it| folder.starts_with(it) && *folder != *it)
        };
        held.extend(above.filter(is_within).map(Path::to_path_buf));
    }
    // A folder comes before what is in it.
    for folder in &held {
        unless_gone(mount_bind_recursive(folder, folder))?;
    }
    for socket in &sockets {
        unless_gone(mount_bind_recursive("/dev/null", socket))?;
    }
    Ok(())
}

/// Lists the paths of sockets at which somebody listens. Source: `/proc/net/unix` of `proc_net(5)`.
fn listening(list: &[u8]) -> Vec<PathBuf> {
    const ACCEPTS: u32 = 1 << 16;
    let lines = String::from_utf8_lossy(list);
    let paths = lines.lines().filter_map(|line| {
        let (mut rest, mut flags) = (line, 0);
        for column in 0..7 {
            let (word, more) = rest.trim_start().split_once(' ')?;
            if column == 3 {
                flags = u32::from_str_radix(word, 16).ok()?;
            }
            rest = more;
        }
        (flags & ACCEPTS != 0 && rest.starts_with('/')).then(|| PathBuf::from(rest))
    });
    paths.collect()
}

/// Takes it for done where what is mounted over has gone meanwhile.
fn unless_gone(mounted: rustix::io::Result<()>) -> io::Result<()> {
    match mounted {
        Err(rustix::io::Errno::NOENT) => Ok(()),
        mounted => Ok(mounted?),
    }
}

/// Enters namespaces of users and mounts.
///
/// In them everybody is who they were, as far as this process may say so.
fn enter_namespaces() -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    // Root takes all users along, which only a process that stays outside may say.
    let mut mapper = match user {
        0 => start_mapper().ok(),
        _ => None,
    };
    #[expect(
        deprecated,
        reason = "what is unsafe of it is sharing no table of files, which isn't asked for"
    )]
    rustix::thread::unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
    if let Some(mapper) = &mut mapper {
        // It waits for the end of its input.
        drop(mapper.stdin.take());
        if mapper.wait()?.success() {
            return Ok(());
        }
    }
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// Starts a process that maps all users and groups into the namespace that this one enters next.
fn start_mapper() -> io::Result<Child> {
    let mut mapper = Command::new(THIS);
    mapper.args([COMMAND, MAP, &std::process::id().to_string()]);
    let mapper = mapper.stdin(Stdio::piped()).stdout(Stdio::null());
    mapper.stderr(Stdio::null()).spawn()
}

/// Maps users and groups into the namespace that a process has entered, each as itself.
pub(super) fn map_users(process: &OsStr) -> io::Result<()> {
    io::stdin().read_to_end(&mut Vec::new())?;
    for list in ["uid_map", "gid_map"] {
        // Each line of ours has the first id inside, the first one outside, and how many there are.
        let own = fs::read_to_string(Path::new("/proc/self").join(list))?;
        let lines = own.lines().filter_map(|line| {
            let mut fields = line.split_whitespace();
            let (first, count) = (fields.next()?, fields.nth(1)?);
            Some(format!("{first} {first} {count}\n"))
        });
        let lines: String = lines.collect();
        fs::write(Path::new("/proc").join(process).join(list), lines)?;
    }
    Ok(())
}

/// Lists the parts of a folder without some folders in it.
///
/// These are the folder itself, or its entries, and theirs where one of those is inside. A link isn't listed: what it leads to is another's to grant.
fn open_parts(folder: PathBuf, closed: &[&Path]) -> Vec<PathBuf> {
    let (mut parts, mut folders) = (Vec::new(), vec![folder]);
    let is_closed = |path: &Path| closed.iter().any(|it| path.starts_with(it));
    while let Some(folder) = folders.pop() {
        if is_closed(&folder) {
            continue;
        }
        if !closed.iter().any(|it| it.starts_with(&folder)) {
            parts.push(folder);
            continue;
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if !kind.is_symlink() && !is_closed(&entry.path()) => {
                    parts.push(entry.path());
                }
                _ => {}
            }
        }
    }
    parts
}

/// Gives up the right to write elsewhere and to signal others.
///
/// Unless it is open, also to reach their sockets that have no path.
///
/// Returns false if the kernel knows nothing of that.
fn restrict(granted: Vec<PathBuf>, is_open: bool) -> Result<bool, landlock::RulesetError> {
    let access = AccessFs::from_write(ABI::V3);
    let scope = match is_open {
        true => Scope::Signal.into(),
        false => Scope::Signal | Scope::AbstractUnixSocket,
    };
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(access)?
        .scope(scope)?
        .create()?
        .add_rules(path_beneath_rules(granted, access))?
        .restrict_self()?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_are_listed_at_which_somebody_listens() {
        let list = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
            000000004ff11fa9: 00000003 00000000 00000000 0001 03  1073\n\
            000000007d9d4f96: 00000002 00000000 00010000 0001 01 23073 /run/a b.sock\n\
            000000007d9d4f96: 00000002 00000000 00010000 0001 01 23073 @/tmp/.X11-unix/X0\n\
            000000007d9d4f96: 00000002 00000000 00000000 0002 01   173 /run/log\n\
            000000007d9d4f96: 00000002 00000000 00010000 0005 01 123456 /tmp/x\n";
        assert_eq!(
            listening(list),
            ["/run/a b.sock", "/tmp/x"].map(PathBuf::from)
        );
        assert!(listening(b"\xff\n\n").is_empty());
    }

    #[test]
    fn a_folder_is_granted_without_what_is_closed() {
        let name = format!("statemark-reach-{}", std::process::id());
        let root = std::env::temp_dir().join(name);
        for folder in ["src/deep", ".statemark/in", "sub/.statemark", "sub/more"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("file"), "").unwrap();
        std::os::unix::fs::symlink("/etc", root.join("link")).unwrap();
        let closed = [root.join(".statemark"), root.join("sub/.statemark")];
        let closed: Vec<&Path> = closed.iter().map(PathBuf::as_path).collect();
        let mut parts = open_parts(root.clone(), &closed);
        parts.sort();
        let expected = ["file", "src", "sub/more"].map(|part| root.join(part));
        assert_eq!(parts, expected);
        assert_eq!(open_parts(root.join("src"), &closed), [root.join("src")]);
        assert!(open_parts(root.join(".statemark/in"), &closed).is_empty());
        fs::remove_dir_all(&root).unwrap();
    }
}
