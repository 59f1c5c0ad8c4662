//! Layers: which vertex of a level stands above which.
//!
//! The vertices are put in a sequence in which few links lead back; then network simplex gives layers in which all links
//! lead down that sequence and are short. The order in which the author names the states is where the sequence begins, and
//! wins every draw.
#![expect(
    clippy::indexing_slicing,
    reason = "links name vertices of one level, whose vectors have one length"
)]

use super::simplex::{Arc, minimize};

/// A link as far as layers are concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tie {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) weight: i64,
}

/// Most passes over the sequence. Why: the second seldom finds anything.
const PASSES: usize = 4;

/// Most arcs that the simplex looks at. Why: 1,000 states in a fraction of a second.
const WORK: usize = 12_000_000;

/// Returns the layer of each vertex; 0 is the first. The ends of a tie are at least `step` apart.
///
/// The vertices of `first` come before all others: where a level begins, its reader begins.
pub(super) fn layers(count: usize, ties: &[Tie], step: i64, first: &[usize]) -> Vec<i64> {
    let place = sequence(count, ties, first);
    let mut arcs: Vec<Arc> = Vec::with_capacity(ties.len());
    for tie in ties.iter().filter(|tie| tie.from != tie.to) {
        let is_forward = place[tie.from] < place[tie.to];
        let (from, to) = if is_forward {
            (tie.from, tie.to)
        } else {
            (tie.to, tie.from)
        };
        // A way back may be long.
        let weight = if is_forward {
            tie.weight * 2
        } else {
            tie.weight
        };
        arcs.push(Arc {
            from,
            to,
            min: step,
            weight,
        });
    }
    let mut down: Vec<Vec<usize>> = vec![Vec::new(); count];
    for arc in &arcs {
        down[arc.from].push(arc.to);
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&vertex| place[vertex]);
    let mut layers = vec![0; count];
    for &vertex in &order {
        for &below in &down[vertex] {
            layers[below] = layers[below].max(layers[vertex] + step);
        }
    }
    minimize(&mut layers, &arcs, WORK);
    for component in components(count, &arcs) {
        let first = component
            .iter()
            .map(|&vertex| layers[vertex])
            .min()
            .unwrap_or(0);
        for vertex in component {
            layers[vertex] -= first;
        }
    }
    layers
}

/// Returns each vertex's place in a sequence in which few ties lead back.
///
/// Each vertex in turn goes where the fewest of its ties lead back, until none moves, and as long as what is led to from
/// before stays so.
fn sequence(count: usize, ties: &[Tie], first: &[usize]) -> Vec<usize> {
    // What leads back to the beginning leads back wherever it stands.
    let ties: Vec<Tie> = ties
        .iter()
        .filter(|tie| !first.contains(&tie.to))
        .copied()
        .collect();
    let mut order: Vec<usize> = first_sequence(count, &ties);
    let mut place: Vec<usize> = vec![0; count];
    let renumber = |order: &[usize], place: &mut [usize]| {
        for (index, &vertex) in order.iter().enumerate() {
            place[vertex] = index;
        }
    };
    renumber(&order, &mut place);
    let mut neighbors: Vec<Vec<(usize, i64)>> = vec![Vec::new(); count];
    for tie in ties.iter().filter(|tie| tie.from != tie.to) {
        // A weight is positive where the neighbor should stand before.
        neighbors[tie.to].push((tie.from, tie.weight));
        neighbors[tie.from].push((tie.to, -tie.weight));
    }
    for _ in 0..PASSES {
        let mut has_moved = false;
        for vertex in 0..count {
            let here = place[vertex];
            let mut adjacent: Vec<(usize, i64)> = neighbors[vertex]
                .iter()
                .map(|&(other, weight)| (place[other], weight))
                .collect();
            adjacent.sort_unstable();
            // Before all neighbors, what leads to it leads back.
            let mut price: i64 = adjacent.iter().map(|&(_, weight)| weight.max(0)).sum();
            let (mut best, mut target) = (price, 0);
            let mut current = price;
            for &(other, weight) in &adjacent {
                price -= weight;
                if other < here {
                    current = price;
                }
                if price < best {
                    best = price;
                    target = other + 1;
                }
            }
            if best < current && keeps_grounds(vertex, target, &neighbors, &place) {
                has_moved = true;
                let end = if target > here { target - 1 } else { target };
                let moved = order.remove(here);
                order.insert(end.min(order.len()), moved);
                renumber(&order, &mut place);
            }
        }
        if !has_moved {
            break;
        }
    }
    let (mut front, rest): (Vec<usize>, Vec<usize>) =
        order.iter().partition(|it| first.contains(it));
    front.sort_by_key(|it| first.iter().position(|other| other == it));
    front.extend(rest);
    renumber(&front, &mut place);
    place
}

