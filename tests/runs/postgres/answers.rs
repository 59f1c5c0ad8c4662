//! The answer to a commit is lost on its way.
//!
//! Between the store and the server stands a relay. Told to cut, it lets what comes next through, waits until the server
//! answers that it has committed, and closes the connection instead of handing the answer on.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use statemark_runs::{Appended, Expect, Store, StoreError};
use statemark_stores::PostgresStore;

use super::checks::note;
use super::server;

/// A relay to a port, on a port of its own.
struct Relay {
    port: u16,
    cut: Cut,
}

/// The word by which the server says that it has committed, at which the relay cuts.
type Cut = Arc<Mutex<Option<&'static [u8]>>>;

/// A transaction, and a statement that is one.
const COMMIT: &[u8] = b"COMMIT";
const STATEMENT: &[u8] = b"INSERT 0 1";

impl Relay {
    fn to(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let own = listener.local_addr().unwrap().port();
        let cut = Cut::default();
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

fn relay(client: TcpStream, server: TcpStream, armed: &Cut) {
    let armed = Arc::clone(armed);
    let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    thread::spawn(move || copy(from, to, |_| true));
    thread::spawn(move || {
        copy(server, client, |bytes| {
            let mut cut = armed.lock().unwrap();
            let said = |word: &[u8]| bytes.windows(word.len()).any(|it| it == word);
            let is_done = cut.is_some_and(said);
            if is_done {
                *cut = None;
            }
            !is_done
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

    let cut = |word| *relay.cut.lock().unwrap() = Some(word);
    let was_cut = || assert_eq!(*relay.cut.lock().unwrap(), None, "nothing was cut");
    // The end of the run is known: it is one statement.
    cut(STATEMENT);
    let keyed = note("r", Expect::At(1), Some("k"));
    let done = store.append(&keyed).unwrap();
    assert_eq!(done, Appended::Replayed { first: 2, last: 2 });
    was_cut();
    // And now it isn't.
    cut(COMMIT);
    let keyed = note("r", Expect::At(2), Some("l"));
    let done = store.append(&keyed).unwrap();
    assert_eq!(done, Appended::Replayed { first: 3, last: 3 });
    was_cut();

    // A new run, which has no row yet that could be locked: by one statement from nothing, by several from another run.
    cut(STATEMENT);
    let new = note("new", Expect::NoRun, Some("k"));
    let begun = store.append(&new).unwrap();
    assert_eq!(begun, Appended::Replayed { first: 1, last: 1 });
    was_cut();
    cut(COMMIT);
    let fork = note("fork", Expect::NoRun, Some("k"));
    let begun = store.fork(&"r".parse().unwrap(), 2, &fork).unwrap();
    assert_eq!(begun, Appended::Replayed { first: 3, last: 3 });
    was_cut();

    // Without a key nobody can tell.
    for (seq, word) in [(3, COMMIT), (4, STATEMENT)] {
        cut(word);
        let error = store.append(&note("r", Expect::At(seq), None)).unwrap_err();
        assert!(matches!(error, StoreError::Unknown { .. }), "{error}");
        was_cut();
        // Reading a run makes its end known.
        assert_eq!(store.head(&"r".parse().unwrap()).unwrap().seq, seq + 1);
    }
}
