//! Back ends: a [`Valid`](crate::valid::Valid) machine in, bytes or text out. None of them can fail.
