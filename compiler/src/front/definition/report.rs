//! The messages of this front end: one file a code, named as the code is.

mod bad_value;
mod bad_wrapper;
mod duplicate_key;
mod invalid_schema;
mod json_syntax;
mod lenient_json;
mod misplaced_key;
mod missing_key;
mod mistyped_guard;
mod old_spelling;
mod secret_in_definition;
mod unknown_key;
mod unknown_requirement;
mod wrong_type;

pub(super) use bad_value::{
    empty_branches, empty_command, empty_name, empty_targets, no_such_number, not_a_choice,
    not_at_least,
};
pub(super) use bad_wrapper::{key_beside_wrapped, nothing_wrapped};
pub(super) use duplicate_key::duplicate_key;
pub(super) use invalid_schema::{invalid_schema, unknown_type};
pub(super) use json_syntax::{json_syntax, too_deep, unclosed, unclosed_text};
pub(super) use lenient_json::{Leniency, lenient_json};
pub(crate) use misplaced_key::leaves_anyway;
pub(super) use misplaced_key::{beside, only_in_type, value_of_presence, without_invoke};
pub(crate) use missing_key::missing_key;
pub(super) use mistyped_guard::mistyped_guard;
pub(super) use old_spelling::old_spelling;
pub(super) use secret_in_definition::secret;
pub(super) use unknown_key::{Unknown, unknown_key};
pub(super) use unknown_requirement::unknown_requirement;
pub(super) use wrong_type::wrong_type;
