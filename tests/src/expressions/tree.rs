//! Random expressions: as text that every reader of CEL understands, and as programs.

use std::fmt::{self, Write};

use statemark_runtime::{
    BinaryOperator, Constant, Datum, FieldId, Instruction, Sections, StateId, StateKind, StateRow,
    TextId, UnaryOperator, Verdict,
};

/// An expression over [`FIELDS`].
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    Constant(Datum),
    Field(usize),
    Has(usize),
    Not(Box<Self>),
    And(Vec<Self>),
    Or(Vec<Self>),
    Unary(UnaryOperator, Box<Self>),
    Binary(BinaryOperator, Box<[Self; 2]>),
    Among(Box<Self>, Vec<Datum>),
}

/// The kinds that expressions are made for; what a field or a result really is may be another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Int,
    Float,
    Text,
    List,
    Object,
}

/// Every field with its kind. Those of `o` may be absent, and are read behind `has` alone.
pub(super) const FIELDS: [(&str, Kind); 13] = [
    ("p", Kind::Bool),
    ("q", Kind::Bool),
    ("i", Kind::Int),
    ("j", Kind::Int),
    ("x", Kind::Float),
    ("y", Kind::Float),
    ("s", Kind::Text),
    ("t", Kind::Text),
    ("l", Kind::List),
    ("m", Kind::List),
    ("o", Kind::Object),
    ("o.k", Kind::Int),
    ("o.n.k", Kind::Text),
];

