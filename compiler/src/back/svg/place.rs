//! The coordinates of vertices across their layers.
//!
//! First each layer in turn is drawn toward its neighbors, as near as the order allows (the means of pools of adjacent
//! violators); then, where the level isn't huge, network simplex makes long links straight. Where that leaves a vertex a
//! choice, it takes the middle.
#![expect(
    clippy::indexing_slicing,
    reason = "segments name vertices of the layers, whose vectors have one length"
)]

use super::order::Segment;
use super::simplex::{Arc, minimize};

/// The vertices in their layers, ready to be placed.
pub(super) struct Placing<'p> {
    pub(super) layers: &'p [Vec<usize>],
    /// The extents of each vertex to the left and right of its center.
    pub(super) left: &'p [i64],
    pub(super) right: &'p [i64],
    /// The segments with the price of a bend.
    pub(super) segments: &'p [(Segment, i64)],
    /// The least distance of neighbors: the vertices, from left to right.
    pub(super) gap: &'p dyn Fn(usize, usize) -> i64,
}

/// Most vertices and segments for network simplex. Why: its work grows with their square.
const MOST: usize = 1_600;

/// Most arcs that the simplex looks at.
const WORK: usize = 6_000_000;

/// Rounds of sweeps. Why: more move nothing by a pixel in any diagram of the corpora.
const ROUNDS: usize = 8;

impl Placing<'_> {
    /// Returns the center of each vertex.
    pub(super) fn coordinates(&self) -> Vec<i64> {
        let count = self.left.len();
        let mut x = vec![0; count];
        let mut neighbors: Vec<Vec<(usize, i64, i64, bool)>> = vec![Vec::new(); count];
        for &(it, weight) in self.segments {
            neighbors[it.lower].push((it.upper, it.upper_at - it.lower_at, weight, true));
            neighbors[it.upper].push((it.lower, it.lower_at - it.upper_at, weight, false));
        }
        for layer in self.layers {
            let mut edge = 0;
            for (index, &vertex) in layer.iter().enumerate() {
                if index > 0 {
                    edge += (self.gap)(layer[index - 1], vertex);
                }
                x[vertex] = edge + self.left[vertex];
                edge = x[vertex] + self.right[vertex];
            }
            let shift = edge / 2;
            for &vertex in layer {
                x[vertex] -= shift;
            }
        }
        for round in 0..ROUNDS {
            for layer in self.layers {
                self.pull(
                    layer,
                    &mut x,
                    &neighbors,
                    Some(true).filter(|_| round + 2 < ROUNDS),
                );
            }
            for layer in self.layers.iter().rev() {
                self.pull(
                    layer,
                    &mut x,
                    &neighbors,
                    Some(false).filter(|_| round + 2 < ROUNDS),
                );
            }
        }
        if count + self.segments.len() <= MOST {
            self.straighten(&mut x);
            self.center(&mut x, &neighbors);
        }
        x
    }

    /// Returns the least distance of the centers of two neighbors.
    fn apart(&self, left: usize, right: usize) -> i64 {
        self.right[left] + (self.gap)(left, right) + self.left[right]
    }

    /// Moves the vertices of a layer toward their neighbors above (`Some(true)`), below, or both.
    fn pull(
        &self,
        layer: &[usize],
        x: &mut [i64],
        neighbors: &[Vec<(usize, i64, i64, bool)>],
        side: Option<bool>,
    ) {
        // Without the least distances, the problem is to find increasing numbers; pools of violators share their mean.
        struct Pool {
            sum: i64,
            weight: i64,
            members: usize,
        }
        let mut pools: Vec<Pool> = Vec::with_capacity(layer.len());
        let mut offset = 0;
        let mut offsets = Vec::with_capacity(layer.len());
        for (index, &vertex) in layer.iter().enumerate() {
            if index > 0 {
                offset += self.apart(layer[index - 1], vertex);
            }
            offsets.push(offset);
            let adjacent = neighbors[vertex]
                .iter()
                .filter(|it| side.is_none_or(|side| side == it.3));
            let (mut sum, mut weight) = (0, 0);
            for &(other, shift, price, _) in adjacent {
                sum += (x[other] + shift) * price * 16;
                weight += price * 16;
            }
            if weight == 0 {
                (sum, weight) = (x[vertex], 1);
            }
            let mut pool = Pool {
                sum: sum - offset * weight,
                weight,
                members: 1,
            };
            while let Some(last) = pools.last() {
                // The means compare without a division.
                if i128::from(last.sum) * i128::from(pool.weight)
                    <= i128::from(pool.sum) * i128::from(last.weight)
                {
                    break;
                }
                pool.sum += last.sum;
                pool.weight += last.weight;
                pool.members += last.members;
                pools.pop();
            }
            pools.push(pool);
        }
        let mut place = 0;
        for pool in pools {
            let mean = pool.sum.div_euclid(pool.weight);
            for _ in 0..pool.members {
                x[layer[place]] = mean + offsets[place];
                place += 1;
            }
        }
    }

    /// Makes the links as straight as they can be.
    fn straighten(&self, x: &mut [i64]) {
        let count = x.len();
        let mut values = x.to_vec();
        let mut arcs = Vec::new();
        for layer in self.layers {
            for pair in layer.windows(2) {
                if let &[left, right] = pair {
                    arcs.push(Arc {
                        from: left,
                        to: right,
                        min: self.apart(left, right),
                        weight: 0,
                    });
                }
            }
        }
        // Each segment is a vertex to the left of both its ends: its distance from both is what it deviates.
        for (index, &(it, weight)) in self.segments.iter().enumerate() {
            let (upper, lower) = (it.upper, it.lower);
            values.push((x[upper] + it.upper_at).min(x[lower] + it.lower_at));
            let from = count + index;
            arcs.push(Arc {
                from,
                to: upper,
                min: -it.upper_at,
                weight,
            });
            arcs.push(Arc {
                from,
                to: lower,
                min: -it.lower_at,
                weight,
            });
        }
        minimize(&mut values, &arcs, WORK);
        x.copy_from_slice(&values[..count]);
    }

    /// Moves each vertex to the middle of the places that are equally good for it.
    fn center(&self, x: &mut [i64], neighbors: &[Vec<(usize, i64, i64, bool)>]) {
        for _ in 0..2 {
            for layer in self.layers {
                for index in 0..layer.len() {
                    let vertex = layer[index];
                    let mut wanted: Vec<(i64, i64)> = neighbors[vertex]
                        .iter()
                        .map(|&(other, shift, weight, _)| (x[other] + shift, weight))
                        .collect();
                    wanted.sort_unstable();
                    let Some((low, high)) = median(&wanted) else {
                        continue;
                    };
                    let least = index
                        .checked_sub(1)
                        .map(|it| x[layer[it]] + self.apart(layer[it], vertex));
                    let most = layer
                        .get(index + 1)
                        .map(|&it| x[it] - self.apart(vertex, it));
                    let low = least.map_or(low, |least| least.max(low));
                    let high = most.map_or(high, |most| most.min(high));
                    if low <= high && (low..=high).contains(&x[vertex]) {
                        x[vertex] = low + (high - low) / 2;
                    }
                }
            }
        }
    }
}

