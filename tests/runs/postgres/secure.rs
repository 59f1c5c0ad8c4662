//! TLS and what the environment says, with a real server: each mode as libpq means it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use statemark_stores::PostgresStore;

use super::server;
use super::server::{PASSWORD, Server};

/// Who may connect: by TLS alone, without it alone, by a certificate, and by a password.
const RULES: &str = "\
hostssl all secured all trust
hostnossl all plain all trust
hostssl all certified all cert
host all secured,plain,certified all reject
";

/// Authorities, and certificates by them.
struct Certificates {
    folder: PathBuf,
}

impl Certificates {
    fn new(server: &Server) -> Self {
        let this = Self {
            folder: server.folder().join("certificates"),
        };
        fs::create_dir(&this.folder).unwrap();
        for authority in ["own", "other"] {
            this.openssl(&format!(
                "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={authority} -keyout {authority}.key -out {authority}.crt"
            ));
        }
        for (name, subject) in [("server", "localhost"), ("client", "certified")] {
            this.openssl(&format!(
                "req -newkey rsa:2048 -nodes -subj /CN={subject} -addext subjectAltName=DNS:{subject} -keyout {name}.key -out {name}.csr"
            ));
            this.openssl(&format!(
                "x509 -req -in {name}.csr -days 2 -CA own.crt -CAkey own.key -CAcreateserial -copy_extensions copy -out {name}.crt"
            ));
            fs::set_permissions(
                this.folder.join(format!("{name}.key")),
                PermissionsExt::from_mode(0o600),
            )
            .unwrap();
        }
        this
    }

    fn openssl(&self, words: &str) {
        let mut command = Command::new("openssl");
        command.args(words.split(' ')).current_dir(&self.folder);
        let done = command.stdin(Stdio::null()).output().unwrap();
        let told = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "openssl {words}: {told}");
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }
}

/// Opens a store; what it said if it couldn't.
fn opened(address: &str) -> Result<(), String> {
    let opened = PostgresStore::open(address);
    opened.map(drop).map_err(|error| error.to_string())
}

#[test]
fn each_mode_is_met_as_libpq_means_it() {
    let Some(server) = server("TLS", false) else {
        return;
    };
    for role in ["secured", "plain", "certified", "guarded"] {
        let sql = format!("CREATE ROLE {role} LOGIN SUPERUSER PASSWORD '{PASSWORD}'");
        server.sql("public", &sql);
    }
    let certificates = Certificates::new(&server);
    server.secure(&certificates.folder, RULES);
    let file = |name: &str| certificates.path(name);
    let own = format!("sslrootcert={}", file("own.crt"));
    let other = format!("sslrootcert={}", file("other.crt"));
    let client = format!(
        "sslcert={}&sslkey={}",
        file("client.crt"),
        file("client.key")
    );
    let passwords = file("passwords");
    fs::write(&passwords, format!("*:*:*:guarded:{PASSWORD}\n")).unwrap();
    let with = |more: &[&str]| more.join("&");
    for (user, host, said, wrong) in [
        (
            "secured",
            "localhost",
            with(&["sslmode=disable"]),
            "no encryption",
        ),
        ("plain", "localhost", with(&["sslmode=disable"]), ""),
        ("secured", "localhost", with(&["sslmode=allow"]), ""),
        ("plain", "localhost", with(&["sslmode=allow"]), ""),
        ("secured", "localhost", String::new(), ""),
        ("plain", "localhost", String::new(), ""),
        (
            "secured",
            "localhost",
            with(&["sslmode=prefer", &other]),
            "",
        ),
        ("secured", "127.0.0.1", with(&["sslmode=require"]), ""),
        (
            "plain",
            "localhost",
            with(&["sslmode=require"]),
            "SSL encryption",
        ),
        ("secured", "127.0.0.1", with(&["sslmode=require", &own]), ""),
        (
            "secured",
            "localhost",
            with(&["sslmode=require", &other]),
            "UnknownIssuer",
        ),
        (
            "secured",
            "127.0.0.1",
            with(&["sslmode=verify-ca", &own]),
            "",
        ),
        (
            "secured",
            "localhost",
            with(&["sslmode=verify-ca", &other]),
            "UnknownIssuer",
        ),
        (
            "secured",
            "localhost",
            with(&["sslmode=verify-full", &own]),
            "",
        ),
        (
            "secured",
            "127.0.0.1",
            with(&["sslmode=verify-full", &own]),
            "not valid for name",
        ),
        (
            "secured",
            "localhost",
            with(&["sslmode=verify-full", &other]),
            "UnknownIssuer",
        ),
        (
            "secured",
            "localhost",
            with(&["sslmode=verify-full"]),
            "no authority is known",
        ),
        (
            "secured",
            "localhost",
            with(&["sslmode=verify-ca", "sslrootcert=system"]),
            "write `sslmode=verify-full`",
        ),
        (
            "secured",
            "localhost",
            with(&["sslmode=verify-ca", "sslrootcert=/nowhere"]),
            "`/nowhere` can't be used",
        ),
        (
            "secured",
            "localhost",
            with(&["sslmode=always"]),
            "there is no `sslmode=always`",
        ),
        (
            "certified",
            "localhost",
            with(&["sslmode=require"]),
            "certificate",
        ),
        (
            "certified",
            "localhost",
            with(&["sslmode=verify-full", &own, &client]),
            "",
        ),
        (
            "certified",
            "localhost",
            with(&[
                "sslmode=require",
                &client.replace("client.key", "server.key"),
            ]),
            "`sslkey` doesn't fit",
        ),
        (
            "guarded",
            "localhost",
            with(&["sslmode=require"]),
            "password",
        ),
        (
            "guarded",
            "127.0.0.1",
            with(&["sslmode=require", &format!("passfile={passwords}")]),
            "others can read",
        ),
    ] {
        let port = server.port();
        let address = format!("postgres://{user}@{host}:{port}/postgres?{said}");
        let result = opened(&address);
        match (wrong, &result) {
            ("", result) => assert_eq!(*result, Ok(()), "{address}"),
            (wrong, Err(error)) => assert!(error.contains(wrong), "{address}: {error}"),
            (wrong, Ok(())) => panic!("{address} was opened, but: {wrong}"),
        }
    }
    fs::set_permissions(Path::new(&passwords), PermissionsExt::from_mode(0o600)).unwrap();
    let address = format!(
        "postgres://guarded@localhost:{}/postgres?sslmode=require&passfile={passwords}",
        server.port()
    );
    assert_eq!(opened(&address), Ok(()));
}

/// An administrator looks into the server's log, and an error there is one too many.
#[test]
fn two_that_make_the_tables_at_once_leave_no_error_in_the_log() {
    let Some(server) = server("two on an empty database", false) else {
        return;
    };
    for round in 0..3 {
        let address = server.database(&format!("empty_{round}"));
        let threads: Vec<_> = (0..6)
            .map(|_| {
                let address = address.clone();
                std::thread::spawn(move || opened(&address))
            })
            .collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), Ok(()));
        }
    }
    server.has_logged_no_error();
}
