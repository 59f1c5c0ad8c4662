//! The keys of a definition: one table a kind of object, one line a key.
//!
//! A key has its possible values, its reader, and what the reference says of it. The reference is made of these tables.

use super::shape::{Doc, Key, Rule, Shape, Want};

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
                "MCP servers whose tools a workflow speaks of; read by hosts",
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
                r#""documents": {"todo": "TODO.md"}, "tasks": "todo""#,
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
                "MCP servers whose tools the states speak of; read by hosts",
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
static META: Shape = Shape {
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

static INTERRUPT: Shape = shape(
    "an interrupt",
    "`interrupts.NAME`",
    &[
        required(
            "trigger",
            Want::Object(&TRIGGER),
            doc(
                "what it waits for",
                "",
                r#""trigger": {"file_pattern": "docs/**"}"#,
            ),
        ),
        required(
            "target",
            Want::Name,
            doc(
                "the state that it leads to; `$return` leads back to where the run was",
                "",
                r#""target": "draft""#,
            ),
        ),
    ],
);

static TRIGGER: Shape = shape(
    "a trigger",
    "`interrupts.NAME.trigger`",
    &[required(
        "file_pattern",
        Want::Text,
        doc(
            "the paths of files whose change it is",
            "",
            r#""file_pattern": "src/**/*.rs""#,
        ),
    )],
);

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
    "`artifacts.NAME`: its contract",
    &[
        host(
            "schema",
            Want::Any,
            doc(
                "the JSON Schema of the document",
                "any document",
                r#""schema": {"type": "object", "required": ["status"]}"#,
            ),
        ),
        host(
            "format",
            Want::Choice(&["json", "markdown", "text"]),
            doc(
                "`json`, `markdown` or `text`",
                "what the other keys are about",
                r#""format": "markdown""#,
            ),
        ),
        host(
            "front_matter",
            Want::Map(&Want::Any),
            doc(
                "the JSON Schema of the lines `key: value` between `---` at the beginning",
                "none is asked for",
                r#""front_matter": {"required": ["author"]}"#,
            ),
        ),
        host(
            "required_sections",
            Want::List(&Want::Text),
            doc(
                "headings that have to be there",
                "none",
                r#""required_sections": ["Summary", "Steps"]"#,
            ),
        ),
        host(
            "sections",
            Want::List(&Want::Object(&SECTION)),
            doc(
                "rules of sections, in the order of the document",
                "none",
                r#""sections": [{"heading": "Steps", "contains": ["checkboxes"]}]"#,
            ),
        ),
        host(
            "closed",
            Want::Flag,
            doc(
                "`true`: no other sections beside those",
                "`false`",
                r#""sections": [{"heading": "Steps"}], "closed": true"#,
            ),
        ),
        host(
            "max_characters",
            Want::Whole(1),
            doc(
                "how long the document may be. Unit: characters",
                "no limit of its own",
                r#""max_characters": 20000"#,
            ),
        ),
        host(
            "like",
            Want::Choice(&BUILTIN_CONTRACTS),
            doc(
                "a built-in contract whose keys count where these are left out",
                "none",
                r#""like": "ralph/plan""#,
            ),
        ),
        host(
            "description",
            Want::Text,
            doc(
                "what it is for, for people and agents",
                "none",
                r#""description": "The plan that a person reads first.""#,
            ),
        ),
    ],
);

static CONTENT: Want = Want::Choice(&["text", "list", "checkboxes", "table", "code", "json"]);

