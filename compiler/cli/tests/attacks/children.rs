//! Processes that we start: what they get, what they write, and that they end.

use std::fs;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{DOOR, attacked, done, in_time};
use crate::shell::{Scratch, statemark};

/// A project with a check that runs a script.
fn project(name: &str, script: &str, more: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.write("door.md", DOOR);
    scratch.write("script", script);
    scratch.write(
        "statemark.toml",
        &format!("[checks.c]\ncommand = [\"sh\", \"script\"]\n{more}\n"),
    );
    scratch
}

/// A script that begins a process in a session of its own, which says its number and goes on.
const SURVIVOR: &str = "setsid sh -c 'echo $$ > pid.new; mv pid.new pid; exec sleep 300' >/dev/null 2>&1 &\nwhile [ ! -s pid ]; do sleep 0.01; done\n";

/// Waits until a file has a number.
fn number_in(path: &Path) -> u32 {
    let began = Instant::now();
    loop {
        let text = fs::read_to_string(path).unwrap_or_default();
        if let Ok(number) = text.trim().parse() {
            return number;
        }
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "{}",
            path.display()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process is gone, or will be in a moment.
fn is_gone(number: u32) -> bool {
    let path = PathBuf::from(format!("/proc/{number}/stat"));
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(10) {
        let stat = fs::read_to_string(&path).unwrap_or_default();
        if stat.is_empty() || stat.contains(") Z ") {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    // It isn't left behind by a test that fails.
    let _ = Command::new("kill")
        .args(["-9", &number.to_string()])
        .status();
    false
}

/// What a check has begun is gone when the check has passed, also in a session of its own.
#[test]
fn m9_nothing_goes_on_after_a_pass() {
    let scratch = project("m9-pass", SURVIVOR, "");
    done(&scratch, &["run-check", "c"]);
    assert!(is_gone(number_in(&scratch.path.join("pid"))));
}

/// … and when the check took too long.
#[test]
fn m9_nothing_goes_on_after_a_timeout() {
    let script = format!("{SURVIVOR}sleep 300\n");
    let scratch = project("m9-timeout", &script, "timeout = \"2s\"");
    let said = attacked(&scratch, &["run-check", "c"]);
    assert_eq!(said.code, 1, "{}", said.stderr);
    assert!(said.stdout.contains("longer than 2s"), "{}", said.stdout);
    assert!(is_gone(number_in(&scratch.path.join("pid"))));
}

/// … and when whoever ran the check was killed, who could tidy up nothing.
#[test]
fn m9_nothing_goes_on_after_its_server() {
    let script = format!("echo $$ > own\n{SURVIVOR}sleep 300\n");
    let scratch = project("m9-server", &script, "");
    let mut server = statemark(&scratch.path)
        .args(["run-check", "c"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let survivor = number_in(&scratch.path.join("pid"));
    let check = number_in(&scratch.path.join("own"));
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(is_gone(check));
    assert!(is_gone(survivor));
}

/// … and when the check kills the process that watches it, the check itself ends.
#[test]
fn m9_a_check_doesnt_outlive_its_launcher() {
    let scratch = project(
        "m9-launcher",
        "echo $$ > own\nkill -9 $PPID\nsleep 300\n",
        "timeout = \"2s\"",
    );
    let said = attacked(&scratch, &["run-check", "c"]);
    assert_eq!(said.code, 1, "{}", said.stderr);
    assert!(is_gone(number_in(&scratch.path.join("own"))));
}

/// A check writes in its project and in the folder for temporary files, and nowhere else.
#[test]
fn m9_a_check_writes_in_its_project_alone() {
    if !has_landlock() {
        return;
    }
    let outside = PathBuf::from(format!("/var/tmp/statemark-m9-{}", std::process::id()));
    fs::create_dir_all(&outside).unwrap();
    let script = format!(
        "echo 1 > inside\necho 1 > \"${{TMPDIR:-/tmp}}/statemark-m9-$$\" && rm \"${{TMPDIR:-/tmp}}/statemark-m9-$$\" || exit 3\necho 1 > /dev/null || exit 4\ntouch {0}/new\nrm -f {0}/old\necho 2 > {0}/old\ntrue\n",
        outside.display()
    );
    let scratch = project("m9-writes", &script, "");
    fs::write(outside.join("old"), "1").unwrap();
    done(&scratch, &["run-check", "c"]);
    let names = |folder: &Path| fs::read_dir(folder).unwrap().count();
    let (count, old) = (names(&outside), fs::read_to_string(outside.join("old")));
    // A person's own word leads there.
    scratch.write("own/statemark/places", &format!("{}\n", outside.display()));
    done(&scratch, &["run-check", "c"]);
    let allowed = names(&outside);
    fs::remove_dir_all(&outside).unwrap();
    assert_eq!((count, old.unwrap().as_str()), (1, "1"));
    assert_eq!(allowed, 2);
    assert!(scratch.path.join("inside").is_file());
}

/// A script that tries to write into the store's folder by every way that it knows, and then works as checks do.
const WRITER: &str = "S=.statemark
echo 1 > $S/new
echo 1 >> $S/kept
mkdir $S/folder
rm -rf $S/kept
mv $S gone
ln $S/kept linked && echo 1 >> linked
ln -s $S around && echo 1 > around/new
umount $S
umount -l $S
mount --bind src $S
unshare -Urm sh -c \"umount $S; mount -o remount,rw,bind $S; echo 1 > $S/new\"
for process in $PPID 1 self; do echo 1 > /proc/$process/root$PWD/$S/new; done
(cd $S && echo 1 > new; chmod 777 .; touch kept)
echo 1 > src/inside || exit 3
cat $S/kept || exit 4
";

/// The store's folder as a check found it.
fn is_as_it_was(scratch: &Scratch) {
    let folder = scratch.path.join(".statemark");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names.retain(|name| !name.starts_with("runs.db"));
    assert_eq!(names, ["kept"]);
    assert_eq!(
        fs::read_to_string(folder.join("kept")).unwrap(),
        "precious\n"
    );
}

fn with_a_store(name: &str, script: &str, more: &str) -> Scratch {
    let scratch = project(name, script, more);
    scratch.write("src/file", "");
    scratch.write(".statemark/kept", "precious\n");
    let private = fs::Permissions::from_mode(0o700);
    fs::set_permissions(scratch.path.join(".statemark"), private).unwrap();
    scratch
}

/// A check doesn't write where its project's store is, and in all else of the project as before.
#[test]
fn third_a_check_doesnt_reach_its_projects_store() {
    let script = format!("{WRITER}echo 1 > fresh || exit 5\nmkdir target || exit 6\n");
    for cwd in ["", "cwd = \".statemark\"", "cwd = \"src\""] {
        let script = match cwd {
            "" => script.clone(),
            _ => format!(
                "cd \"{{ROOT}}\"\n{script}cd \"$OLDPWD\"; echo 1 > ../.statemark/new; echo 1 > ./../.statemark/kept\n"
            ),
        };
        let scratch = with_a_store("third-store", "", cwd);
        let root = scratch.path.display().to_string();
        scratch.write("script", &script.replace("{ROOT}", &root));
        for folder in ["src", ".statemark"] {
            if cwd.contains(folder) {
                // It is started by its path.
                let config = format!("[checks.c]\ncommand = [\"sh\", \"{root}/script\"]\n{cwd}\n");
                scratch.write("statemark.toml", &config);
            }
        }
        let said = attacked(&scratch, &["run-check", "c"]);
        let told = format!("{cwd}: {}{}", said.stdout, said.stderr);
        is_as_it_was(&scratch);
        if is_mounted(&said.stderr) {
            let facts = fs::metadata(scratch.path.join(".statemark")).unwrap();
            assert_eq!(facts.permissions().mode() & 0o777, 0o700, "{told}");
            for made in ["fresh", "target", "src/inside"] {
                assert!(scratch.path.join(made).exists(), "{made}: {told}");
            }
        }
    }
}

/// Whether the system gave the check namespaces: it says so where it didn't.
fn is_mounted(stderr: &str) -> bool {
    !stderr.contains("no namespaces") && !stderr.contains("neither namespaces")
}

/// A program that starts others for whoever asks it isn't reached by its socket, neither where it is nor where a check
/// before has moved it, with a path or with a name alone. What a check begins itself is.
#[test]
fn tenth_a_check_reaches_no_socket_of_others() {
    const SCRIPT: &str = "for socket in {TEMP} {TEMP}.moved $PWD/in/s $PWD/moved/s; do\n\
        SSH_AUTH_SOCK=$socket timeout 3 ssh-add -l >>said 2>&1; echo $? >>reached\ndone\n\
        curl -sm 20 --abstract-unix-socket {NAME} http://x >>said 2>&1; echo $? >>named\n\
        mv in moved 2>>said; mv {TEMP} {TEMP}.moved 2>>said\n\
        rm -f mine; ssh-agent -D -a \"$PWD/mine\" >>said 2>&1 &\n\
        until [ -S mine ]; do sleep 0.02; done; SSH_AUTH_SOCK=$PWD/mine ssh-add -l >>said 2>&1; echo $? >mine-reached\n";
    let scratch = with_a_store("tenth-sockets", "", "");
    let name = format!("tenth-{}", std::process::id());
    let temporary = std::env::temp_dir().join(&name);
    drop(fs::remove_file(&temporary));
    fs::create_dir(scratch.path.join("in")).unwrap();
    let script = SCRIPT.replace("{TEMP}", &temporary.display().to_string());
    scratch.write("script", &script.replace("{NAME}", &name));
    let named = SocketAddr::from_abstract_name(&name).unwrap();
    let listeners = [
        UnixListener::bind(&temporary).unwrap(),
        UnixListener::bind(scratch.path.join("in/s")).unwrap(),
        UnixListener::bind_addr(&named).unwrap(),
    ];
    for _ in 0..2 {
        let said = attacked(&scratch, &["run-check", "c"]);
        assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
    }
    let read = |file: &str| fs::read_to_string(scratch.path.join(file)).unwrap();
    let told = read("said");
    // It says 1 of an agent without keys, and 2 where it finds none.
    assert_eq!(read("mine-reached"), "1\n", "{told}");
    let namespaces = Command::new("unshare").args(["-Um", "true"]).status();
    let has_namespaces = namespaces.is_ok_and(|status| status.success());
    let reached = listeners.each_ref().map(|listener| {
        listener.set_nonblocking(true).unwrap();
        listener.accept().is_ok()
    });
    if has_namespaces {
        assert_eq!(read("reached"), "2\n".repeat(8), "{told}");
        assert_eq!(reached[..2], [false; 2], "{told}");
    }
    // Landlock has known sockets since Linux 6.12.
    if has_landlock() && read("named") == "7\n7\n" {
        assert!(!reached[2], "{told}");
    }
    // A person may allow one.
    let allowed = temporary.canonicalize().unwrap();
    scratch.write("own/statemark/places", &format!("{}\n", allowed.display()));
    attacked(&scratch, &["run-check", "c"]);
    drop(fs::remove_file(&temporary));
    assert!(listeners[0].accept().is_ok());
    assert!(!has_namespaces || listeners[1].accept().is_err());
}

/// Without namespaces it reaches the store as little, and makes nothing new right in the project's folder.
#[test]
fn third_a_check_without_namespaces_doesnt_reach_its_projects_store() {
    let none = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    let limited = ["-Ur", "sh", "-c", none, "sh"];
    let tried = Command::new("unshare").args(limited).arg("true").status();
    if !has_landlock() || !tried.is_ok_and(|status| status.success()) {
        return;
    }
    let scratch = with_a_store("third-granted", WRITER, "");
    scratch.write("old", "1\n");
    let run = |script: &str| {
        scratch.write("script", script);
        let program = statemark(&scratch.path);
        let mut command = Command::new("unshare");
        command
            .args(limited)
            .arg(program.get_program())
            .args(["run-check", "c"]);
        command.current_dir(&scratch.path);
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        in_time(command)
    };
    let said = run(&format!("{WRITER}echo 2 > old || exit 7\n"));
    is_as_it_was(&scratch);
    assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
    assert!(scratch.path.join("src/inside").exists());
    assert_eq!(fs::read_to_string(scratch.path.join("old")).unwrap(), "2\n");
    // What that keeps it from is told where it failed.
    let said = run("echo 1 > fresh\n");
    assert_eq!(said.code, 1, "{}", said.stderr);
    assert!(
        said.stderr
            .contains("no new files and folders right in its project's folder"),
        "{}",
        said.stderr
    );
}

/// A check gives its project no configuration and no store that it hadn't.
#[test]
fn fourth_a_check_makes_nothing_of_ours() {
    let scratch = Scratch::new("fourth-made");
    let spec = r#"{"id": "w", "initial": "a", "checks": {"c": {"command": ["sh", "script"]}},
        "states": {"a": {"on": {"next": "b"}}, "b": {"type": "final"}}}"#;
    scratch.write("w.workflow.json", spec);
    let script = "echo 'store = \"elsewhere.db\"' > statemark.toml\nln -s /etc/hosts statemark.lock\n\
                  mkdir .statemark\necho '[]' > .statemark/tokens.json\ntrue\n";
    scratch.write("script", script);
    let said = attacked(&scratch, &["run-check", "c"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let is_there = |name: &str| fs::symlink_metadata(scratch.path.join(name)).is_ok();
    for name in ["statemark.toml", "statemark.lock"] {
        assert!(!is_there(name), "{name}: {}", said.stderr);
        let aside = format!("{name}.from-check");
        let is_told = said.stderr.contains(&format!("`{aside}`"));
        // Without namespaces it makes nothing new there at all.
        assert_eq!(is_told, is_there(&aside), "{}", said.stderr);
        assert!(is_told || !is_mounted(&said.stderr), "{}", said.stderr);
    }
    assert!(!is_there(".statemark/tokens.json"), "{}", said.stderr);
}

/// Whether the kernel has Landlock, as its own list says, or as a program that asks for it finds out.
pub(crate) fn has_landlock() -> bool {
    let list = fs::read_to_string("/sys/kernel/security/lsm");
    list.map_or(true, |list| {
        list.split(',').any(|name| name.trim() == "landlock")
    })
}

/// Variables that hold or lead to a credential, besides those whose names end with `_SECRET`.
const CREDENTIALS: [(&str, &str); 13] = [
    ("PGPASSWORD", "pw"),
    ("PGPASSFILE", "/none/pgpass"),
    ("PGSERVICEFILE", "/none/service"),
    ("PGSSLKEY", "/none/key"),
    ("SSH_AUTH_SOCK", "/none/agent"),
    ("DATABASE_URL", "postgres://u:pw@h/db"),
    ("HTTP_PROXY", "http://u:pw@p:3128"),
    ("OPTIONS_OF_X", "--proxy http://u:pw@p --quiet"),
    ("GH_PAT", "zzz"),
    ("NPM_CONFIG__AUTH", "q"),
    ("MYSQL_PWD", "pw"),
    ("SMTP_PASS", "pw"),
    ("GOOGLE_APPLICATION_CREDENTIALS", "/none/google.json"),
];

/// A token or a secret of the environment reaches a check only if the check declares it, and a token of ours never.
#[test]
fn h5_no_check_gets_a_token() {
    let run = |scratch: &Scratch| {
        let mut command = statemark(&scratch.path);
        command
            .args(["run-check", "c"])
            .env("STATEMARK_RUN", "")
            .env("STATEMARK_NOW", "1800000000000")
            .env("APP_SECRET", "correct-horse-battery")
            .env("COPIED", "Bearer correct-horse-battery")
            .envs(CREDENTIALS)
            .env("HARMLESS", "kept");
        in_time(command)
    };
    let said = run(&project("h5-check", "env\n", ""));
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stdout.contains("HARMLESS=kept"), "{}", said.stdout);
    let names = CREDENTIALS.map(|(name, _)| name);
    for word in ["STATEMARK_", "correct-horse", "APP_SECRET"]
        .iter()
        .chain(&names)
    {
        assert!(!said.stdout.contains(word), "{word}: {}", said.stdout);
    }
    assert!(said.stdout.contains("PWD="), "{}", said.stdout);
    let more = "inherit = [\"APP_SECRET\"]\nenv = {HARMLESS = \"declared\"}";
    let said = run(&project("h5-declared", "env\n", more));
    assert!(said.stdout.contains("APP_SECRET="), "{}", said.stdout);
    assert!(said.stdout.contains("HARMLESS=declared"), "{}", said.stdout);
    let said = run(&project(
        "h5-token",
        "env\n",
        "inherit = [\"STATEMARK_NOW\"]",
    ));
    assert_eq!(said.code, 2, "{}", said.stdout);
    assert!(
        said.stderr.contains("which no check gets"),
        "{}",
        said.stderr
    );
}

/// Git gets no token and no secret either.
#[test]
fn h5_git_gets_no_token() {
    let scratch = project("h5-git", "", "");
    let made = Command::new("git")
        .args(["init", "-q"])
        .current_dir(&scratch.path)
        .status();
    assert!(made.unwrap().success());
    let told = scratch.path.join("told");
    #[expect(clippy::disallowed_methods, reason = "a test asks the machine")]
    let programs = std::env::var_os("PATH").unwrap();
    let real = std::env::split_paths(&programs)
        .map(|folder| folder.join("git"))
        .find(|path| path.is_file())
        .unwrap();
    let script = format!(
        "#!/bin/sh\nenv >> '{}'\nexec '{}' \"$@\"\n",
        told.display(),
        real.display()
    );
    scratch.write("bin/git", &script);
    fs::set_permissions(
        scratch.path.join("bin/git"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    let path = format!(
        "{}:{}",
        scratch.path.join("bin").display(),
        programs.to_str().unwrap()
    );
    done(&scratch, &["start", "door", "--run-id", "y"]);
    let mut command = statemark(&scratch.path);
    command
        .args(["checkpoint", "take", "y"])
        .env("PATH", path)
        .env("STATEMARK_NOW", "1800000000000")
        .env("GIT_TRACE", scratch.path.join("trace"))
        .env("APP_SECRET", "correct-horse-battery");
    let said = in_time(command);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let told = fs::read_to_string(told).unwrap();
    assert!(told.contains("GIT_DIR="), "{told}");
    for word in ["STATEMARK_", "correct-horse", "GIT_TRACE"] {
        assert!(!told.contains(word), "{word}: {told}");
    }
}

/// A check runs in its project, whatever its declaration says.
#[test]
fn low_a_checks_folder_stays_in_the_project() {
    for cwd in ["../..", "/", "link"] {
        let scratch = project("low-cwd", "touch ran\n", &format!("cwd = \"{cwd}\""));
        std::os::unix::fs::symlink("/", scratch.path.join("link")).unwrap();
        let said = attacked(&scratch, &["run-check", "c"]);
        assert_eq!(said.code, 2, "{cwd}: {}", said.stdout);
        assert!(
            said.stderr.contains("leads out of the project"),
            "{}",
            said.stderr
        );
        assert!(
            said.stderr.contains("~/.config/statemark/places"),
            "{}",
            said.stderr
        );
    }
    let scratch = project("low-cwd", "", "cwd = \"/\"");
    scratch.write("own/statemark/places", "/\n");
    scratch.write(
        "statemark.toml",
        "[checks.c]\ncommand = [\"pwd\"]\ncwd = \"/\"\n",
    );
    assert!(
        done(&scratch, &["run-check", "c"])
            .stdout
            .starts_with("/\n")
    );
}
