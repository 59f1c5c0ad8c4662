//! The keys of states.

use statemark_text::drain::Drain;

use super::{
    ACTIONS, BRANCHES, BRANCHES_BY_NAME, INITIALS, TARGETS, doc, host, old, required, shape, typed,
};
use crate::front::definition::shape::{Shape, Want};

/// The requirements for leaving a state: artifacts, checks or facts.
///
/// They are for any event, or for those that are named.
static REQUIREMENTS: [Want; 2] = [Want::List(&Want::Text), Want::Map(&REQUIRED)];
static REQUIRED: Want = Want::List(&Want::Text);

/// A state.
pub(in crate::front::definition) static STATE: Shape = shape(
    "a state",
    "`states.NAME`",
    &[
        typed(
            "type",
            Want::Choice(&["atomic", "compound", "parallel", "final", "history"]),
            doc(
                "`atomic`, `compound`, `parallel` (its `states` are regions), `final`, or `history`",
                "what its other keys and the diagram show",
                r#""type": "atomic""#,
            ),
        ),
        typed(
            "history",
            Want::Choice(&["shallow", "deep"]),
            doc(
                r#"of a history: `"shallow"` remembers the child, `"deep"` all the way down"#,
                r#"`"shallow"`"#,
                r#""type": "compound", "initial": "one", "states": {"one": {}, "back": {"type": "history", "history": "deep", "target": "one"}}"#,
            ),
        ),
        typed(
            "initial",
            Want::Either(&INITIALS),
            doc(
                "the state inside that it begins at",
                "the only one that nothing leads to",
                r#""initial": "one", "states": {"one": {"on": {"next": "two"}}, "two": {}}"#,
            ),
        ),
        typed(
            "target",
            Want::Either(&INITIALS),
            doc(
                "of a history: where it leads while nothing is remembered",
                "the beginning of the state around it",
                r#""initial": "one", "states": {"one": {}, "back": {"type": "history", "target": "one"}}"#,
            ),
        ),
        typed(
            "states",
            Want::Map(&Want::Object(&STATE)),
            doc(
                "the states inside it",
                "none",
                r#""initial": "one", "states": {"one": {"on": {"next": "two"}}, "two": {}}"#,
            ),
        ),
        typed(
            "on",
            Want::Map(&BRANCHES_BY_NAME),
            doc(
                "transitions by event; `job.*` and `*` stand for all other events that begin so",
                "none",
                r#""on": {"submit": {"target": "review", "guard": "words >= 100"}}"#,
            ),
        ),
        typed(
            "always",
            Want::Either(&BRANCHES),
            doc(
                "transitions that are taken as soon as their guards hold",
                "none",
                r#""always": {"target": "review", "guard": "words > 900"}"#,
            ),
        ),
        typed(
            "after",
            Want::Map(&BRANCHES_BY_NAME),
            doc(
                r#"transitions by the time that has passed in the state: `"30s"`, or milliseconds"#,
                "none",
                r#""after": {"2d": "dropped"}"#,
            ),
        ),
        typed(
            "on_done",
            Want::Either(&BRANCHES),
            doc(
                "the transition that is taken when the state is done: in its own end, or in those of all its regions",
                "none",
                r#""initial": "one", "states": {"one": {"on": {"next": "two"}}, "two": {"type": "final"}}, "on_done": "review""#,
            ),
        ),
        old("onDone", "on_done", Want::Either(&BRANCHES)),
        typed(
            "invoke",
            Want::Object(&INVOCATION),
            doc(
                "another workflow that runs while the state is active; its end is the event `done` or `error`",
                "none",
                r#""invoke": {"src": "tests", "on_done": "review", "on_error": "dropped"}"#,
            ),
        ),
        typed(
            "entry",
            Want::Either(&ACTIONS),
            doc("actions on entry", "none", r#""entry": ["count"]"#),
        ),
        typed(
            "exit",
            Want::Either(&ACTIONS),
            doc("actions on exit", "none", r#""exit": "count""#),
        ),
        typed(
            "title",
            Want::Text,
            doc(
                "a title for people",
                "the text in the diagram",
                r#""title": "Being written""#,
            ),
        ),
        typed(
            "description",
            Want::Text,
            doc(
                "what happens here, for people",
                "none",
                r#""description": "Somebody writes.""#,
            ),
        ),
        typed(
            "instructions",
            Want::Text,
            doc(
                "what an agent does here",
                "the Markdown below the heading with its name",
                r#""instructions": "Write at least 100 words.""#,
            ),
        ),
        host(
            "allowed_tools",
            Want::List(&Want::Text),
            doc(
                "the tools that an agent may use here: names and patterns; `[]` allows none",
                "no restriction by this state",
                r#""allowed_tools": ["Read", "Bash(cargo test:*)"]"#,
            ),
        ),
        host(
            "disallowed_tools",
            Want::List(&Want::Text),
            doc(
                "tools that it may not use, whatever else allows them",
                "none",
                r#""disallowed_tools": ["Write"]"#,
            ),
        ),
        host(
            "capabilities",
            Want::List(&Want::Text),
            doc(
                "sets of tools that it may use",
                "none",
                r#""capabilities": ["look"]"#,
            ),
        ),
        host(
            "drain",
            Want::Choice(&Drain::NAMES),
            doc(
                "the kind of work done here, as Ralph Workflow names it: it stands for the `capabilities` of that drain",
                "none",
                r#""drain": "planning""#,
            ),
        ),
        host(
            "allowed_commands",
            Want::List(&Want::Text),
            doc(
                "beginnings of the commands that may be run here, or globs over them; every command of a line has to match one",
                "no restriction",
                r#""allowed_commands": ["cargo test", "git diff"]"#,
            ),
        ),
        host(
            "allowed_commands_tool",
            Want::Text,
            doc(
                "a tool whose commands are meant besides `Bash`, `exec` and their like",
                "none",
                r#""allowed_commands_tool": "Shell""#,
            ),
        ),
        host(
            "blocked_env",
            Want::List(&Want::Text),
            doc(
                "variables that what runs here doesn't get",
                "none",
                r#""blocked_env": ["AWS_SECRET_ACCESS_KEY"]"#,
            ),
        ),
        old("deny_env", "blocked_env", Want::List(&Want::Text)),
        host(
            "env_overrides",
            Want::Map(&Want::Text),
            doc(
                "variables that are set for what runs here",
                "none",
                r#""env_overrides": {"CI": "1"}"#,
            ),
        ),
        old("env", "env_overrides", Want::Map(&Want::Text)),
        host(
            "max_iterations",
            Want::Whole(1),
            doc(
                "how many calls of tools an agent has here",
                "no limit",
                r#""max_iterations": 5"#,
            ),
        ),
        typed(
            "on_max_iterations",
            Want::Name,
            doc(
                "the event (not the state) that is sent when they are spent",
                "calls are refused",
                r#""max_iterations": 5, "on_max_iterations": "give_up""#,
            ),
        ),
        host(
            "max_visits",
            Want::Whole(1),
            doc(
                "how often a run may enter it",
                "no limit",
                r#""max_visits": 3"#,
            ),
        ),
        host(
            "max_edit_lines",
            Want::Whole(0),
            doc(
                "how many lines an edit may change; for hosts",
                "no limit",
                r#""max_edit_lines": 50"#,
            ),
        ),
        host(
            "max_files_per_state",
            Want::Whole(0),
            doc(
                "how many files may be changed here",
                "no limit",
                r#""max_files_per_state": 5"#,
            ),
        ),
        host(
            "context_budget_bytes",
            Want::Whole(1),
            doc(
                "how much tools may return here. Unit: bytes",
                "no limit",
                r#""context_budget_bytes": 100000"#,
            ),
        ),
        host(
            "requires",
            Want::Either(&REQUIREMENTS),
            doc(
                "artifacts, checks and facts (fields that are set) that have to stand before an event leaves the state; for all events, or by event",
                "none",
                r#""requires": {"submit": ["plan", "tests"]}"#,
            ),
        ),
        host(
            "requires_new",
            Want::List(&Want::Name),
            doc(
                "those of the artifacts in `requires` that have to be handed in since the state was entered: in a loop, each time around",
                "one that was handed in before counts",
                r#""requires": ["findings"], "requires_new": ["findings"]"#,
            ),
        ),
        typed(
            "safe_next",
            Want::Name,
            doc(
                "where an event leads that the machine doesn't have",
                "it is refused",
                r#""safe_next": "review""#,
            ),
        ),
        typed(
            "outcome",
            Want::Choice(&["success", "failure"]),
            doc(
                r#"of an end: `"success"` or `"failure"`, which an invoking workflow is told"#,
                r#"`"success"`"#,
                r#""type": "final", "outcome": "failure""#,
            ),
        ),
        host(
            "executor",
            Want::Text,
            doc(
                "who works here: `model`, `claude`, `codex`, `gemini`, `opencode`, a program of the configuration's `[executor.commands]`, or `none`",
                "`default` of `[executor]` in `statemark.toml`",
                r#""executor": "model""#,
            ),
        ),
        host(
            "max_attempts",
            Want::Whole(1),
            doc(
                "how many attempts of an executor may fail in a visit, before `limit.reached` is sent, or the run stops",
                "3, or what `statemark.toml` says",
                r#""max_attempts": 2"#,
            ),
        ),
        host(
            "attempt_timeout",
            Want::Duration(None),
            doc(
                "how long an attempt of an executor may take",
                "30 minutes, or what `statemark.toml` says",
                r#""attempt_timeout": "10m""#,
            ),
        ),
        host(
            "token_budget",
            Want::Whole(1),
            doc(
                "how many tokens executors may use in a visit, before `limit.reached` is sent, or the run stops",
                "no limit",
                r#""token_budget": 20000"#,
            ),
        ),
        host(
            "cost_budget",
            Want::Positive,
            doc(
                "how many US dollars executors may use in a visit, before `limit.reached` is sent, or the run stops",
                "no limit",
                r#""cost_budget": 0.5"#,
            ),
        ),
        host(
            "model",
            Want::Text,
            doc(
                "the model for the work here; for executors",
                "`default_model`",
                r#""model": "large""#,
            ),
        ),
        host(
            "thinking_level",
            Want::Text,
            doc(
                "how much the model thinks; for executors",
                "none",
                r#""thinking_level": "high""#,
            ),
        ),
        host(
            "model_ladder",
            Want::List(&Want::Object(&RUNG)),
            doc(
                "models that are tried one after another; for executors",
                "none",
                r#""model_ladder": [{"model": "small"}, {"model": "large"}]"#,
            ),
        ),
        host(
            "direct_execution",
            Want::Flag,
            doc(
                "`true`: the executor does the work without a model",
                "`false`",
                r#""direct_execution": true"#,
            ),
        ),
        typed(
            "while_waiting",
            Want::List(&Want::Name),
            doc(
                "events that are taken while a request is open",
                "none",
                r#""while_waiting": ["give_up"]"#,
            ),
        ),
        host(
            "tags",
            Want::List(&Want::Text),
            doc(
                "words for lists and searches",
                "none",
                r#""tags": ["slow"]"#,
            ),
        ),
        host(
            "meta",
            Want::Map(&Want::Any),
            doc(
                "whatever your own tools read",
                "empty",
                r#""meta": {"color": "red"}"#,
            ),
        ),
    ],
);

/// The beginning of a machine or of a state, with its actions.
pub(in crate::front::definition) static INITIAL: Shape = shape(
    "an initial transition",
    "`initial`, as an object",
    &[
        required(
            "target",
            Want::Either(&TARGETS),
            doc(
                "the state, or states in different regions",
                "",
                r#""target": "draft""#,
            ),
        ),
        typed(
            "actions",
            Want::Either(&ACTIONS),
            doc(
                "actions on the way there",
                "none",
                r#""actions": ["count"]"#,
            ),
        ),
        typed(
            "description",
            Want::Text,
            doc(
                "a remark for people",
                "none",
                r#""description": "Every paper begins empty.""#,
            ),
        ),
    ],
);

/// `invoke` of a state.
pub(in crate::front::definition) static INVOCATION: Shape = shape(
    "an invoked workflow",
    "`states.NAME.invoke`",
    &[
        required(
            "src",
            Want::Name,
            doc("the id of the workflow", "", r#""src": "tests""#),
        ),
        typed(
            "id",
            Want::Name,
            doc("a name for the run of it", "none", r#""id": "unit_tests""#),
        ),
        typed(
            "input",
            Want::Any,
            doc(
                "what its context begins with",
                "nothing",
                r#""input": {"words": 0}"#,
            ),
        ),
        typed(
            "on_done",
            Want::Either(&BRANCHES),
            doc(
                "where it leads when the workflow has ended well",
                "an event `done` of the state",
                r#""on_done": "published""#,
            ),
        ),
        old("onDone", "on_done", Want::Either(&BRANCHES)),
        typed(
            "on_error",
            Want::Either(&BRANCHES),
            doc(
                "where it leads when it has failed",
                "an event `error` of the state",
                r#""on_error": "dropped""#,
            ),
        ),
        old("onError", "on_error", Want::Either(&BRANCHES)),
    ],
);

static RUNG: Shape = shape(
    "a rung of the ladder",
    "an item of `states.NAME.model_ladder`",
    &[
        required(
            "model",
            Want::Text,
            doc("the model", "", r#""model": "small""#),
        ),
        host(
            "url",
            Want::Text,
            doc(
                "where it is served",
                "the executor's own",
                r#""url": "http://localhost:8080""#,
            ),
        ),
        host(
            "thinking_level",
            Want::Text,
            doc(
                "how much it thinks",
                "that of the state",
                r#""thinking_level": "low""#,
            ),
        ),
        host(
            "health_url",
            Want::Text,
            doc(
                "the address that tells whether it is there",
                "none",
                r#""health_url": "http://localhost:8080/health""#,
            ),
        ),
        host(
            "requires_provider_switch",
            Want::Flag,
            doc(
                "`true`: the executor has to change its provider for it",
                "`false`",
                r#""requires_provider_switch": true"#,
            ),
        ),
    ],
);
