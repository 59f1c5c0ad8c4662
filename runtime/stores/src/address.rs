//! Stores by address.

use std::path::Path;
use std::sync::Arc;

use crate::memory::MemoryStore;
use crate::sqlite::SqliteStore;
use statemark_runs::Clock;
use statemark_runs::store::{Store, StoreError};

/// Opens the store at an address.
/// It is `memory:`, `sqlite:PATH`, a path, which is SQLite's, or `postgres://…`. Leases and claims go by the clock, but
/// in PostgreSQL by the server's time, because the clocks of many machines differ.
///
/// # Errors
///
/// The address isn't one; what it leads to can't be opened.
pub fn open(address: &str, clock: Arc<dyn Clock>) -> Result<Arc<dyn Store>, StoreError> {
    open_with(address, clock, SqliteStore::open)
}

/// Opens the store at an address like [`open()`], also where records are missing.
///
/// # Errors
///
/// Those of [`open()`], but for [`StoreError::Lost`].
pub fn open_as_is(address: &str, clock: Arc<dyn Clock>) -> Result<Arc<dyn Store>, StoreError> {
    open_with(address, clock, SqliteStore::open_as_is)
}

fn open_with(
    address: &str,
    clock: Arc<dyn Clock>,
    open_file: impl FnOnce(&Path, Arc<dyn Clock>) -> Result<SqliteStore, StoreError>,
) -> Result<Arc<dyn Store>, StoreError> {
    if address == "memory:" {
        return Ok(Arc::new(MemoryStore::new(clock)));
    }
    if is_postgres(address) {
        return postgres(address);
    }
    if address.is_empty() || address == "sqlite:" {
        let what = "the address of the store is empty: write `sqlite:PATH`, `postgres://USER@HOST/DATABASE` or `memory:`".to_owned();
        return Err(StoreError::Invalid { what });
    }
    if is_in_keywords(address) {
        let what = "the address of the store is in the keywords of libpq: write `postgres://USER@HOST/DATABASE`".to_owned();
        return Err(StoreError::Invalid { what });
    }
    let Some(path) = file_of(address) else {
        // It isn't quoted: an address with `://` may hold a password.
        let scheme = address.split("://").next().unwrap_or_default();
        let what = format!(
            "there are no stores of the kind `{scheme}`; write `sqlite:PATH`, `postgres://USER@HOST/DATABASE` or `memory:`"
        );
        return Err(StoreError::Invalid { what });
    };
    Ok(Arc::new(open_file(path, clock)?))
}

/// Returns the file that an address leads to, if it leads to one.
#[must_use]
pub fn file_of(address: &str) -> Option<&Path> {
    let path = address.strip_prefix("sqlite:").unwrap_or(address);
    let is_file = !path.is_empty() && !path.contains("://") && address != "memory:";
    (is_file && !is_in_keywords(path)).then(|| Path::new(path))
}

/// Reports whether an address is PostgreSQL's other form, such as `host=runs.example password=secret`.
///
/// As the name of a file, it would put the password there.
fn is_in_keywords(address: &str) -> bool {
    let keywords = ["host", "hostaddr", "user", "dbname", "password", "service"];
    let words = address.split_whitespace();
    let mut names = words
        .filter_map(|word| word.split_once('='))
        .map(|(name, _)| name);
    names.any(|name| keywords.contains(&name))
}

/// Reports whether an address has a password in it: whoever reads the address has what it opens.
#[must_use]
pub fn holds_password(address: &str) -> bool {
    if file_of(address).is_some() {
        return false;
    }
    if is_in_keywords(address) {
        return address.contains("password");
    }
    let rest = address.split_once("://").map_or("", |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest.get(..end).unwrap_or(rest);
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    // A password with a sign that ends the authority is read as the address' library reads it: by its `@`.
    let odd = rest.rsplit_once('@').map_or("", |(user, _)| user);
    // Names of settings may be written in percents, too.
    let settings = percent_encoding::percent_decode_str(rest).decode_utf8_lossy();
    user.contains(':') || odd.contains(':') || settings.contains("password=")
}

/// The server and the database that an address of PostgreSQL leads to, as people write them down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The server, as `postgres://HOST:PORT`; PostgreSQL's own port is left out.
    ///
    /// None if the address names none: what surrounds whoever opens it decides.
    pub server: Option<String>,
    /// The database, as `postgres://HOST:PORT/DATABASE`, or `postgres:///DATABASE` without a server.
    pub database: String,
    /// The checks of the server that it asks for, as `sslmode=MODE&sslrootcert=FILE`; may be empty.
    pub checks: String,
}

impl Place {
    /// Returns the line that allows the server, else the database, checked as far as the address says.
    #[must_use]
    pub fn line(&self) -> String {
        let place = self.server.as_ref().unwrap_or(&self.database);
        let sign = if place.contains('?') { '&' } else { '?' };
        match self.checks.as_str() {
            "" => place.clone(),
            checks => format!("{place}{sign}{checks}"),
        }
    }
}

/// The meaning of a user's line about places for an address.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever asks has to know all of it"
)]
pub enum Judgement {
    /// Nothing: the line is about another place.
    Other,
    /// The address is allowed.
    Allowed,
    /// The place is allowed, but not checked as far as the user wants.
    ///
    /// The text says what the address has to do, as a clause without its subject.
    Lacks(String),
}

/// Returns what a user's line about places means for an address.
///
/// The line is a server or a database as [`Place`] spells them. It may say `sslmode` and `sslrootcert`, which the address
/// has to ask for, or for more; if it says neither, the environment does.
#[must_use]
pub fn judge(line: &str, address: &str) -> Judgement {
    #[cfg(feature = "postgres")]
    return crate::postgres::judge(line, address);
    #[cfg(not(feature = "postgres"))]
    return Judgement::Other;
}

