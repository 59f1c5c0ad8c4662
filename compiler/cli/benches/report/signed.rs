//! What signatures cost: a decision that is signed, and a journal of such decisions that is read again.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::bench::{Bench, millions, table};
use crate::shell::{Scratch, person_token, statemark, untouched};

/// Decisions of a run; what is read of one without any is subtracted.
const DECISIONS: u64 = 20;

pub(crate) fn section(bench: &Bench) -> String {
    let [unsigned, signed] = [false, true].map(|signed| measure(bench, signed));
    let names = [
        "`statemark approve`, a whole process",
        "a decision when the state is read from the journal (`statemark replay`)",
        "a decision when the store is verified (`statemark store verify`)",
    ];
    let rows: Vec<Vec<String>> = names
        .iter()
        .zip(unsigned.into_iter().zip(signed))
        .map(|(name, (without, with))| {
            let million = |count: u64| format!("{:.2}", millions(count));
            vec![(*name).to_owned(), million(without), million(with)]
        })
        .collect();
    let columns = ["million instructions", "unsigned", "signed"];
    String::from(
        "Keys are ed25519, in a file without a passphrase. A decision has the records of its request and of the way back, too. \
         Rights, bindings and digests raised the recorded count of an unsigned send (`compiler/cli/tests/instructions/send.txt`) by 2 %, from 3.04 to 3.11 million; it is 2.50 million since.\n\n",
    ) + &table(&columns, &rows)
}

/// Returns the instructions of approving, and of a decision as a replay and a check of the store read it.
fn measure(bench: &Bench, signed: bool) -> [u64; 3] {
    let scratch = Scratch::new(&format!("bench-signed-{signed}"));
    let folder = scratch.path.as_path();
    scratch.write("pay.md", &spec(signed));
    if signed {
        let mut keygen = untouched("ssh-keygen", folder);
        keygen.args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", "ann"]);
        succeed(&mut keygen);
        succeed(as_ann(folder).args(["signer", "add", "ann", "ann.pub"]));
    }
    succeed(statemark(folder).args(["start", "pay", "--run-id", "r"]));
    let read = || {
        let replay = bench.count_own(folder, &["replay", "r"]);
        let verify = bench.count_own(folder, &["store", "verify"]);
        [replay, verify]
    };
    let none = read();
    let mut approved = 0;
    for decision in 0..DECISIONS {
        succeed(statemark(folder).args(["send", "r", "accept"]));
        let asked = statemark(folder).args(["inbox", "--json"]).output();
        let asked: Value = serde_json::from_slice(&asked.unwrap().stdout).unwrap();
        let mut approve = as_ann(folder);
        approve.args(["approve", asked["request"].as_str().unwrap()]);
        if signed {
            approve.args(["--sign-with", "ann"]);
        }
        if decision == 0 {
            approved = bench.count(&approve);
        } else {
            succeed(&mut approve);
        }
        succeed(statemark(folder).args(["send", "r", "again"]));
    }
    let [replay, verify] = read();
    let one = |many: u64, none: u64| many.saturating_sub(none) / DECISIONS;
    [approved, one(replay, none[0]), one(verify, none[1])]
}

fn as_ann(folder: &Path) -> Command {
    let mut command = statemark(folder);
    command.env("STATEMARK_TOKEN", person_token(folder, "ann", &[]));
    command
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {told}");
}

/// Returns a machine that asks for an approval again and again.
fn spec(signed: bool) -> String {
    format!(
        "## STATE-MACHINE: pay\n\n```mermaid\nstateDiagram-v2\n    [*] --> asked\n    asked --> paid : accept\n    paid --> asked : again\n\
         \x20   paid --> [*] : end\n```\n\n```json definition\n{{\"id\": \"pay\", \"meta\": {{\"approvers\": {{\"signed\": {signed}, \"names\": [\"ann\"]}}}},\n\
         \"states\": {{\"asked\": {{\"on\": {{\"accept\": {{\"requires_approval\": true}}}}}}}}}}\n```\n"
    )
}
