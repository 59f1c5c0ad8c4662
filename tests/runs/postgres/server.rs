//! A PostgreSQL server on loopback, in a temporary folder, for as long as a test runs.
//!
//! A guardian ends it: a shell that waits for the end of its input, which comes when the test ends, however it ends.
//! PostgreSQL doesn't run as root: then another user runs it.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A password in addresses, which nothing may show.
pub(super) const PASSWORD: &str = "canary-in-a-coal-mine";

/// Stops whatever runs in the folder `$1`, and removes it. The server's own file says which process that is.
const GUARDIAN: &str = r#"
trap '' INT TERM HUP
cat >/dev/null
for try in 1 2 3 4 5 6 7 8 9 10; do
    pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) || break
    [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null || break
    kill -QUIT "$pid" 2>/dev/null
    sleep 0.3
done
rm -rf "$1"
"#;

/// Where `initdb` and `postgres` are.
pub(super) struct Programs(PathBuf);

/// Looks for a server: in `PATH`, and where Debian puts it.
pub(super) fn programs() -> Option<Programs> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    if let Ok(versions) = fs::read_dir("/usr/lib/postgresql") {
        folders.extend(versions.flatten().map(|it| it.path().join("bin")));
    }
    let has_both = |folder: &PathBuf| {
        ["initdb", "postgres"]
            .iter()
            .all(|name| folder.join(name).exists())
    };
    folders.into_iter().find(has_both).map(Programs)
}

/// A server that runs.
pub(super) struct Server {
    programs: PathBuf,
    folder: PathBuf,
    user: Option<&'static str>,
    fsync: bool,
    port: u16,
    postmaster: Option<Child>,
    guardian: Child,
}

impl Server {
    /// One that waits for its disk or, which is quicker and safe from all but power cuts, one that doesn't.
    pub(super) fn start(programs: &Programs, fsync: bool) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("statemark-postgres-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).unwrap();
        let guardian = Command::new("sh")
            .args(["-c", GUARDIAN, "guardian"])
            .arg(&folder)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let user = other_user();
        if let Some(user) = user {
            let done = Command::new("chown")
                .args(["-R", user])
                .arg(&folder)
                .status();
            assert!(done.unwrap().success());
        }
        let mut server = Self {
            programs: programs.0.clone(),
            folder,
            user,
            fsync,
            port: 0,
            postmaster: None,
            guardian,
        };
        server.init();
        server.launch();
        server
    }

    /// The address of a place that is as good as a new database, and made in a tenth of the time: a schema.
    pub(super) fn database(&self, name: &str) -> String {
        self.sql("public", &format!("CREATE SCHEMA {name}"));
        self.address(name)
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn address(&self, name: &str) -> String {
        let port = self.port;
        let options = format!("options=-csearch_path%3D{name}");
        format!("postgres://statemark:{PASSWORD}@127.0.0.1:{port}/postgres?{options}")
    }

    /// The folder of all that is the server's.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Checks that the server's log has no error: an administrator looks into it, and one there is one too many.
    pub(super) fn has_logged_no_error(&self) {
        let log = self.log();
        let errors = log.lines().filter(|line| line.contains("ERROR"));
        assert_eq!(errors.collect::<Vec<_>>(), Vec::<&str>::new(), "{log}");
    }

    /// What the server has told since it was started.
    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap()
    }

    /// Has the server take TLS, with the certificate and the authority in a folder, and rules before its others.
    pub(super) fn secure(&self, certificates: &Path, rules: &str) {
        let data = self.folder.join("data");
        for name in ["server.crt", "server.key", "own.crt"] {
            fs::copy(certificates.join(name), data.join(name)).unwrap();
        }
        if let Some(user) = self.user {
            let key = data.join("server.key");
            let done = Command::new("chown").arg(user).arg(key).status();
            assert!(done.unwrap().success());
        }
        let file = data.join("pg_hba.conf");
        let others = fs::read_to_string(&file).unwrap();
        fs::write(&file, rules.to_owned() + &others).unwrap();
        for setting in ["ssl = on", "ssl_ca_file = 'own.crt'"] {
            self.sql("public", &format!("ALTER SYSTEM SET {setting}"));
        }
        self.sql("public", "SELECT pg_reload_conf()");
        // The server reads them in its own time.
        let begun = Instant::now();
        while !self.log().contains("parameter \"ssl\" changed") {
            assert!(begun.elapsed() < Duration::from_secs(30), "{}", self.log());
            sleep(Duration::from_millis(20));
        }
    }

    /// Does something there, behind every store's back.
    pub(super) fn sql(&self, name: &str, sql: &str) {
        with_client(&self.address(name), async |client| {
            client.batch_execute(sql).await.unwrap();
        });
    }

