//! Resources: texts and files at addresses of their own.

mod list;
mod read;

pub(crate) use list::{Template, has_template, list, rank, templates};
pub(crate) use read::read;
