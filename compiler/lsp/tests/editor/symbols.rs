//! The names of states over all specs of the editor's folders.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use statemark_lsp::{FileRules, NoProject, Notification, Project, SpecFile};

use crate::client::{Client, URI};

/// The checks, each with its name.
pub(crate) const CHECKS: &[(&str, fn())] = &[
    (
        "states_are_found_over_all_documents",
        states_are_found_over_all_documents,
    ),
    (
        "a_file_is_compiled_again_once_it_changes",
        a_file_is_compiled_again_once_it_changes,
    ),
    (
        "a_search_ends_when_it_is_cancelled",
        a_search_ends_when_it_is_cancelled,
    ),
];

fn states_are_found_over_all_documents() {
    let mut client = Client::new(&json!({}), &Value::Null);
    client.open("file:///specs/door.mmd", "stateDiagram-v2\n[*] --> brim\n");
    client.open("file:///specs/main.rs", "stateDiagram-v2\n[*] --> brine\n");
    let found = client
        .ask("workspace/symbol", json!({ "query": "BRI" }))
        .unwrap();
    let found: Vec<(&str, &str)> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            (
                it["name"].as_str().unwrap(),
                it["location"]["uri"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("brim", "file:///specs/door.mmd"),
            ("bright", "file:///specs/lamp.mmd")
        ]
    );
}

/// Files with one lamp each.
#[derive(Clone, Default)]
struct Lamps {
    files: Arc<Mutex<Vec<SpecFile>>>,
    reads: Arc<AtomicUsize>,
    /// How long each reading takes.
    delay: Duration,
}

impl Lamps {
    fn new(count: usize) -> Self {
        let files = (0..count).map(|number| SpecFile {
            path: PathBuf::from(format!("/specs/lamp-{number}.mmd")),
            stamp: Some((SystemTime::UNIX_EPOCH, 0)),
        });
        Self {
            files: Arc::new(Mutex::new(files.collect())),
            ..Self::default()
        }
    }

    /// Starts a server of these files.
    fn serve(&self) -> Client {
        let mut client = Client::of_project(self.clone());
        client.initialize(&json!({}), &Value::Null);
        client
    }

    fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }
}

impl Project for Lamps {
    fn is_spec(&self, _: &Path) -> bool {
        true
    }

    fn rules(&self, _: &Path, _: &[PathBuf]) -> Result<Box<dyn FileRules + '_>, String> {
        Ok(Box::new(NoProject))
    }

    fn specs(&self, _: &Path) -> Vec<SpecFile> {
        self.files.lock().unwrap().clone()
    }

    fn read(&self, path: &Path) -> Option<String> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(self.delay);
        let name = path.file_stem()?.to_str()?.replace('-', "_");
        Some(format!("stateDiagram-v2\n[*] --> {name}\n"))
    }

    fn tools(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

fn search(client: &mut Client, query: &str) -> Vec<String> {
    let found = client.ask("workspace/symbol", json!({ "query": query }));
    let found = found.unwrap();
    let names = found.as_array().unwrap().iter();
    names
        .map(|it| it["name"].as_str().unwrap().to_owned())
        .collect()
}

fn a_file_is_compiled_again_once_it_changes() {
    let lamps = Lamps::new(20);
    let mut client = lamps.serve();
    assert_eq!(search(&mut client, "lamp_1").len(), 11);
    assert_eq!(search(&mut client, "lamp_11"), ["lamp_11"]);
    assert_eq!(lamps.reads(), 20, "each was read once");
    lamps.files.lock().unwrap()[11].stamp = Some((SystemTime::UNIX_EPOCH, 1));
    lamps.files.lock().unwrap()[12].stamp = None;
    assert_eq!(search(&mut client, "lamp_11"), ["lamp_11"]);
    assert_eq!(lamps.reads(), 22);
    assert_eq!(search(&mut client, "lamp_12"), ["lamp_12"]);
    assert_eq!(lamps.reads(), 23, "what has no stamp is read each time");
    lamps.files.lock().unwrap().truncate(11);
    assert!(search(&mut client, "lamp_11").is_empty());
    client.finish().unwrap();
}

fn a_search_ends_when_it_is_cancelled() {
    let lamps = Lamps {
        delay: Duration::from_millis(1),
        ..Lamps::new(100_000)
    };
    let mut client = lamps.serve();
    let id = client.send_request("workspace/symbol", json!({ "query": "none" }));
    client.send(Notification::new(
        "$/cancelRequest".to_owned(),
        json!({ "id": id }),
    ));
    let answer = client.wait_for(&id);
    assert_eq!(answer.response_result.unwrap_err().code, -32800);
    assert!(lamps.reads() < 100_000);
    // However many more come of requests that nobody made, what comes after them is answered.
    for id in 0..100_000 {
        let params = json!({ "id": id });
        client.tell("$/cancelRequest", params);
    }
    client.open(URI, "");
    client.finish().unwrap();
}
