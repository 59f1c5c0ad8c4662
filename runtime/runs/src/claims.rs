//! Claims: what the sender of an event says, and nothing checks.
//!
//! A guard that nothing defines holds in a run if the sender of the event names it. The record keeps the words, and so who
//! has claimed what: the record's actor.

use serde::Serialize;
use statemark_runtime::{GuardId, MAX_CLAIM_BYTES};
use statemark_text::suggest::nearest;

use crate::blocker::Blocker;
use crate::runs::InvalidRequest;
use crate::workflow::Workflow;

/// Most claims that come with one event. Unit: claims.
///
/// Why: each stands in the record, and nobody vouches for more at once; a guard has a few.
pub const MAX_CLAIMS: usize = 32;

/// The claims that come with an event: guards that nothing defines, by their words or their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Claims(pub(crate) Vec<String>);

impl Claims {
    /// Makes the claims of an event. One that is named twice counts once.
    ///
    /// # Errors
    ///
    /// There are more than [`MAX_CLAIMS`], or one is empty or longer than any that a spec has
    /// ([`MAX_CLAIM_BYTES`]): nothing looks at those.
    pub fn new(claims: Vec<String>) -> Result<Self, InvalidRequest> {
        if claims.len() > MAX_CLAIMS {
            let count = claims.len();
            return Err(InvalidRequest::TooManyClaims { count });
        }
        let misfit = |claim: &&String| claim.is_empty() || claim.len() > MAX_CLAIM_BYTES;
        if let Some(misfit) = claims.iter().find(misfit) {
            let bytes = misfit.len();
            return Err(InvalidRequest::ClaimLength { bytes });
        }
        let mut distinct: Vec<String> = Vec::with_capacity(claims.len());
        for claim in claims {
            if !distinct.contains(&claim) {
                distinct.push(claim);
            }
        }
        Ok(Self(distinct))
    }

    /// Makes no claims at all.
    #[must_use]
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Reports whether nothing is claimed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the claims as they were made.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }
}

impl Workflow {
    /// Finds the claim that somebody means by its words, in any spelling of them, or by its name.
    #[must_use]
    pub fn claim_named(&self, claim: &str) -> Option<GuardId> {
        let table = self.table();
        let mut exact = table.claims();
        let is_exact =
            |(guard, text): &(GuardId, &str)| *text == claim || table.guard_name(*guard) == claim;
        if let Some((guard, _)) = exact.find(is_exact) {
            return Some(guard);
        }
        let words = words(claim);
        let mut alike = table.claims().filter(|(guard, text)| {
            self::words(text) == words || self::words(table.guard_name(*guard)) == words
        });
        let (guard, _) = alike.next()?;
        // Where several have the same words, only the author's spelling tells them apart.
        alike.next().is_none().then_some(guard)
    }

    /// Returns the words that records have of claims: their author's.
    ///
    /// A claim that the machine doesn't have is a blocker.
    pub(crate) fn read_claims(&self, claims: &[String]) -> Result<Vec<String>, Blocker> {
        let table = self.table();
        let mut read: Vec<String> = Vec::with_capacity(claims.len());
        for claim in claims {
            let guard = self.claim_named(claim);
            let Some(text) = guard.and_then(|guard| table.claim_text(guard)) else {
                return Err(self.unknown_claim(claim));
            };
            if !read.iter().any(|known| known == text) {
                read.push(text.to_owned());
            }
        }
        Ok(read)
    }

    fn unknown_claim(&self, claim: &str) -> Blocker {
        let table = self.table();
        let known = || table.claims().map(|(_, text)| text);
        Blocker::UnknownClaim {
            workflow: self.id().to_owned(),
            claim: claim.to_owned(),
            suggestion: nearest(claim, known()).map(str::to_owned),
            known: known().map(str::to_owned).collect(),
        }
    }
}

/// Returns the words of a text: its letters and digits in lower case, with one blank between words.
fn words(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_few_and_short() {
        let many = |count: usize| (0..count).map(|it| format!("c{it}")).collect();
        assert!(Claims::new(many(MAX_CLAIMS)).is_ok());
        assert!(matches!(
            Claims::new(many(MAX_CLAIMS + 1)),
            Err(InvalidRequest::TooManyClaims { count }) if count == MAX_CLAIMS + 1
        ));
        let long = |bytes: usize| Claims::new(vec!["x".repeat(bytes)]);
        assert!(long(MAX_CLAIM_BYTES).is_ok());
        for bytes in [0, MAX_CLAIM_BYTES + 1] {
            assert!(matches!(
                long(bytes),
                Err(InvalidRequest::ClaimLength { bytes: found }) if found == bytes
            ));
        }
        let twice = Claims::new(vec!["a".to_owned(), "a".to_owned()]).unwrap();
        assert_eq!(twice.as_slice(), ["a"]);
    }

    #[test]
    fn a_spelling_keeps_its_words() {
        assert_eq!(words("The user  agrees!"), words("the_user_agrees"));
        assert_ne!(words("the user agrees"), words("the user agree"));
    }
}
