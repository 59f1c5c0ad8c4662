//! The keys of a definition: one table a kind of object, one line a key.
//!
//! A key has its possible values, its reader, and what the reference says of it. The reference is made of these tables.
//! Here are the machine and what it declares; the other objects are in the files of this folder.

mod contract;
mod state;
mod transition;

pub(super) use contract::{BUILTIN_CONTRACTS, TIMEOUT};
pub(super) use state::{INITIAL, INVOCATION, STATE};
pub(super) use transition::{BRANCH, FORK};

use super::shape::{Doc, Key, Rule, Shape, Want};
use contract::{ARTIFACT, CHECK, INTERRUPT, PROPERTY};
use transition::GUARD;

const fn key(name: &'static str, want: Want, rule: Rule, doc: Doc) -> Key {
    Key {
        name,
        want,
        rule,
        doc,
    }
}

/// Says what a key means, its value where it is left out (empty if it can't be), and shows it.
const fn doc(meaning: &'static str, default: &'static str, example: &'static str) -> Doc {
    Doc {
        meaning,
        default,
        example,
    }
}

/// Declares a key that the syntax tree has a field for.
const fn typed(name: &'static str, want: Want, doc: Doc) -> Key {
    key(name, want, Rule::Typed, doc)
}

/// Declares a key without which its object is meaningless.
const fn required(name: &'static str, want: Want, doc: Doc) -> Key {
    key(name, want, Rule::Required, doc)
}

/// Declares a key for hosts.
const fn host(name: &'static str, want: Want, doc: Doc) -> Key {
    key(name, want, Rule::Host, doc)
}

/// Declares an old spelling of `now`, and what it wants.
const fn old(name: &'static str, now: &'static str, want: Want) -> Key {
    key(name, want, Rule::Old(now), doc("", "", ""))
}

