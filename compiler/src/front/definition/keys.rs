//! The keys of a definition: one table a kind of object, one line a key.
//!
//! The meaning of each key is in the language's reference; here are its possible values and its reader.

use super::shape::{Key, Rule, Shape, Want};

/// The operators of a guard.
pub(super) static OPERATORS: [&str; 10] = [
    "eq",
    "neq",
    "gt",
    "gte",
    "lt",
    "lte",
    "in",
    "contains",
    "exists",
    "not_exists",
];

const fn key(name: &'static str, want: Want, rule: Rule) -> Key {
    Key { name, want, rule }
}

/// Declares a key that the syntax tree has a field for.
const fn typed(name: &'static str, want: Want) -> Key {
    key(name, want, Rule::Typed)
}

/// Declares a key without which its object is meaningless.
const fn required(name: &'static str, want: Want) -> Key {
    key(name, want, Rule::Required)
}

/// Declares a key for hosts.
const fn host(name: &'static str, want: Want) -> Key {
    key(name, want, Rule::Host)
}

/// Declares an old spelling of `now`, and what it wants.
const fn old(name: &'static str, now: &'static str, want: Want) -> Key {
    key(name, want, Rule::Old(now))
}

const fn shape(what: &'static str, keys: &'static [Key]) -> Shape {
    Shape {
        what,
        keys,
        open: false,
    }
}

/// The target of a transition: a name, or a list of names in different regions.
static TARGETS: [Want; 2] = [Want::Name, Want::List(&Want::Name)];
static INITIALS: [Want; 3] = [Want::Name, Want::List(&Want::Name), Want::Object(&INITIAL)];
static NAMES: Want = Want::List(&Want::Name);
/// A name, or a list of names, any of which may be wrapped as `{"type": name}`.
static ACTIONS: [Want; 3] = [
    Want::Name,
    Want::List(&ACTION_USE_ITEM),
    Want::Object(&ACTION_USE),
];
static ACTION_USE_ITEM: Want = Want::Either(&ACTION_USE_ITEMS);
static ACTION_USE_ITEMS: [Want; 2] = [Want::Name, Want::Object(&ACTION_USE)];
static BRANCHES: [Want; 3] = [Want::Name, Want::Object(&BRANCH), Want::List(&BRANCH_ITEM)];
static BRANCH_ITEM: Want = Want::Either(&BRANCH_ITEMS);
static BRANCH_ITEMS: [Want; 2] = [Want::Name, Want::Object(&BRANCH)];
static BRANCHES_BY_NAME: Want = Want::Either(&BRANCHES);
static GUARDS: [Want; 2] = [Want::Name, Want::Object(&GUARD)];
static DECLARED_GUARDS: [Want; 2] = [Want::Map(&GUARD_ITEM), Want::Choice(&["declared"])];
static GUARD_ITEM: Want = Want::Either(&GUARDS);

/// Statewright's wrapper around a machine.
pub(super) static WRAPPER: Shape = shape(
    "the wrapper",
    &[
        required("definition", Want::Any),
        host(
            "upstream_servers",
            Want::Either(&[Want::List(&Want::Any), Want::Map(&Want::Any)]),
        ),
        typed("$schema", Want::Text),
    ],
);

/// A machine.
pub(super) static MACHINE: Shape = shape(
    "a machine",
    &[
        typed("$schema", Want::Text),
        typed("id", Want::Name),
        typed("title", Want::Text),
        typed("description", Want::Text),
        host("version", Want::Either(&[Want::Text, Want::Number])),
        typed("initial", Want::Either(&INITIALS)),
        typed("context", Want::Map(&Want::Any)),
        host("context_schema", Want::Map(&Want::Any)),
        typed("events", Want::Map(&Want::Object(&EVENT))),
        typed("guards", Want::Either(&DECLARED_GUARDS)),
        typed("actions", Want::Map(&Want::Object(&ACTION))),
        typed("actions_fail", Want::Flag),
        typed("states", Want::Map(&Want::Object(&STATE))),
        typed("on", Want::Map(&BRANCHES_BY_NAME)),
        host("artifacts", Want::Map(&Want::Object(&ARTIFACT))),
        host("documents", Want::Map(&Want::Text)),
        host("tasks", Want::Text),
        host("checks", Want::Map(&Want::Object(&CHECK))),
        host("capabilities", Want::Map(&NAMES)),
        typed("interrupts", Want::Map(&Want::Object(&INTERRUPT))),
        host(
            "upstream_servers",
            Want::Either(&[Want::List(&Want::Any), Want::Map(&Want::Any)]),
        ),
        host(
            "properties",
            Want::Either(&[
                Want::List(&Want::Object(&PROPERTY)),
                Want::Object(&PROPERTY),
            ]),
        ),
        host("meta", Want::Object(&META)),
        host("merge", Want::Choice(&["all", "none", "shallow"])),
        host("inputs", Want::List(&Want::Text)),
        host("untracked_agents", Want::Text),
        host("deactivate", Want::Choice(&["cancel", "release"])),
    ],
);

