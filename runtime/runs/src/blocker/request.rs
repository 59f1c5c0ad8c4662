//! Reasons that a request can't be opened, answered or withdrawn.

use crate::actor::Actor;
use crate::blocker::code::Code;
use crate::phrase::{list, shell_word};

/// A reason that a request can't be opened, answered or withdrawn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestBlocker {
    /// The run has no such request.
    #[error("there is no request `{request}`{}", open_requests(open))]
    Unknown {
        /// The request.
        request: String,
        /// The open requests.
        open: Vec<String>,
    },
    /// The request was settled.
    #[error("{settled}; that stands{}", waiting_requests(waiting))]
    Answered {
        /// The answer, its author and its record.
        settled: String,
        /// The requests that are open instead, if it was withdrawn.
        waiting: Vec<String>,
    },
    /// The answer isn't one to this kind of request.
    #[error("{fault}")]
    BadAnswer {
        /// The defect of the answer.
        fault: String,
    },
    /// The run is over.
    #[error("the run is over{}", if *.is_question { ": nobody could use an answer" } else { "" })]
    Over {
        /// True if a question was to be asked.
        is_question: bool,
    },
    /// The run is paused.
    #[error("the run is paused: a person continues it, then it can be answered")]
    Paused,
    /// The request has expired while the run is paused.
    #[error(
        "the time of `{request}` is over, and nobody has answered it: it is closed as soon as a person continues the run, which is paused"
    )]
    Expired {
        /// The request.
        request: String,
    },
    /// The answer came through the asking client.
    #[error(
        "an answer through the asking client doesn't count as an approval (`accept_elicitation` isn't set): {who} has to answer `{request}` with a credential of their own"
    )]
    Elicited {
        /// The request.
        request: String,
        /// The persons who may answer.
        who: String,
    },
    /// The answer was passed on.
    #[error(
        "answers can't be passed on (`relay_answers` isn't set): {who} has to answer `{request}`"
    )]
    Relayed {
        /// The request.
        request: String,
        /// The persons who may answer.
        who: String,
    },
    /// The caller is no person.
    #[error("{who} has to answer `{request}`; this is an {role}'s credential. Wait for the answer")]
    NotAPerson {
        /// The request.
        request: String,
        /// The persons who may answer.
        who: String,
        /// The caller's role.
        role: &'static str,
    },
    /// The caller has opened the request.
    #[error("`{request}` was opened by the same caller ({asker}): somebody else has to answer it")]
    OwnRequest {
        /// The request.
        request: String,
        /// The caller.
        asker: Actor,
    },
    /// The caller isn't one of those who may answer.
    #[error("only {who} can answer `{request}`, and {}", caller_name(caller))]
    NotNamed {
        /// The request.
        request: String,
        /// The persons who may answer.
        who: String,
        /// The caller.
        caller: Actor,
    },
    /// The decision has to be signed.
    #[error("{}", unsigned(request, who.as_deref()))]
    Unsigned {
        /// The request.
        request: String,
        /// The name of the caller, if it has one.
        who: Option<String>,
    },
    /// The signature of the decision doesn't count.
    #[error("the signature of the decision about `{request}` doesn't count: {fault}")]
    BadSignature {
        /// The request.
        request: String,
        /// The reason, as a sentence about the signature.
        fault: String,
    },
    /// The caller hasn't opened the request.
    #[error("`{request}` was opened by {asker}: they can withdraw it, or a person")]
    NotYours {
        /// The request.
        request: String,
        /// The asker.
        asker: Actor,
    },
    /// The request isn't one that could be answered.
    #[error("{fault}")]
    BadRequest {
        /// The defect of the request.
        fault: String,
    },
    /// The state that a request is about isn't active.
    #[error("`{state}` isn't active; the run is in {}", list(leaves))]
    NotActive {
        /// The state.
        state: String,
        /// The active states.
        leaves: Vec<String>,
    },
}

impl RequestBlocker {
    pub(super) const fn code(&self) -> Code {
        match self {
            Self::Unknown { .. } => Code::UnknownRequest,
            Self::Answered { .. } => Code::Answered,
            Self::BadAnswer { .. } => Code::BadAnswer,
            Self::Over { .. } => Code::Ended,
            Self::Paused | Self::Expired { .. } => Code::Paused,
            Self::Elicited { .. } => Code::Elicited,
            Self::Relayed { .. } => Code::Relayed,
            Self::NotAPerson { .. } => Code::NotAPerson,
            Self::OwnRequest { .. } => Code::OwnRequest,
            Self::NotNamed { .. } => Code::NotNamed,
            Self::Unsigned { .. } => Code::Unsigned,
            Self::BadSignature { .. } => Code::BadSignature,
            Self::NotYours { .. } => Code::NotYours,
            Self::BadRequest { .. } => Code::BadRequest,
            Self::NotActive { .. } => Code::NotActive,
        }
    }
}

fn open_requests(open: &[String]) -> String {
    match open {
        [] => "; none is open".to_owned(),
        open => format!("; open: {}", list(open)),
    }
}

fn unsigned(request: &str, who: Option<&str>) -> String {
    let id = shell_word(request);
    match who {
        Some(who) => format!(
            "a decision about `{request}` is signed with an SSH key of `{who}`: at the command line, `statemark approve {id} --sign-with KEYFILE`, or with STATEMARK_SIGNING_KEY set to it"
        ),
        None => format!(
            "a decision about `{request}` is signed with an SSH key of the one who decides, and this caller has no name"
        ),
    }
}

fn waiting_requests(waiting: &[String]) -> String {
    match waiting {
        [] => String::new(),
        [only] => format!("; `{only}` waits now"),
        waiting => format!("; {} wait now", list(waiting)),
    }
}

fn caller_name(caller: &Actor) -> String {
    match caller.name {
        Some(_) => format!("this is {caller}"),
        None => "this caller has no name".to_owned(),
    }
}
