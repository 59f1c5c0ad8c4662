//! SCXML that is written: the canonical document of each document in `tests/scxml` lies next to it.

use statemark_compiler::back;
use statemark_harness::{Case, Suite, relative, root};
use statemark_tests::specs::compile_text;

pub(crate) fn add(suite: &mut Suite) {
    let folder = root().join("tests/scxml");
    suite.goldens("scxml", &folder, (&["scxml"], "xml"), write);
}

fn write(case: &Case) -> Result<String, String> {
    let (_, compiled) = compile_text(&relative(&case.path), &case.text);
    let machine = compiled.machines.first();
    let machine = machine.ok_or_else(|| format!("{:#?}", compiled.diagnostics))?;
    Ok(back::scxml::write(machine))
}
