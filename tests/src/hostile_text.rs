//! No text makes the compiler panic, hang, or point outside of it.
//!
//! Every prefix of every spec that is here; and random mutations of them, seeded, so that a failure can be repeated:
//! `STATEMARK_FUZZ_SEED` and `STATEMARK_FUZZ_INPUTS` choose.

use std::collections::HashSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use statemark_compiler::{Options, back, compile, source::Sources};
use statemark_harness::{files, root};

use crate::specs::{assert_spans, outside};

/// Longest text whose every prefix is tried. Unit: bytes. Why: the work grows with the square.
const MAX_PREFIXED: usize = 3_000;

/// One text of so many goes through the Rust back end, too.
const RUST_SHARE: usize = 16;

/// Returns every spec that is here, with a name for its format.
pub(crate) fn seeds() -> Vec<(String, String)> {
    let folders = [
        "examples",
        "tests/corpus",
        "tests/engines",
        "tests/rust",
        "tests/scxml",
        "tests/wild",
    ];
    let mut all: Vec<_> = folders
        .iter()
        .flat_map(|folder| files(&root().join(folder)))
        .collect();
    if let Some(outside) = outside() {
        all.extend(files(&outside));
    }
    let is_spec = |path: &std::path::PathBuf| {
        path.extension().is_some_and(|ending| {
            ["md", "mmd", "json", "scxml"]
                .iter()
                .any(|it| ending == *it)
        })
    };
    all.retain(is_spec);
    let named = all.iter().filter_map(|path| {
        let ending = path.extension()?.to_str()?;
        Some((format!("spec.{ending}"), fs::read_to_string(path).ok()?))
    });
    named.collect()
}

/// Compiles a text, and takes what comes out through every back end.
pub(crate) fn survive(name: &str, text: &str) {
    let tried = catch_unwind(AssertUnwindSafe(|| {
        let mut sources = Sources::new();
        sources.add(name, text);
        let compiled = compile(&sources, &Options::default());
        assert_spans(&sources, &compiled.diagnostics);
        for machine in &compiled.machines {
            let bytes = back::table::write(machine);
            let sections = statemark_runtime::decode(&bytes).expect("a table that we wrote");
            statemark_runtime::verify(sections).expect("a machine that we checked");
            let _ = back::mermaid::write(machine);
            // Formatting what it wrote makes the Rust back end the slowest by far: it gets a share.
            if text.len().is_multiple_of(RUST_SHARE) {
                assert!(
                    !back::rust::write_file(machine, &back::rust::Options::default()).is_empty()
                );
            }
        }
    }));
    assert!(tried.is_ok(), "{name}: {text:?}");
}

#[test]
fn every_prefix_is_survived() {
    let mut seeds = seeds();
    seeds.retain(|(_, text)| text.len() <= MAX_PREFIXED);
    // Texts often begin alike: what was tried once isn't tried again.
    let tried: Mutex<HashSet<u64>> = Mutex::default();
    let is_new = |name: &str, prefix: &str| {
        let mut hasher = DefaultHasher::new();
        (name, prefix).hash(&mut hasher);
        tried.lock().unwrap().insert(hasher.finish())
    };
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((name, text)) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
            for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
                if is_new(name, &text[..end]) {
                    survive(name, &text[..end]);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let all: usize = seeds.iter().map(|(_, text)| text.len()).sum();
    println!(
        "{} of {all} prefixes are different",
        tried.lock().unwrap().len()
    );
}

/// xorshift64*: small, seeded, and good enough to choose where to break a text.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap_or(0) % limit.max(1)
    }
}

const PIECES: [&str; 72] = [
    "\n",
    " ",
    "[*]",
    "-->",
    " : ",
    "state ",
    "{",
    "}",
    "\"",
    "--",
    "<<choice>>",
    "note right of ",
    "end note",
    "[",
    "]",
    " / ",
    "()",
    "```",
    "~~~",
    "## STATE-MACHINE\n",
    "```mermaid\n",
    "```json definition\n",
    "stateDiagram-v2\n",
    "%%",
    "%%{",
    "}%%",
    "direction LR",
    ":::",
    ";",
    "#",
    "é",
    "\u{200b}",
    "𝄞",
    "\r\n",
    "\t",
    "---\n",
    "> ",
    "- ",
    "\"on\": {",
    "null",
    // Of expressions.
    " == ",
    " != ",
    " <= ",
    " && ",
    " || ",
    " in ['a', \"b\", 3]",
    "!",
    "-",
    " + 1",
    " % 0",
    "(",
    ")",
    "((((((((((((((((",
    "has(a.b)",
    "size(",
    "in_state(\"a\")",
    ".startsWith('",
    ".contains(",
    "event.",
    "event",
    "'",
    "\\u{1F600}",
    "r\"\\",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615u",
    "1e308",
    "0x",
    "#lt;",
    "\"enum\": [\"a\"]",
    "\"maximum\": 3",
    "<transition event=\"a.*\" cond=\"x &lt; 3\">",
];

