//! `statemark serve`, as its clients have it: the built binary over standard input and output, and over HTTP.

mod api;
mod authoring;
pub(crate) mod client;
mod dashboard;
mod ended;
#[cfg(unix)]
mod given_up;
mod http;
mod lists;
#[cfg(unix)]
mod logs;
mod notifications;
mod offers;
mod profiles;
mod project;
pub(crate) mod raw;
mod readme;
mod resources;
mod sessions;
mod socket;
mod story;
mod stream;
mod transcript;
mod unread;
mod waits;
mod web;
