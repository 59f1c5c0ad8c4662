//! Addresses, with what the environment and the user's files add to them.
//!
//! They mean what they mean to every client of PostgreSQL.
//!
//! What an address says counts. What it doesn't say comes from the variables `PGHOST`, `PGPORT`, `PGUSER`, `PGPASSWORD`,
//! `PGDATABASE`, `PGAPPNAME`, `PGOPTIONS`, `PGCONNECT_TIMEOUT`, `PGSSLMODE`, `PGSSLROOTCERT`, `PGSSLCERT`, `PGSSLKEY` and
//! `PGPASSFILE`, and a password from the file that the last one names, else `~/.pgpass`.
//! Source: *PostgreSQL 17 Documentation*, 32.15 *Environment Variables* and 32.16 *The Password File*.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::NON_ALPHANUMERIC;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::tls::{Mode, Tls, check_private, invalid, unusable};
use crate::address::{Judgement, Place};
use statemark_runs::store::StoreError;

/// PostgreSQL's own port.
const PORT: u16 = 5432;

/// The folder of a local server's sockets, on most systems.
const SOCKETS: &str = "/var/run/postgresql";

/// Largest password file. Unit: bytes. Why: it has a line for each database.
const MAX_PASSWORDS: u64 = 1 << 20;

/// An address that was read whole.
#[derive(Clone, Debug)]
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) tls: Tls,
}

/// Reads an address with what the environment adds.
///
/// # Errors
///
/// It is none, or a file that it or the environment names can't be used. It isn't quoted: it may hold a password.
pub(super) fn read(address: &str) -> Result<Address, StoreError> {
    read_with(address, &|name| {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    })
}

/// Reads an address, with variables by name.
fn read_with(
    address: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Address, StoreError> {
    let (rest, own) = take_own(address)?;
    let ports = variable("PGPORT");
    let rest = match &ports {
        Some(port) if !port.chars().all(|it| it.is_ascii_digit()) => {
            return Err(invalid("PGPORT isn't a port: a number up to 65535"));
        }
        Some(port) => with_port(&rest, port),
        None => rest,
    };
    let mut config: Config = rest.parse().map_err(|_| not_an_address())?;
    let checks = Checks::read(&own, variable)?;
    let own = |name: &str, in_environment: &str| {
        get(&own, name)
            .cloned()
            .or_else(|| variable(in_environment))
    };
    let tls = Tls {
        mode: checks.mode.unwrap_or_default(),
        authorities: checks.authorities,
        certificate: own("sslcert", "PGSSLCERT").map(PathBuf::from),
        key: own("sslkey", "PGSSLKEY").map(PathBuf::from),
    };
    config.ssl_mode(tls.mode.negotiated());
    add_place(&mut config, variable, ports)?;
    add_rest(&mut config, variable)?;
    if config.get_password().is_none() {
        let file = own("passfile", "PGPASSFILE").map(PathBuf::from);
        let password = match variable("PGPASSWORD") {
            Some(password) => Some(password),
            None => find_password(&config, file, variable)?,
        };
        if let Some(password) = password {
            config.password(password);
        }
    }
    Ok(Address { config, tls })
}

/// Returns the place that an address leads to; none if nothing can be reached by it.
///
/// It is read by the library that connects: whoever decides by the names decides about the server that is reached.
pub(crate) fn place_of(address: &str) -> Option<Place> {
    let (rest, own) = take_own(address).ok()?;
    let config: Config = rest.parse().ok()?;
    let hosts = spell_hosts(&config);
    let addresses = config.get_hostaddrs().iter();
    let addresses: Vec<String> = addresses.map(ToString::to_string).collect();
    let parameters = match addresses.is_empty() {
        true => String::new(),
        false => format!("?hostaddr={}", addresses.join(",")),
    };
    let is_named = !hosts.is_empty() || !addresses.is_empty();
    let name = config.get_dbname().unwrap_or_default();
    let checks = CHECKS
        .iter()
        .filter_map(|name| Some((name, get(&own, name)?)));
    let checks = checks.map(|(name, value)| {
        let value = percent_encoding::utf8_percent_encode(value, IN_VALUE);
        format!("{name}={value}")
    });
    Some(Place {
        server: is_named.then(|| format!("postgres://{hosts}{parameters}")),
        database: format!("postgres://{hosts}/{name}{parameters}"),
        checks: checks.collect::<Vec<String>>().join("&"),
    })
}

/// Characters that are written in percents in the value of a parameter.
const IN_VALUE: &percent_encoding::AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'/')
    .remove(b'_')
    .remove(b'~');

