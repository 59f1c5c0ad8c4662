//! What a tool is.

use rmcp::schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::arguments;
use crate::call::Call;
use crate::problem::{Problem, envelope};
use crate::schema;

/// Sets of tools, of which a server offers some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Set {
    /// Driving runs.
    Runs,
    /// Asking people.
    Human,
    /// What runs hand in.
    Artifacts,
    /// Going back, branching off, looking back.
    Time,
    /// Writing workflows.
    Author,
    /// What a project has.
    Project,
    /// Letting another agent do a task.
    Agent,
    /// Statewright's tools, as its document has them.
    Statewright,
    /// Smithers' tools, as its document has them.
    Smithers,
    /// Ralph Workflow's tools, as its document has them.
    Ralph,
    /// rstn's tools, as its document has them.
    Rstn,
}

impl Set {
    /// Our own.
    pub const OWN: [Self; 7] = [
        Self::Runs,
        Self::Human,
        Self::Artifacts,
        Self::Time,
        Self::Author,
        Self::Project,
        Self::Agent,
    ];

    /// Those of other systems, for clients that call their tools already.
    pub const PROFILES: [Self; 4] = [Self::Statewright, Self::Smithers, Self::Ralph, Self::Rstn];

    /// Those that are offered unless others are named.
    pub const DEFAULT: [Self; 3] = [Self::Runs, Self::Human, Self::Artifacts];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Human => "human",
            Self::Artifacts => "artifacts",
            Self::Time => "time",
            Self::Author => "author",
            Self::Project => "project",
            Self::Agent => "agent",
            Self::Statewright => "statewright",
            Self::Smithers => "smithers",
            Self::Ralph => "ralph",
            Self::Rstn => "rstn",
        }
    }
}

/// What clients are told of a tool's manners.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// It changes nothing.
    pub read_only: bool,
    /// It may undo or end something.
    pub destructive: bool,
    /// Asked twice with the same key, it does one thing.
    pub idempotent: bool,
    /// It may reach for people or programs outside.
    pub open_world: bool,
}

impl Hints {
    /// It changes nothing.
    pub const READS: Self = Self {
        read_only: true,
        destructive: false,
        idempotent: true,
        open_world: false,
    };
    /// It adds something.
    pub const WRITES: Self = Self {
        read_only: false,
        ..Self::READS
    };
    /// It adds something, each time anew.
    pub const ADDS: Self = Self {
        idempotent: false,
        ..Self::WRITES
    };
    /// It may undo or end something.
    pub const ENDS: Self = Self {
        destructive: true,
        ..Self::WRITES
    };
}

/// The fields of an answer of ours.
pub type Data = Result<Map<String, Value>, Problem>;

/// What came of a call.
pub type Outcome = Result<Value, Problem>;

/// What a caller is told of what came of a call, and whether that is an error.
pub type Shape = fn(Outcome) -> (Value, bool);

type Run = Box<dyn Fn(&Call<'_>, Map<String, Value>) -> Outcome + Send + Sync>;

/// A tool.
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// The set that it belongs to.
    pub set: Set,
    /// Its name for people.
    pub title: &'static str,
    /// What it does, when to use it.
    pub description: &'static str,
    /// Its manners.
    pub hints: Hints,
    /// The JSON Schema of its arguments.
    pub input: Map<String, Value>,
    /// The JSON Schema of its answers, if they have one.
    pub output: Option<Map<String, Value>>,
    /// The tool of ours that it does the same as. What policy says of that one holds for it, too.
    pub kin: Option<&'static str>,
    shape: Shape,
    run: Run,
}

impl Tool {
    /// A tool of ours from a function: its answers come in the envelope.
    pub fn new<I: DeserializeOwned + JsonSchema + 'static>(
        (name, set, hints): (&'static str, Set, Hints),
        (title, description): (&'static str, &'static str),
        gives: &[(&str, &str)],
        run: fn(&Call<'_>, &I) -> Data,
    ) -> Self {
        Self {
            name,
            set,
            title,
            description,
            hints,
            input: schema::of::<I>(),
            output: Some(schema::answer(gives)),
            kin: None,
            shape: envelope,
            run: Box::new(move |call, arguments| {
                run(call, &arguments::read(arguments)?).map(Value::Object)
            }),
        }
    }

    /// A tool of a profile: its answers have the shape of another system's document, errors included.
    pub fn foreign<I: DeserializeOwned + JsonSchema + 'static>(
        (name, set, hints): (&'static str, Set, Hints),
        (title, description): (&'static str, &'static str),
        shape: Shape,
        run: fn(&Call<'_>, &I) -> Outcome,
    ) -> Self {
        Self {
            name,
            set,
            title,
            description,
            hints,
            input: schema::of::<I>(),
            output: None,
            kin: None,
            shape,
            run: Box::new(move |call, arguments| run(call, &arguments::read(arguments)?)),
        }
    }

    /// The same with a schema of its answers, where they come in an envelope like ours: the fields of `data`.
    pub fn gives(mut self, fields: &[(&str, &str)]) -> Self {
        self.output = Some(schema::answer(fields));
        self
    }

    /// The same as kin of a tool of ours: a state that grants or restricts that one means this one, too. What has no kin
    /// is restricted by its own name alone.
    #[must_use]
    pub const fn like(mut self, kin: &'static str) -> Self {
        self.kin = Some(kin);
        self
    }

    /// Whether its arguments may name a run or a request of one.
    pub(crate) fn is_about_a_run(&self) -> bool {
        let properties = self.input.get("properties");
        let takes = |name: &str| properties.is_some_and(|it| it.get(name).is_some());
        takes("run_id") || takes("request_id")
    }

    /// The arguments of a call under its own names for them, as [`Tool::call`] wants them.
    ///
    /// # Errors
    ///
    /// One is given twice.
    pub(crate) fn normal(&self, given: Map<String, Value>) -> Result<Map<String, Value>, Problem> {
        arguments::normal(&self.input, given)
    }

    /// Calls it. Nothing is asked of policy here.
    ///
    /// # Errors
    ///
    /// The arguments are wrong, or what it does can't be done.
    pub(crate) fn call(&self, call: &Call<'_>, arguments: Map<String, Value>) -> Outcome {
        (self.run)(call, arguments)
    }

    /// What a caller is told, and whether it is an error.
    #[must_use]
    pub fn told(&self, outcome: Outcome) -> (Value, bool) {
        (self.shape)(outcome)
    }
}
