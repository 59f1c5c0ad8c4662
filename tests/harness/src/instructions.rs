//! Instructions that a program executes, counted by callgrind and told by function.
//!
//! A count is the same on a busy machine and on an idle one, so a test can hold it. Two counts of one program, of less work
//! and of more, give the cost of the difference: what starting costs falls out ([`Cost::of_one`]).
//!
//! What isn't optimized counts too: an unoptimized program of one compiler executes the same instructions anywhere, and
//! work that grows shows in it, although its figures say nothing about speed.
//!
//! Source: callgrind's profile format, version 1, in Valgrind's manual.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::golden::is_update;

/// Largest departure from a recorded count. Unit: percent. Why: seeds of hash maps alone move it by half of one.
const TOLERANCE: u64 = 3;

/// Least share of the whole for a function to be recorded. Unit: thousandths.
const SHARE: u64 = 10;

/// Most functions that a failure names.
const NAMED: usize = 8;

/// The instructions of some work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cost {
    /// All of them.
    pub total: u64,
    /// Those of each of our functions, with what it calls.
    pub functions: BTreeMap<String, u64>,
}

/// Reports whether instructions can be counted on this machine.
pub fn can_count() -> bool {
    let mut valgrind = Command::new("valgrind");
    let valgrind = valgrind.arg("--version").stdout(Stdio::null());
    valgrind.status().is_ok_and(|status| status.success())
}

/// Returns a command that runs another one under callgrind, which leaves its profile in a file.
#[must_use]
pub fn counted(command: &Command, profile: &Path) -> Command {
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--tool=callgrind", "--log-file=/dev/null"])
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(command.get_program())
        .args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        valgrind.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => valgrind.env(name, value),
            None => valgrind.env_remove(name),
        };
    }
    valgrind
}

impl Cost {
    /// Reads the profile that a counted command has left.
    ///
    /// # Errors
    ///
    /// It can't be read, or tells of no instruction.
    pub fn of_profile(profile: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(profile);
        let text = text.map_err(|error| format!("{}: {error}", profile.display()))?;
        match Self::read(&text) {
            Self { total: 0, .. } => Err(format!("{}: no instruction in it", profile.display())),
            cost => Ok(cost),
        }
    }

    /// Reads a profile.
    fn read(profile: &str) -> Self {
        let mut cost = Self::default();
        let mut names: BTreeMap<&str, &str> = BTreeMap::new();
        let mut current = "";
        for line in profile.lines() {
            if let Some(total) = line.strip_prefix("summary: ") {
                cost.total = total.trim().parse().unwrap_or(0);
            } else if let Some(name) = line.strip_prefix("fn=") {
                current = full_name(&mut names, name);
            } else if let Some(name) = line.strip_prefix("cfn=") {
                full_name(&mut names, name);
            } else if line.starts_with(['+', '-', '*'])
                || line.starts_with(|c: char| c.is_ascii_digit())
            {
                // The line after `calls=` has the instructions of the callee: with what it calls means those too.
                let count = line.split(' ').nth(1).and_then(|count| count.parse().ok());
                if is_ours(current) {
                    *cost.functions.entry(current.to_owned()).or_default() += count.unwrap_or(0);
                }
            }
        }
        cost
    }

    /// Returns the cost of one piece of work: that of `many` pieces without that of `few`, divided.
    #[must_use]
    pub fn of_one(few: (&Self, u64), many: (&Self, u64)) -> Self {
        let pieces = many.1.saturating_sub(few.1).max(1);
        let one = |many: u64, few: u64| many.saturating_sub(few) / pieces;
        let functions = many.0.functions.iter().map(|(name, &count)| {
            let before = few.0.functions.get(name).copied().unwrap_or(0);
            (name.clone(), one(count, before))
        });
        Self {
            total: one(many.0.total, few.0.total),
            functions: functions.collect(),
        }
    }

    /// Returns the cost without that of a module which works by the clock, and so more often where all else is slow.
    #[must_use]
    pub fn without(mut self, module: &str) -> Self {
        let timed = self
            .functions
            .iter()
            .filter(|(name, _)| name.starts_with(module));
        // What the others cost is part of the one that calls them.
        let timed = timed.map(|(_, &count)| count).max().unwrap_or(0);
        self.total = self.total.saturating_sub(timed);
        self.functions.retain(|name, _| !name.starts_with(module));
        self
    }

    /// Writes it as a record: the whole, then the functions that matter, the dearest first.
    #[must_use]
    pub fn to_record(&self) -> String {
        let mut functions: Vec<_> = self.functions.iter().collect();
        functions.retain(|&(_, &count)| count * 1000 >= self.total * SHARE);
        functions.sort_by_key(|&(name, &count)| (std::cmp::Reverse(count), name));
        let mut record = format!("{}\n", self.total);
        for (name, count) in functions {
            let _ = writeln!(record, "{count} {name}");
        }
        record
    }

