//! The drains of Ralph Workflow: the kinds of work that a state can be for.
//!
//! The compiler knows which words a definition may say, the policy of runs what each of them grants; both take this list.

/// A kind of work, as Ralph Workflow names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drain {
    /// A plan is written.
    Planning,
    /// The plan is carried out.
    Development,
    /// The analysis of what was developed.
    DevelopmentAnalysis,
    /// The commit of what was developed.
    DevelopmentCommit,
    /// The changes are reviewed.
    Review,
    /// The review is looked at.
    ReviewAnalysis,
    /// The commit of what was reviewed.
    ReviewCommit,
    /// The mending of what the review found.
    Fix,
    /// The changes are committed.
    Commit,
}

impl Drain {
    /// The drains, in the order of the work.
    pub const ALL: [Self; 9] = [
        Self::Planning,
        Self::Development,
        Self::DevelopmentAnalysis,
        Self::DevelopmentCommit,
        Self::Review,
        Self::ReviewAnalysis,
        Self::ReviewCommit,
        Self::Fix,
        Self::Commit,
    ];

    /// The names of [`Drain::ALL`], in definitions.
    pub const NAMES: [&str; 9] = {
        let mut names = [""; 9];
        let mut rest: (&mut [&str], &[Self]) = (&mut names, &Self::ALL);
        while let (Some((name, names)), Some((drain, drains))) =
            (rest.0.split_first_mut(), rest.1.split_first())
        {
            *name = drain.name();
            rest = (names, drains);
        }
        names
    };

    /// Returns its name in definitions.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Planning => "planning",
            Self::Development => "development",
            Self::DevelopmentAnalysis => "development_analysis",
            Self::DevelopmentCommit => "development_commit",
            Self::Review => "review",
            Self::ReviewAnalysis => "review_analysis",
            Self::ReviewCommit => "review_commit",
            Self::Fix => "fix",
            Self::Commit => "commit",
        }
    }

    /// Returns the drain of a name in a definition.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|drain| drain.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_name_of_its_own() {
        for drain in Drain::ALL {
            assert_eq!(Drain::find(drain.name()), Some(drain));
        }
        assert_eq!(Drain::NAMES, Drain::ALL.map(Drain::name));
    }
}