/// The parameters that say how far the server is checked.
const CHECKS: [&str; 2] = ["sslmode", "sslrootcert"];

/// The checks of a server before it is told anything.
#[derive(Debug, PartialEq, Eq)]
struct Checks {
    /// None if nobody says it.
    mode: Option<Mode>,
    authorities: Option<String>,
}

impl Checks {
    /// Reads them from the parameters of an address and the environment.
    fn read(
        own: &Parameters,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, StoreError> {
        let said = |name: &str, in_environment: &str| {
            get(own, name).cloned().or_else(|| variable(in_environment))
        };
        let mode = said("sslmode", "PGSSLMODE").map(|name| Mode::parse(&name));
        Ok(Self {
            mode: mode.transpose()?,
            authorities: said("sslrootcert", "PGSSLROOTCERT"),
        })
    }

    /// Returns what an address has to do to have them as far as wanted; none if they are.
    fn lacks(&self, wanted: &Self) -> Option<String> {
        let authorities_count = wanted.authorities.is_some() || wanted.mode >= Some(Mode::VerifyCa);
        if authorities_count && self.authorities != wanted.authorities {
            return Some(match &wanted.authorities {
                Some(file) => format!("has to say `sslrootcert={file}`"),
                None => "must not name authorities by `sslrootcert`".to_owned(),
            });
        }
        let mode = wanted
            .mode
            .filter(|it| self.mode.unwrap_or_default() < *it)?;
        Some(format!("has to say `sslmode={}`", mode.name()))
    }
}

/// Returns what a user's line about places means for an address.
///
/// What the line doesn't say of how the server is checked, the user's environment says.
pub(crate) fn judge(line: &str, address: &str) -> Judgement {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    judge_with(line, address, &variable)
}

fn judge_with(line: &str, address: &str, variable: &dyn Fn(&str) -> Option<String>) -> Judgement {
    let (Some(place), Ok((line, wanted)), Ok((_, own))) =
        (place_of(address), take_own(line), take_own(address))
    else {
        return Judgement::Other;
    };
    if line != place.database && Some(&line) != place.server.as_ref() {
        return Judgement::Other;
    }
    let nothing = |_: &str| None;
    // A mode that doesn't exist is told when the address is opened.
    let of_address = Checks::read(&own, variable);
    let of_user = match CHECKS.iter().any(|name| get(&wanted, name).is_some()) {
        true => Checks::read(&wanted, &nothing),
        false => Checks::read(&wanted, variable),
    };
    let lacks = match (of_address, of_user) {
        (Ok(of_address), Ok(of_user)) => of_address.lacks(&of_user),
        (Err(error), _) | (_, Err(error)) => Some(format!("can't be read: {error}")),
    };
    lacks.map_or(Judgement::Allowed, Judgement::Lacks)
}

/// Spells the hosts of a configuration with their ports, or the ports alone if it has no host.
fn spell_hosts(config: &Config) -> String {
    let (hosts, ports) = (config.get_hosts(), config.get_ports());
    if hosts.is_empty() {
        let ports = ports.iter().map(|port| format!(":{port}"));
        return ports.collect::<Vec<String>>().join(",");
    }
    let names = hosts.iter().zip(0..).map(|(host, at)| {
        let name = match host {
            Host::Tcp(name) if name.contains(':') => format!("[{name}]"),
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(folder) => {
                let folder = folder.to_string_lossy();
                percent_encoding::utf8_percent_encode(&folder, NON_ALPHANUMERIC).to_string()
            }
        };
        // One port is every host's.
        let port = ports.get(at).or_else(|| ports.first());
        match port.filter(|it| **it != PORT) {
            Some(port) => format!("{name}:{port}"),
            None => name,
        }
    });
    names.collect::<Vec<String>>().join(",")
}

fn not_an_address() -> StoreError {
    invalid(
        "the address of the store isn't one of PostgreSQL; they look like \
         `postgres://user:password@host:5432/database`, with `%40` for an `@` in a password",
    )
}

/// Parameters of an address by name.
type Parameters = Vec<(String, String)>;

/// Returns the value of a parameter.
fn get<'p>(parameters: &'p Parameters, name: &str) -> Option<&'p String> {
    let found = parameters.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value)
}

