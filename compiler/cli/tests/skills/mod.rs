//! The project's own skills, agents and workflows: what is found in them, what is proven of them, and runs to each end.
//!
//! `skills::runs::build` plays the document `skills/build.md`, as a case of the command line, in a folder with a copy of the
//! project's skills. `skills::specs::build::SKILL` holds a file against what every spec of ours keeps: no finding, not even a
//! hint; every claim holds; some document of `skills/` brings a run to each of its ends. Examples in the texts are linted too.
//! What Claude Code and other validators say of them, `tests/server/skills.sh` asks.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use statemark_harness::{Case, Suite, files, root};

use crate::client::Client;
use crate::document::Document;
use crate::shell::{Run, Said, Scratch, perform};

/// The folder with skills, in the project and in each scratch folder.
const SKILLS: &str = "skills";

/// The fence of a whole document that is shown as an example.
const EXAMPLE: &str = "````markdown\n";

/// A project's own workflow with the id of one of ours.
const OWN_BUILD: &str = "## STATE-MACHINE: build

```mermaid
stateDiagram-v2
    [*] --> making
    making --> [*] : made
```
";

/// Adds the tests; `folder` has the documents.
pub(crate) fn add(suite: &mut Suite, folder: &Path) {
    suite.documents("skills::runs", folder, play);
    let runs = folder.to_path_buf();
    let specs = root().join(SKILLS);
    suite.files("skills::specs", &specs, &["md"], move |case| {
        check_examples(case)?;
        match is_spec(&case.path) {
            true => check_spec(case, &runs),
            false => Ok(()),
        }
    });
    suite.check("skills::plugin", check_plugin);
    suite.check("skills::refusals", check_refusals);
}

/// Returns a document with the output of today.
fn play(case: &Case) -> String {
    let document = Document::parse(&case.text);
    let scratch = Scratch::new(&format!("skills-{}", case.name()));
    copy_skills(&scratch);
    for (name, text) in &document.files {
        scratch.write(name, text);
    }
    document.text(|run| perform(run, &scratch.path))
}

fn copy_skills(scratch: &Scratch) {
    let skills = root().join(SKILLS);
    for path in files(&skills) {
        let name = path.strip_prefix(&skills).unwrap().to_str().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        scratch.write(&format!("{SKILLS}/{name}"), &text);
    }
}

/// Reports whether a Markdown file among the skills has a machine: every skill, agent and workflow but `drive-run`, which
/// is about the machines of others.
fn is_spec(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name).unwrap();
    let is_text = folder == "references" || folder == "drive-run" || folder == SKILLS;
    !is_text
}

/// Holds a spec against what every spec of ours keeps.
fn check_spec(case: &Case, runs: &Path) -> Result<(), String> {
    let scratch = Scratch::new(&format!("spec-{}", name_of(&case.path)));
    let path = case.path.display();
    lint(&format!("'{path}'"), &scratch)?;
    let shown = command(
        &format!("statemark show '{path}' --output-format json"),
        &scratch,
    );
    let machine: Value = serde_json::from_str(&shown.stdout)
        .map_err(|error| format!("{error}: {}", shown.stderr))?;
    for proof in machine["proofs"].as_array().unwrap() {
        if proof["verdict"] != "holds" {
            return Err(format!("{} {}", proof["text"], proof["why"]));
        }
    }
    let id = machine["id"].as_str().unwrap();
    let document = runs.join(format!("{id}.md"));
    let text = fs::read_to_string(&document)
        .map_err(|_| format!("no run of it: write {}", document.display()))?;
    let reached: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("in ")?.split_whitespace().next())
        .collect();
    let ends = machine["states"].as_array().unwrap().iter();
    let ends = ends.filter(|state| state["kind"] == "final" && state["parent"].is_null());
    for end in ends.filter_map(|state| state["id"].as_str()) {
        if !reached.contains(&end) {
            return Err(format!("no run in {} ends in `{end}`", document.display()));
        }
    }
    Ok(())
}

/// Lints the documents that a text shows as examples.
fn check_examples(case: &Case) -> Result<(), String> {
    let mut rest = case.text.as_str();
    let mut count = 0;
    while let Some((_, from)) = rest.split_once(EXAMPLE) {
        let (example, after) = from.split_once("\n````\n").ok_or("a fence has no end")?;
        let scratch = Scratch::new(&format!("example-{}-{count}", name_of(&case.path)));
        scratch.write("example.md", &format!("{example}\n"));
        lint("example.md", &scratch).map_err(|fault| format!("{fault}\n{example}"))?;
        rest = after;
        count += 1;
    }
    Ok(())
}

