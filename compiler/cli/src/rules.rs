//! The findings that a project wants: `[lint]` in `statemark.toml`, and the flags of `lint`.
//!
//! ```toml
//! [lint]
//! ignore = ["SM130", "no-final-state"]
//!
//! [lint.severity]
//! SM305 = "error"
//!
//! [lint.per-file-ignores]
//! "drafts/**" = ["SM3"]
//! ```
//!
//! What states grant is compared with the project's other servers, which stand here, too.
//!
//! What to rely on: an error of the compiler stays one, whatever is asked for, because no machine is made of it. What one
//! spec allows for itself stands in its comments.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statemark_compiler::Servers;
use statemark_compiler::diag::{Code, Diagnostic, Selector, Severity};

use crate::failure::Failure;

/// `[lint]` in `statemark.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct LintConfig {
    /// The codes that are looked for; all of them without it.
    pub(crate) select: Option<Vec<String>>,
    /// The codes that aren't reported.
    #[serde(default)]
    pub(crate) ignore: Vec<String>,
    /// Other severities than the codes' own.
    #[serde(default)]
    pub(crate) severity: BTreeMap<String, Level>,
    /// The codes that aren't reported in files, by patterns as `.gitignore` has them.
    #[serde(default)]
    pub(crate) per_file_ignores: BTreeMap<String, Vec<String>>,
}

impl LintConfig {
    /// Adds the codes that flags select, which replace those here, and ignore.
    pub(crate) fn with_flags(mut self, select: &[String], ignore: &[String]) -> Self {
        if !select.is_empty() {
            self.select = Some(select.to_vec());
        }
        self.ignore.extend_from_slice(ignore);
        self
    }
}

/// A severity, as configurations name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    Hint,
    Info,
    Warning,
    Error,
}

impl From<Level> for Severity {
    fn from(level: Level) -> Self {
        match level {
            Level::Hint => Self::Hint,
            Level::Info => Self::Info,
            Level::Warning => Self::Warning,
            Level::Error => Self::Error,
        }
    }
}

/// The rules by which findings are reported.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    select: Option<Vec<Selector>>,
    ignore: Vec<Selector>,
    /// The less specific ones first.
    severity: Vec<(Selector, Severity)>,
    files: Vec<(Gitignore, Vec<Selector>)>,
    /// The folder that names of files are relative to.
    here: PathBuf,
    /// The servers whose tools states may grant.
    servers: Arc<Servers>,
    /// All of the above as text, for the cache; empty where nothing was asked for.
    fingerprint: String,
}

impl Rules {
    /// Makes the rules of a configuration in a folder, for files that are named relative to another one.
    pub(crate) fn new(config: &LintConfig, folder: &Path, here: &Path) -> Result<Self, Failure> {
        let mut severity = Vec::new();
        for (word, level) in &config.severity {
            severity.push((selector(word)?, Severity::from(*level)));
        }
        // One code comes after the group that it is in.
        severity.sort_by_key(|(selector, _)| match selector {
            Selector::Group(start) => start.len(),
            Selector::One(_) => usize::MAX,
        });
        for (selector, level) in &severity {
            if let Selector::One(code) = selector
                && code.severity() == Severity::Error
                && *level < Severity::Error
            {
                return Err(error_stays(*code));
            }
        }
        let mut files = Vec::new();
        for (pattern, words) in &config.per_file_ignores {
            let mut builder = GitignoreBuilder::new(folder);
            let built = builder.add_line(None, pattern).and_then(|it| it.build());
            let files_of = built.map_err(|error| {
                Failure::new(format!(
                    "`{pattern}` in `per-file-ignores` is no pattern: {error}"
                ))
                .with_help("patterns are written as in `.gitignore`")
            })?;
            files.push((files_of, ignored(words)?));
        }
        let is_default = *config == LintConfig::default();
        let fingerprint = match is_default {
            true => String::new(),
            false => format!("{} {}", folder.display(), serde_json::json!(config)),
        };
        Ok(Self {
            select: config.select.as_deref().map(selectors).transpose()?,
            ignore: ignored(&config.ignore)?,
            severity,
            files,
            here: here.to_owned(),
            servers: Arc::default(),
            fingerprint,
        })
    }

