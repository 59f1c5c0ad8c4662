//! What the official conformance suite wants to find, on our own router, middleware and configuration.
//!
//! The suite calls tools, prompts and resources of certain names; a production server has none of them. Here they are data
//! (`fixture.json`), and this file says what the data means. All else, from the listener to rmcp's settings, is what
//! `statemark serve --http` runs. Run by `tests/server/conformance.sh`; its one argument is the address to listen at.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::print_stdout,
    reason = "a program of the tests: its data is its own, and whoever starts it reads where it listens"
)]

mod fixture;
mod rounds;

use std::sync::Arc;

use statemark_server::{HttpOptions, serve_handler};
use statemark_tools::Caller;

use fixture::{Fixture, Shared};

fn main() {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:0".to_owned());
    let options = HttpOptions {
        address: address.parse().expect("an address"),
        hosts: Vec::new(),
        origins: Vec::new(),
        caller: Caller::agent(),
    };
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    tokio.block_on(async {
        let shared = Arc::new(Shared::read());
        let make = move || Fixture(Arc::clone(&shared));
        let serving = serve_handler(make, options).await.expect("a free port");
        println!("http://{}/mcp", serving.address);
        serving.ended().await.expect("a good end");
    });
}
