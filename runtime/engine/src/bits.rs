//! Bit sets over state numbers: slices of words, 64 states each.
//!
//! All functions are total: a bit past the last word is zero, and setting it does nothing.

use core::ops::Range;

use crate::id::StateId;

/// Bits of a word.
const WIDTH: usize = u64::BITS as usize;

/// Returns how many words a set of that many states takes.
pub(crate) const fn words(states: usize) -> usize {
    states.div_ceil(WIDTH)
}

/// Returns the word of a bit and the bit's mask in it.
#[inline]
pub(crate) const fn position(bit: usize) -> (usize, u64) {
    (bit / WIDTH, 1 << (bit % WIDTH))
}

/// Returns the states of one word of a set, in document order.
#[inline]
pub(crate) fn states(word: usize, bits: u64) -> impl Iterator<Item = StateId> {
    let mut rest = bits;
    core::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let bit = word * WIDTH + rest.trailing_zeros() as usize;
        rest &= rest - 1;
        StateId::from_index(bit)
    })
}

/// Returns whether the bit is set.
#[inline]
pub(crate) fn contains(set: &[u64], bit: usize) -> bool {
    let (word, mask) = position(bit);
    set.get(word).is_some_and(|bits| bits & mask != 0)
}

/// Sets the bit.
#[inline]
pub(crate) fn insert(set: &mut [u64], bit: usize) {
    let (word, mask) = position(bit);
    if let Some(bits) = set.get_mut(word) {
        *bits |= mask;
    }
}

/// Clears the bit.
#[inline]
pub(crate) fn remove(set: &mut [u64], bit: usize) {
    let (word, mask) = position(bit);
    if let Some(bits) = set.get_mut(word) {
        *bits &= !mask;
    }
}

/// Visits the words of a range of bits, each with the mask of the bits that lie in the range.
#[inline]
fn masks(range: Range<usize>) -> impl DoubleEndedIterator<Item = (usize, u64)> {
    let words = match range.is_empty() {
        true => 0..0,
        false => range.start / WIDTH..range.end.div_ceil(WIDTH),
    };
    words.clone().map(move |word| {
        let mut mask = u64::MAX;
        if word == words.start {
            mask &= u64::MAX << (range.start % WIDTH);
        }
        if word + 1 == words.end {
            mask &= u64::MAX >> (words.end * WIDTH - range.end);
        }
        (word, mask)
    })
}

/// Clears all bits of the range.
#[inline]
pub(crate) fn remove_range(set: &mut [u64], range: Range<usize>) {
    for (word, mask) in masks(range) {
        if let Some(bits) = set.get_mut(word) {
            *bits &= !mask;
        }
    }
}

/// Returns whether two sets have a bit of the range in common.
#[inline]
pub(crate) fn intersect(one: &[u64], other: &[u64], range: Range<usize>) -> bool {
    masks(range).any(|(word, mask)| match (one.get(word), other.get(word)) {
        (Some(one), Some(other)) => one & other & mask != 0,
        _ => false,
    })
}

/// Returns the last bit of the range that is set.
#[inline]
pub(crate) fn last(set: &[u64], range: Range<usize>) -> Option<usize> {
    let (word, bits) = masks(range)
        .rev()
        .map(|(word, mask)| (word, set.get(word).copied().unwrap_or_default() & mask))
        .find(|&(_, bits)| bits != 0)?;
    Some(word * WIDTH + WIDTH - 1 - bits.leading_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    /// A set and a range of it; every function is held to the list of the bits.
    #[test]
    fn functions_agree_with_a_list_of_bits() {
        let members: Vec<usize> = vec![0, 1, 63, 64, 65, 127, 128, 190, 255];
        let mut set = vec![0; words(256)];
        for &bit in &members {
            insert(&mut set, bit);
        }
        for bit in 0..300 {
            assert_eq!(contains(&set, bit), members.contains(&bit), "{bit}");
        }
        for start in 0..260 {
            for end in 0..260 {
                let inside = members.iter().rev().find(|it| (start..end).contains(*it));
                assert_eq!(last(&set, start..end), inside.copied(), "{start}..{end}");
                let found = intersect(&set, &set, start..end);
                assert_eq!(found, inside.is_some(), "{start}..{end}");
                let mut rest = set.clone();
                remove_range(&mut rest, start..end);
                for &bit in &members {
                    let is_outside = !(start..end).contains(&bit);
                    assert_eq!(contains(&rest, bit), is_outside, "{bit} of {start}..{end}");
                }
            }
        }
        for &bit in &members {
            let (word, mask) = position(bit);
            let found: Vec<usize> = states(word, mask).map(StateId::index).collect();
            assert_eq!(found, [bit]);
            remove(&mut set, bit);
        }
        assert!(set.iter().all(|&bits| bits == 0));
    }

    #[test]
    fn a_bit_past_the_last_word_is_zero() {
        let mut set = vec![0; 1];
        insert(&mut set, 64);
        remove(&mut set, 64);
        assert!(!contains(&set, 64));
        assert_eq!(last(&set, 0..1_000), None);
    }
}
