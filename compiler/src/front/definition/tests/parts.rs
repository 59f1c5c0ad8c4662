//! Every key of a definition belongs to a part of the table.

use statemark_runtime::Part;

use crate::front::definition::keys;
use crate::front::definition::shape::{Shape, Want};

/// The walk through the tables of keys.
///
/// What is below a key of policy or of texts belongs to that key's part.
#[derive(Default)]
struct Walk {
    seen: Vec<&'static Shape>,
    unknown: Vec<String>,
}

impl Walk {
    fn visit(&mut self, shape: &'static Shape) {
        if self.seen.iter().any(|it| std::ptr::eq(*it, shape)) {
            return;
        }
        self.seen.push(shape);
        for key in shape.keys {
            match Part::from_key(key.canonical()) {
                None => self
                    .unknown
                    .push(format!("`{}` of {}", key.name, shape.what)),
                Some(Part::Behavior) => self.visit_inner(&key.want),
                Some(_) => {}
            }
        }
    }

    fn visit_inner(&mut self, want: &'static Want) {
        match want {
            Want::List(inner) | Want::Map(inner) => self.visit_inner(inner),
            Want::Object(shape) => self.visit(shape),
            Want::Either(wants) => wants.iter().for_each(|want| self.visit_inner(want)),
            _ => {}
        }
    }
}

#[test]
fn every_key_has_a_part() {
    let mut walk = Walk::default();
    walk.visit(&keys::MACHINE);
    assert!(
        walk.seen.len() >= 10,
        "the tables of keys aren't walked through: {:?}",
        walk.seen
    );
    let list = walk.unknown.join(", ");
    assert_eq!(
        list, "",
        "give them a part in runtime/engine/src/table/part.rs"
    );
}
