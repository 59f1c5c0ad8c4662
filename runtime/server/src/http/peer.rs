//! The user at the other end of a connection from this machine.
//!
//! A store without tokens serves its own user alone: over the loopback comes every user of the machine, and what an agent
//! may do includes running programs. Linux says whose a connection is; elsewhere nobody does, and every local user is let in
//! (`statemark help tokens`).

use std::net::{IpAddr, SocketAddr};

/// Reports whether a connection from this machine is one of this process' user, or of the system's.
///
/// Where the system doesn't tell, it is taken for one.
#[cfg(target_os = "linux")]
pub(super) fn is_own_user(peer: SocketAddr, local: SocketAddr) -> bool {
    let own = rustix::process::geteuid().as_raw();
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(std::fs::read_to_string);
    let mut is_known = false;
    for table in tables.into_iter().flatten() {
        // A table without the server itself is left empty by a sandbox.
        is_known |= listens(&table, local);
        if let Some(user) = find(&table, peer, local) {
            return user == Some(own) || user == Some(0);
        }
    }
    // An end that the kernel has forgotten is nobody's: its process may have broken it off.
    !is_known
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_own_user(_: SocketAddr, _: SocketAddr) -> bool {
    true
}

/// Reports whether a table has the socket at which the server listens.
fn listens(table: &str, local: SocketAddr) -> bool {
    const LISTENING: &str = "0A";
    let port = format!(":{:04X}", local.port());
    table.lines().any(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        fields.next().is_some_and(|it| it.ends_with(&port)) && fields.nth(1) == Some(LISTENING)
    })
}

/// Finds the end of a connection in the kernel's table.
///
/// Returns `Some(None)` if it is there and isn't open any more.
///
/// Why that isn't taken for anybody's: the kernel forgets the user of an end that its process has closed.
///
/// Source of the format: `proc_net_tcp.rst` of the kernel's documentation.
fn find(table: &str, from: SocketAddr, to: SocketAddr) -> Option<Option<u32>> {
    const ESTABLISHED: &str = "01";
    let (from, to) = (names(from), names(to));
    table.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (local, remote, state) = (fields.next()?, fields.next()?, fields.next()?);
        if !from.iter().any(|it| it == local) || !to.iter().any(|it| it == remote) {
            return None;
        }
        let user = fields.nth(3)?.parse().ok();
        Some(user.filter(|_| state == ESTABLISHED))
    })
}

/// Returns the names that the kernel's tables may have for an address.
///
/// IPv4 stands in that of IPv6, too.
fn names(address: SocketAddr) -> Vec<String> {
    let port = address.port();
    let word = |bytes: &[u8]| {
        let bytes = <[u8; 4]>::try_from(bytes).unwrap_or_default();
        format!("{:08X}", u32::from_ne_bytes(bytes))
    };
    let name = |bytes: &[u8]| {
        let words: String = bytes.chunks(4).map(word).collect();
        format!("{words}:{port:04X}")
    };
    match address.ip() {
        IpAddr::V4(ip) => vec![name(&ip.octets()), name(&ip.to_ipv6_mapped().octets())],
        IpAddr::V6(ip) => match ip.to_ipv4_mapped() {
            Some(mapped) => vec![name(&ip.octets()), name(&mapped.octets())],
            None => vec![name(&ip.octets())],
        },
    }
}

#[cfg(all(test, target_endian = "little"))]
mod tests {
    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1CFC 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0
   1: 0100007F:1CFC 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 0 20 4 30 10 -1
   2: 0100007F:9C40 0100007F:1CFC 01 00000000:00000000 00:00000000 00000000 65534        0 3 1 0 20 4 30 10 -1
   3: 0100007F:9C41 0100007F:1CFC 06 00000000:00000000 03:00000C2E 00000000     0        0 0 3 0 0 0 0 0 0
   4: 0000000000000000FFFF00000100007F:9C42 0000000000000000FFFF00000100007F:1CFC 01 00000000:00000000 00:00000000 00000000 7 0 4 1 0 20 4 30 10 -1
";

    #[test]
    fn the_end_of_a_connection_is_found_with_its_user() {
        let server: SocketAddr = "127.0.0.1:7420".parse().unwrap();
        for (peer, found) in [
            ("127.0.0.1:40000", Some(Some(65534))),
            // Closed by its process: nobody's.
            ("127.0.0.1:40001", Some(None)),
            ("[::ffff:127.0.0.1]:40002", Some(Some(7))),
            ("127.0.0.1:40003", None),
        ] {
            assert_eq!(find(TABLE, peer.parse().unwrap(), server), found, "{peer}");
        }
        assert!(listens(TABLE, server));
        assert!(!listens(TABLE, "127.0.0.1:40000".parse().unwrap()));
    }
}
