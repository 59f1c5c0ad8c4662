//! The messages of this stage: one file a code.

pub(super) mod bad_delay;
pub(super) mod bare_condition;
pub(super) mod broken_branches;
pub(super) mod broken_label;

pub(super) mod completion_without_final;
pub(super) mod contradictory_type;
pub(super) mod dead_end;
pub(super) mod drawn_elsewhere;
pub(super) mod dropped_parenthesis;
pub(super) mod duplicate_state;
pub(super) mod empty_composite;
pub(super) mod empty_section;
pub(super) mod event_collision;
pub(super) mod host_expression;
pub(super) mod inferred_initial_state;
pub(super) mod kept_parenthesis;
pub(super) mod no_initial_state;
pub(super) mod only_in_definition;
pub(super) mod prose_label;
pub(super) mod reserved_event;
pub(super) mod several_initial_states;
pub(super) mod slash_as_text;
pub(super) mod targets_in_one_region;
pub(super) mod two_instructions;
pub(super) mod two_owners;
pub(super) mod unknown_event;
pub(super) mod unknown_guard;
pub(super) mod unknown_instructions;
pub(super) mod unknown_state;
pub(super) mod unread_part;
pub(super) mod unsupported_construct;
pub(super) mod unused_declaration;
pub(super) mod zero_delay;
