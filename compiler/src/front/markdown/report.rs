//! The messages of this front end: one file a code, named as the code is.

mod near_miss_heading;
mod plain_json_definition;
mod several_definitions;
mod several_diagrams;
mod unclosed_fence;
mod unread_front_matter;

pub(super) use near_miss_heading::{Flaw, near_miss_heading};
pub(super) use plain_json_definition::plain_json_definition;
pub(super) use several_definitions::several_definitions;
pub(super) use several_diagrams::several_diagrams;
pub(super) use unclosed_fence::unclosed_fence;
pub(super) use unread_front_matter::unread_front_matter;
