//! Network simplex: integers with least weighted differences.
//!
//! Given arcs `to − from ≥ min` with weights, it finds the values with the least sum of `weight · (to − from)`. Layers are
//! such values, and so are coordinates across layers (Gansner, Koutsofios, North and Vo, *A Technique for Drawing Directed
//! Graphs*, 1993, sections 2.3 and 4.2). It starts from values that satisfy the arcs, and whenever it is stopped, by its
//! bound on work, the values satisfy them still.
#![expect(
    clippy::indexing_slicing,
    reason = "all indices are of values and arcs of one problem, whose vectors have one length"
)]

/// A lower bound on a difference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arc {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The least `to − from`.
    pub(super) min: i64,
    /// The price of a difference of 1. INVARIANT: not negative.
    pub(super) weight: i64,
}

const NONE: usize = usize::MAX;

/// Minimizes the weighted differences. INVARIANT: the values satisfy all arcs, before and after.
///
/// `work` bounds the arcs that are looked at.
pub(super) fn minimize(values: &mut [i64], arcs: &[Arc], work: usize) {
    if values.is_empty() || arcs.is_empty() {
        return;
    }
    let mut simplex = Simplex::new(values, arcs, work);
    simplex.span();
    simplex.root();
    let mut start = 0;
    while simplex.left > 0 {
        let Some(leaving) = simplex.leaving(start) else {
            return;
        };
        start = leaving + 1;
        let Some(entering) = simplex.entering(leaving) else {
            return;
        };
        simplex.exchange(leaving, entering);
    }
}

struct Simplex<'v> {
    values: &'v mut [i64],
    arcs: &'v [Arc],
    /// The arcs at each value.
    neighbors: Vec<Vec<usize>>,
    in_tree: Vec<bool>,
    /// The arc to each value's parent in the forest.
    up: Vec<usize>,
    /// The place of each value in postorder, and the first place in its subtree.
    place: Vec<usize>,
    low: Vec<usize>,
    post: Vec<usize>,
    cut: Vec<i64>,
    left: usize,
}

impl<'v> Simplex<'v> {
    fn new(values: &'v mut [i64], arcs: &'v [Arc], work: usize) -> Self {
        let count = values.len();
        let mut neighbors = vec![Vec::new(); count];
        for (index, arc) in arcs.iter().enumerate() {
            if arc.from != arc.to {
                neighbors[arc.from].push(index);
                neighbors[arc.to].push(index);
            }
        }
        Self {
            values,
            arcs,
            neighbors,
            in_tree: vec![false; arcs.len()],
            up: vec![NONE; count],
            place: vec![0; count],
            low: vec![0; count],
            post: Vec::new(),
            cut: vec![0; arcs.len()],
            left: work,
        }
    }

    fn slack(&self, arc: usize) -> i64 {
        let Arc { from, to, min, .. } = self.arcs[arc];
        self.values[to] - self.values[from] - min
    }

    fn other(&self, arc: usize, value: usize) -> usize {
        let Arc { from, to, .. } = self.arcs[arc];
        if from == value { to } else { from }
    }

    /// Makes a tree of tight arcs for each component.
    ///
    /// What is connected so far is shifted to its nearest neighbor.
    fn span(&mut self) {
        let count = self.values.len();
        let mut is_in = vec![false; count];
        for first in 0..count {
            if is_in[first] {
                continue;
            }
            let mut members = Vec::new();
            let mut fresh = vec![first];
            is_in[first] = true;
            loop {
                while let Some(value) = fresh.pop() {
                    members.push(value);
                    for index in 0..self.neighbors[value].len() {
                        let arc = self.neighbors[value][index];
                        let other = self.other(arc, value);
                        if !is_in[other] && self.slack(arc) == 0 {
                            is_in[other] = true;
                            self.in_tree[arc] = true;
                            fresh.push(other);
                        }
                    }
                }
                let border = members
                    .iter()
                    .flat_map(|&it| self.neighbors[it].iter().copied());
                let leads_out =
                    |arc: &usize| is_in[self.arcs[*arc].from] != is_in[self.arcs[*arc].to];
                let nearest = border
                    .filter(leads_out)
                    .min_by_key(|&arc| (self.slack(arc), arc));
                let Some(arc) = nearest else {
                    break;
                };
                let slack = self.slack(arc);
                let is_inside = is_in[self.arcs[arc].from];
                let (shift, outer) = match is_inside {
                    true => (slack, self.arcs[arc].to),
                    false => (-slack, self.arcs[arc].from),
                };
                for &member in &members {
                    self.values[member] += shift;
                }
                is_in[outer] = true;
                self.in_tree[arc] = true;
                fresh.push(outer);
            }
        }
    }

    /// Numbers the forest in postorder, and computes the cut value of each of its arcs.
    fn root(&mut self) {
        let count = self.values.len();
        let mut seen = vec![false; count];
        self.post.clear();
        for first in 0..count {
            if seen[first] {
                continue;
            }
            seen[first] = true;
            self.up[first] = NONE;
            self.low[first] = self.post.len();
            let mut stack = vec![(first, 0)];
            while let Some((value, next)) = stack.pop() {
                let Some(&arc) = self.neighbors[value].get(next) else {
                    self.place[value] = self.post.len();
                    self.post.push(value);
                    continue;
                };
                stack.push((value, next + 1));
                let other = self.other(arc, value);
                if self.in_tree[arc] && !seen[other] {
                    seen[other] = true;
                    self.up[other] = arc;
                    self.low[other] = self.post.len();
                    stack.push((other, 0));
                }
            }
        }
        for index in 0..self.post.len() {
            let value = self.post[index];
            if self.up[value] != NONE {
                self.cut[self.up[value]] = self.cut_value(value);
            }
        }
        self.left = self.left.saturating_sub(count + self.arcs.len());
    }