/// Takes the parameters out of an address that are read here, and returns the rest of it.
fn take_own(address: &str) -> Result<(String, Parameters), StoreError> {
    const OWN: [&str; 5] = ["sslmode", "sslrootcert", "sslcert", "sslkey", "passfile"];
    let Some((base, query)) = address.split_once('?') else {
        return Ok((address.to_owned(), Vec::new()));
    };
    let (mut own, mut others) = (Parameters::new(), Vec::new());
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if own.iter().any(|(known, _)| known == name) {
            return Err(invalid(format!(
                "the address of the store names `{name}` twice"
            )));
        }
        if OWN.contains(&name) {
            let value = percent_encoding::percent_decode_str(value).decode_utf8();
            let value = value.map_err(|_| not_an_address())?;
            own.push((name.to_owned(), value.into_owned()));
        } else {
            others.push(pair);
        }
    }
    let rest = match others.is_empty() {
        true => base.to_owned(),
        false => format!("{base}?{}", others.join("&")),
    };
    Ok((rest, own))
}

/// Adds a port to the hosts of an address that have none.
///
/// Read without, they would have PostgreSQL's own.
fn with_port(address: &str, port: &str) -> String {
    let begin = address.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = address.split_at(begin);
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let hosts = authority.rfind('@').map_or(0, |at| at + 1);
    let (user, hosts) = authority.split_at(hosts);
    if hosts.is_empty() || rest.contains("port=") {
        return address.to_owned();
    }
    let hosts = hosts.split(',').map(|host| {
        // An address of version 6 has colons of its own, in brackets.
        let name = host.rfind(']').unwrap_or(0);
        let has_port = host.get(name..).is_some_and(|it| it.contains(':'));
        if has_port {
            host.to_owned()
        } else {
            format!("{host}:{port}")
        }
    });
    let hosts: Vec<String> = hosts.collect();
    format!("{scheme}{user}{}{rest}", hosts.join(","))
}

/// Adds where the server is.
fn add_place(
    config: &mut Config,
    variable: &dyn Fn(&str) -> Option<String>,
    port: Option<String>,
) -> Result<(), StoreError> {
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        let local = || Path::new(SOCKETS).is_dir().then(|| SOCKETS.to_owned());
        let hosts = variable("PGHOST").or_else(local);
        for host in hosts.as_deref().unwrap_or("localhost").split(',') {
            config.host(host);
        }
    }
    if config.get_ports().is_empty()
        && let Some(port) = port
    {
        let port = port.parse();
        config.port(port.map_err(|_| invalid("PGPORT isn't a port: a number up to 65535"))?);
    }
    Ok(())
}