/// Returns the place that an address of PostgreSQL leads to.
///
/// None for other addresses, and for what can't be opened.
#[must_use]
pub fn place_of(address: &str) -> Option<Place> {
    #[cfg(feature = "postgres")]
    return is_postgres(address)
        .then(|| crate::postgres::place_of(address))
        .flatten();
    #[cfg(not(feature = "postgres"))]
    return None;
}

fn is_postgres(address: &str) -> bool {
    let schemes = ["postgres://", "postgresql://"];
    schemes.iter().any(|scheme| address.starts_with(scheme))
}

#[cfg(feature = "postgres")]
fn postgres(address: &str) -> Result<Arc<dyn Store>, StoreError> {
    Ok(Arc::new(crate::postgres::PostgresStore::open(address)?))
}

#[cfg(not(feature = "postgres"))]
fn postgres(_: &str) -> Result<Arc<dyn Store>, StoreError> {
    let what =
        "this build can't reach PostgreSQL; build `statemark-stores` with the feature `postgres`"
            .to_owned();
    Err(StoreError::Invalid { what })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "postgres")]
    #[test]
    fn a_place_is_named_as_it_is_reached() {
        for (address, server, database) in [
            (
                "postgres://ann:x@runs.example.org/db",
                Some("postgres://runs.example.org"),
                "postgres://runs.example.org/db",
            ),
            (
                "postgresql://runs.example.org:1?application_name=b",
                Some("postgres://runs.example.org:1"),
                "postgres://runs.example.org:1/",
            ),
            (
                "postgres://h:5432/db?sslmode=require",
                Some("postgres://h"),
                "postgres://h/db",
            ),
            // All up to the first `@` is a user with a password, whatever is in it.
            (
                "postgres:///x@evil.example:1/db",
                Some("postgres://evil.example:1"),
                "postgres://evil.example:1/db",
            ),
            (
                "postgres://ok/x@evil.example/db",
                Some("postgres://evil.example"),
                "postgres://evil.example/db",
            ),
            (
                "postgres://a?x=@evil.example/db",
                Some("postgres://evil.example"),
                "postgres://evil.example/db",
            ),
            (
                "postgres://a@b@evil/db",
                Some("postgres://b@evil"),
                "postgres://b@evil/db",
            ),
            // Parameters have names in percents, too, and add to what the address names.
            (
                "postgres:///db?h%6fst=evil",
                Some("postgres://evil"),
                "postgres://evil/db",
            ),
            (
                "postgres://ok/db?host=evil",
                Some("postgres://ok,evil"),
                "postgres://ok,evil/db",
            ),
            (
                "postgres:///db?p%6frt=1",
                Some("postgres://:1"),
                "postgres://:1/db",
            ),
            (
                "postgres://ok/db?hostaddr=1.2.3.4",
                Some("postgres://ok?hostaddr=1.2.3.4"),
                "postgres://ok/db?hostaddr=1.2.3.4",
            ),
            (
                "postgres://%2Ftmp/db",
                Some("postgres://%2Ftmp"),
                "postgres://%2Ftmp/db",
            ),
            ("postgres:///shop?user=x", None, "postgres:///shop"),
            ("postgres:///sh%6fp", None, "postgres:///shop"),
            ("postgres:///a?dbname=shop", None, "postgres:///shop"),
            ("postgres://ann@/db", None, "postgres:///db"),
            ("postgres://", None, "postgres:///"),
        ] {
            let place = place_of(address).unwrap();
            assert_eq!(place.server.as_deref(), server, "{address}");
            assert_eq!(place.database, database, "{address}");
        }
        for address in [
            "postgres:///db?unknown=x",
            "postgres:///db?sslmode=require&sslmode=disable",
            "mysql://h/db",
            "memory:",
            "runs.db",
        ] {
            assert_eq!(place_of(address), None, "{address}");
        }
    }

    #[test]
    fn an_address_with_a_password_is_recognized() {
        for (address, holds) in [
            ("postgres://ann:secret@runs.example/db", true),
            ("postgres://ann:se@cret@runs.example/db", true),
            ("postgres://ann:se/cret@runs.example/db", true),
            (
                "postgresql://runs.example/db?user=ann&password=secret",
                true,
            ),
            ("postgres://ann@runs.example/db?pass%77ord=secret", true),
            ("postgres://ann@runs.example/db?sslpassword=secret", true),
            ("postgres://ann@runs.example:5432/db", false),
            ("postgres://runs.example:5432/db?sslmode=verify-full", false),
            ("postgres:///db", false),
            ("host=runs.example password=secret dbname=db", true),
            ("host=runs.example dbname=db", false),
            ("sqlite:a:b@c.db", false),
            ("runs.db", false),
            ("memory:", false),
        ] {
            assert_eq!(holds_password(address), holds, "{address}");
        }
    }

    #[test]
    fn keywords_are_no_name_of_a_file() {
        let address = "dbname=runs password=secret";
        assert_eq!(file_of(address), None);
        let error = open(address, Arc::new(statemark_runs::SystemClock)).err();
        assert_eq!(
            error.unwrap().to_string(),
            "the address of the store is in the keywords of libpq: write `postgres://USER@HOST/DATABASE`"
        );
        assert_eq!(file_of("host-1.db"), Some(Path::new("host-1.db")));
    }

    #[cfg(not(feature = "postgres"))]
    #[test]
    fn a_build_without_postgres_says_how_to_get_it() {
        let address = "postgres://someone:canary@host/runs";
        let error = open(address, Arc::new(statemark_runs::SystemClock))
            .err()
            .unwrap();
        assert_eq!(
            error.to_string(),
            "this build can't reach PostgreSQL; build `statemark-stores` with the feature `postgres`"
        );
    }
}