fn mutate(text: &str, other: &str, chance: &mut Chance) -> String {
    let mut text = text.to_owned();
    for _ in 0..=chance.below(4) {
        let boundary = |text: &str, chance: &mut Chance| {
            let mut at = chance.below(text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let at = boundary(&text, chance);
        match chance.below(6) {
            0 => text.insert_str(at, PIECES[chance.below(PIECES.len())]),
            1 => {
                let cut: usize = text[at..]
                    .chars()
                    .take(chance.below(12))
                    .map(char::len_utf8)
                    .sum();
                text.replace_range(at..at + cut, "");
            }
            2 => text.truncate(at),
            3 => {
                let from = boundary(other, chance);
                let end = boundary(other, chance);
                let piece: String = other[from.min(end)..from.max(end)]
                    .chars()
                    .take(60)
                    .collect();
                text.insert_str(at, &piece);
            }
            4 => {
                let lines: Vec<&str> = text.lines().collect();
                let line = lines
                    .get(chance.below(lines.len()))
                    .copied()
                    .unwrap_or("")
                    .to_owned();
                text.insert_str(at, &format!("{line}\n"));
            }
            _ => text.insert(
                at,
                char::from_u32(u32::try_from(chance.below(0x3000)).unwrap_or(0)).unwrap_or('x'),
            ),
        }
    }
    text
}

/// Returns random mutations of texts, the same for the same seed, each with the name of the text that it was.
pub(crate) fn mutations(
    seeds: &[(String, String)],
    seed: u64,
    count: u64,
) -> impl Iterator<Item = (&str, String)> {
    let mut chance = Chance(seed | 1);
    (0..count).map(move |_| {
        let (name, text) = &seeds[chance.below(seeds.len())];
        let (_, other) = &seeds[chance.below(seeds.len())];
        (name.as_str(), mutate(text, other, &mut chance))
    })
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

#[test]
fn random_mutations_are_survived() {
    let seeds = seeds();
    let seed = number("STATEMARK_FUZZ_SEED", 0x5EED);
    let count = number("STATEMARK_FUZZ_INPUTS", 20_000);
    for (round, (name, mutated)) in mutations(&seeds, seed, count).enumerate() {
        let tried = catch_unwind(AssertUnwindSafe(|| survive(name, &mutated)));
        assert!(tried.is_ok(), "seed {seed}, round {round}");
    }
}

/// Size alone is no way to stop the compiler: deep nesting, long lines, many of everything.
#[test]
fn large_texts_are_survived() {
    let deep = |open: &str, close: &str, count: usize| open.repeat(count) + &close.repeat(count);
    let section =
        |text: &str| format!("## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n{text}\n```\n");
    let definition = |text: &str| format!("{{\"initial\": \"a\", \"states\": {text}}}");
    let each =
        |count: usize, line: &dyn Fn(usize) -> String| -> String { (0..count).map(line).collect() };
    for text in [
        // Each choice doubles the ways of the one before it.
        each(60, &|n| {
            let next = n + 1;
            format!("state c{n} <<choice>>\nc{n} --> c{next} : [a{n}]\nc{n} --> c{next} : [else]\n")
        }) + "[*] --> a\na --> c0 : go\n",
        each(3_000, &|n| {
            let next = (n + 1) % 3_000;
            format!("state c{n} <<choice>>\nc{n} --> c{next} : [a{n}]\n")
        }),
        format!(
            "state a {{\n{}}}\n",
            each(3_000, &|n| format!("[*] --> s{n}\ns{n} --> [*]\n--\n"))
        ),
        "state f <<fork>>\nstate j <<join>>\n[*] --> f\n".to_owned()
            + &each(3_000, &|n| format!("f --> s{n}\ns{n} --> j\n")),
        each(200, &|n| {
            let next = n + 1;
            format!("state f{n} <<fork>>\nf{n} --> s{n}\nf{n} --> f{next}\ns{n} --> j\n")
        }) + "state j <<join>>\n",
        each(2_000, &|n| {
            format!("state a{n} {{\n[H] --> s{n}\n}}\na{n} --> a{n}[H*] : x\n")
        }),
        each(3_000, &|n| format!("[*] --> s{n} : after {n}s\n")),
    ] {
        survive("a.mmd", &format!("stateDiagram-v2\n{text}"));
    }
    for (name, text) in [
        ("a.md", section(&deep("state a {\n", "}\n", 5_000))),
        ("a.md", section(&"a --> b : ".repeat(20_000))),
        ("a.md", section(&"x".repeat(500_000))),
        (
            "a.md",
            section(&format!("a --> b : {}", "direction ".repeat(50_000))),
        ),
        ("a.md", section(&"note right of a : x\n".repeat(5_000))),
        ("a.md", "> ".repeat(3_000) + "## STATE-MACHINE"),
        ("a.md", "- ".repeat(3_000) + "```mermaid"),
        ("a.json", deep("[", "]", 50_000)),
        (
            "a.json",
            definition(&deep("{\"a\":{\"states\":", "}}", 5_000)),
        ),
        (
            "a.json",
            definition(&format!(
                "{{\"a\": {{\"always\": [{{\"guard\": {}}}]}}}}",
                deep("{\"not\":", "}", 3_000)
            )),
        ),
        (
            "a.json",
            "{\"guards\": {".to_owned() + &"\"a\": 1,".repeat(5_000),
        ),
    ] {
        survive(name, &text);
    }
}
