//! Tools: their names, schemas, annotations, gating and routes, and the function that each calls.
//!
//! A tool of our own is a type that implements [`ToolCall`]; a [`Tool`] is its entry in the registry.

use std::borrow::Cow;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use statemark_runs::policy::Gating;

use crate::arguments::{self, find};
use crate::schema;
use crate::{Ctx, Field, Outcome, Problem, Set, envelope};

/// The annotations of a tool: hints for clients about what it may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    /// True if it changes nothing.
    pub read_only: bool,
    /// True if it may undo or end something.
    pub destructive: bool,
    /// True if two calls with one key have one effect.
    pub idempotent: bool,
    /// True if it may reach people or programs outside.
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

/// A call of a tool of our own: its fields are the arguments, its response is the reply.
pub(crate) trait ToolCall: DeserializeOwned + JsonSchema + 'static {
    /// The name that clients call it by.
    const NAME: &'static str;
    /// The name for people.
    const TITLE: &'static str;
    /// The description for models: what it does and when to use it.
    const DESCRIPTION: &'static str;
    /// The set that it belongs to.
    const SET: Set;
    /// The hints for clients.
    const ANNOTATIONS: Annotations;
    /// The power that states have over it.
    const GATING: Gating;
    /// The paths of the HTTP API that lead to it.
    const ROUTES: &'static [Route] = &[];

    /// The `data` of an answer. Its schema is derived, so that schema and reply can't differ.
    type Response: Serialize + JsonSchema;

    /// Carries the request out. Policy isn't asked here.
    ///
    /// # Errors
    ///
    /// The request can't be carried out, or was refused.
    fn run(&self, ctx: &Ctx<'_>) -> Result<Self::Response, Problem>;

    /// Converts a response to JSON. Tools that are called all the time hand over what needs no copy.
    ///
    /// # Errors
    ///
    /// As those of its serialization.
    fn to_json(response: Self::Response) -> serde_json::Result<Value> {
        serde_json::to_value(response)
    }
}

/// A path of the HTTP API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path below `/api`, with the argument that it names in braces.
    pub path: &'static str,
    /// A few words for the API's index.
    pub summary: &'static str,
}

/// A method of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads: arguments come from the query.
    Get,
    /// Changes something: arguments come from the body.
    Post,
    /// Creates something: as `Post`, answered by 201.
    Create,
}

impl Method {
    /// Returns the method as HTTP spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post | Self::Create => "POST",
        }
    }
}

impl Route {
    pub(crate) const fn get(path: &'static str, summary: &'static str) -> Self {
        Self::new(Method::Get, path, summary)
    }

    pub(crate) const fn post(path: &'static str, summary: &'static str) -> Self {
        Self::new(Method::Post, path, summary)
    }

    pub(crate) const fn create(path: &'static str, summary: &'static str) -> Self {
        Self::new(Method::Create, path, summary)
    }

    const fn new(method: Method, path: &'static str, summary: &'static str) -> Self {
        Self {
            method,
            path,
            summary,
        }
    }

    /// Returns the argument that the path names.
    #[must_use]
    pub fn argument(&self) -> Option<&'static str> {
        let (_, rest) = self.path.split_once('{')?;
        rest.split_once('}').map(|(argument, _)| argument)
    }

    /// Returns the path as people read it: with `{id}` for the argument.
    #[must_use]
    pub fn shown_path(&self) -> String {
        let argument = self.argument().unwrap_or_default();
        self.path.replace(&format!("{{{argument}}}"), "{id}")
    }
}

/// A function that gives an outcome the shape that a client receives, and says whether it is an error.
pub type Shape = fn(Outcome) -> (Value, bool);

