//! The only list of codes.
//!
//! A code is `SM` and three digits, whose hundred is the subject, with a name for the defect. A number is never used
//! twice. CONTRIBUTING.md says how to add one.

use std::fmt;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Hint,
    /// A fact about the machine.
    Info,
    /// Probably a mistake; the machine is made anyway.
    Warning,
    /// Makes the machine meaningless; none is made.
    Error,
}

impl Severity {
    /// Returns the word that diagnostics show.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hint => "hint",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// The most that a finding is in a diagram that nobody runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InDrawings {
    /// Nothing: it matters only where something runs.
    ///
    /// It is about events and labels, guards, where a machine begins and ends, delays, or names in Rust.
    Never,
    /// A hint: it is about a bar or a boundary, whose meaning in drawings is often another.
    ///
    /// A bar where ways come together, for example, of which only one is ever taken.
    Hint,
    /// A warning, because Mermaid draws it whatever its states mean.
    Warning,
    /// An error: of such a text Mermaid draws nothing, or something else.
    Error,
}

macro_rules! codes {
    (@drawn) => { None };
    (@drawn $drawn:ident) => { Some(InDrawings::$drawn) };
    ($($id:ident $name:literal $severity:ident $variant:ident $(drawn $drawn:ident)?;)*) => {
        /// A kind of finding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(
                #[doc = concat!("`", stringify!($id), "`: ", $name, ".")]
                $variant,
            )*
        }

        impl Code {
            /// Every code, ascending.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the code as people quote it: `SM304`.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$variant => stringify!($id)),* }
            }

            /// Returns the name of the defect: `unreachable-state`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// Returns the default severity.
            #[must_use]
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity),* }
            }

            /// Returns what the list says of it in diagrams that nobody runs.
            const fn listed_in_drawings(self) -> Option<InDrawings> {
                match self { $(Self::$variant => codes!(@drawn $($drawn)?)),* }
            }

            /// Returns the code's page, as Markdown.
            #[must_use]
            pub const fn page(self) -> &'static str {
                match self { $(Self::$variant => include_str!(concat!("pages/", stringify!($id), ".md"))),* }
            }
        }
    };
}

