//! The keys of transitions, forks and guards.

use super::{ACTIONS, GUARD_ITEM, GUARDS, TARGETS, doc, host, old, required, shape, typed};
use crate::front::definition::shape::{Shape, Want};

/// The operators of a guard.
static OPERATORS: [&str; 10] = [
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

/// A transition.
pub(in crate::front::definition) static BRANCH: Shape = shape(
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
pub(in crate::front::definition) static FORK: Shape = shape(
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
pub(in crate::front::definition) static GUARD: Shape = shape(
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