    /// Kills the server's first process, whose others then end by themselves, or all of them as a power cut would; and
    /// starts it again.
    pub(super) fn kill(&mut self, all: bool) {
        let pid = self.pid().expect("a running server");
        let mut pids = vec![pid.clone()];
        if all {
            pids.extend(children(&pid));
        }
        let mut kill = Command::new("kill");
        kill.arg("-9").args(&pids).stderr(Stdio::null());
        kill.status().unwrap();
        self.launch();
    }

    fn program(&self, name: &str) -> Command {
        let program = self.programs.join(name);
        let mut command = match self.user {
            Some(user) => {
                let mut command = Command::new("setpriv");
                command.args([format!("--reuid={user}"), format!("--regid={user}")]);
                command.arg("--clear-groups").arg(program);
                command
            }
            None => Command::new(program),
        };
        command.current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    fn init(&self) {
        let made = self
            .program("initdb")
            .args(["--pgdata=data", "--username=statemark", "--encoding=UTF8"])
            .args(["--locale=C", "--auth=trust", "--no-sync"])
            .output()
            .unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        // Passwords cost half a second a connection in an unoptimized build: so only one user needs one.
        let rules = self.folder.join("data/pg_hba.conf");
        let all = fs::read_to_string(&rules).unwrap();
        let guarded = "host all guarded 127.0.0.1/32 scram-sha-256\n";
        fs::write(&rules, guarded.to_owned() + &all).unwrap();
    }

    /// Starts the server, again and again while processes of the one before are still there: its lock file is never
    /// touched, because two servers in one folder would ruin it.
    fn launch(&mut self) {
        let begun = Instant::now();
        loop {
            if let Some(mut dead) = self.postmaster.take() {
                let _ = dead.wait();
            }
            if self.port == 0 {
                self.port = free_port();
            }
            let log = fs::File::create(self.folder.join("log")).unwrap();
            let mut postmaster = self
                .program("postgres")
                .args(["-D", "data", "-p", &self.port.to_string()])
                .args(["-c", "listen_addresses=127.0.0.1"])
                .args([
                    "-c",
                    "unix_socket_directories=",
                    "-c",
                    "max_connections=200",
                ])
                .args(["-c", if self.fsync { "fsync=on" } else { "fsync=off" }])
                .stdout(log.try_clone().unwrap())
                .stderr(log)
                .spawn()
                .unwrap();
            while postmaster.try_wait().unwrap().is_none() && !self.is_ready() {
                sleep(Duration::from_millis(30));
            }
            if postmaster.try_wait().unwrap().is_none() {
                self.postmaster = Some(postmaster);
                return;
            }
            let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            if log.contains("could not bind") && self.postmaster.is_none() && self.pid().is_none() {
                self.port = 0;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{log}");
            sleep(Duration::from_millis(100));
        }
    }

    fn is_ready(&self) -> bool {
        let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        log.contains("ready to accept connections")
            && TcpStream::connect(("127.0.0.1", self.port)).is_ok()
    }

    fn pid(&self) -> Option<String> {
        let file = fs::read_to_string(self.folder.join("data/postmaster.pid")).ok()?;
        file.lines().next().map(str::to_owned)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.guardian.stdin.take());
        let _ = self.guardian.wait();
        if let Some(mut postmaster) = self.postmaster.take() {
            let _ = postmaster.wait();
        }
    }
}

/// A connection of the test's own, for as long as a function runs.
pub(super) fn with_client<T>(
    address: &str,
    act: impl AsyncFnOnce(&mut tokio_postgres::Client) -> T,
) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (mut client, connection) = tokio_postgres::connect(address, tokio_postgres::NoTls)
            .await
            .unwrap();
        tokio::spawn(connection);
        act(&mut client).await
    })
}

/// The processes that a process has started, where the system says so in files.
fn children(parent: &str) -> Vec<String> {
    let Ok(all) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let is_child = |pid: &String| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // `PID (NAME) STATE PARENT …`; a name may hold anything.
        let behind = stat.rsplit(") ").next().unwrap_or_default();
        behind.split(' ').nth(1) == Some(parent)
    };
    all.flatten()
        .filter_map(|it| it.file_name().into_string().ok())
        .filter(is_child)
        .collect()
}

/// Who runs the server, if this is root.
fn other_user() -> Option<&'static str> {
    let id = Command::new("id").arg("-u").output().unwrap();
    if id.stdout != b"0\n" {
        return None;
    }
    let exists = |user: &&str| {
        let found = Command::new("id").arg(user).output();
        found.is_ok_and(|found| found.status.success())
    };
    ["postgres", "nobody"].into_iter().find(exists)
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}