/// The function that carries out calls of a tool.
pub type Run = Arc<dyn Fn(&Ctx<'_>, Map<String, Value>) -> Outcome + Send + Sync>;

/// A tool of another system or a pack: its texts, its equivalent of ours, and its function.
pub struct ProfileTool<I> {
    /// The name that clients call it by.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// The description for models: what it does and when to use it.
    pub description: &'static str,
    /// The hints for clients.
    pub annotations: Annotations,
    /// The fields of `data`, such as `run: object, seq: integer`; empty without an envelope like ours.
    ///
    /// A field without a type may be anything.
    pub output: &'static str,
    /// The tool of our own that does the same.
    ///
    /// A state that grants or restricts one of the two names means both.
    pub equivalent: Option<&'static str>,
    /// The function that carries a call out.
    pub run: fn(&Ctx<'_>, &I) -> Outcome,
}

/// Calls of a tool that do as another tool of our own does.
#[derive(Clone, Copy)]
pub(crate) struct Escalation {
    /// The option that such a call sets.
    pub(crate) option: &'static str,
    /// The other tool.
    pub(crate) equivalent: &'static str,
    /// The power that states have over the other tool.
    pub(crate) gating: Gating,
}

/// A tool of another server: its texts and schema as that server gave them, and its function.
pub struct UpstreamTool {
    /// The name that clients call it by.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// The description for models.
    pub description: String,
    /// The hints for clients.
    pub annotations: Annotations,
    /// The JSON Schema of its arguments.
    pub input: Arc<Map<String, Value>>,
    /// The reason why it is neither offered nor called, if there is one.
    pub withheld: Option<Problem>,
    /// The function that carries a call out. Its answer is a result of the protocol.
    pub run: Run,
}

/// A tool.
#[derive(Clone)]
pub struct Tool {
    /// The name that clients call it by. Another server's tools have names that only its list tells.
    pub name: Cow<'static, str>,
    /// The set that it belongs to.
    pub set: Set,
    /// The name for people.
    pub title: Cow<'static, str>,
    /// The description for models: what it does and when to use it. It names no tool that isn't offered.
    pub description: String,
    /// The hints for clients.
    pub annotations: Annotations,
    /// The JSON Schema of its arguments.
    pub input: Arc<Map<String, Value>>,
    /// The JSON Schema of its answers, if they have one.
    pub output: Option<Arc<Map<String, Value>>>,
    /// The fields of its answers' `data`, as far as they are known.
    pub fields: Vec<Field>,
    /// The power that states have over it; that of its equivalent, if it has one.
    pub gating: Gating,
    /// The tool of our own that does the same: policy holds for both alike.
    pub equivalent: Option<&'static str>,
    /// False if it can do without a run: where several could be meant, all that hold the caller are asked.
    pub(crate) needs_run: bool,
    /// The calls of it that do as another tool of our own does, and are that one's to policy.
    pub(crate) escalation: Option<Escalation>,
    /// The paths of the HTTP API that lead to it.
    pub routes: &'static [Route],
    /// The arguments that name the files which a call changes: a state may limit how many.
    pub changes: &'static [&'static str],
    /// True if its answers are results of the protocol already, with content that is no text.
    pub gives_results: bool,
    /// The reason why it is neither offered nor called, if there is one.
    pub withheld: Option<Arc<Problem>>,
    pub(crate) shape: Shape,
    /// The function that a call of it comes to. Policy isn't asked there.
    pub(crate) run: Run,
}

impl Tool {
    /// Creates a tool of our own from the type of its requests; its answers come in the envelope.
    pub(crate) fn new<R: ToolCall>() -> Self {
        let fields = schema::fields::<R::Response>();
        Self {
            name: R::NAME.into(),
            set: R::SET,
            title: R::TITLE.into(),
            description: R::DESCRIPTION.to_owned(),
            annotations: R::ANNOTATIONS,
            input: schema::input::<R>().into(),
            output: Some(schema::output(&fields).into()),
            fields,
            gating: R::GATING,
            equivalent: None,
            needs_run: true,
            escalation: None,
            routes: R::ROUTES,
            changes: &[],
            gives_results: false,
            withheld: None,
            shape: envelope::wrap,
            run: Arc::new(|ctx, arguments| {
                let response = arguments::parse::<R>(arguments)?.run(ctx)?;
                outcome_of(R::to_json(response))
            }),
        }
    }

    /// Creates a tool of a profile or a pack, whose answers are as another system's document says.
    pub fn profile<I: DeserializeOwned + JsonSchema + 'static>(
        set: Set,
        shape: Shape,
        tool: &ProfileTool<I>,
    ) -> Self {
        let run = tool.run;
        let fields = tool.output.split(", ").filter(|field| !field.is_empty());
        let fields: Vec<Field> = fields.map(Field::parse).collect();
        Self {
            name: tool.name.into(),
            set,
            title: tool.title.into(),
            description: tool.description.to_owned(),
            annotations: tool.annotations,
            input: schema::input::<I>().into(),
            output: (!fields.is_empty()).then(|| schema::output(&fields).into()),
            fields,
            gating: Gating::Counted,
            equivalent: tool.equivalent,
            needs_run: true,
            escalation: None,
            routes: &[],
            changes: &[],
            gives_results: false,
            withheld: None,
            shape,
            run: Arc::new(move |ctx, arguments| run(ctx, &arguments::parse(arguments)?)),
        }
    }

    /// Creates a tool of another server.
    ///
    /// States restrict it and limits count it, as they do an agent's own tools.
    /// Its arguments are that server's: none of them means a run of ours.
    #[must_use]
    pub fn upstream(tool: UpstreamTool) -> Self {
        Self {
            name: tool.name.into(),
            set: Set::Upstream,
            title: tool.title.into(),
            description: tool.description,
            annotations: tool.annotations,
            input: tool.input,
            // An answer that was cut would not be what a schema promises.
            output: None,
            fields: Vec::new(),
            gating: Gating::Counted,
            equivalent: None,
            needs_run: false,
            escalation: None,
            routes: &[],
            changes: &[],
            gives_results: true,
            withheld: tool.withheld.map(Arc::new),
            shape: upstream_shape,
            run: tool.run,
        }
    }

    /// Creates a tool of another server that has gone: it gives the outcome of a call under way its shape.
    pub(crate) fn gone(name: &str) -> Self {
        let gone = Problem::new("not_found", format!("`{name}` has gone"));
        let answer = gone.clone();
        Self::upstream(UpstreamTool {
            name: name.to_owned(),
            title: String::new(),
            description: String::new(),
            annotations: Annotations::default(),
            input: Arc::default(),
            withheld: Some(gone),
            run: Arc::new(move |_, _| Err(answer.clone())),
        })
    }

    /// Returns its name, unless another server gave it.
    #[must_use]
    pub const fn own_name(&self) -> Option<&'static str> {
        match self.name {
            Cow::Borrowed(name) => Some(name),
            Cow::Owned(_) => None,
        }
    }

    /// Returns whether its arguments are ours to read, and not another server's.
    pub(crate) fn has_own_arguments(&self) -> bool {
        self.set != Set::Upstream
    }

    /// Sets the power that states have over a tool that has no equivalent.
    #[must_use]
    pub const fn gated_by(mut self, gating: Gating) -> Self {
        self.gating = gating;
        self
    }

    /// Lets it be called where several runs could be meant, if each run that holds its caller grants it.
    ///
    /// A call takes a place in the count of each of them, or a second run would get its caller more calls.
    #[must_use]
    pub const fn without_run(mut self) -> Self {
        self.needs_run = false;
        self
    }

    /// Returns whether it is our tool of that name, or another system's that does the same.
    pub(crate) fn does(&self, own: &str) -> bool {
        self.name == own && self.set.is_own() || self.equivalent == Some(own)
    }

    /// Declares that its answers are results of the protocol already; its errors aren't.
    #[must_use]
    pub const fn giving_results(mut self) -> Self {
        self.gives_results = true;
        self
    }

    /// Names the arguments that hold the files which a call changes.
    #[must_use]
    pub const fn changing(mut self, arguments: &'static [&'static str]) -> Self {
        self.changes = arguments;
        self
    }

    /// Judges calls with an option as those of another tool of our own, which does what they do.
    #[must_use]
    pub const fn judged_with(mut self, option: &'static str, equivalent: &'static str) -> Self {
        self.escalation = Some(Escalation {
            option,
            equivalent,
            gating: Gating::Counted,
        });
        self
    }

    /// Returns the option with which its calls do as another tool of our own does, and that tool.
    #[must_use]
    pub fn escalation(&self) -> Option<(&'static str, &'static str)> {
        self.escalation.map(|it| (it.option, it.equivalent))
    }

    /// Returns the power that states have over a call, and the tool of our own that does the same.
    pub(crate) fn policy(&self, arguments: &Map<String, Value>) -> (Gating, Option<&'static str>) {
        let is_set = |option| {
            let value = find(arguments, option);
            value.is_some_and(|it| !matches!(it, Value::Null | Value::Bool(false)))
        };
        match self.escalation.filter(|it| is_set(it.option)) {
            Some(escalation) => (escalation.gating, Some(escalation.equivalent)),
            None => (self.gating, self.equivalent),
        }
    }

    /// Returns whether its arguments may name a run or a request of one.
    pub(crate) fn is_about_a_run(&self) -> bool {
        let properties = self.input.get("properties");
        let takes = |name: &str| properties.is_some_and(|it| it.get(name).is_some());
        takes("run_id") || takes("request_id")
    }
}

/// Converts the response of a tool of our own to the outcome that its shape takes.
pub(crate) fn to_outcome(response: Result<impl Serialize, Problem>) -> Outcome {
    outcome_of(serde_json::to_value(response?))
}

fn outcome_of(converted: serde_json::Result<Value>) -> Outcome {
    converted.map_err(|error| Problem::new("failed", error.to_string()))
}

/// Gives the answer of another server's tool its shape.
///
/// It is that server's result, or a result with our problem as text.
fn upstream_shape(outcome: Outcome) -> (Value, bool) {
    match outcome {
        Ok(result) => {
            let is_error = result.get("isError") == Some(&Value::Bool(true));
            (result, is_error)
        }
        Err(problem) => {
            let (answer, _) = envelope::wrap(Err(problem));
            let text = answer.to_string();
            let content = json!([{"type": "text", "text": text}]);
            (json!({"content": content, "isError": true}), true)
        }
    }
}
