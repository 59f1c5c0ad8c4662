//! Prints the faults of the project's English: a table of folders, or the faults of those that are named.
//!
//! ```text
//! cargo run -q -p statemark-tidy                          faults by folder
//! cargo run -q -p statemark-tidy compiler/src/lower       each fault of a folder or file
//! ```

use std::io::{self, Write};
use std::path::Path;

use statemark_tidy::{CRATES, Rule, faults, folders};

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize()?;
    let named: Vec<String> = std::env::args().skip(1).collect();
    let mut out = io::stdout().lock();
    if named.is_empty() {
        return table(&root, &mut out);
    }
    let mut count = 0;
    for folder in named {
        for (path, faults) in faults(&root, folder.trim_end_matches('/'))? {
            count += faults.len();
            for fault in faults {
                let path = path.display();
                writeln!(
                    out,
                    "{path}:{}: {}: {}",
                    fault.line,
                    fault.rule.name(),
                    fault.text
                )?;
            }
        }
    }
    writeln!(out, "{count} faults")?;
    for rule in Rule::ALL {
        writeln!(out, "  {:6}  {}", rule.name(), rule.help())?;
    }
    Ok(())
}

/// Prints the faults by folder and rule.
fn table(root: &Path, out: &mut impl Write) -> io::Result<()> {
    let head: Vec<String> = Rule::ALL
        .iter()
        .map(|rule| format!("{:>6}", rule.name()))
        .collect();
    writeln!(out, "{:>6} {}  folder", "all", head.join(" "))?;
    for folder in CRATES {
        let found = faults(root, folder)?;
        for (folder, faults) in folders(&found) {
            let count = |rule| faults.iter().filter(|fault| fault.rule == rule).count();
            let counts: Vec<String> = Rule::ALL
                .iter()
                .map(|rule| format!("{:>6}", count(*rule)))
                .collect();
            writeln!(
                out,
                "{:>6} {}  {}",
                faults.len(),
                counts.join(" "),
                folder.display()
            )?;
        }
        let all: usize = found.values().map(Vec::len).sum();
        writeln!(out, "{all:>6} in {folder}\n")?;
    }
    Ok(())
}