/// Reports whether all that are led to from before would still be, if a vertex moved.
///
/// Fewer ties may lead back the other way around; but a reader expects what leads to a state above it, at least once.
fn keeps_grounds(
    vertex: usize,
    target: usize,
    neighbors: &[Vec<(usize, i64)>],
    place: &[usize],
) -> bool {
    let here = place[vertex];
    let is_before_then = |other: usize| place[other] < target;
    let comes_from = |it: &&(usize, i64)| it.1 > 0;
    let mut own = neighbors[vertex].iter().filter(comes_from);
    let is_grounded = own.clone().any(|&(other, _)| place[other] < here);
    if is_grounded && !own.any(|&(other, _)| is_before_then(other)) {
        return false;
    }
    let next = neighbors[vertex].iter().filter(|it| it.1 < 0);
    for &(below, _) in next {
        let mut others = neighbors[below].iter().filter(comes_from);
        let was = others
            .clone()
            .any(|&(other, _)| place[other] < place[below]);
        let will = others.any(|&(other, _)| match other == vertex {
            true => !is_before_then(below),
            false => place[other] < place[below],
        });
        if was && !will {
            return false;
        }
    }
    true
}

/// Returns the vertices in the order of a depth-first search.
///
/// Each comes after what leads to it, unless that is on a circle.
fn first_sequence(count: usize, ties: &[Tie]) -> Vec<usize> {
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); count];
    for tie in ties {
        out[tie.from].push(tie.to);
    }
    for next in &mut out {
        // The last to be finished comes first.
        next.sort_unstable_by(|a, b| b.cmp(a));
    }
    let mut seen = vec![false; count];
    let mut order = Vec::with_capacity(count);
    // A search from the last root on, so that the first root comes first.
    let mut has_way_in = vec![false; count];
    for tie in ties.iter().filter(|tie| tie.from != tie.to) {
        has_way_in[tie.to] = true;
    }
    let (starts, rest): (Vec<usize>, Vec<usize>) = (0..count).partition(|&it| !has_way_in[it]);
    // What nothing leads to begins; of circles without a way in, the vertex that is named first.
    let mut finished: Vec<Vec<usize>> = Vec::new();
    for first in starts.into_iter().chain(rest) {
        if seen[first] {
            continue;
        }
        seen[first] = true;
        let mut done = Vec::new();
        let mut stack = vec![(first, 0)];
        while let Some((vertex, next)) = stack.pop() {
            let Some(&other) = out[vertex].get(next) else {
                done.push(vertex);
                continue;
            };
            stack.push((vertex, next + 1));
            if !seen[other] {
                seen[other] = true;
                stack.push((other, 0));
            }
        }
        done.reverse();
        finished.push(done);
    }
    // What was found from a later start leads to what an earlier one had found.
    for done in finished.into_iter().rev() {
        order.extend(done);
    }
    order
}

/// Returns the vertices of each component.
fn components(count: usize, arcs: &[Arc]) -> Vec<Vec<usize>> {
    let mut neighbors: Vec<Vec<usize>> = vec![Vec::new(); count];
    for arc in arcs {
        neighbors[arc.from].push(arc.to);
        neighbors[arc.to].push(arc.from);
    }
    let mut seen = vec![false; count];
    let mut components = Vec::new();
    for first in 0..count {
        if seen[first] {
            continue;
        }
        seen[first] = true;
        let mut component = vec![first];
        let mut next = 0;
        while let Some(&vertex) = component.get(next) {
            next += 1;
            for &other in &neighbors[vertex] {
                if !seen[other] {
                    seen[other] = true;
                    component.push(other);
                }
            }
        }
        components.push(component);
    }
    components
}

#[cfg(test)]
mod tests {
    use super::{Tie, layers};

    fn drawn(count: usize, ties: &[(usize, usize)]) -> Vec<i64> {
        let ties: Vec<Tie> = ties
            .iter()
            .map(|&(from, to)| Tie {
                from,
                to,
                weight: 1,
            })
            .collect();
        layers(count, &ties, 1, &[])
    }

    #[test]
    fn ways_back_do_not_count() {
        assert_eq!(
            drawn(4, &[(0, 1), (1, 2), (2, 3), (3, 0), (2, 1)]),
            [0, 1, 2, 3]
        );
        assert_eq!(drawn(2, &[(0, 0), (0, 1), (0, 1)]), [0, 1]);
    }

    #[test]
    fn a_level_begins_at_its_top() {
        let ties = [(1, 0), (1, 0), (0, 1)].map(|(from, to)| Tie {
            from,
            to,
            weight: 1,
        });
        assert_eq!(layers(2, &ties, 1, &[0]), [0, 1]);
    }

    #[test]
    fn parts_that_nothing_connects_begin_at_the_top() {
        assert_eq!(drawn(4, &[(0, 1), (2, 3)]), [0, 1, 0, 1]);
        assert!(drawn(0, &[]).is_empty());
    }

    #[test]
    fn a_sequence_of_names_is_no_reason_to_lead_back() {
        // The author names the last state first.
        assert_eq!(drawn(3, &[(1, 2), (2, 0)]), [2, 0, 1]);
    }
}