    /// Compares it with the record in a file, or records it if `UPDATE` is set.
    ///
    /// The file begins with the compiler that built what was counted: with another one there is nothing to compare.
    ///
    /// # Errors
    ///
    /// See [`Cost::compare`]; or the file can't be written.
    pub fn hold(&self, path: &Path) -> Result<(), String> {
        let compiler = compiler();
        let text = fs::read_to_string(path).unwrap_or_default();
        let (recorded_by, record) = text.split_once('\n').unwrap_or_default();
        let compared = self.compare(record);
        let is_changed = recorded_by != compiler || compared.is_err();
        if is_update() && is_changed {
            let text = format!("{compiler}\n{}", self.to_record());
            return fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()));
        }
        compared
            .or_else(|difference| match recorded_by == compiler {
                true => Err(difference),
                false => Ok(()),
            })
            .map_err(|difference| format!("{}: {difference}UPDATE=1 records it", path.display()))
    }

    /// Compares it with a record.
    ///
    /// # Errors
    ///
    /// It departs by more than 3 %: how far, and the functions that grew or shrank most.
    pub fn compare(&self, record: &str) -> Result<(), String> {
        let mut lines = record.lines();
        let recorded: u64 = lines
            .next()
            .and_then(|total| total.parse().ok())
            .unwrap_or(0);
        if self.total.abs_diff(recorded) * 100 <= recorded * TOLERANCE {
            return Ok(());
        }
        let was: BTreeMap<&str, u64> = lines
            .filter_map(|line| line.split_once(' '))
            .filter_map(|(count, name)| Some((name, count.parse().ok()?)))
            .collect();
        let names = self.functions.keys().map(String::as_str);
        let mut moved: Vec<(i128, &str, u64, u64)> = names
            .chain(was.keys().copied())
            .map(|name| {
                let now = self.functions.get(name).copied().unwrap_or(0);
                let before = was.get(name).copied().unwrap_or(0);
                (i128::from(now) - i128::from(before), name, before, now)
            })
            // What wasn't recorded was small then: unless it is large now, nothing is known of it.
            .filter(|&(change, name, _, now)| {
                change != 0 && (was.contains_key(name) || now * 1000 >= self.total * SHARE)
            })
            .collect();
        moved.sort_by_key(|&(change, name, ..)| (std::cmp::Reverse(change.abs()), name));
        moved.dedup();
        let mut told = format!(
            "{recorded} instructions were recorded, {} are counted\n",
            self.total
        );
        for (_, name, before, now) in moved.into_iter().take(NAMED) {
            let _ = writeln!(told, "  {before} -> {now}  {name}");
        }
        Err(told)
    }
}

/// Returns the version of the compiler that builds the tests, and the platform that it builds for.
fn compiler() -> String {
    let program = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(program).arg("-vV").output();
    let version = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let version = version.unwrap_or_default();
    let word = |key: &str| version.lines().find_map(|line| line.strip_prefix(key));
    let words = [word("release: "), word("host: ")];
    words.map(Option::unwrap_or_default).join(" ")
}

/// Returns the name of a function, which the profile writes out where it is first met: `(7) name`, then `(7)`.
fn full_name<'p>(names: &mut BTreeMap<&'p str, &'p str>, written: &'p str) -> &'p str {
    match written.split_once(' ') {
        // A recursive function has a number for each depth.
        Some((id, name)) => {
            let name = name.split('\'').next().unwrap_or(name);
            names.insert(id, name);
            name
        }
        None => names.get(written).copied().unwrap_or_default(),
    }
}

/// Reports whether a function is of this project, or was generated by it.
fn is_ours(name: &str) -> bool {
    let name = name.strip_prefix('<').unwrap_or(name);
    name.starts_with("statemark") || name.starts_with("engines::")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A profile: a function of ours that calls another one, and one of somebody else's.
    const PROFILE: &str = "events: Ir\nsummary: 1000\n\nfn=(1) statemark::main\n10 50\ncfn=(2) statemark::lint'2\ncalls=3 20 \n11 850\n\
                           \nfn=(2)\n20 600\n+1 200\ncfn=(3) malloc\ncalls=1 0 \n* 50\n\nfn=(3)\n0 100\n";

    #[test]
    fn a_function_costs_what_it_calls_too() {
        let cost = Cost::read(PROFILE);
        assert_eq!(
            cost.to_record(),
            "1000\n900 statemark::main\n850 statemark::lint\n"
        );
    }

    #[test]
    fn one_piece_costs_the_difference() {
        let few = Cost::read(PROFILE);
        let many = Cost::read(&PROFILE.replace("1000", "1900").replace("+1 200", "+1 1100"));
        let one = Cost::of_one((&few, 1), (&many, 4));
        assert_eq!(one.to_record(), "300\n300 statemark::lint\n");
    }

    #[test]
    fn what_grew_is_named() {
        let record = Cost::read(PROFILE).to_record();
        let grown = |by: u64| {
            let cost = PROFILE.replace("1000", &(1000 + by).to_string());
            Cost::read(&cost.replace("+1 200", &format!("+1 {}", 200 + by))).compare(&record)
        };
        assert_eq!(grown(30), Ok(()));
        let told =
            "1000 instructions were recorded, 1031 are counted\n  850 -> 881  statemark::lint\n";
        assert_eq!(grown(31), Err(told.to_owned()));
        let less = Cost::read(PROFILE)
            .without("statemark::lint")
            .compare(&record);
        assert!(
            less.is_err_and(|told| told.contains("150 are counted\n  850 -> 0  statemark::lint\n"))
        );
    }
}
