//! How servers end.

use serde_json::json;

use super::client::Client;
use crate::keeping::filled;

#[test]
fn a_server_ends_with_its_client() {
    let scratch = filled("served-ended");
    let mut client = Client::start(&scratch.path, &[]);
    let listed = client.call("list_workflows", &json!({}));
    assert_eq!(listed["data"]["workflows"][0]["id"], "door");
    assert_eq!(client.leave(), Some(0));
    let unheard = Client::unheard(&scratch.path, &[]);
    assert_eq!(unheard.leave(), Some(0));
}
