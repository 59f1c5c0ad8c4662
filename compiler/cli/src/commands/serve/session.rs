//! The file that says where a server listens, for clients that are pointed at it.
//!
//! It has the token that the server was started with, if there is one, so only its owner can read it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::failure::Failure;
use crate::runs;

/// Its name, in the project's own folder.
const FILE: &str = "mcp-session.json";

/// How long another server may take to be there. Why: it is on this machine.
const PATIENCE: Duration = Duration::from_millis(200);

/// The file, which is there as long as this is.
pub(super) struct SessionFile {
    path: PathBuf,
    text: String,
    /// The file of another server, which was there before.
    before: Option<String>,
}

/// Writes where a server listens.
pub(super) fn write(address: SocketAddr) -> Result<SessionFile, Failure> {
    let token = runs::own_token()?;
    let text = format!("{:#}\n", entry(address, token.as_deref()));
    let before = runs::kept_private(FILE)?;
    let path = runs::keep_private(FILE, &text)?;
    Ok(SessionFile { path, text, before })
}

impl Drop for SessionFile {
    fn drop(&mut self) {
        // Another server may have written its own since.
        if !std::fs::read_to_string(&self.path).is_ok_and(|text| text == self.text) {
            return;
        }
        match self.before.as_ref().filter(|text| listens(text)) {
            // One that this one came beside goes on.
            Some(text) => drop(runs::keep_private(FILE, text)),
            None => drop(std::fs::remove_file(&self.path)),
        }
    }
}

/// Whether the server that a file is of still listens.
fn listens(text: &str) -> bool {
    let read = serde_json::from_str::<Value>(text).ok();
    let url = read
        .as_ref()
        .and_then(|it| it.pointer("/mcpServers/statemark/url"));
    let address = url.and_then(Value::as_str).and_then(|url| {
        let rest = url.strip_prefix("http://")?.strip_suffix("/mcp")?;
        rest.parse::<SocketAddr>().ok()
    });
    address.is_some_and(|it| TcpStream::connect_timeout(&it, PATIENCE).is_ok())
}

/// What clients are given.
fn entry(address: SocketAddr, token: Option<&str>) -> Value {
    // An address that means any is reached by the loopback.
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    let url = format!("http://{}/mcp", SocketAddr::new(ip, address.port()));
    let mut server = json!({"type": "http", "url": url});
    if let (Some(token), Value::Object(map)) = (token, &mut server) {
        let bearer = format!("Bearer {token}");
        map.insert("headers".to_owned(), json!({"Authorization": bearer}));
    }
    json!({"mcpServers": {"statemark": server}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_told_an_address_that_they_can_reach() {
        assert_eq!(
            entry("0.0.0.0:7420".parse().unwrap(), Some("smk_x")),
            json!({"mcpServers": {"statemark": {
                "type": "http",
                "url": "http://127.0.0.1:7420/mcp",
                "headers": {"Authorization": "Bearer smk_x"},
            }}})
        );
        let told = entry("[::]:80".parse().unwrap(), None);
        assert_eq!(
            told["mcpServers"]["statemark"]["url"],
            "http://[::1]:80/mcp"
        );
        assert_eq!(told["mcpServers"]["statemark"].get("headers"), None);
    }
}
