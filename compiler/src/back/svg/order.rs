//! The order of the vertices in each layer: as few crossings as sweeps find.
//!
//! Barycenters down and up, exchanges of neighbors after each sweep, and the best of all that was seen (Sugiyama, Tagawa
//! and Toda 1981; crossings are counted as by Barth, Jünger and Mutzel 2002). Where links are attached to a box counts,
//! so that links of one box don't cross each other.
#![expect(
    clippy::indexing_slicing,
    reason = "segments name vertices of the layers, whose vectors have one length"
)]

/// A part of a link between neighboring layers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) upper: usize,
    pub(super) lower: usize,
    /// The places on both ends where it is attached, as distances from their centers.
    pub(super) upper_at: i64,
    pub(super) lower_at: i64,
}

/// Most sweeps. Why: ten more have found nothing better in any diagram of the corpora.
const SWEEPS: usize = 24;

/// Sweeps without a better order after which there are no more.
const PATIENCE: usize = 6;

/// Most segments looked at in all sweeps, about. Why: 1,000 states in a fraction of a second.
const WORK: usize = 3_000_000;

/// Orders each layer. A vertex in `first` stays the first of its layer.
pub(super) fn order(
    layers: &mut [Vec<usize>],
    count: usize,
    segments: &[Segment],
    first: Option<usize>,
) {
    let mut ordering = Ordering::new(layers, count, segments, first);
    let mut best = ordering.layers.clone();
    let mut fewest = ordering.crossings();
    let most = (WORK / (segments.len() * 4 + count + 1)).clamp(2, SWEEPS);
    let mut waited = 0;
    for sweep in 0..most {
        if fewest == 0 || waited > PATIENCE {
            break;
        }
        ordering.sweep(sweep % 2 == 0, sweep % 4 >= 2);
        ordering.exchange();
        let crossings = ordering.crossings();
        waited += 1;
        if crossings < fewest {
            fewest = crossings;
            waited = 0;
            best.clone_from(&ordering.layers);
        }
    }
    layers.clone_from_slice(&best);
}

struct Ordering {
    layers: Vec<Vec<usize>>,
    place: Vec<i64>,
    /// For each vertex its segments up and down: the other end, where it is attached there, and here.
    up: Vec<Vec<(usize, i64, i64)>>,
    down: Vec<Vec<(usize, i64, i64)>>,
    /// The segments below each layer.
    between: Vec<Vec<Segment>>,
    first: Option<usize>,
}

impl Ordering {
    fn new(
        layers: &[Vec<usize>],
        count: usize,
        segments: &[Segment],
        first: Option<usize>,
    ) -> Self {
        let mut layer_of = vec![0; count];
        for (index, layer) in layers.iter().enumerate() {
            for &vertex in layer {
                layer_of[vertex] = index;
            }
        }
        let mut between = vec![Vec::new(); layers.len()];
        let (mut up, mut down) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for segment in segments {
            between[layer_of[segment.upper]].push(*segment);
            up[segment.lower].push((segment.upper, segment.upper_at, segment.lower_at));
            down[segment.upper].push((segment.lower, segment.lower_at, segment.upper_at));
        }
        let mut ordering = Self {
            layers: layers.to_vec(),
            place: vec![0; count],
            up,
            down,
            between,
            first,
        };
        ordering.begin();
        ordering
    }

    /// Orders the vertices as a search from the top finds them.
    fn begin(&mut self) {
        let mut seen = vec![false; self.place.len()];
        let mut layer_of = vec![0; self.place.len()];
        for (index, layer) in self.layers.iter().enumerate() {
            for &vertex in layer {
                layer_of[vertex] = index;
            }
        }
        let mut found: Vec<Vec<usize>> = vec![Vec::new(); self.layers.len()];
        let all: Vec<usize> = self
            .first
            .into_iter()
            .chain(self.layers.iter().flatten().copied())
            .collect();
        for start in all {
            let mut stack = vec![start];
            while let Some(vertex) = stack.pop() {
                if std::mem::replace(&mut seen[vertex], true) {
                    continue;
                }
                found[layer_of[vertex]].push(vertex);
                let mut next: Vec<(i64, usize)> = self.down[vertex]
                    .iter()
                    .map(|&(other, _, at)| (at, other))
                    .collect();
                next.sort_unstable();
                stack.extend(next.into_iter().rev().map(|(_, other)| other));
            }
        }
        self.layers = found;
        for layer in 0..self.layers.len() {
            self.renumber(layer);
        }
    }

    fn renumber(&mut self, layer: usize) {
        for (place, &vertex) in (0..).zip(&self.layers[layer]) {
            self.place[vertex] = place;
        }
    }

    /// Returns where a segment meets a layer, fine enough to tell the links of one box apart.
    fn key(&self, vertex: usize, at: i64) -> i64 {
        // INVARIANT: no box is a million pixels wide, so that one vertex's places are between its neighbors'.
        self.place[vertex] * 4_000_000 + at.clamp(-1_000_000, 1_000_000)
    }

