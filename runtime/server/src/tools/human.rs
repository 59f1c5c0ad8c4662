//! Asking people.

mod list_requests;
mod request_human;
mod resolve_request;

use crate::tool::Tool;

pub(super) fn all() -> Vec<Tool> {
    vec![
        request_human::tool(),
        list_requests::tool(),
        resolve_request::tool(),
    ]
}