    /// Returns the cut value of the arc from a value to its parent, from those below it.
    fn cut_value(&self, value: usize) -> i64 {
        let up = self.up[value];
        let is_tail = self.arcs[up].from == value;
        let mut cut = self.arcs[up].weight;
        for &arc in &self.neighbors[value] {
            if arc == up {
                continue;
            }
            let along = (self.arcs[arc].from == value) == is_tail;
            let sign = if along { 1 } else { -1 };
            cut += sign * self.arcs[arc].weight;
            if self.in_tree[arc] {
                cut -= sign * self.cut[arc];
            }
        }
        cut
    }

    /// Returns an arc of the forest with a negative cut value, the worst of the first few from a place on.
    fn leaving(&mut self, start: usize) -> Option<usize> {
        const LOOK: usize = 32;
        let count = self.arcs.len();
        let negative = (0..count)
            .map(|offset| (start + offset) % count)
            .filter(|&arc| self.in_tree[arc] && self.cut[arc] < 0);
        negative.take(LOOK).min_by_key(|&arc| self.cut[arc])
    }

    /// Returns the tightest arc that leads back over the cut.
    fn entering(&mut self, leaving: usize) -> Option<usize> {
        let Arc { from, to, .. } = self.arcs[leaving];
        let is_tail_below = self.up[from] == leaving;
        let top = if is_tail_below { from } else { to };
        let range = self.low[top]..=self.place[top];
        let is_below = |value: usize| range.contains(&self.place[value]);
        let mut best: Option<(i64, usize)> = None;
        for place in range.clone() {
            let value = self.post[place];
            for &arc in &self.neighbors[value] {
                let Arc { from, to, .. } = self.arcs[arc];
                // Against the direction of the leaving arc.
                let crosses = match is_tail_below {
                    true => is_below(to) && !is_below(from),
                    false => is_below(from) && !is_below(to),
                };
                if crosses && best.is_none_or(|best| (self.slack(arc), arc) < best) {
                    best = Some((self.slack(arc), arc));
                }
            }
        }
        best.map(|(_, arc)| arc)
    }

    fn exchange(&mut self, leaving: usize, entering: usize) {
        let Arc { from, to, .. } = self.arcs[leaving];
        let is_tail_below = self.up[from] == leaving;
        let top = if is_tail_below { from } else { to };
        let slack = self.slack(entering);
        // What is below the cut moves until the new arc is tight.
        let shift = if is_tail_below { -slack } else { slack };
        for place in self.low[top]..=self.place[top] {
            self.values[self.post[place]] += shift;
        }
        self.in_tree[leaving] = false;
        self.in_tree[entering] = true;
        self.root();
    }
}

#[cfg(test)]
mod tests {
    use super::{Arc, minimize};

    fn arc(from: usize, to: usize, min: i64, weight: i64) -> Arc {
        Arc {
            from,
            to,
            min,
            weight,
        }
    }

    /// Returns the sum that is minimized.
    fn price(values: &[i64], arcs: &[Arc]) -> i64 {
        let spans = arcs
            .iter()
            .map(|it| it.weight * (values[it.to] - values[it.from]));
        spans.sum()
    }

    #[test]
    fn the_least_sum_is_found() {
        // A source that could stay at the top is pulled down to what it leads to.
        let arcs = [
            arc(0, 1, 1, 1),
            arc(1, 2, 1, 1),
            arc(3, 2, 1, 5),
            arc(4, 5, 2, 1),
        ];
        let mut values = vec![0, 1, 2, 0, 0, 7];
        minimize(&mut values, &arcs, 10_000);
        assert_eq!(price(&values, &arcs), 1 + 1 + 5 + 2);
    }

    #[test]
    fn no_shift_of_a_part_is_better() {
        // A linear congruence makes problems, so that they are always the same ones.
        let mut seed = 7_u64;
        let mut next = move |below: usize| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap() % below
        };
        let number = |it: usize| i64::try_from(it).unwrap();
        for _ in 0..200 {
            let count = 2 + next(7);
            let mut arcs = Vec::new();
            for _ in 0..count * 2 {
                let (a, b) = (next(count), next(count));
                if a != b {
                    let (min, weight) = (number(next(3)), number(next(4)));
                    arcs.push(arc(a.min(b), a.max(b), min, weight));
                }
            }
            let mut values: Vec<i64> = (0..count).map(|it| number(it) * 3).collect();
            minimize(&mut values, &arcs, 1_000_000);
            let is_kept = |values: &[i64]| {
                arcs.iter()
                    .all(|it| values[it.to] - values[it.from] >= it.min)
            };
            assert!(is_kept(&values));
            // The optimum of a linear program is one where no set of values can move by 1 to gain.
            for set in 1..1_usize << count {
                let moved = values.iter().enumerate();
                let moved: Vec<i64> = moved
                    .map(|(index, it)| it + number(set >> index & 1))
                    .collect();
                let cheaper = is_kept(&moved) && price(&moved, &arcs) < price(&values, &arcs);
                assert!(!cheaper, "{arcs:?} {values:?} {moved:?}");
            }
        }
    }
}