/// Choices by chance. Source: the finalizer of SplitMix64.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let state = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        state ^ (state >> 31)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).unwrap()).unwrap()
    }

    pub(super) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// A value of that kind, the odd ones often.
    pub(super) fn datum(&mut self, kind: Kind) -> Datum {
        match kind {
            Kind::Bool => Datum::Bool(self.below(2) == 0),
            Kind::Int => Datum::from(match self.below(8) {
                0 => i64::MIN,
                1 => i64::MAX,
                2 => (1 << 53) + 1,
                3 => -1,
                _ => i64::try_from(self.below(5)).unwrap(),
            }),
            Kind::Float => {
                Datum::Float(self.pick(&[0.0, -0.0, 0.5, 1.0, 2.0, -1.5, 1e300, -1e-300, f64::MAX]))
            }
            Kind::Text => {
                Datum::from(self.pick(&["", "a", "ab", "ba", "é", "e\u{301}", "1", "😀"]))
            }
            Kind::List => {
                let kind = self.pick(&[Kind::Int, Kind::Text, Kind::Bool]);
                let count = self.below(4);
                Datum::List((0..count).map(|_| self.datum(kind)).collect())
            }
            Kind::Object => {
                let mut fields = std::collections::BTreeMap::new();
                if self.below(2) == 0 {
                    fields.insert("k".to_owned(), self.datum(Kind::Int));
                }
                if self.below(2) == 0 {
                    let inner = [("k".to_owned(), self.datum(Kind::Text))];
                    fields.insert("n".to_owned(), Datum::Object(inner.into()));
                }
                Datum::Object(fields)
            }
        }
    }

    /// A context with all fields but, perhaps, those of `o`.
    pub(super) fn context(&mut self) -> Datum {
        let top = FIELDS.iter().filter(|(path, _)| !path.contains('.'));
        Datum::Object(
            top.map(|(path, kind)| ((*path).to_owned(), self.datum(*kind)))
                .collect(),
        )
    }

    /// An expression of that kind, most often.
    pub(super) fn tree(&mut self, kind: Kind, depth: usize) -> Tree {
        let kind = if self.below(40) == 0 {
            self.pick(&[Kind::Bool, Kind::Int, Kind::Float, Kind::Text])
        } else {
            kind
        };
        if depth == 0 || self.below(5) == 0 {
            return self.leaf(kind);
        }
        let depth = depth - 1;
        match kind {
            Kind::Bool => self.condition(depth),
            Kind::Int if self.below(6) == 0 => {
                let of = self.pick(&[Kind::Text, Kind::List, Kind::Object]);
                Tree::Unary(UnaryOperator::Size, Box::new(self.tree(of, depth)))
            }
            Kind::Int | Kind::Float if self.below(6) == 0 => {
                Tree::Unary(UnaryOperator::Negate, Box::new(self.tree(kind, depth)))
            }
            Kind::Int | Kind::Float => {
                use BinaryOperator::{Add, Divide, Multiply, Remainder, Subtract};
                let most = if kind == Kind::Int { 5 } else { 4 };
                let operator = [Add, Subtract, Multiply, Divide, Remainder][self.below(most)];
                self.binary(operator, kind, kind, depth)
            }
            Kind::Text => self.binary(BinaryOperator::Add, kind, kind, depth),
            Kind::List | Kind::Object => self.leaf(kind),
        }
    }

    fn binary(&mut self, operator: BinaryOperator, left: Kind, right: Kind, depth: usize) -> Tree {
        let operands = [self.tree(left, depth), self.tree(right, depth)];
        Tree::Binary(operator, Box::new(operands))
    }

    fn leaf(&mut self, kind: Kind) -> Tree {
        let literal = !matches!(kind, Kind::List | Kind::Object) && self.below(2) == 0;
        if literal {
            return Tree::Constant(self.datum(kind));
        }
        let fields: Vec<usize> = (0..FIELDS.len() - 2)
            .filter(|&field| FIELDS[field].1 == kind)
            .collect();
        Tree::Field(self.pick(&fields))
    }

    fn condition(&mut self, depth: usize) -> Tree {
        use BinaryOperator::{
            Contains, EndsWith, Equal, Greater, GreaterEqual, In, Less, LessEqual, NotEqual,
            StartsWith,
        };
        let scalar = [Kind::Int, Kind::Float, Kind::Text];
        let kind = self.pick(&scalar);
        match self.below(12) {
            0 => Tree::Not(Box::new(self.tree(Kind::Bool, depth))),
            1 | 2 => {
                let count = 2 + self.below(2);
                Tree::And((0..count).map(|_| self.tree(Kind::Bool, depth)).collect())
            }
            3 | 4 => {
                let count = 2 + self.below(2);
                Tree::Or((0..count).map(|_| self.tree(Kind::Bool, depth)).collect())
            }
            5 | 6 => {
                let operator = self.pick(&[Less, LessEqual, Greater, GreaterEqual]);
                // Numbers of both kinds compare.
                let other = match kind {
                    Kind::Text => kind,
                    _ => self.pick(&[Kind::Int, Kind::Float]),
                };
                self.binary(operator, kind, other, depth)
            }
            7 => {
                let every = [Kind::Bool, Kind::Int, Kind::Float, Kind::Text, Kind::List];
                let (left, right) = (self.pick(&every), self.pick(&every));
                let operator = self.pick(&[Equal, NotEqual]);
                self.binary(operator, left, right, depth)
            }
            8 => {
                let operator = self.pick(&[StartsWith, EndsWith, Contains]);
                self.binary(operator, Kind::Text, Kind::Text, depth)
            }
            9 => {
                let of = self.pick(&[Kind::List, Kind::Object]);
                self.binary(In, Kind::Text, of, depth)
            }
            10 => {
                let count = self.below(4);
                let item = Box::new(self.tree(kind, depth));
                let constants = (0..count)
                    .map(|_| match kind {
                        Kind::Text => self.datum(kind),
                        _ => self.datum(Kind::Int),
                    })
                    .collect();
                Tree::Among(item, constants)
            }
            _ => {
                // A field that may be absent is read where it is known to be there.
                let field = FIELDS.len() - 1 - self.below(2);
                let read = Tree::Field(field);
                let same = Tree::Constant(self.datum(FIELDS[field].1));
                let equal = Tree::Binary(Equal, Box::new([read, same]));
                // `has(o.n.k)` asks CEL for `o.n` first, which has to be there itself.
                let outer = Tree::Binary(
                    In,
                    Box::new([Tree::Constant(Datum::from("n")), Tree::Field(10)]),
                );
                match field {
                    12 => Tree::And(vec![outer, Tree::Has(field), equal]),
                    _ => Tree::And(vec![Tree::Has(field), equal]),
                }
            }
        }
    }
}

impl Tree {
    /// What it is made of, itself first.
    pub(super) fn parts(&self) -> Vec<&Self> {
        let mut all = vec![self];
        let mut next = 0;
        while let Some(&part) = all.get(next) {
            all.extend(part.children());
            next += 1;
        }
        all
    }

    pub(super) fn children(&self) -> Vec<&Self> {
        match self {
            Self::Constant(_) | Self::Field(_) | Self::Has(_) => Vec::new(),
            Self::Not(inner) | Self::Unary(_, inner) | Self::Among(inner, _) => vec![inner],
            Self::And(parts) | Self::Or(parts) => parts.iter().collect(),
            Self::Binary(_, operands) => operands.iter().collect(),
        }
    }
}