/// Returns a name for the scratch folder of a file.
fn name_of(path: &Path) -> String {
    let own = path.strip_prefix(root().join(SKILLS)).unwrap();
    own.display().to_string().replace('/', "-")
}

fn lint(path: &str, scratch: &Scratch) -> Result<(), String> {
    let said = command(
        &format!("statemark lint --hints --fail-on hint {path}"),
        scratch,
    );
    match said.code {
        0 => Ok(()),
        _ => Err(format!("{}{}", said.stdout, said.stderr)),
    }
}

fn command(line: &str, scratch: &Scratch) -> Said {
    perform(&Run::new(line), &scratch.path)
}

/// Holds the plugin's configuration against the program, in a project that has a workflow `build` of its own.
fn check_plugin() -> Result<(), String> {
    let scratch = Scratch::new("skills-plugin");
    copy_skills(&scratch);
    scratch.write("project/.statemark/keep", "");
    scratch.write("project/own.md", OWN_BUILD);
    let json = |name: &str| -> Value {
        let text = fs::read_to_string(scratch.path.join(SKILLS).join(name)).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let hooks = json("hooks/hooks.json");
    let printed = command("statemark hook install claude --print", &scratch);
    let installed: Value = serde_json::from_str(&printed.stdout).map_err(|it| it.to_string())?;
    let events =
        |of: &Value| -> Vec<String> { of["hooks"].as_object().unwrap().keys().cloned().collect() };
    if events(&hooks) != events(&installed) {
        return Err(format!(
            "`hook install` has other events: {}",
            printed.stdout
        ));
    }
    for (event, entries) in hooks["hooks"].as_object().unwrap() {
        for hook in entries[0]["hooks"].as_array().unwrap() {
            if hook["onFailure"] != "block" || hook["command"] != "statemark hook claude" {
                return Err(format!(
                    "the hook of {event} lets through what fails: {hook}"
                ));
            }
        }
    }
    let server = &json(".mcp.json")["mcpServers"]["statemark"];
    if server["command"] != "statemark" {
        return Err(format!("another program serves: {server}"));
    }
    let root = scratch.path.join(SKILLS);
    let arguments: Vec<String> = server["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_str().unwrap())
        .map(|it| it.replace("${CLAUDE_PLUGIN_ROOT}", root.to_str().unwrap()))
        .collect();
    let mut words = arguments.iter().map(String::as_str);
    if words.next() != Some("serve") {
        return Err(format!("it doesn't serve: {arguments:?}"));
    }
    let mut client = Client::start(&scratch.path.join("project"), &Vec::from_iter(words));
    let listed = client.call("list_workflows", &json!({"query": "build"}));
    let sources: Vec<&str> = listed["data"]["workflows"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["id"] == "build" || it["id"] == "build-fast")
        .map(|it| it["source"].as_str().unwrap())
        .collect();
    // The project's own hides the plugin's, and nothing else of it.
    match sources.as_slice() {
        ["own.md", other] if other.ends_with("build-fast/SKILL.md") => Ok(()),
        _ => Err(format!("{sources:?}")),
    }
}

/// Finds codes in the list of refusals that nothing refuses with.
fn check_refusals() -> Result<(), String> {
    let list = root().join(SKILLS).join("drive-run/references/refusals.md");
    let list = fs::read_to_string(list).map_err(|error| error.to_string())?;
    let sources = files(&root().join("runtime"));
    let sources = sources
        .iter()
        .filter(|it| it.extension().is_some_and(|end| end == "rs"));
    let source: String = sources.map(|it| fs::read_to_string(it).unwrap()).collect();
    let codes = list
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once(" |"))
        .flat_map(|(codes, _)| codes.split([',', '`', ' ']));
    let mut codes = codes.filter(|code| !code.is_empty()).peekable();
    if codes.peek().is_none() {
        return Err("the list has no codes".to_owned());
    }
    match codes.find(|code| !source.contains(&format!("\"{code}\""))) {
        Some(unknown) => Err(format!("nothing is refused with `{unknown}`")),
        None => Ok(()),
    }
}