codes! {
    // 1: text and blocks.
    SM101 "near-miss-heading" Warning NearMissHeading;
    SM102 "several-diagrams" Warning SeveralDiagrams;
    SM103 "empty-section" Error EmptySection drawn Never;
    SM104 "unclosed-fence" Warning UnclosedFence;
    SM105 "syntax-error" Error SyntaxError;
    SM106 "missing-header" Error MissingHeader;
    SM107 "unclosed-composite" Error UnclosedComposite;
    SM108 "unread-front-matter" Warning UnreadFrontMatter;
    SM109 "broken-diagram-front-matter" Error BrokenDiagramFrontMatter;
    SM110 "plain-json-definition" Warning PlainJsonDefinition;
    SM111 "several-definitions" Warning SeveralDefinitions;
    SM112 "file-too-large" Error FileTooLarge;
    SM113 "invalid-utf8" Error InvalidUtf8;
    SM114 "invisible-character" Warning InvisibleCharacter;
    // SM115 was "unsupported-construct"; nothing is unsupported any more.
    SM116 "stray-words" Warning StrayWords;
    SM117 "swallowed-by-direction" Warning SwallowedByDirection;
    SM118 "semicolon-in-label" Warning SemicolonInLabel;
    SM119 "bare-declaration" Hint BareDeclaration drawn Never;
    SM120 "cut-note" Warning CutNote;
    SM121 "composite-description" Error CompositeDescription;
    SM122 "swallowed-line" Warning SwallowedLine;
    SM123 "swallowed-by-label" Warning SwallowedByLabel;
    SM124 "text-of-pseudo-state" Warning TextOfPseudoState;
    SM125 "note-before-state" Error NoteBeforeState;
    SM126 "inside-itself" Warning InsideItself;
    SM127 "taken-name" Warning TakenName;
    SM128 "near-miss-fence" Error NearMissFence;
    // 1, second half: labels of transitions.
    SM130 "prose-label" Hint ProseLabel drawn Never;
    SM131 "dropped-parenthesis" Hint DroppedParenthesis drawn Never;
    SM132 "slash-as-text" Hint SlashAsText drawn Never;
    SM133 "bare-condition" Warning BareCondition drawn Never;
    SM134 "kept-parenthesis" Warning KeptParenthesis drawn Never;
    SM135 "broken-label" Error BrokenLabel;
    SM136 "unread-part" Error UnreadPart drawn Never;
    SM137 "late-declaration" Warning LateDeclaration;
    SM138 "unlabeled-arrow" Info UnlabeledArrow drawn Never;
    // 1, from 150: SCXML.
    SM151 "xml-syntax" Error XmlSyntax;
    SM152 "unsupported-element" Error UnsupportedElement;
    SM153 "unread-attribute" Error UnreadAttribute;
    SM154 "misplaced-content" Error MisplacedContent;
    SM155 "missing-part" Error MissingPart;
    SM156 "bad-attribute" Error BadAttribute;
    SM157 "illegal-targets" Error IllegalTargets;
    SM158 "foreign-expression" Error ForeignExpression;
    SM159 "idle-cancel" Warning IdleCancel;
    SM160 "always-fails" Warning AlwaysFails;
    SM161 "scxml-disabled" Error ScxmlDisabled;
    // 2: names.
    SM201 "unknown-state" Error UnknownState;
    SM202 "unknown-guard" Error UnknownGuard;
    SM203 "unknown-event" Error UnknownEvent;
    SM204 "similar-name" Warning SimilarName;
    SM205 "unused-declaration" Warning UnusedDeclaration;
    SM206 "duplicate-state" Error DuplicateState;
    SM207 "event-collision" Warning EventCollision drawn Never;
    SM208 "renamed-identifier" Hint RenamedIdentifier drawn Never;
    SM209 "identifier-collision" Error IdentifierCollision drawn Never;
    SM210 "unknown-instructions" Warning UnknownInstructions;
    SM211 "reserved-event" Error ReservedEvent drawn Never;
    SM212 "duplicate-machine" Error DuplicateMachine;
    // 3: structure and reachability.
    SM301 "no-initial-state" Error NoInitialState drawn Never;
    SM302 "inferred-initial-state" Warning InferredInitialState drawn Never;
    SM303 "several-initial-states" Warning SeveralInitialStates drawn Never;
    SM304 "unreachable-state" Warning UnreachableState;
    SM305 "dead-end" Warning DeadEnd drawn Never;
    SM306 "no-path-to-final" Warning NoPathToFinal drawn Never;
    SM307 "final-with-transitions" Error FinalWithTransitions;
    SM308 "no-final-state" Hint NoFinalState drawn Never;
    SM309 "empty-composite" Error EmptyComposite drawn Error;
    SM310 "two-owners" Error TwoOwners;
    SM311 "drawn-elsewhere" Warning DrawnElsewhere;
    SM312 "completion-without-final" Hint CompletionWithoutFinal drawn Never;
    SM313 "machine-too-large" Error MachineTooLarge;
    SM314 "never-completes" Warning NeverCompletes drawn Never;
    SM320 "bad-delay" Error BadDelay drawn Never;
    SM321 "zero-delay" Warning ZeroDelay drawn Never;
    SM322 "empty-region" Warning EmptyRegion;
    SM323 "crossing-regions" Warning CrossingRegions drawn Hint;
    SM324 "pseudo-state" Error PseudoState;
    SM325 "broken-choice" Error BrokenChoice;
    SM326 "single-way" Warning SingleWay drawn Hint;
    SM327 "uncovered-choice" Warning UncoveredChoice drawn Never;
    SM328 "unread-label" Warning UnreadLabel drawn Hint;
    SM329 "broken-fork" Error BrokenFork drawn Hint;
    SM330 "misplaced-history" Error MisplacedHistory;
    SM331 "twin-history" Warning TwinHistory;
    SM332 "plain-history" Hint PlainHistory;
    SM333 "useless-history" Warning UselessHistory;
    SM340 "broken-branches" Error BrokenBranches;
    SM341 "contradictory-type" Error ContradictoryType;
    SM342 "targets-in-one-region" Error TargetsInOneRegion;
    // 4: determinism.
    SM401 "conflicting-transitions" Error ConflictingTransitions drawn Never;
    SM402 "shadowed-transition" Warning ShadowedTransition drawn Never;
    SM403 "eventless-cycle" Error EventlessCycle drawn Never;
    SM404 "overridden-transition" Warning OverriddenTransition drawn Never;
    SM405 "unbounded-raise" Warning UnboundedRaise;
    SM406 "ambiguous-label" Warning AmbiguousLabel drawn Never;
    // 5: guards and data.
    SM501 "host-expression" Hint HostExpression;
    SM502 "mistyped-guard" Error MistypedGuard;
    SM503 "claimed-guard" Warning ClaimedGuard drawn Never;
    SM504 "misplaced-claim" Error MisplacedClaim drawn Never;
    // 5, second part: expressions.
    SM510 "broken-expression" Error BrokenExpression;
    SM511 "unsupported-expression" Error UnsupportedExpression;
    SM512 "unknown-field" Error UnknownField;
    SM513 "mistyped-expression" Error MistypedExpression;
    SM514 "bad-assignment" Error BadAssignment;
    SM515 "division-by-zero" Error DivisionByZero;
    SM516 "untyped-field" Hint UntypedField;
    SM517 "context-mismatch" Error ContextMismatch;
    SM518 "foreign-value" Error ForeignValue;
    SM519 "null-is-there" Hint NullIsThere;
    // 6: agents and effects.
    SM601 "secret-in-definition" Warning SecretInDefinition;
    SM602 "unknown-requirement" Warning UnknownRequirement;
    SM603 "caller-written-guard" Warning CallerWrittenGuard;
    SM604 "frozen-field" Warning FrozenField;
    SM605 "failing-effect" Hint FailingEffect;
    SM606 "internal-event" Hint InternalEvent;
    SM607 "own-internal-event" Warning OwnInternalEvent;
    SM608 "unknown-input" Warning UnknownInput;
    SM609 "unknown-tool" Warning UnknownTool;
    SM610 "skirted-approval" Warning SkirtedApproval;
    SM611 "unrunnable-check" Warning UnrunnableCheck;
    SM612 "limit-without-event" Warning LimitWithoutEvent;
    SM613 "event-without-limit" Warning EventWithoutLimit;
    SM614 "open-beginning" Warning OpenBeginning;
    SM615 "unbounded-loop" Warning UnboundedLoop;
    SM616 "withheld-submission" Warning WithheldSubmission;
    SM617 "relayed-approval" Warning RelayedApproval;
    SM618 "open-wait" Warning OpenWait;
    SM619 "unhandled-failure" Warning UnhandledFailure;
    // 7: definitions.
    SM701 "unknown-key" Error UnknownKey;
    SM702 "wrong-type" Error WrongType;
    SM703 "duplicate-key" Error DuplicateKey;
    SM704 "json-syntax" Error JsonSyntax;
    SM705 "only-in-definition" Error OnlyInDefinition;
    SM706 "old-spelling" Hint OldSpelling;
    SM707 "missing-key" Error MissingKey;
    SM708 "two-instructions" Warning TwoInstructions;
    SM709 "bad-wrapper" Error BadWrapper;
    SM710 "bad-value" Error BadValue;
    SM711 "misplaced-key" Warning MisplacedKey;
    SM712 "lenient-json" Warning LenientJson;
    SM713 "invalid-schema" Error InvalidSchema;
    // 9: comments for us.
    SM901 "unread-suppression" Warning UnreadSuppression;
    SM902 "unused-suppression" Warning UnusedSuppression;
    SM903 "unexplained-suppression" Hint UnexplainedSuppression;
    SM904 "unpinned-tool" Warning UnpinnedTool;
}

impl Code {
    /// Reports whether a code is about a text rather than about the machine that was made of it.
    #[must_use]
    pub(crate) fn is_about_text(self) -> bool {
        self.id().starts_with("SM1")
    }

    /// Returns the most that a finding is in a diagram that nobody runs.
    ///
    /// What is about the text is what it is, unless the list says otherwise.
    pub(crate) fn in_drawings(self) -> InDrawings {
        self.listed_in_drawings()
            .unwrap_or(match self.is_about_text() {
                true => InDrawings::Error,
                false => InDrawings::Warning,
            })
    }

    /// Returns the code that a person means by `SM304`, `sm304`, `304` or `unreachable-state`.
    #[must_use]
    pub fn from_words(words: &str) -> Option<Self> {
        let words = words.trim();
        Self::ALL.iter().copied().find(|code| {
            code.id().eq_ignore_ascii_case(words)
                || code.name().eq_ignore_ascii_case(words)
                || code.id().strip_prefix("SM") == Some(words)
        })
    }
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.id())
    }
}