    /// Adds the servers whose tools states may grant.
    pub(crate) fn with_servers(mut self, servers: Servers) -> Self {
        if servers != Servers::default() {
            self.fingerprint += &format!("{servers:?}");
        }
        self.servers = Arc::new(servers);
        self
    }

    /// Returns the servers whose tools states may grant.
    pub(crate) fn servers(&self) -> Arc<Servers> {
        Arc::clone(&self.servers)
    }

    /// Returns everything that decides about findings as text, which is empty where nothing was asked for.
    pub(crate) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Reports whether findings of a code are wanted in a file.
    pub(crate) fn wants(&self, name: &str, code: Code, severity: Severity) -> bool {
        if severity == Severity::Error {
            return true;
        }
        let has = |list: &[Selector]| list.iter().any(|it| it.matches(code));
        let is_selected = self.select.as_deref().is_none_or(has);
        let is_ignored = has(&self.ignore)
            || self.files.iter().any(|(files, list)| {
                has(list) && {
                    let path = self.here.join(name);
                    // It panics for a path elsewhere.
                    path.starts_with(files.path())
                        && files.matched_path_or_any_parents(&path, false).is_ignore()
                }
            });
        is_selected && !is_ignored
    }

    /// Returns the codes that aren't wanted in a file, unless they are errors.
    pub(crate) fn unwanted(&self, name: &str) -> BTreeSet<Code> {
        if self.fingerprint.is_empty() {
            return BTreeSet::new();
        }
        let codes = Code::ALL.iter().copied();
        let unwanted = codes.filter(|code| !self.wants(name, *code, Severity::Warning));
        unwanted.collect()
    }

    /// Removes the findings of a file that aren't wanted, and gives the others their severity.
    pub(crate) fn apply(&self, name: &str, findings: &mut Vec<Diagnostic>) {
        if self.fingerprint.is_empty() {
            return;
        }
        findings.retain_mut(|found| {
            let severity = self.severity_of(name, found);
            found.severity = severity.unwrap_or(found.severity);
            severity.is_some()
        });
    }

    /// Returns the severity of a finding in a file; none if it isn't wanted.
    pub(crate) fn severity_of(&self, name: &str, found: &Diagnostic) -> Option<Severity> {
        if !self.wants(name, found.code, found.severity) {
            return None;
        }
        let mut levels = self.severity.iter().rev();
        let level = levels.find(|(selector, _)| selector.matches(found.code));
        Some(match (found.severity, level) {
            (Severity::Error, _) | (_, None) => found.severity,
            (_, Some((_, level))) => *level,
        })
    }
}

/// Reads codes that aren't to be reported.
fn ignored(words: &[String]) -> Result<Vec<Selector>, Failure> {
    let selectors = selectors(words)?;
    for selector in &selectors {
        if let Selector::One(code) = selector
            && code.severity() == Severity::Error
        {
            return Err(error_stays(*code));
        }
    }
    Ok(selectors)
}

fn selectors(words: &[String]) -> Result<Vec<Selector>, Failure> {
    words.iter().map(|word| selector(word)).collect()
}

fn selector(word: &str) -> Result<Selector, Failure> {
    Selector::parse(word).ok_or_else(|| {
        let failure = Failure::new(format!("no finding is called `{word}`"));
        failure.with_help(match Selector::suggest(word) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "a code looks like `SM305`, and `SM3` is all that begin so".to_owned(),
        })
    })
}

fn error_stays(code: Code) -> Failure {
    Failure::new(format!("`{code}` is an error, and stays one"))
        .with_help("no machine is made of a spec with an error; warnings and hints can be ignored")
}