/// The shape of a section of a Markdown artifact.
static SECTION: Shape = shape(
    "a section",
    "an item of `artifacts.NAME.sections`",
    &[
        required(
            "heading",
            Want::Text,
            doc("its heading", "", r#""heading": "Steps""#),
        ),
        host(
            "level",
            Want::Whole(1),
            doc("the heading's level, 1 to 6", "any level", r#""level": 2"#),
        ),
        host(
            "optional",
            Want::Flag,
            doc(
                "`true`: it may be missing",
                "`false`",
                r#""optional": true"#,
            ),
        ),
        host(
            "contains",
            Want::List(&CONTENT),
            doc(
                "what has to be in it",
                "nothing",
                r#""contains": ["checkboxes"]"#,
            ),
        ),
        host(
            "forbids",
            Want::List(&CONTENT),
            doc(
                "what must not be in it",
                "nothing",
                r#""forbids": ["table"]"#,
            ),
        ),
        host(
            "forbids_text",
            Want::List(&Want::Text),
            doc(
                "texts that must not be in it",
                "none",
                r#""forbids_text": ["TBD"]"#,
            ),
        ),
        host(
            "ids",
            Want::Flag,
            doc(
                "`true`: each entry begins with an id in brackets, none twice",
                "`false`",
                r#""ids": true"#,
            ),
        ),
        host(
            "min_items",
            Want::Whole(0),
            doc("least number of entries", "0", r#""min_items": 2"#),
        ),
        host(
            "max_items",
            Want::Whole(0),
            doc(
                "largest number of entries",
                "no limit",
                r#""max_items": 20"#,
            ),
        ),
        host(
            "schema",
            Want::Any,
            doc(
                "the JSON Schema of the JSON in it",
                "none",
                r#""contains": ["json"], "schema": {"type": "array"}"#,
            ),
        ),
        host(
            "description",
            Want::Text,
            doc(
                "what belongs there",
                "none",
                r#""description": "One line for each step.""#,
            ),
        ),
    ],
);

/// The requirements for leaving a state: artifacts, checks or facts.
///
/// They are for any event, or for those that are named.
static REQUIREMENTS: [Want; 2] = [Want::List(&Want::Text), Want::Map(&REQUIRED)];
static REQUIRED: Want = Want::List(&Want::Text);

static CHECK: Shape = shape(
    "a check",
    "`checks.NAME`",
    &[
        required(
            "command",
            Want::List(&Want::Text),
            doc(
                "the words of the program and its arguments; no shell reads them",
                "",
                r#""command": ["cargo", "test"]"#,
            ),
        ),
        host(
            "cwd",
            Want::Text,
            doc(
                "the folder that it runs in, as seen from the project's root",
                "the project's root",
                r#""cwd": "crates/core""#,
            ),
        ),
        host(
            "env",
            Want::Map(&Want::Text),
            doc(
                "variables that it gets",
                "none but those that are no secret",
                r#""env": {"RUST_BACKTRACE": "1"}"#,
            ),
        ),
        host(
            "inherit",
            Want::List(&Want::Text),
            doc(
                "secret variables of the environment that it gets, too",
                "none",
                r#""inherit": ["REGISTRY_TOKEN"]"#,
            ),
        ),
        host(
            "timeout",
            Want::Either(&[Want::Text, Want::Number]),
            doc(
                "how long it may take: seconds, or a length of time",
                r#"`"10m"`"#,
                r#""timeout": "30s""#,
            ),
        ),
    ],
);

static PROPERTY: Shape = shape(
    "a property",
    "`properties`, or an item of it",
    &[
        host(
            "always",
            Want::Text,
            doc(
                "an expression that always holds",
                "none",
                r#""always": "attempts <= 3""#,
            ),
        ),
        host(
            "never",
            Want::Either(&[Want::List(&Want::Text), Want::Text]),
            doc(
                r#"what never happens: a state, or `[A, "after", B]`"#,
                "none",
                r#""never": ["draft", "after", "published"]"#,
            ),
        ),
        host(
            "eventually",
            Want::Text,
            doc(
                "a state that is reached in the end",
                "none",
                r#""eventually": "published""#,
            ),
        ),
    ],
);

/// A state.
pub(super) static STATE: Shape = shape(
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
                "the tools that an agent may use here: names, patterns, names of capabilities; `[]` allows none",
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
            "allowed_commands",
            Want::List(&Want::Text),
            doc(
                "beginnings of shell commands that a host lets through",
                "no restriction",
                r#""allowed_commands": ["cargo test", "git diff"]"#,
            ),
        ),
        host(
            "allowed_commands_tool",
            Want::Text,
            doc(
                "the tool whose commands are meant",
                "`Bash`",
                r#""allowed_commands_tool": "Shell""#,
            ),
        ),
        host(
            "blocked_env",
            Want::List(&Want::Text),
            doc(
                "variables that a host takes away from what runs here",
                "none",
                r#""blocked_env": ["AWS_SECRET_ACCESS_KEY"]"#,
            ),
        ),
        old("deny_env", "blocked_env", Want::List(&Want::Text)),
        host(
            "env_overrides",
            Want::Map(&Want::Text),
            doc(
                "variables that a host sets for what runs here",
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
pub(super) static INITIAL: Shape = shape(
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
pub(super) static INVOCATION: Shape = shape(
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

/// A transition.
pub(super) static BRANCH: Shape = shape(
    "a transition",
    "`on.EVENT`, `always`, `after.TIME`, `on_done`: a target, this object, or a list of which the first whose guard holds is taken",
    &[
        typed(
            "target",
            Want::Either(&TARGETS),
            doc(
                "the state that it leads to, or states in different regions; without it the run stays",
                "it stays",
                r#""target": "review""#,
            ),
        ),
        typed(
            "internal",
            Want::Flag,
            doc(
                "`true`: a transition to a state inside doesn't leave its source",
                "`false`",
                r#""target": "draft", "internal": true"#,
            ),
        ),
        typed(
            "reenter",
            Want::Flag,
            doc(
                "`true`: a transition to its own source leaves and enters it (XState's word)",
                "`true`",
                r#""target": "draft", "reenter": true"#,
            ),
        ),
        typed(
            "guard",
            Want::Either(&GUARDS),
            doc(
                "the condition: a name, an expression, or a comparison",
                "none: always taken",
                r#""guard": "words >= 100""#,
            ),
        ),
        old("cond", "guard", Want::Either(&GUARDS)),
        typed(
            "guards",
            Want::List(&GUARD_ITEM),
            doc(
                "conditions that must all hold",
                "none",
                r#""guards": ["words >= 100", "attempts < 3"]"#,
            ),
        ),
        host(
            "requires_approval",
            Want::Flag,
            doc(
                "`true`: a person has to allow it",
                "`false`",
                r#""requires_approval": true"#,
            ),
        ),
        host(
            "approval_message",
            Want::Text,
            doc(
                "what the person is asked",
                "what leads where",
                r#""requires_approval": true, "approval_message": "Print it?""#,
            ),
        ),
        typed(
            "actions",
            Want::Either(&ACTIONS),
            doc("actions on the way", "none", r#""actions": ["count"]"#),
        ),
        typed(
            "description",
            Want::Text,
            doc(
                "when it is taken, for people",
                "none",
                r#""description": "The paper is long enough.""#,
            ),
        ),
        typed(
            "fork",
            Want::Object(&FORK),
            doc(
                "branches that run side by side, instead of a target",
                "none",
                r#""fork": {"branches": {"code": {"initial": "coding", "terminal": "coded"}, "docs": {"initial": "writing", "terminal": "written"}}, "on_complete": "published"}"#,
            ),
        ),
        typed(
            "invoke",
            Want::Name,
            doc(
                "another workflow that the event runs; `on_complete` and `on_fail` say where it leads",
                "none",
                r#""invoke": "tests", "on_complete": "published", "on_fail": "dropped""#,
            ),
        ),
        typed(
            "input",
            Want::Any,
            doc(
                "what the context of `invoke` begins with",
                "nothing",
                r#""invoke": "tests", "input": {"words": 0}, "on_complete": "published", "on_fail": "dropped""#,
            ),
        ),
        typed(
            "on_complete",
            Want::Name,
            doc(
                "where `invoke` leads when the workflow has ended well",
                "",
                r#""invoke": "tests", "on_complete": "published", "on_fail": "dropped""#,
            ),
        ),
        typed(
            "on_fail",
            Want::Name,
            doc(
                "where `invoke` leads when it has failed",
                "",
                r#""invoke": "tests", "on_complete": "published", "on_fail": "dropped""#,
            ),
        ),
    ],
);

/// The branches of a fork.
pub(super) static FORK: Shape = shape(
    "a fork",
    "`fork` of a transition",
    &[
        required(
            "branches",
            Want::Map(&Want::Object(&FORK_BRANCH)),
            doc(
                "branches by name; each has states of its own",
                "",
                r#""branches": {"code": {"initial": "coding", "terminal": "coded"}, "docs": {"initial": "writing", "terminal": "written"}}"#,
            ),
        ),
        typed(
            "join",
            Want::Choice(&["all", "any"]),
            doc(
                r#"`"all"`: goes on when all branches are done; `"any"`: with the first"#,
                r#"`"all"`"#,
                r#""join": "any""#,
            ),
        ),
        required(
            "on_complete",
            Want::Name,
            doc(
                "the state that it leads to then",
                "",
                r#""on_complete": "published""#,
            ),
        ),
        typed(
            "on_fail",
            Want::Name,
            doc(
                "the state that the event `error` leads to",
                "none",
                r#""on_fail": "dropped""#,
            ),
        ),
    ],
);

static FORK_BRANCH: Shape = shape(
    "a branch of a fork",
    "`fork.branches.NAME`",
    &[
        required(
            "initial",
            Want::Name,
            doc("the state that it begins at", "", r#""initial": "coding""#),
        ),
        required(
            "terminal",
            Want::Name,
            doc(
                "the state in which it is done",
                "",
                r#""terminal": "coded""#,
            ),
        ),
    ],
);

/// A guard.
static GUARD: Shape = shape(
    "a guard",
    "`guards.NAME`, `guard`",
    &[
        typed(
            "field",
            Want::Name,
            doc(
                "the field of the context, with dots for what is inside",
                "",
                r#""field": "words", "op": "gte", "value": 100"#,
            ),
        ),
        typed(
            "op",
            Want::Choice(&OPERATORS),
            doc(
                "the comparison",
                r#"`"eq"`"#,
                r#""field": "words", "op": "lt", "value": 3"#,
            ),
        ),
        typed(
            "value",
            Want::Any,
            doc(
                "the value that it is compared with; with `in` a list",
                "",
                r#""field": "title", "op": "in", "value": ["a", "b"]"#,
            ),
        ),
        typed(
            "all",
            Want::List(&GUARD_ITEM),
            doc(
                "guards that must all hold",
                "",
                r#""all": ["words >= 100", {"field": "attempts", "op": "lt", "value": 3}]"#,
            ),
        ),
        typed(
            "any",
            Want::List(&GUARD_ITEM),
            doc(
                "guards of which one must hold",
                "",
                r#""any": ["words >= 100", "attempts > 3"]"#,
            ),
        ),
        typed(
            "not",
            Want::Either(&GUARDS),
            doc("a guard that must not hold", "", r#""not": "words >= 100""#),
        ),
        typed(
            "type",
            Want::Text,
            doc(
                "the name of a declared guard (XState's form)",
                "",
                r#""type": "short""#,
            ),
        ),
    ],
);
