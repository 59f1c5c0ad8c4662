//! What a document needs that isn't there, in words for people who don't know the compiler.
//!
//! Each need has the beginnings and ends of the messages by which it shows. A document that is refused for a reason that
//! is none of these stops the test: the page has to say something of it.

use statemark_compiler::diag::{Diagnostic, Severity};

/// One thing that documents need.
pub(super) struct Need {
    /// What the page calls it.
    pub(super) name: &'static str,
    /// What it is.
    pub(super) words: &'static str,
    /// What messages contain.
    said: &'static [&'static str],
}

/// All of them. What follows from a need is said by the messages of that need, too: the name that a script would declare.
pub(super) const NEEDS: &[Need] = &[
    Need {
        name: "`<invoke>`",
        words: "another machine or service that is started and talked to, and its `#_id`",
        said: &[
            "`<invoke>` isn't",
            "`target` can't be `#_child`",
            "`target` can't be `#_foo`",
            "`target` can't be `#_invokedChild`",
            "`<scxml>` isn't allowed in",
            "`<assign>` has no `expr`",
        ],
    },
    Need {
        name: "data of events that the machine sends",
        words: "`<param>`, `<content>`, `<donedata>` and `namelist`, and `_event.data` as a whole",
        said: &[
            "`<param>` isn't",
            "`<content>` isn't",
            "`<donedata>` isn't",
            "`namelist` of",
            "`event` isn't declared",
            "`_event.data` isn't declared",
        ],
    },
    Need {
        name: "`<foreach>`",
        words: "a loop over a list",
        said: &["`<foreach>` isn't", "`Var4` isn't", "`Var5` isn't"],
    },
    Need {
        name: "`<script>`",
        words: "a script that does more than assign to what is declared, or that comes from a file",
        said: &[
            "`<script>` isn't",
            "`Var1` isn't",
            "found `testobject`",
            "function `checkErrorData`",
        ],
    },
    Need {
        name: "parts of `<send>` that are computed",
        words: "`targetexpr`, `eventexpr`, `typeexpr`, `delayexpr` and `sendidexpr`, unless they are a text in quotes",
        said: &[
            "`targetexpr` of",
            "`eventexpr` of",
            "`typeexpr` of",
            "`delayexpr` of",
            "`sendidexpr` of",
            "`<send>` has no `event`",
            "`<cancel>` has no `sendid`",
        ],
    },
    Need {
        name: "what the processor says of itself",
        words: "`_sessionid`, `_ioprocessors`, and of `_event` what is neither its data nor the name of a transition's only event",
        said: &[
            "`_sessionid` isn't",
            "`_ioprocessors` isn't",
            "`_event` isn't declared",
            "`_event.",
            "an index (`[…]`)",
        ],
    },
    Need {
        name: "`idlocation`",
        words: "ids that the processor makes up",
        said: &["`idlocation` of"],
    },
    Need {
        name: "another place or way to send",
        words: "a `target` or `type` beyond the machine itself, such as another session or HTTP",
        said: &["`target` can't be `#_scxml_foo`", "`type` can't be `http"],
    },
    Need {
        name: "`src` of `<data>`",
        words: "data from a file",
        said: &["`src` of `<data>`"],
    },
    Need {
        name: "an initial value that is computed",
        words: "a `<data>` that isn't a literal: a call, a function, a text of several lines, the processor's own values",
        said: &["an initial value must be"],
    },
    Need {
        name: "expressions of ECMAScript",
        words: "functions and methods (`Math.pow`), `++`, `|`, `instanceof`, objects that are made in an expression",
        said: &[
            "the method `",
            "the function `function`",
            "the function `var1`",
            "an object (`{…}`)",
            "*or* is written",
            "expected a value, found `+`",
            "found `instanceof`",
        ],
    },
    Need {
        name: "`error.execution` of a condition",
        words: "an event where a condition is no expression; here such a condition is only false",
        said: &["`return` can't be the name"],
    },
    Need {
        name: "`binding=\"late\"`",
        words: "data that has its first value only once its state is entered",
        said: &["`binding` can't be", "found `Var2`"],
    },
    Need {
        name: "`<transition>` in `<scxml>`",
        words: "SCXML has no such place: the document isn't valid",
        said: &["`<transition>` isn't allowed in `<scxml>`"],
    },
];

/// What a document needs by the errors in it, in the order of [`NEEDS`].
pub(super) fn needs(diagnostics: &[Diagnostic]) -> Result<Vec<&'static str>, String> {
    let errors = diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error)
        .map(|diagnostic| diagnostic.message.as_str());
    let shows = |need: &Need, message: &str| need.said.iter().any(|said| message.contains(said));
    for message in errors.clone() {
        if !NEEDS.iter().any(|need| shows(need, message)) {
            return Err(message.to_owned());
        }
    }
    let found = NEEDS.iter().filter(|need| {
        let mut errors = errors.clone();
        errors.any(|message| shows(need, message))
    });
    Ok(found.map(|need| need.name).collect())
}