/// `meta` of a machine.
static META: Shape = Shape {
    what: "`meta`",
    open: true,
    keys: &[
        host("debug", Want::Flag),
        host(
            "danger_level",
            Want::Choice(&["safe", "moderate", "dangerous"]),
        ),
        host("default_model", Want::Text),
        host("tags", Want::List(&Want::Text)),
        host("requires_human_approval", Want::Flag),
        host("approvers", Want::Either(&APPROVERS)),
        host("accept_elicitation", Want::Flag),
        host("relay_answers", Want::Flag),
        host("task_type", Want::Text),
        host("estimated_steps", Want::Whole(0)),
        host("capture_output", Want::Flag),
    ],
};

/// The persons who decide: their names, or an object that demands their signatures, too.
static APPROVERS: [Want; 2] = [Want::List(&Want::Text), Want::Object(&SIGNED_APPROVERS)];

static SIGNED_APPROVERS: Shape = shape(
    "`approvers`",
    &[
        host("names", Want::List(&Want::Text)),
        host("signed", Want::Flag),
    ],
);

static EVENT: Shape = shape(
    "an event",
    &[
        typed("title", Want::Text),
        typed("description", Want::Text),
        typed("data", Want::Either(&[Want::Map(&Want::Any), Want::Flag])),
    ],
);

static ACTION: Shape = shape(
    "an action",
    &[
        typed("raise", Want::Name),
        host("assign", Want::Map(&ASSIGNED)),
        host("effect", Want::Any),
        typed("fails", Want::Flag),
        host("idempotent", Want::Flag),
        host("compensate", Want::Name),
        host("description", Want::Text),
    ],
);

/// The value of an assignment: an expression, or a constant that isn't a text.
static ASSIGNED: Want = Want::Either(&[Want::Text, Want::Number, Want::Flag, Want::Null]);

static ACTION_USE: Shape = shape("an action", &[required("type", Want::Name)]);

static INTERRUPT: Shape = shape(
    "an interrupt",
    &[
        required("trigger", Want::Object(&TRIGGER)),
        required("target", Want::Name),
    ],
);

static TRIGGER: Shape = shape("a trigger", &[required("file_pattern", Want::Text)]);

/// The contracts that hosts know by name.
static BUILTIN_CONTRACTS: [&str; 7] = [
    "ralph/plan",
    "ralph/development_result",
    "ralph/issues",
    "ralph/fix_result",
    "ralph/commit_message",
    "ralph/development_analysis_decision",
    "ralph/review_analysis_decision",
];

static ARTIFACT: Shape = shape(
    "an artifact",
    &[
        host("schema", Want::Any),
        host("format", Want::Choice(&["json", "markdown", "text"])),
        host("front_matter", Want::Map(&Want::Any)),
        host("required_sections", Want::List(&Want::Text)),
        host("sections", Want::List(&Want::Object(&SECTION))),
        host("closed", Want::Flag),
        host("max_characters", Want::Whole(1)),
        host("like", Want::Choice(&BUILTIN_CONTRACTS)),
        host("description", Want::Text),
    ],
);

static CONTENT: Want = Want::Choice(&["text", "list", "checkboxes", "table", "code", "json"]);

/// The shape of a section of a Markdown artifact.
static SECTION: Shape = shape(
    "a section",
    &[
        required("heading", Want::Text),
        host("level", Want::Whole(1)),
        host("optional", Want::Flag),
        host("contains", Want::List(&CONTENT)),
        host("forbids", Want::List(&CONTENT)),
        host("forbids_text", Want::List(&Want::Text)),
        host("ids", Want::Flag),
        host("min_items", Want::Whole(0)),
        host("max_items", Want::Whole(0)),
        host("schema", Want::Any),
        host("description", Want::Text),
    ],
);

/// The requirements for leaving a state: artifacts, checks or facts.
///
/// They are for any event, or for those that are named.
static REQUIREMENTS: [Want; 2] = [Want::List(&Want::Text), Want::Map(&REQUIRED)];
static REQUIRED: Want = Want::List(&Want::Text);

static CHECK: Shape = shape(
    "a check",
    &[
        required("command", Want::List(&Want::Text)),
        host("cwd", Want::Text),
        host("env", Want::Map(&Want::Text)),
        host("inherit", Want::List(&Want::Text)),
        host("timeout", Want::Either(&[Want::Text, Want::Number])),
    ],
);

static PROPERTY: Shape = shape(
    "a property",
    &[
        host("always", Want::Text),
        host(
            "never",
            Want::Either(&[Want::List(&Want::Text), Want::Text]),
        ),
        host("eventually", Want::Text),
    ],
);

