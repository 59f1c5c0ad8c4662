//! The table format.
pub mod sections;
