//! Commands of ours that are a person's.
//!
//! They ask for a person's token, and an agent isn't even let try.

/// The commands that count for more from a person, each with its subcommands, if only some do.
const COMMANDS: &[(&str, &[&str])] = &[
    ("accept", &[]),
    ("answer", &[]),
    ("approve", &[]),
    ("deny", &[]),
    ("force", &[]),
    ("hook", &[]),
    ("release", &[]),
    ("signer", &[]),
    (
        "store",
        &["adopt", "import", "init", "migrate", "prune", "wake"],
    ),
    ("token", &[]),
];

/// The flags of every command that take a value.
const FLAGS_WITH_VALUE: &[&str] = &["--color", "--log", "--log-format", "--store"];

/// Returns the command and the subcommand in the words after `statemark`.
#[must_use]
pub fn command_words<'w>(words: impl IntoIterator<Item = &'w str>) -> Vec<&'w str> {
    let mut words = words.into_iter();
    let mut named = Vec::new();
    while let Some(word) = words.next() {
        if FLAGS_WITH_VALUE.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            named.push(word);
        }
        if named.len() == 2 {
            break;
        }
    }
    named
}

/// Returns the command of some [`command_words`] if it is a person's.
#[must_use]
pub fn person_command<'w>(named: &[&'w str]) -> Option<&'w str> {
    let (command, rest) = named.split_first()?;
    let (_, below) = COMMANDS.iter().find(|(name, _)| name == command)?;
    let counts = below.is_empty() || rest.first().is_some_and(|it| below.contains(it));
    counts.then_some(*command)
}