/// The text of the expression, each operation in parentheses.
impl fmt::Display for Tree {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |parts: &[Self], sign: &str| {
            let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
            format!("({})", parts.join(sign))
        };
        match self {
            Self::Constant(datum) => literal(datum, out),
            Self::Field(field) => out.write_str(FIELDS[*field].0),
            Self::Has(field) => write!(out, "has({})", FIELDS[*field].0),
            Self::Not(inner) => write!(out, "!{inner}"),
            Self::And(parts) => out.write_str(&join(parts, " && ")),
            Self::Or(parts) => out.write_str(&join(parts, " || ")),
            Self::Unary(UnaryOperator::Size, inner) => write!(out, "size({inner})"),
            Self::Unary(_, inner) => write!(out, "(-({inner}))"),
            Self::Binary(operator, operands) => {
                let [left, right] = operands.as_ref();
                let name = operator.name();
                if name.ends_with("With") || name == "contains" {
                    write!(out, "{left}.{name}({right})")
                } else {
                    write!(out, "({left} {name} {right})")
                }
            }
            Self::Among(inner, constants) => {
                write!(out, "({inner} in [")?;
                for (index, constant) in constants.iter().enumerate() {
                    out.write_str(if index == 0 { "" } else { ", " })?;
                    literal(constant, out)?;
                }
                out.write_str("])")
            }
        }
    }
}

fn literal(datum: &Datum, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match datum {
        // A sign in front is an operator to some readers.
        Datum::Int(int) if *int < 0 => write!(out, "({int})"),
        Datum::Float(float) if float.is_sign_negative() => write!(out, "({datum})"),
        Datum::Text(text) => {
            out.write_char('"')?;
            out.write_str(text)?;
            out.write_char('"')
        }
        other => write!(out, "{other}"),
    }
}

/// Rows of a machine of one state that has these expressions as assignments, whose programs are written here by rule.
pub(super) fn rows(trees: &[&Tree]) -> Sections {
    let mut rows = Sections::default();
    let machine = text(&mut rows, "machine");
    let state = text(&mut rows, "state");
    rows.name = machine;
    rows.fields = FIELDS
        .iter()
        .map(|(path, _)| text(&mut rows, path))
        .collect();
    let row = |name, kind, parent, initial| StateRow {
        name,
        kind,
        verdict: Verdict::Success,
        parent,
        end: 2,
        initial,
        initial_calls: 0..0,
        entry: 0..0,
        exit: 0..0,
        transitions: 0..0,
        done: None,
        metadata: None,
    };
    rows.targets = vec![StateId::new(1)];
    rows.states = vec![
        row(machine, StateKind::Compound, None, 0..1),
        row(state, StateKind::Atomic, Some(StateId::new(0)), 0..0),
    ];
    for tree in trees {
        let start = u32::try_from(rows.code.len()).unwrap();
        program(tree, &mut rows);
        rows.assigns.push(statemark_runtime::AssignRow {
            field: FieldId::new(0),
            value: start..u32::try_from(rows.code.len()).unwrap(),
        });
    }
    rows
}

fn text(rows: &mut Sections, text: &str) -> TextId {
    rows.texts.push(text.into());
    TextId::from_index(rows.texts.len() - 1).unwrap()
}

fn program(tree: &Tree, rows: &mut Sections) {
    let field = |field: usize| FieldId::from_index(field).unwrap();
    let at = rows.code.len();
    let (instruction, operands): (Instruction, &[Tree]) = match tree {
        Tree::Constant(datum) => {
            let range = constants(std::slice::from_ref(datum), rows);
            (Instruction::Push(range), &[])
        }
        Tree::Field(at) => (Instruction::Load(field(*at)), &[]),
        Tree::Has(at) => (Instruction::Has(field(*at)), &[]),
        Tree::Not(inner) => (Instruction::Not, std::slice::from_ref(inner)),
        Tree::And(parts) => (Instruction::All(0), parts),
        Tree::Or(parts) => (Instruction::Any(0), parts),
        Tree::Unary(operator, inner) => {
            (Instruction::Unary(*operator), std::slice::from_ref(inner))
        }
        Tree::Binary(operator, operands) => (Instruction::Binary(*operator), &operands[..]),
        Tree::Among(inner, list) => {
            let range = constants(list, rows);
            (Instruction::Among(range), std::slice::from_ref(inner))
        }
    };
    rows.code.push(instruction);
    operands.iter().for_each(|operand| program(operand, rows));
    let behind = u16::try_from(rows.code.len() - at - 1).unwrap();
    if let Instruction::All(length) | Instruction::Any(length) = &mut rows.code[at] {
        *length = behind;
    }
}

fn constants(values: &[Datum], rows: &mut Sections) -> std::ops::Range<u32> {
    let start = u32::try_from(rows.constants.len()).unwrap();
    for datum in values {
        let constant = match datum {
            Datum::Bool(bool) => Constant::Bool(*bool),
            Datum::Int(int) => Constant::Int(*int),
            Datum::Float(float) => Constant::Float(*float),
            Datum::Text(value) => Constant::Text(text(rows, value)),
            _ => Constant::Null,
        };
        rows.constants.push(constant);
    }
    start..u32::try_from(rows.constants.len()).unwrap()
}
