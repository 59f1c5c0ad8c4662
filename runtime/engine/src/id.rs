//! Typed numbers for what a table holds.
//!
//! An id is the index of a row in its section. Ids of different sections are different types, so that a state can't be
//! looked up among the events. An id that stands in a [`Table`](crate::Table) is in range: `verify` has seen to it.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident: $raw:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($raw);

        impl $name {
            /// Returns the id of the row at `index`.
            #[must_use]
            pub const fn new(index: $raw) -> Self {
                Self(index)
            }

            /// Returns the id of the row at `index`, or `None` past the most that a section may hold.
            #[must_use]
            pub fn from_index(index: usize) -> Option<Self> {
                $raw::try_from(index).ok().filter(|&raw| raw != $raw::MAX).map(Self)
            }

            /// Returns the row's index in its section.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Returns the number itself, as it stands in the bytes.
            #[must_use]
            pub const fn raw(self) -> $raw {
                self.0
            }
        }

        /// Shows the number.
        impl core::fmt::Display for $name {
            fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(&self.0, out)
            }
        }
    };
}

id!(
    /// A state. States stand in document order: a parent before its children, a subtree without gaps.
    StateId: u16
);
id!(
    /// An event that the machine knows.
    EventId: u16
);
id!(
    /// A transition.
    /// Transitions stand sorted by source, then in the order in which their author wrote them.
    TransitionId: u16
);
id!(
    /// A guard that the host answers.
    GuardId: u16
);
id!(
    /// An action.
    ActionId: u16
);
id!(
    /// A field of the context, or of the event's data, that a program reads or assigns.
    FieldId: u16
);
id!(
    /// A timer: what delays an event, and by what it is cancelled.
    TimerId: u16
);
id!(
    /// A text in the strings section.
    TextId: u32
);

/// The root: the state that stands for the machine.
pub(crate) const ROOT: StateId = StateId::new(0);
