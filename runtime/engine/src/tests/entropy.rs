//! Bytes as choices, so that a fuzzer and a seeded test can make the same things.
//!
//! `tests/` and `tests/fuzz/` include this file, too.

/// Choices, taken from bytes; zero once they are used up.
pub(crate) struct Entropy<'a> {
    bytes: &'a [u8],
}

impl<'a> Entropy<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&byte, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        byte
    }

    /// A number below `bound`, which isn't zero.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let number = usize::from(self.byte());
        let number = if bound > 256 {
            number << 8 | usize::from(self.byte())
        } else {
            number
        };
        number % bound
    }

    /// True once in `times`, and false when entropy has run out.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }
}