/// Returns the interval of the weighted medians of sorted values.
fn median(values: &[(i64, i64)]) -> Option<(i64, i64)> {
    let total: i64 = values.iter().map(|it| it.1).sum();
    let mut before = 0;
    for (index, &(value, weight)) in values.iter().enumerate() {
        before += weight;
        if before * 2 > total {
            return Some((value, value));
        }
        if before * 2 == total {
            let next = values.get(index + 1).map_or(value, |it| it.0);
            return Some((value, next));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::order::Segment;
    use super::Placing;

    #[test]
    fn neighbors_keep_apart_and_lone_links_are_straight() {
        let segment = |upper, lower, upper_at| {
            (
                Segment {
                    upper,
                    lower,
                    upper_at,
                    lower_at: 0,
                },
                1,
            )
        };
        let layers = [vec![0], vec![1, 2, 3], vec![4]];
        let (left, right) = ([10; 5], [20; 5]);
        let segments = [
            segment(0, 1, -5),
            segment(0, 2, 0),
            segment(0, 3, 5),
            segment(2, 4, 0),
        ];
        let gap = |_, _| 8;
        let placing = Placing {
            layers: &layers,
            left: &left,
            right: &right,
            segments: &segments,
            gap: &gap,
        };
        let x = placing.coordinates();
        assert!(x[2] - x[1] >= 38 && x[3] - x[2] >= 38, "{x:?}");
        assert_eq!(x[0], x[2]);
        assert_eq!(x[2], x[4]);
    }
}
