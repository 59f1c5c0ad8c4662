//! Facts about a machine that several stages need.