const fn shape(what: &'static str, place: &'static str, keys: &'static [Key]) -> Shape {
    Shape {
        what,
        place,
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
    "a whole file, as Statewright keeps it",
    &[
        required(
            "definition",
            Want::Any,
            doc(
                "the machine; everything else is beside it",
                "",
                r#""definition": {"initial": "a", "states": {"a": {"on": {"go": "b"}}, "b": {"type": "final"}}}"#,
            ),
        ),
        host(
            "upstream_servers",
            Want::Either(&[Want::List(&Want::Any), Want::Map(&Want::Any)]),
            doc(
                "MCP servers whose tools a workflow needs: names of the project's, or declarations, which count once a person has accepted the workflow",
                "none",
                r#""upstream_servers": [{"name": "github", "command": "github-mcp"}]"#,
            ),
        ),
        typed(
            "$schema",
            Want::Text,
            doc(
                "where a JSON Schema of the file is, for editors",
                "",
                r#""$schema": "https://example.org/workflow.schema.json""#,
            ),
        ),
    ],
);

/// A machine.
pub(super) static MACHINE: Shape = shape(
    "a machine",
    "the definition itself",
    &[
        typed(
            "$schema",
            Want::Text,
            doc(
                "where a JSON Schema of the file is, for editors",
                "",
                r#""$schema": "https://example.org/workflow.schema.json""#,
            ),
        ),
        typed(
            "id",
            Want::Name,
            doc(
                "the name by which runs are started of it",
                "the section's name, the front matter's `name`, or the file's name",
                r#""id": "paper""#,
            ),
        ),
        typed(
            "title",
            Want::Text,
            doc(
                "a title for people",
                "the diagram's title",
                r#""title": "How a paper is published""#,
            ),
        ),
        typed(
            "description",
            Want::Text,
            doc(
                "what it is for, in a sentence",
                "the front matter's `description`",
                r#""description": "From the first draft to the press.""#,
            ),
        ),
        host(
            "version",
            Want::Either(&[Want::Text, Want::Number]),
            doc(
                "the version of its author; statemark tells versions apart by their hashes",
                "",
                r#""version": "1.2""#,
            ),
        ),
        typed(
            "initial",
            Want::Either(&INITIALS),
            doc(
                "the state that a run begins in, alone or with actions",
                "the only state that nothing leads to",
                r#""initial": "draft""#,
            ),
        ),
        typed(
            "context",
            Want::Map(&Want::Any),
            doc(
                "the data that a run begins with",
                "no data",
                r#""context": {"words": 0, "attempts": 0}"#,
            ),
        ),
        host(
            "context_schema",
            Want::Map(&Want::Any),
            doc(
                "a JSON Schema of the data; fields that it declares are the only ones that events set",
                "the types of the first values",
                r#""context_schema": {"properties": {"words": {"type": "integer", "minimum": 0}}}"#,
            ),
        ),
        typed(
            "events",
            Want::Map(&Want::Object(&EVENT)),
            doc(
                "events by name, with what they are for and which data comes with them",
                "events are what transitions name",
                r#""events": {"submit": {"title": "Hand in", "data": {"properties": {"words": {"type": "integer"}}}}}"#,
            ),
        ),
        typed(
            "guards",
            Want::Either(&DECLARED_GUARDS),
            doc(
                r#"conditions by name: an expression, a comparison, or what it means in words for a program that answers it; `"declared"` forbids guards that nothing defines"#,
                "guards that nothing defines are claims of the sender",
                r#""guards": {"long": "words >= 100", "short": "words < 9"}"#,
            ),
        ),
        typed(
            "actions",
            Want::Map(&Want::Object(&ACTION)),
            doc(
                "actions by name: what they assign, raise, or have somebody carry out",
                "an action that nothing declares is carried out by the host",
                r#""actions": {"count": {"assign": {"attempts": "attempts + 1"}}}"#,
            ),
        ),
        typed(
            "actions_fail",
            Want::Flag,
            doc(
                r#"`true`: every action of the host can fail, and with it the step, where it doesn't say `"fails": false`; runs take no notice"#,
                "`false`",
                r#""actions_fail": true"#,
            ),
        ),
        typed(
            "states",
            Want::Map(&Want::Object(&STATE)),
            doc(
                "states by name",
                "those of the diagram",
                r#""states": {"draft": {"on": {"submit": "review"}}, "review": {"type": "final"}}"#,
            ),
        ),
        typed(
            "on",
            Want::Map(&BRANCHES_BY_NAME),
            doc(
                "transitions that hold in every state",
                "none",
                r#""on": {"cancel": "dropped"}"#,
            ),
        ),
        host(
            "artifacts",
            Want::Map(&Want::Object(&ARTIFACT)),
            doc(
                "what a run hands in, by name, with the contract that it is checked against",
                "none",
                r#""artifacts": {"plan": {"required_sections": ["Steps"]}}"#,
            ),
        ),
        host(
            "documents",
            Want::Map(&Want::Text),
            doc(
                "files of the project that agents may read (`read_document`), by name",
                "none",
                r#""documents": {"spec": "docs/spec.md"}"#,
            ),
        ),
        host(
            "tasks",
            Want::Text,
            doc(
                "the name of the document that is the checklist of `complete_task`",
                "none",
                r#""documents": {"list": "docs/tasks.md"}, "tasks": "list""#,
            ),
        ),
        host(
            "checks",
            Want::Map(&Want::Object(&CHECK)),
            doc(
                "programs that test the work, by name",
                "none",
                r#""checks": {"tests": {"command": ["cargo", "test"], "timeout": "10m"}}"#,
            ),
        ),
        host(
            "capabilities",
            Want::Map(&NAMES),
            doc(
                "sets of tools by a name that states use",
                "only the built-in names",
                r#""capabilities": {"look": ["Read", "Grep"]}"#,
            ),
        ),
        typed(
            "interrupts",
            Want::Map(&Want::Object(&INTERRUPT)),
            doc(
                "changes of files that lead a run to another state",
                "none",
                r#""interrupts": {"spec_changed": {"trigger": {"file_pattern": "docs/**"}, "target": "draft"}}"#,
            ),
        ),
        host(
            "upstream_servers",
            Want::Either(&[Want::List(&Want::Any), Want::Map(&Want::Any)]),
            doc(
                "MCP servers whose tools the states need: names of the project's, or declarations, which count once a person has accepted the workflow",
                "none",
                r#""upstream_servers": [{"name": "github", "command": "github-mcp"}]"#,
            ),
        ),
        host(
            "properties",
            Want::Either(&[
                Want::List(&Want::Object(&PROPERTY)),
                Want::Object(&PROPERTY),
            ]),
            doc(
                "what must always hold; kept for hosts",
                "none",
                r#""properties": [{"always": "attempts <= 3"}]"#,
            ),
        ),
        host(
            "meta",
            Want::Object(&META),
            doc(
                "what holds for the whole workflow: who decides, debugging, tags; other keys are yours",
                "empty",
                r#""meta": {"tags": ["writing"], "approvers": ["ann"]}"#,
            ),
        ),
        host(
            "merge",
            Want::Choice(&["all", "none", "shallow"]),
            doc(
                r#"which fields of events' data become fields of the context: `"all"`, or `"none"`; `"shallow"` is an old word for `"all"`"#,
                "those that the event's `data` lists or, without it, those that no action assigns",
                r#""merge": "none""#,
            ),
        ),
        host(
            "inputs",
            Want::List(&Want::Text),
            doc(
                "the fields of the context that an agent's input may set when it starts or forks a run",
                "those that no guard reads",
                r#""inputs": ["words"]"#,
            ),
        ),
        host(
            "untracked_agents",
            Want::Text,
            doc(
                r#"`"deny"`: reports of steps by agents that no workflow describes are refused"#,
                "they are taken without a check",
                r#""untracked_agents": "deny""#,
            ),
        ),
        host(
            "deactivate",
            Want::Choice(&["cancel", "release"]),
            doc(
                r#"`"release"`: a run that an agent gives up no longer restricts its tools; `"cancel"`: it goes on restricting them until another run is live"#,
                r#"`"cancel"`"#,
                r#""deactivate": "release""#,
            ),
        ),
    ],
);

/// `meta` of a machine.
pub(super) static META: Shape = Shape {
    what: "`meta`",
    open: true,
    place: "`meta` of a machine",
    keys: &[
        host(
            "debug",
            Want::Flag,
            doc(
                "`true`: a person may set the state of a run by hand (`statemark force`)",
                "`false`",
                r#""debug": true"#,
            ),
        ),
        host(
            "danger_level",
            Want::Choice(&["safe", "moderate", "dangerous"]),
            doc(
                "how much harm the work can do, for people",
                "none",
                r#""danger_level": "moderate""#,
            ),
        ),
        host(
            "default_model",
            Want::Text,
            doc(
                "the model for states that name none; read by hosts",
                "none",
                r#""default_model": "small""#,
            ),
        ),
        host(
            "tags",
            Want::List(&Want::Text),
            doc(
                "words for lists and searches",
                "none",
                r#""tags": ["writing"]"#,
            ),
        ),
        host(
            "executor",
            Want::Text,
            doc(
                "who works in states that say nothing themselves: `model`, `claude`, `codex`, `gemini`, `opencode`, a program of the configuration, or `none`",
                "`default` of `[executor]` in `statemark.toml`",
                r#""executor": "claude""#,
            ),
        ),
        host(
            "workspace",
            Want::Choice(&["shared", "worktree"]),
            doc(
                "where executors work on a run: in the project's folder, or in a git worktree of the run alone, on the branch `statemark/RUN`, and of each region in it, on `statemark/RUN@REGION`",
                r#"`"shared"`"#,
                r#""workspace": "worktree""#,
            ),
        ),
        host(
            "worktree_end",
            Want::Choice(&["keep", "remove"]),
            doc(
                "what becomes of those worktrees at the end of the run: they stay, or each is removed if everything in it is committed; the branches stay either way",
                r#"`"keep"`"#,
                r#""worktree_end": "remove""#,
            ),
        ),
        host(
            "max_attempts",
            Want::Whole(1),
            doc(
                "how many attempts of an executor may fail in a visit of a state that says nothing itself",
                "what `statemark.toml` says, else 3",
                r#""max_attempts": 2"#,
            ),
        ),
        host(
            "attempt_timeout",
            Want::Duration(None),
            doc(
                "how long an attempt of an executor may take in states that say nothing themselves",
                "what `statemark.toml` says, else 30 minutes",
                r#""attempt_timeout": "10m""#,
            ),
        ),
        host(
            "token_budget",
            Want::Whole(1),
            doc(
                "how many tokens executors may use in a run and in those below it, before `limit.reached` is sent, or the run stops",
                "what `statemark.toml` says, else no limit",
                r#""token_budget": 200000"#,
            ),
        ),
        host(
            "cost_budget",
            Want::Positive,
            doc(
                "how many US dollars executors may use in a run and in those below it, before `limit.reached` is sent, or the run stops",
                "what `statemark.toml` says, else no limit",
                r#""cost_budget": 5"#,
            ),
        ),
        host(
            "requires_human_approval",
            Want::Flag,
            doc(
                "`true`: a note for hosts that a person should look at the work; what is enforced is `requires_approval` of a transition",
                "`false`",
                r#""requires_human_approval": true"#,
            ),
        ),
        host(
            "approvers",
            Want::Either(&APPROVERS),
            doc(
                "the persons who may decide: their names, or an object that demands signatures, too",
                "any person",
                r#""approvers": ["ann", "bob"]"#,
            ),
        ),
        host(
            "accept_elicitation",
            Want::Flag,
            doc(
                "`true`: an approval given in a client's own dialog counts",
                "`false`",
                r#""accept_elicitation": true"#,
            ),
        ),
        host(
            "relay_answers",
            Want::Flag,
            doc(
                "`true`: an agent may hand on what a person answered",
                "`false`",
                r#""relay_answers": true"#,
            ),
        ),
        host(
            "task_type",
            Want::Text,
            doc(
                "the kind of work, for hosts",
                "none",
                r#""task_type": "bugfix""#,
            ),
        ),
        host(
            "estimated_steps",
            Want::Whole(0),
            doc(
                "how many steps the work takes, for hosts",
                "none",
                r#""estimated_steps": 6"#,
            ),
        ),
        host(
            "capture_output",
            Want::Flag,
            doc(
                "`true`: hosts keep the output of what they run",
                "`false`",
                r#""capture_output": true"#,
            ),
        ),
    ],
};

/// The persons who decide: their names, or an object that demands their signatures, too.
static APPROVERS: [Want; 2] = [Want::List(&Want::Text), Want::Object(&SIGNED_APPROVERS)];

static SIGNED_APPROVERS: Shape = shape(
    "`approvers`",
    "`meta.approvers`, as an object",
    &[
        host(
            "names",
            Want::List(&Want::Text),
            doc(
                "the persons who may decide",
                "any person",
                r#""names": ["ann"]"#,
            ),
        ),
        host(
            "signed",
            Want::Flag,
            doc(
                "`true`: each decision needs a signature by a key that the store knows",
                "`false`",
                r#""signed": true"#,
            ),
        ),
    ],
);

static EVENT: Shape = shape(
    "an event",
    "`events.NAME`",
    &[
        typed(
            "title",
            Want::Text,
            doc(
                "a title for people",
                "the label in the diagram",
                r#""title": "Hand in""#,
            ),
        ),
        typed(
            "description",
            Want::Text,
            doc(
                "when somebody sends it",
                "none",
                r#""description": "The author thinks that it is done.""#,
            ),
        ),
        typed(
            "data",
            Want::Either(&[Want::Map(&Want::Any), Want::Flag]),
            doc(
                "a JSON Schema of its data; the fields that it lists, and no others, are merged into the context",
                "any data",
                r#""data": {"properties": {"words": {"type": "integer"}}, "required": ["words"]}"#,
            ),
        ),
    ],
);

static ACTION: Shape = shape(
    "an action",
    "`actions.NAME`",
    &[
        typed(
            "raise",
            Want::Name,
            doc(
                "the event that it raises, from inside the machine",
                "none",
                r#""raise": "submit""#,
            ),
        ),
        host(
            "assign",
            Want::Map(&ASSIGNED),
            doc(
                "fields of the context, and the expressions whose values they get",
                "none",
                r#""assign": {"attempts": "attempts + 1"}"#,
            ),
        ),
        host(
            "effect",
            Want::Any,
            doc(
                "what somebody does in the world, in words or data for whoever does it",
                "none",
                r#""effect": "send the paper to the press""#,
            ),
        ),
        typed(
            "fails",
            Want::Flag,
            doc(
                "`true`: a program that embeds the machine may report that it failed, which fails the step; runs take no notice",
                "`actions_fail` of the machine",
                r#""effect": "print", "fails": true"#,
            ),
        ),
        host(
            "idempotent",
            Want::Flag,
            doc(
                "`true`: doing it twice is doing it once, so a run tries it again after a crash",
                "`false`",
                r#""effect": "print", "idempotent": true"#,
            ),
        ),
        host(
            "compensate",
            Want::Name,
            doc(
                "the action that takes it back when a run is rewound",
                "none",
                r#""effect": "print", "compensate": "pulp""#,
            ),
        ),
        host(
            "description",
            Want::Text,
            doc(
                "what it does, for people",
                "none",
                r#""effect": "print", "description": "Prints 300 copies.""#,
            ),
        ),
    ],
);

/// The value of an assignment: an expression, or a constant that isn't a text.
static ASSIGNED: Want = Want::Either(&[Want::Text, Want::Number, Want::Flag, Want::Null]);

static ACTION_USE: Shape = shape(
    "an action",
    "an item of `entry`, `exit` or `actions`, as XState writes it",
    &[required(
        "type",
        Want::Name,
        doc("the action's name", "", r#""type": "count""#),
    )],
);
