//! The rules of rights; those of tokens are played against a store in `tests/runs`.

use super::Right;
use crate::actor::{Actor, Role};
use crate::runs::RunError;

#[test]
fn each_role_has_the_rights_of_those_before_it() {
    for right in Right::ALL {
        let mut was_granted = false;
        for role in [Role::Observer, Role::Agent, Role::Person, Role::System] {
            let is_granted = right.is_granted(role);
            assert!(is_granted || !was_granted, "{right:?} of {role:?}");
            was_granted = is_granted;
        }
        assert!(was_granted);
    }
}

#[test]
fn a_refusal_says_who_may() {
    let eve = Actor::new(Role::Observer).with_name("eve");
    let bot = Actor::new(Role::Agent).with_name("bot");
    assert!(matches!(
        Right::Drive.check(&eve),
        Err(RunError::ReadOnly { .. })
    ));
    assert_eq!(
        Right::Keep.check(&bot).unwrap_err().to_string(),
        "bot (agent) isn't a person: only one may import, prune and migrate runs, and wake a backup"
    );
    assert!(Right::Keep.check(&Actor::new(Role::Person)).is_ok());
}