    fn sweep(&mut self, is_down: bool, is_biased: bool) {
        let count = self.layers.len();
        let order: Vec<usize> = match is_down {
            true => (1..count).collect(),
            false => (0..count.saturating_sub(1)).rev().collect(),
        };
        for layer in order {
            let vertices = self.layers[layer].clone();
            let neighbors = if is_down { &self.up } else { &self.down };
            let mut keyed: Vec<(Option<i64>, usize)> = Vec::with_capacity(vertices.len());
            for &vertex in &vertices {
                let adjacent = &neighbors[vertex];
                let sum: i64 = adjacent
                    .iter()
                    .map(|&(other, at, own)| self.key(other, at) - own)
                    .sum();
                let mean = i64::try_from(adjacent.len())
                    .ok()
                    .filter(|&it| it > 0)
                    .map(|it| sum / it);
                keyed.push((mean, vertex));
            }
            let is_first = |vertex: usize| self.first == Some(vertex);
            // What nothing pulls keeps its place; the others are sorted into the places that are left.
            let mut pulled: Vec<(i64, usize)> = keyed
                .iter()
                .filter(|(_, vertex)| !is_first(*vertex))
                .filter_map(|&(key, vertex)| key.map(|key| (key, vertex)))
                .collect();
            if is_biased {
                pulled.reverse();
            }
            pulled.sort_by_key(|&(key, _)| key);
            let mut sorted = pulled.into_iter().map(|(_, vertex)| vertex);
            let layer_order: Vec<usize> = keyed
                .iter()
                .map(|&(key, vertex)| match key {
                    Some(_) if !is_first(vertex) => sorted.next().unwrap_or(vertex),
                    _ => vertex,
                })
                .collect();
            self.layers[layer] = layer_order;
            self.renumber(layer);
        }
    }

    /// Exchanges neighbors as long as that saves crossings.
    fn exchange(&mut self) {
        for _ in 0..4 {
            let mut is_better = false;
            for layer in 0..self.layers.len() {
                for index in 1..self.layers[layer].len() {
                    let (left, right) = (self.layers[layer][index - 1], self.layers[layer][index]);
                    if self.first == Some(left) {
                        continue;
                    }
                    let (now, then) = self.compare(left, right);
                    if then < now {
                        self.layers[layer].swap(index - 1, index);
                        self.place.swap(left, right);
                        is_better = true;
                    }
                }
            }
            if !is_better {
                return;
            }
        }
    }

    /// Counts the crossings of two neighbors' segments, as they stand and if they are exchanged.
    fn compare(&self, left: usize, right: usize) -> (usize, usize) {
        /// Most segments of a pair. Why: a hub of a thousand would be compared a million times.
        const MOST: usize = 4_096;
        let (mut now, mut then) = (0, 0);
        for neighbors in [&self.up, &self.down] {
            if neighbors[left].len() * neighbors[right].len() > MOST {
                continue;
            }
            for &(a, a_at, _) in &neighbors[left] {
                for &(b, b_at, _) in &neighbors[right] {
                    match self.key(a, a_at).cmp(&self.key(b, b_at)) {
                        std::cmp::Ordering::Greater => now += 1,
                        std::cmp::Ordering::Less => then += 1,
                        std::cmp::Ordering::Equal => {}
                    }
                }
            }
        }
        (now, then)
    }

    fn crossings(&self) -> usize {
        self.between
            .iter()
            .map(|segments| self.crossings_of(segments))
            .sum()
    }

    /// Counts the crossings below a layer: inversions, by a tree of sums.
    fn crossings_of(&self, segments: &[Segment]) -> usize {
        let mut ends: Vec<(i64, i64)> = segments
            .iter()
            .map(|segment| {
                (
                    self.key(segment.upper, segment.upper_at),
                    self.key(segment.lower, segment.lower_at),
                )
            })
            .collect();
        ends.sort_unstable();
        let mut lower: Vec<i64> = ends.iter().map(|it| it.1).collect();
        lower.sort_unstable();
        lower.dedup();
        let mut sums = vec![0_usize; lower.len() + 1];
        let mut crossings = 0;
        for (seen, (_, end)) in ends.iter().enumerate() {
            let place = lower.partition_point(|it| it < end) + 1;
            let mut before = 0;
            let mut index = place;
            while index > 0 {
                before += sums[index];
                index &= index - 1;
            }
            crossings += seen - before;
            let mut index = place;
            while index < sums.len() {
                sums[index] += 1;
                index += index & index.wrapping_neg();
            }
        }
        crossings
    }
}

#[cfg(test)]
mod tests {
    use super::{Segment, order};

    fn segment(upper: usize, lower: usize) -> Segment {
        Segment {
            upper,
            lower,
            upper_at: 0,
            lower_at: 0,
        }
    }

    #[test]
    fn crossings_are_taken_apart() {
        let mut layers = vec![vec![0, 1, 2], vec![3, 4, 5]];
        let segments = [segment(0, 5), segment(1, 4), segment(2, 3)];
        order(&mut layers, 6, &segments, None);
        let place = |vertex| layers[1].iter().position(|it| *it == vertex);
        assert!(
            layers[0] != [0, 1, 2] || place(5) < place(4) && place(4) < place(3),
            "{layers:?}"
        );
    }

    #[test]
    fn the_first_stays_first() {
        let mut layers = vec![vec![2, 0, 1], vec![3]];
        order(&mut layers, 4, &[segment(0, 3), segment(1, 3)], Some(1));
        assert_eq!(layers[0][0], 1);
    }
}
