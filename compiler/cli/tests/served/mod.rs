//! `statemark serve`, as its clients have it: the built binary over standard input and output, and over HTTP.

mod authoring;
pub(crate) mod client;
mod ended;
mod project;
mod story;
mod told;
