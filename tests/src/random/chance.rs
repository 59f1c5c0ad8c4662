//! Chance that is the same every time.

/// A sequence of numbers that looks random.
#[derive(Clone, Debug)]
pub(crate) struct Chance {
    state: u64,
}

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: mix(seed) }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(1);
        mix(self.state)
    }

    /// A number below `end`, which isn't 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        // The remainder is below `end`, so it fits.
        usize::try_from(self.next() % end as u64).unwrap_or(0)
    }

    /// A number from one to the other.
    pub(crate) fn between(&mut self, first: usize, last: usize) -> usize {
        first + self.below(last + 1 - first)
    }

    /// True so many times of a hundred.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    /// One of them, if there is any.
    pub(crate) fn pick<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        if all.is_empty() {
            return None;
        }
        let index = self.below(all.len());
        all.get(index).cloned()
    }
}

/// The mixing function of splitmix64. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators".
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