/// A state.
pub(super) static STATE: Shape = shape(
    "a state",
    &[
        typed(
            "type",
            Want::Choice(&["atomic", "compound", "parallel", "final", "history"]),
        ),
        typed("history", Want::Choice(&["shallow", "deep"])),
        typed("initial", Want::Either(&INITIALS)),
        typed("target", Want::Either(&INITIALS)),
        typed("states", Want::Map(&Want::Object(&STATE))),
        typed("on", Want::Map(&BRANCHES_BY_NAME)),
        typed("always", Want::Either(&BRANCHES)),
        typed("after", Want::Map(&BRANCHES_BY_NAME)),
        typed("on_done", Want::Either(&BRANCHES)),
        old("onDone", "on_done", Want::Either(&BRANCHES)),
        typed("invoke", Want::Object(&INVOCATION)),
        typed("entry", Want::Either(&ACTIONS)),
        typed("exit", Want::Either(&ACTIONS)),
        typed("title", Want::Text),
        typed("description", Want::Text),
        typed("instructions", Want::Text),
        host("allowed_tools", Want::List(&Want::Text)),
        host("disallowed_tools", Want::List(&Want::Text)),
        host("capabilities", Want::List(&Want::Text)),
        host("allowed_commands", Want::List(&Want::Text)),
        host("allowed_commands_tool", Want::Text),
        host("blocked_env", Want::List(&Want::Text)),
        old("deny_env", "blocked_env", Want::List(&Want::Text)),
        host("env_overrides", Want::Map(&Want::Text)),
        old("env", "env_overrides", Want::Map(&Want::Text)),
        host("max_iterations", Want::Whole(1)),
        typed("on_max_iterations", Want::Name),
        host("max_visits", Want::Whole(1)),
        host("max_edit_lines", Want::Whole(0)),
        host("max_files_per_state", Want::Whole(0)),
        host("context_budget_bytes", Want::Whole(1)),
        host("requires", Want::Either(&REQUIREMENTS)),
        typed("safe_next", Want::Name),
        typed("outcome", Want::Choice(&["success", "failure"])),
        host("model", Want::Text),
        host("thinking_level", Want::Text),
        host("model_ladder", Want::List(&Want::Object(&RUNG))),
        host("direct_execution", Want::Flag),
        typed("while_waiting", Want::List(&Want::Name)),
        host("tags", Want::List(&Want::Text)),
        host("meta", Want::Map(&Want::Any)),
    ],
);

/// The beginning of a machine or of a state, with its actions.
pub(super) static INITIAL: Shape = shape(
    "an initial transition",
    &[
        required("target", Want::Either(&TARGETS)),
        typed("actions", Want::Either(&ACTIONS)),
        typed("description", Want::Text),
    ],
);

/// `invoke` of a state.
pub(super) static INVOCATION: Shape = shape(
    "an invoked workflow",
    &[
        required("src", Want::Name),
        typed("id", Want::Name),
        typed("input", Want::Any),
        typed("on_done", Want::Either(&BRANCHES)),
        old("onDone", "on_done", Want::Either(&BRANCHES)),
        typed("on_error", Want::Either(&BRANCHES)),
        old("onError", "on_error", Want::Either(&BRANCHES)),
    ],
);

static RUNG: Shape = shape(
    "a rung of the ladder",
    &[
        required("model", Want::Text),
        host("url", Want::Text),
        host("thinking_level", Want::Text),
        host("health_url", Want::Text),
        host("requires_provider_switch", Want::Flag),
    ],
);

/// A transition.
pub(super) static BRANCH: Shape = shape(
    "a transition",
    &[
        typed("target", Want::Either(&TARGETS)),
        typed("internal", Want::Flag),
        typed("reenter", Want::Flag),
        typed("guard", Want::Either(&GUARDS)),
        old("cond", "guard", Want::Either(&GUARDS)),
        typed("guards", Want::List(&GUARD_ITEM)),
        host("requires_approval", Want::Flag),
        host("approval_message", Want::Text),
        typed("actions", Want::Either(&ACTIONS)),
        typed("description", Want::Text),
        typed("fork", Want::Object(&FORK)),
        typed("invoke", Want::Name),
        typed("input", Want::Any),
        typed("on_complete", Want::Name),
        typed("on_fail", Want::Name),
    ],
);

/// The branches of a fork.
pub(super) static FORK: Shape = shape(
    "a fork",
    &[
        required("branches", Want::Map(&Want::Object(&FORK_BRANCH))),
        typed("join", Want::Choice(&["all", "any"])),
        required("on_complete", Want::Name),
        typed("on_fail", Want::Name),
    ],
);

static FORK_BRANCH: Shape = shape(
    "a branch of a fork",
    &[
        required("initial", Want::Name),
        required("terminal", Want::Name),
    ],
);

/// A guard.
static GUARD: Shape = shape(
    "a guard",
    &[
        typed("field", Want::Name),
        typed("op", Want::Choice(&OPERATORS)),
        typed("value", Want::Any),
        typed("all", Want::List(&GUARD_ITEM)),
        typed("any", Want::List(&GUARD_ITEM)),
        typed("not", Want::Either(&GUARDS)),
        typed("type", Want::Text),
    ],
);
