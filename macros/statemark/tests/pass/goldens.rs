//! The generated files of `tests/rust/` compile without a warning.
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications)]
#![forbid(unsafe_code)]

/// Beside each other, as in a crate.
pub mod goldens {
    include!("../../../../tests/rust/crossing.rs");
    include!("../../../../tests/rust/deck.rs");
    include!("../../../../tests/rust/errand.rs");
    include!("../../../../tests/rust/keywords.rs");
    include!("../../../../tests/rust/kitchen.rs");
    include!("../../../../tests/rust/oddities.rs");
    include!("../../../../tests/rust/order.rs");
    include!("../../../../tests/rust/parcel.rs");
    include!("../../../../tests/rust/payment.rs");
    include!("../../../../tests/rust/turnstile.rs");
}

mod hidden {
    include!("../../../../tests/rust/crossing.rs");
}

fn main() {
    assert_eq!(goldens::crossing::TABLE, hidden::crossing::TABLE);
}
