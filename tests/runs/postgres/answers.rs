//! The answer to a commit is lost on its way.
//!
//! Between the store and the server stands a relay. Told to cut, it lets the next commit through, waits until the server
//! has answered it, and closes the connection instead of handing the answer on.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use statemark_runs::{Appended, Expect, Store, StoreError};
use statemark_stores::PostgresStore;

use super::checks::note;
use super::server;

/// A relay to a port, on a port of its own.
struct Relay {
    port: u16,
    cut: Arc<AtomicBool>,
}

impl Relay {
    fn to(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let own = listener.local_addr().unwrap().port();
        let cut = Arc::new(AtomicBool::new(false));
        let armed = Arc::clone(&cut);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else {
                    return;
                };
                relay(client, server, &armed);
            }
        });
        Self { port: own, cut }
    }
}

fn relay(client: TcpStream, server: TcpStream, armed: &Arc<AtomicBool>) {
    let cutting = Arc::new(AtomicBool::new(false));
    let (armed, noticed) = (Arc::clone(armed), Arc::clone(&cutting));
    let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    thread::spawn(move || {
        copy(from, to, |bytes| {
            let commits = bytes.windows(6).any(|it| it == b"COMMIT");
            if commits && armed.swap(false, Ordering::SeqCst) {
                noticed.store(true, Ordering::SeqCst);
            }
            true
        });
    });
    thread::spawn(move || {
        copy(server, client, |bytes| {
            // `C` for a command that is complete, with its name: the server has committed.
            let done = bytes.windows(6).any(|it| it == b"COMMIT");
            !(done && cutting.load(Ordering::SeqCst))
        })
    });
}

/// Hands bytes on until a function says no.
fn copy(mut from: TcpStream, mut to: TcpStream, goes_on: impl Fn(&[u8]) -> bool) {
    let mut buffer = [0; 65_536];
    while let Ok(count) = from.read(&mut buffer) {
        if count == 0 || !goes_on(&buffer[..count]) || to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}

#[test]
fn a_lost_answer_is_asked_for_again_under_its_key() {
    let Some(server) = server("lost answers", false) else {
        return;
    };
    let address = server.database("lost");
    let relay = Relay::to(server.port());
    let through = address.replace(
        &format!(":{}/", server.port()),
        &format!(":{}/", relay.port),
    );
    let store = PostgresStore::open(&through).unwrap();
    store.append(&note("r", Expect::NoRun, None)).unwrap();

    relay.cut.store(true, Ordering::SeqCst);
    let keyed = note("r", Expect::At(1), Some("k"));
    let done = store.append(&keyed).unwrap();
    assert_eq!(done, Appended::Replayed { first: 2, last: 2 });
    assert!(!relay.cut.load(Ordering::SeqCst), "nothing was cut");

    // A new run, which has no row yet that could be locked.
    relay.cut.store(true, Ordering::SeqCst);
    let begun = store
        .append(&note("new", Expect::NoRun, Some("k")))
        .unwrap();
    assert_eq!(begun, Appended::Replayed { first: 1, last: 1 });

    // Without a key nobody can tell.
    relay.cut.store(true, Ordering::SeqCst);
    let error = store.append(&note("r", Expect::At(2), None)).unwrap_err();
    assert!(matches!(error, StoreError::Unknown { .. }), "{error}");
    assert_eq!(store.head(&"r".parse().unwrap()).unwrap().seq, 3);
}
