//! Values in insertion order, named by typed handles.
//!
//! An [`Arena`] never shrinks and never moves a value to another index, so a [`Handle`] that came from it stays valid.
//! Handles of different value types can't be confused; handles of different arenas of one type can, as with any index.

use std::fmt;
use std::marker::PhantomData;

use crate::source::narrow;

/// A typed name of a value in an [`Arena`].
pub struct Handle<T> {
    index: u32,
    of: PhantomData<fn() -> T>,
}

impl<T> Handle<T> {
    /// The handle of the first value.
    pub const FIRST: Self = Self {
        index: 0,
        of: PhantomData,
    };

    /// Returns the position of the value in its arena.
    #[must_use]
    pub const fn index(self) -> usize {
        self.index as usize
    }

    /// Returns the handle of a position.
    #[must_use]
    pub fn at(index: usize) -> Self {
        Self {
            index: narrow(index),
            of: PhantomData,
        }
    }
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Handle<T> {}
impl<T> PartialEq for Handle<T> {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}
impl<T> Eq for Handle<T> {}
impl<T> PartialOrd for Handle<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Handle<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.index.cmp(&other.index)
    }
}
impl<T> std::hash::Hash for Handle<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.index.hash(state);
    }
}
impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "#{}", self.index)
    }
}

/// A set of handles: a flag for each, up to the largest.
#[derive(Clone, Debug)]
pub struct HandleSet<T> {
    flags: Vec<bool>,
    of: PhantomData<fn() -> T>,
}

impl<T> HandleSet<T> {
    /// Adds a handle; returns false if it was there.
    pub fn insert(&mut self, handle: Handle<T>) -> bool {
        let index = handle.index();
        if self.flags.len() <= index {
            self.flags.resize(index + 1, false);
        }
        let flag = self.flags.get_mut(index);
        flag.is_some_and(|flag| !std::mem::replace(flag, true))
    }

    /// Reports whether a handle is there.
    #[must_use]
    pub fn contains(&self, handle: Handle<T>) -> bool {
        self.flags.get(handle.index()).is_some_and(|flag| *flag)
    }
}

impl<T> Default for HandleSet<T> {
    fn default() -> Self {
        Self {
            flags: Vec::new(),
            of: PhantomData,
        }
    }
}

impl<T> Extend<Handle<T>> for HandleSet<T> {
    fn extend<I: IntoIterator<Item = Handle<T>>>(&mut self, handles: I) {
        for handle in handles {
            self.insert(handle);
        }
    }
}

impl<T> FromIterator<Handle<T>> for HandleSet<T> {
    fn from_iter<I: IntoIterator<Item = Handle<T>>>(handles: I) -> Self {
        let mut set = Self::default();
        set.extend(handles);
        set
    }
}

/// Values in the order of their insertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arena<T> {
    values: Vec<T>,
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self { values: Vec::new() }
    }
}

impl<T> Arena<T> {
    /// Creates an empty arena.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a value.
    pub fn append(&mut self, value: T) -> Handle<T> {
        let handle = Handle::at(self.values.len());
        self.values.push(value);
        handle
    }

    /// Returns the number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Reports whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the value of a handle, or `None` for a handle of another, longer arena.
    #[must_use]
    pub fn get(&self, handle: Handle<T>) -> Option<&T> {
        self.values.get(handle.index())
    }

    /// Returns the value of a handle of this arena.
    #[must_use]
    #[expect(
        clippy::indexing_slicing,
        reason = "handles come from append; arenas never shrink"
    )]
    pub fn at(&self, handle: Handle<T>) -> &T {
        &self.values[handle.index()]
    }

    /// Returns a mutable reference to the value of a handle of this arena.
    #[expect(
        clippy::indexing_slicing,
        reason = "handles come from append; arenas never shrink"
    )]
    pub fn at_mut(&mut self, handle: Handle<T>) -> &mut T {
        &mut self.values[handle.index()]
    }

    /// Returns the values with their handles, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Handle<T>, &T)> + ExactSizeIterator {
        self.values
            .iter()
            .enumerate()
            .map(|(index, value)| (Handle::at(index), value))
    }

    /// Returns the handles, in order.
    pub fn handles(
        &self,
    ) -> impl DoubleEndedIterator<Item = Handle<T>> + ExactSizeIterator + use<T> {
        (0..self.values.len()).map(Handle::at)
    }
}
