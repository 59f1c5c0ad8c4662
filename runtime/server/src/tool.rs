//! Tools: their names, schemas and annotations, and the function behind each.

use rmcp::schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::arguments;
use crate::ctx::Ctx;
use crate::envelope::{self, Fields};
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::schema;

/// The annotations of a tool: hints for clients about what it may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    /// It changes nothing.
    pub read_only: bool,
    /// It may undo or end something.
    pub destructive: bool,
    /// Two calls with one key have one effect.
    pub idempotent: bool,
    /// It may reach people or programs outside.
    pub open_world: bool,
}

impl Annotations {
    /// A tool that changes nothing.
    pub const READ_ONLY: Self = Self {
        read_only: true,
        destructive: false,
        idempotent: true,
        open_world: false,
    };
    /// A tool that adds something, once for each key.
    pub const IDEMPOTENT: Self = Self {
        read_only: false,
        ..Self::READ_ONLY
    };
    /// A tool that adds something with each call.
    pub const ADDITIVE: Self = Self {
        idempotent: false,
        ..Self::IDEMPOTENT
    };
    /// A tool that may undo or end something.
    pub const DESTRUCTIVE: Self = Self {
        destructive: true,
        ..Self::IDEMPOTENT
    };
}

/// A function that gives an outcome the shape that a client receives, and says whether it is an error.
pub type Shape = fn(Outcome) -> (Value, bool);

type Run = Box<dyn Fn(&Ctx<'_>, Map<String, Value>) -> Outcome + Send + Sync>;

/// A tool.
pub struct Tool {
    /// The name that clients call it by.
    pub name: &'static str,
    /// The set that it belongs to.
    pub set: Set,
    /// The name for people.
    pub title: &'static str,
    /// The description for models: what it does and when to use it.
    pub description: &'static str,
    /// The hints for clients.
    pub annotations: Annotations,
    /// The JSON Schema of its arguments.
    pub input: Map<String, Value>,
    /// The JSON Schema of its answers, if they have one.
    pub output: Option<Map<String, Value>>,
    /// The tool of our own that does the same: what policy grants or restricts for that one holds for this one as well.
    pub equivalent: Option<&'static str>,
    shape: Shape,
    run: Run,
}

impl Tool {
    /// Creates a tool of our own from a function; its answers come in the envelope.
    pub fn own<I: DeserializeOwned + JsonSchema + 'static>(
        (name, set, annotations): (&'static str, Set, Annotations),
        (title, description): (&'static str, &'static str),
        output: &[(&str, &str)],
        run: fn(&Ctx<'_>, &I) -> Fields,
    ) -> Self {
        Self {
            name,
            set,
            title,
            description,
            annotations,
            input: schema::input::<I>(),
            output: Some(schema::output(output)),
            equivalent: None,
            shape: envelope::wrap,
            run: Box::new(move |ctx, arguments| {
                run(ctx, &arguments::parse(arguments)?).map(Value::Object)
            }),
        }
    }

    /// Creates a tool of a profile; its answers have the shape of another system's document, errors included.
    pub fn profile<I: DeserializeOwned + JsonSchema + 'static>(
        (name, set, annotations): (&'static str, Set, Annotations),
        (title, description): (&'static str, &'static str),
        shape: Shape,
        run: fn(&Ctx<'_>, &I) -> Outcome,
    ) -> Self {
        Self {
            name,
            set,
            title,
            description,
            annotations,
            input: schema::input::<I>(),
            output: None,
            equivalent: None,
            shape,
            run: Box::new(move |ctx, arguments| run(ctx, &arguments::parse(arguments)?)),
        }
    }

    /// Adds a schema of the answers, where they come in an envelope like ours: the fields of `data`.
    pub fn with_output(mut self, fields: &[(&str, &str)]) -> Self {
        self.output = Some(schema::output(fields));
        self
    }

    /// Names the tool of our own that does the same. A state that grants or restricts one of the two names means both.
    #[must_use]
    pub const fn equivalent_to(mut self, own: &'static str) -> Self {
        self.equivalent = Some(own);
        self
    }

    /// Returns whether its arguments may name a run or a request of one.
    pub(crate) fn is_about_a_run(&self) -> bool {
        let properties = self.input.get("properties");
        let takes = |name: &str| properties.is_some_and(|it| it.get(name).is_some());
        takes("run_id") || takes("request_id")
    }

    /// Renames the arguments of a call to the names of its schema, as [`Tool::run`] expects them.
    ///
    /// # Errors
    ///
    /// An argument is given twice.
    pub(crate) fn normalize(
        &self,
        arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, Problem> {
        arguments::normalize(&self.input, arguments)
    }

    /// Runs it. Policy isn't asked here.
    ///
    /// # Errors
    ///
    /// The arguments are invalid, or the operation failed.
    pub(crate) fn run(&self, ctx: &Ctx<'_>, arguments: Map<String, Value>) -> Outcome {
        (self.run)(ctx, arguments)
    }

    /// Gives an outcome the tool's shape. Returns whether it is an error as well.
    #[must_use]
    pub fn shape(&self, outcome: Outcome) -> (Value, bool) {
        (self.shape)(outcome)
    }
}