/// Adds the user, the database, and how to connect.
fn add_rest(
    config: &mut Config,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(), StoreError> {
    if config.get_user().is_none()
        && let Some(user) = variable("PGUSER")
    {
        config.user(user);
    }
    if config.get_dbname().is_none()
        && let Some(name) = variable("PGDATABASE")
    {
        config.dbname(name);
    }
    if config.get_application_name().is_none() {
        config.application_name(variable("PGAPPNAME").unwrap_or_else(|| "statemark".to_owned()));
    }
    if config.get_options().is_none()
        && let Some(options) = variable("PGOPTIONS")
    {
        config.options(options);
    }
    if config.get_connect_timeout().is_none()
        && let Some(seconds) = variable("PGCONNECT_TIMEOUT")
    {
        let seconds = seconds.trim().parse();
        let seconds =
            seconds.map_err(|_| invalid("PGCONNECT_TIMEOUT isn't a number of seconds"))?;
        // None, as in libpq, means for ever; our own limit holds then.
        if seconds > 0 {
            config.connect_timeout(Duration::from_secs(seconds));
        }
    }
    Ok(())
}

/// Finds the password in the user's password file, by host, port, database and user.
fn find_password(
    config: &Config,
    named: Option<PathBuf>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<String>, StoreError> {
    let own = || Some(PathBuf::from(variable("HOME")?).join(".pgpass"));
    let Some(file) = named.or_else(own) else {
        return Ok(None);
    };
    let Ok(about) = fs::metadata(&file) else {
        return Ok(None);
    };
    if !about.is_file() || about.len() > MAX_PASSWORDS {
        return Err(unusable(&file, &"it is no file of passwords"));
    }
    check_private(&file)?;
    let text = fs::read_to_string(&file).map_err(|error| unusable(&file, &error))?;
    let user = match config.get_user() {
        Some(user) => Some(user.to_owned()),
        None => variable("USER"),
    };
    let user = user.unwrap_or_default();
    let database = config.get_dbname().unwrap_or(&user);
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        // A local server, wherever its socket is.
        _ => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(PORT);
    let wanted = [&host, &port.to_string(), database, &user];
    Ok(text.lines().find_map(|line| password_of(line, wanted)))
}

/// Returns the password of a line if its other fields are these, or `*`.
fn password_of(line: &str, wanted: [&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let last = fields.len() - 1;
        let field = fields.get_mut(last)?;
        match letter {
            '\\' => field.extend(letters.next()),
            ':' if last < wanted.len() => fields.push(String::new()),
            letter => field.push(letter),
        }
    }
    let (password, fields) = fields.split_last()?;
    let fits = fields.len() == wanted.len()
        && fields
            .iter()
            .zip(wanted)
            .all(|(field, wanted)| field == "*" || field == wanted);
    fits.then(|| password.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(address: &str, variables: &[(&str, &str)]) -> Result<Address, StoreError> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        read_with(address, &variable)
    }

    #[test]
    fn what_an_address_says_counts_and_the_environment_says_the_rest() {
        let variables = [
            ("PGHOST", "there.example"),
            ("PGPORT", "6543"),
            ("PGUSER", "ann"),
            ("PGPASSWORD", "of-the-environment"),
            ("PGDATABASE", "runs"),
            ("PGSSLMODE", "disable"),
        ];
        let read = with("postgres://", &variables).unwrap();
        assert_eq!(
            read.config.get_hosts(),
            [Host::Tcp("there.example".to_owned())]
        );
        assert_eq!(read.config.get_ports(), [6543]);
        assert_eq!(read.config.get_user(), Some("ann"));
        assert_eq!(read.config.get_dbname(), Some("runs"));
        assert_eq!(read.config.get_password(), Some(&b"of-the-environment"[..]));
        assert_eq!(read.tls.mode, Mode::Disable);
        let address = "postgres://bob:own@here.example:1/own?sslmode=verify-full&sslrootcert=a%20b.crt&options=-ca%3Db";
        let read = with(address, &variables).unwrap();
        assert_eq!(
            read.config.get_hosts(),
            [Host::Tcp("here.example".to_owned())]
        );
        assert_eq!(read.config.get_ports(), [1]);
        assert_eq!(read.config.get_user(), Some("bob"));
        assert_eq!(read.config.get_dbname(), Some("own"));
        assert_eq!(read.config.get_password(), Some(&b"own"[..]));
        assert_eq!(read.config.get_options(), Some("-ca=b"));
        assert_eq!(read.tls.mode, Mode::VerifyFull);
        assert_eq!(read.tls.authorities.as_deref(), Some("a b.crt"));
        let read = with("postgres://ann:a%40b@one,two:2,[::1]/runs", &variables).unwrap();
        assert_eq!(read.config.get_ports(), [6543, 2, 6543]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (address, variables, message) in [
            (
                "postgres://h/d?sslmode=always",
                &[][..],
                "there is no `sslmode=always`",
            ),
            (
                "postgres://h/d",
                &[("PGSSLMODE", "on")][..],
                "there is no `sslmode=on`",
            ),
            (
                "postgres://h/d",
                &[("PGPORT", "x")][..],
                "PGPORT isn't a port",
            ),
            (
                "postgres://h/d",
                &[("PGCONNECT_TIMEOUT", "x")][..],
                "PGCONNECT_TIMEOUT",
            ),
            ("postgres://h:port/d", &[][..], "isn't one of PostgreSQL"),
        ] {
            let error = with(address, variables).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn a_line_says_how_far_a_server_is_checked() {
        let allowed = || Judgement::Allowed;
        let lacks = |what: &str| Judgement::Lacks(what.to_owned());
        for (line, address, variables, judged) in [
            ("postgres://h", "postgres://a:b@h/d", &[][..], allowed()),
            (
                "postgres://h/d",
                "postgres://a:b@h/d?sslmode=disable",
                &[],
                allowed(),
            ),
            ("postgres://h/d", "postgres://h/e", &[], Judgement::Other),
            ("postgres://h", "runs.db", &[], Judgement::Other),
            (
                "postgres://h?hostaddr=1.2.3.4",
                "postgres://h/d?hostaddr=1.2.3.4&sslmode=disable",
                &[],
                allowed(),
            ),
            // What the line wants, the address or the environment says, or more.
            (
                "postgres://h?sslmode=require",
                "postgres://h/d",
                &[],
                lacks("has to say `sslmode=require`"),
            ),
            (
                "postgres://h?sslmode=require",
                "postgres://h/d?sslmode=verify-full",
                &[],
                allowed(),
            ),
            (
                "postgres://h?sslmode=require",
                "postgres://h/d",
                &[("PGSSLMODE", "require")],
                allowed(),
            ),
            (
                "postgres://h?sslmode=require",
                "postgres://h/d?sslmode=allow",
                &[("PGSSLMODE", "require")],
                lacks("has to say `sslmode=require`"),
            ),
            (
                "postgres://h?sslmode=verify-full&sslrootcert=system",
                "postgres://h/d?sslmode=verify-full",
                &[],
                lacks("has to say `sslrootcert=system`"),
            ),
            (
                "postgres://h?sslrootcert=a%20b",
                "postgres://h/d?sslrootcert=a%20b",
                &[],
                allowed(),
            ),
            (
                "postgres://h?sslmode=verify-ca",
                "postgres://h/d?sslmode=verify-ca&sslrootcert=their.crt",
                &[],
                lacks("must not name authorities by `sslrootcert`"),
            ),
            // A line that says nothing leaves it to the environment, and one that does overrules that.
            (
                "postgres://h",
                "postgres://h/d?sslmode=disable",
                &[("PGSSLMODE", "verify-full")],
                lacks("has to say `sslmode=verify-full`"),
            ),
            (
                "postgres://h",
                "postgres://h/d?sslrootcert=x",
                &[("PGSSLROOTCERT", "y")],
                lacks("has to say `sslrootcert=y`"),
            ),
            (
                "postgres://h?sslmode=disable",
                "postgres://h/d?sslmode=disable",
                &[("PGSSLMODE", "verify-full")],
                allowed(),
            ),
        ] {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(
                judge_with(line, address, &variable),
                judged,
                "{line} {address}"
            );
        }
        let place = place_of("postgres://h/d?sslrootcert=a%20b/c.crt&sslmode=verify-full");
        assert_eq!(
            place.unwrap().line(),
            "postgres://h?sslmode=verify-full&sslrootcert=a%20b/c.crt"
        );
    }

    #[test]
    fn a_line_of_passwords_fits_by_its_fields() {
        let wanted = ["db.example", "5432", "runs", "ann"];
        for (line, password) in [
            ("db.example:5432:runs:ann:secret", Some("secret")),
            ("*:*:*:ann:a:b\\:c\\\\d", Some("a:b:c\\d")),
            ("*:*:*:*:", Some("")),
            ("db\\.example:*:*:ann:x", Some("x")),
            ("other:5432:runs:ann:secret", None),
            ("#*:*:*:*:x", None),
            ("*:*:*:ann", None),
            ("", None),
        ] {
            assert_eq!(password_of(line, wanted).as_deref(), password, "{line}");
        }
    }
}
