//! The keys of artifacts, checks, interrupts and properties.

use super::{doc, host, required, shape};
use crate::front::definition::shape::{Shape, Want};

pub(in crate::front::definition) static INTERRUPT: Shape = shape(
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
///
/// An artifact of the last part's name has such a contract undeclared, too.
pub(in crate::front::definition) static BUILTIN_CONTRACTS: [&str; 7] = [
    "ralph/plan",
    "ralph/development_result",
    "ralph/issues",
    "ralph/fix_result",
    "ralph/commit_message",
    "ralph/development_analysis_decision",
    "ralph/review_analysis_decision",
];

pub(in crate::front::definition) static ARTIFACT: Shape = shape(
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

/// Longest timeout. Unit: seconds. Why: hosts refuse a check or a server with a longer one.
const MAX_TIMEOUT: u64 = 24 * 3_600;

/// A timeout of what hosts start: a duration, or seconds.
pub(in crate::front::definition) static TIMEOUT: [Want; 2] = [
    Want::Duration(Some(MAX_TIMEOUT)),
    Want::Seconds(MAX_TIMEOUT),
];

pub(in crate::front::definition) static CHECK: Shape = shape(
    "a check",
    "`checks.NAME`",
    &[
        required(
            "command",
            Want::Command,
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
            Want::Either(&TIMEOUT),
            doc(
                "how long it may take, up to a day",
                r#"`"10m"`"#,
                r#""timeout": "30s""#,
            ),
        ),
    ],
);

pub(in crate::front::definition) static PROPERTY: Shape = shape(
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
