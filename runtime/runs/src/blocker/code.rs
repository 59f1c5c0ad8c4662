//! Codes of blockers, as journals and replies have them.

macro_rules! codes {
    ($($variant:ident = $name:literal)*) => {
        /// The code of a blocker. The list is the only one: a refusal's code is read back by it, too.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Code {
            $($variant,)*
        }

        impl Code {
            /// Returns its name in journals and replies.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Returns the code with a name; none for one that another version has written.
            pub(crate) fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    Ambiguous = "ambiguous"
    AmbiguousAgent = "ambiguous_agent"
    AmbiguousEvent = "ambiguous_event"
    AmbiguousStep = "ambiguous_step"
    Answered = "answered"
    ApprovalOpen = "approval_open"
    ApprovalOutdated = "approval_outdated"
    AskedAgain = "asked_again"
    ArtifactMissing = "artifact_missing"
    BadAnswer = "bad_answer"
    BadContext = "bad_context"
    BadData = "bad_data"
    BadName = "bad_name"
    BadRequest = "bad_request"
    BadSignature = "bad_signature"
    CallsSpent = "calls_spent"
    CanBeSent = "can_be_sent"
    Cancelled = "cancelled"
    Caught = "caught"
    CheckMissing = "check_missing"
    ChildEnded = "child_ended"
    ChildRuns = "child_runs"
    ChildUnknown = "child_unknown"
    ClaimNeeded = "claim_needed"
    Closed = "closed"
    ContractBroken = "contract_broken"
    DeadEnd = "dead_end"
    EffectOrder = "effect_order"
    EffectUnknown = "effect_unknown"
    EffectsLeft = "effects_left"
    Elicited = "elicited"
    Ended = "ended"
    FactMissing = "fact_missing"
    Failed = "failed"
    GuardFalse = "guard_false"
    GuardUndecided = "guard_undecided"
    HasContract = "has_contract"
    Held = "held"
    InternalEvent = "internal_event"
    MaxVisits = "max_visits"
    NameTaken = "name_taken"
    NoCheckpoint = "no_checkpoint"
    NoContent = "no_content"
    NoCounterpart = "no_counterpart"
    NoDraft = "no_draft"
    NoMatch = "no_match"
    NoRevision = "no_revision"
    NoSuchRecord = "no_such_record"
    NoToken = "no_token"
    NotAPerson = "not_a_person"
    NotActive = "not_active"
    NotAnEnd = "not_an_end"
    NotCurrent = "not_current"
    NotDebug = "not_debug"
    NotHere = "not_here"
    NotInitial = "not_initial"
    NotNamed = "not_named"
    NotPaused = "not_paused"
    NotTaken = "not_taken"
    NotText = "not_text"
    NotYours = "not_yours"
    Nothing = "nothing"
    OtherRun = "other_run"
    OtherWorkflow = "other_workflow"
    OthersRecord = "others_record"
    Over = "over"
    OwnRequest = "own_request"
    ParentGoneOn = "parent_gone_on"
    Paused = "paused"
    Preceded = "preceded"
    QuestionBlocks = "question_blocks"
    QuestionOpen = "question_open"
    Queued = "queued"
    Refused = "refused"
    Relayed = "relayed"
    Restoring = "restoring"
    SameTable = "same_table"
    SignedRun = "signed_run"
    StaleBase = "stale_base"
    StaleToken = "stale_token"
    StepWaits = "step_waits"
    TakenBack = "taken_back"
    TimerHeld = "timer_held"
    TimerPending = "timer_pending"
    TooLarge = "too_large"
    UnknownAgent = "unknown_agent"
    UnknownArtifact = "unknown_artifact"
    UnknownClaim = "unknown_claim"
    UnknownEffect = "unknown_effect"
    UnknownEvent = "unknown_event"
    UnknownRequest = "unknown_request"
    UnknownState = "unknown_state"
    UnknownStep = "unknown_step"
    Unsigned = "unsigned"
    UnreachableStep = "unreachable_step"
    VisitsSpent = "visits_spent"
    WaitingForRequest = "waiting_for_request"
    WhichStep = "which_step"
}
