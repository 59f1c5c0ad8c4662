//! What kind of machine is made: how large, how deep, of what.

use statemark_compiler::ir::Type;

use super::Chance;

/// The measures of a random machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Deepest nesting.
    pub(crate) depth: usize,
    /// Most states, about.
    pub(crate) states: usize,
    /// How many events can be sent.
    pub(crate) events: usize,
    /// How many actions there are to choose from, implied ones aside.
    pub(crate) actions: usize,
    /// How many of a hundred states with children have regions.
    pub(crate) regions: u64,
    /// How many of a hundred states with children have a history.
    pub(crate) histories: u64,
    /// How many of a hundred transitions wait for nothing.
    pub(crate) eventless: u64,
    /// Whether guards compare fields.
    pub(crate) fields: bool,
    /// Whether guards ask expressions.
    pub(crate) expressions: bool,
    /// Whether actions assign fields and choose between lists of actions.
    pub(crate) content: bool,
    /// Whether some assignments are checked against bounds, which SCXML can't say.
    pub(crate) bounds: bool,
    /// How many of a hundred states have an `after`.
    pub(crate) timers: u64,
    /// How many of a hundred actions of the host's can fail.
    pub(crate) fails: u64,
    /// How many of a hundred transitions that can ask for a claim do.
    pub(crate) claims: u64,
}

impl Shape {
    /// A machine with one active leaf; fields are compared only.
    pub(crate) fn plain(seed: u64) -> Self {
        let mut chance = Chance::new(seed ^ 0x5eed);
        Self {
            depth: chance.between(1, 6),
            states: chance.between(3, 16),
            events: chance.between(2, 6),
            actions: chance.between(2, 8),
            regions: 0,
            histories: 0,
            eventless: [0, 5, 15][chance.below(3)],
            fields: chance.percent(50),
            expressions: false,
            content: false,
            bounds: true,
            timers: 0,
            fails: [0, 0, 60][Chance::new(seed ^ 0xfa11).below(3)],
            claims: [0, 30, 60][Chance::new(seed ^ 0xc1a).below(3)],
        }
    }

    /// A machine that the build script writes as Rust: some are flattened, by leaf or by place, some are walked.
    pub(crate) fn written(seed: u64) -> Self {
        match seed % 3 {
            0 => Self::plain(seed),
            1 => Self::any(seed),
            _ => Self::placed(seed),
        }
    }

    /// A machine with regions or histories whose steps change nothing else.
    fn placed(seed: u64) -> Self {
        let any = Self::any(seed);
        Self {
            states: any.states.min(14),
            regions: any.regions.max(50),
            histories: any.histories.max(20),
            fields: false,
            expressions: false,
            content: false,
            timers: 0,
            ..any
        }
    }

    /// Any machine.
    pub(crate) fn any(seed: u64) -> Self {
        let mut chance = Chance::new(seed ^ 0xa11);
        let plain = Self::plain(seed);
        Self {
            states: chance.between(4, 30),
            regions: [0, 30, 50, 70][chance.below(4)],
            histories: [0, 20, 60][chance.below(3)],
            expressions: plain.fields,
            content: plain.fields,
            timers: [0, 10, 30][chance.below(3)],
            ..plain
        }
    }

    /// The fields of the context, and one of the event's data.
    pub(super) fn context(self) -> &'static [(&'static str, Type)] {
        const FIELDS: &[(&str, Type)] = &[
            ("count", Type::Int),
            ("limit", Type::Int),
            ("ready", Type::Bool),
            ("color", Type::Text),
            ("event.amount", Type::Unknown),
        ];
        if self.fields { FIELDS } else { &[] }
    }
}
