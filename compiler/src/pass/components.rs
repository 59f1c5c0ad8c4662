//! The groups of a graph in which each node leads to each.
//!
//! Algorithm: Tarjan's, *Depth-first search and linear graph algorithms* (1972), without recursion.

/// Returns the groups of a graph's nodes, one for each node that is in no circle.
///
/// `next` lists the nodes that each node leads to. A group comes after all groups that it leads to, and its nodes ascend.
pub(crate) fn components(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let count = next.len();
    let mut search = Search {
        next,
        order: vec![0; count],
        low: vec![0; count],
        is_open: vec![false; count],
        open: Vec::new(),
        count: 0,
        found: Vec::new(),
    };
    for start in 0..count {
        if search.order.get(start) == Some(&0) {
            search.visit(start);
        }
    }
    search.found
}

/// The search for groups: what the algorithm remembers of each node.
struct Search<'n> {
    next: &'n [Vec<usize>],
    /// The order of visits, from 1; 0 before.
    order: Vec<usize>,
    /// The earliest open node that each leads to.
    low: Vec<usize>,
    is_open: Vec<bool>,
    open: Vec<usize>,
    count: usize,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn visit(&mut self, start: usize) {
        let mut path: Vec<(usize, usize)> = Vec::new();
        self.enter(start);
        path.push((start, 0));
        while let Some((node, edge)) = path.pop() {
            let target = self.next.get(node).and_then(|it| it.get(edge)).copied();
            let Some(target) = target else {
                self.leave(node);
                if let Some((parent, _)) = path.last() {
                    self.lower(*parent, self.low.get(node).copied());
                }
                continue;
            };
            path.push((node, edge + 1));
            if self.order.get(target) == Some(&0) {
                self.enter(target);
                path.push((target, 0));
            } else if self.is_open.get(target) == Some(&true) {
                self.lower(node, self.order.get(target).copied());
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.count += 1;
        for list in [&mut self.order, &mut self.low] {
            if let Some(slot) = list.get_mut(node) {
                *slot = self.count;
            }
        }
        self.set_open(node, true);
        self.open.push(node);
    }

    fn lower(&mut self, node: usize, to: Option<usize>) {
        if let (Some(slot), Some(to)) = (self.low.get_mut(node), to) {
            *slot = to.min(*slot);
        }
    }

    /// Closes the group of a node that leads to no earlier one.
    fn leave(&mut self, node: usize) {
        if self.low.get(node) != self.order.get(node) {
            return;
        }
        let mut group = Vec::new();
        while let Some(member) = self.open.pop() {
            self.set_open(member, false);
            group.push(member);
            if member == node {
                break;
            }
        }
        group.sort_unstable();
        self.found.push(group);
    }

    fn set_open(&mut self, node: usize, is_open: bool) {
        if let Some(slot) = self.is_open.get_mut(node) {
            *slot = is_open;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn groups_come_after_those_that_they_lead_to() {
        for (next, expected) in [
            (vec![vec![1], vec![0], vec![0]], vec![vec![0, 1], vec![2]]),
            (vec![vec![0]], vec![vec![0]]),
            (
                vec![vec![1], vec![2, 3], vec![1], vec![4], vec![3]],
                vec![vec![3, 4], vec![1, 2], vec![0]],
            ),
            (vec![], vec![]),
        ] {
            assert_eq!(components(&next), expected, "{next:?}");
        }
    }
}
