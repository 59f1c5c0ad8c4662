//! The language of cases: a document, and questions whose answers stand below them.
//!
//! The document is the first fence, whose info has its name; `⟦a⟧` is a place in it, and isn't part of the text. A line
//! `client: utf-8 pull crlf bom` above it says what the editor can do, and how the text is saved. A question is a heading, and the
//! fence below it the answer:
//!
//! | question | answer |
//! |---|---|
//! | `## findings` | what is pushed or pulled |
//! | `## hover a` · `## definition a` · `## references a` · `## complete a` | what is at that place |
//! | `## rename a NEW` · `## format` · `## fix a` · `## fix all` | the lines that change |
//! | `## symbols` · `## folds` · `## tokens` · `## hints` · `## lenses` · `## drawing` | what there is in the whole document |
//! | `## replace a b TEXT` | nothing; the text between two places is changed |

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::client::Client;

/// Plays a case, and returns it with the answers of today.
pub(crate) fn play(case: &str) -> String {
    let (head, rest) = case.split_once("\n````").unwrap();
    let (info, rest) = rest.split_once('\n').unwrap();
    let (marked, questions) = rest.split_once("\n````").unwrap();
    let words: Vec<&str> = head
        .lines()
        .find_map(|line| line.strip_prefix("client:"))
        .into_iter()
        .flat_map(str::split_whitespace)
        .collect();
    let mut session = Session::new(&words, info.trim(), &format!("{marked}\n"));
    let mut played = format!("{head}\n````{info}\n{marked}\n````\n");
    for line in questions.lines() {
        let Some(question) = line.strip_prefix("## ") else {
            continue;
        };
        let answer = session.ask(question);
        played.push_str(&format!("\n## {question}\n"));
        if !answer.is_empty() {
            played.push_str(&format!("\n````text\n{}\n````\n", answer.trim_end()));
        }
    }
    session.client.finish().unwrap();
    played
}

struct Session {
    client: Client,
    uri: String,
    text: String,
    places: BTreeMap<String, usize>,
    pulls: bool,
}

impl Session {
    fn new(words: &[&str], name: &str, marked: &str) -> Self {
        let mut marked = marked.to_owned();
        if words.contains(&"crlf") {
            marked = marked.replace('\n', "\r\n");
        }
        if words.contains(&"bom") {
            marked.insert(0, '\u{feff}');
        }
        let (mut text, mut places) = (String::new(), BTreeMap::new());
        let mut rest = marked.as_str();
        while let Some((before, after)) = rest.split_once('⟦') {
            text.push_str(before);
            let (name, after) = after.split_once('⟧').unwrap();
            places.insert(name.to_owned(), text.len());
            rest = after;
        }
        text.push_str(rest);
        let pulls = words.contains(&"pull");
        let mut capabilities = json!({ "general": {}, "textDocument": {} });
        if words.contains(&"utf-8") {
            capabilities["general"]["positionEncodings"] = json!(["utf-16", "utf-8"]);
        }
        if pulls {
            capabilities["textDocument"]["diagnostic"] = json!({});
        }
        let options = json!({ "commands": ["statemark.preview", "statemark.simulate"] });
        let client = Client::new(&capabilities, &options);
        let uri = format!("file:///specs/{name}");
        client.open(&uri, &text);
        Self {
            client,
            uri,
            text,
            places,
            pulls,
        }
    }

    fn ask(&mut self, question: &str) -> String {
        let mut words = question.split(' ');
        let (verb, first) = (words.next().unwrap(), words.next());
        let rest = words.collect::<Vec<_>>().join(" ");
        match (verb, first) {
            ("findings", _) => self.findings(),
            ("hover", Some(place)) => {
                let answer = self.at("hover", place, json!({}));
                match answer {
                    Ok(Value::Null) => "nothing".to_owned(),
                    Ok(answer) => format!(
                        "{}\n\n{}",
                        self.range(&answer["range"]),
                        answer["contents"]["value"].as_str().unwrap()
                    ),
                    Err(error) => error,
                }
            }
            ("definition", Some(place)) => {
                let answer = self.at("definition", place, json!({}));
                self.list(answer, |it| self.range(&it["range"]))
            }
            ("references", Some(place)) => {
                let context = json!({ "context": { "includeDeclaration": true } });
                let answer = self.at("references", place, context);
                self.list(answer, |it| self.range(&it["range"]))
            }
            ("complete", Some(place)) => {
                let answer = self.at("completion", place, json!({}));
                self.list(answer, |it| {
                    let range = self.range(&it["textEdit"]["range"]);
                    let detail = it["detail"].as_str().unwrap_or_default();
                    format!("{} ({detail}) for {range}", it["label"].as_str().unwrap())
                })
            }
            ("rename", Some(place)) => {
                let prepared = self.at("prepareRename", place, json!({}));
                let answer = self.at("rename", place, json!({ "newName": rest }));
                match (prepared, answer) {
                    (Err(error), _) | (_, Err(error)) => format!("refused: {error}"),
                    (Ok(_), Ok(edit)) => self.changed(&edit["changes"][&self.uri]),
                }
            }
            ("format", _) => {
                let options = json!({ "options": { "tabSize": 4, "insertSpaces": true } });
                match self.whole("formatting", options) {
                    Ok(Value::Null) => "not formatted".to_owned(),
                    Ok(edits) => self.changed(&edits),
                    Err(error) => error,
                }
            }
            ("fix", Some("all")) => {
                let range = self.text_range();
                let context = json!({ "diagnostics": [], "only": ["source.fixAll"] });
                let answer =
                    self.whole("codeAction", json!({ "range": range, "context": context }));
                self.list(answer, |it| self.action(it))
            }
            ("fix", Some(place)) => {
                let at = self.client.position(&self.text, self.places[place]);
                let range = json!({ "start": at, "end": at });
                let context = json!({ "diagnostics": [], "only": ["quickfix"] });
                let answer =
                    self.whole("codeAction", json!({ "range": range, "context": context }));
                self.list(answer, |it| self.action(it))
            }
            ("symbols", _) => {
                let answer = self.whole("documentSymbol", json!({}));
                let mut lines = String::new();
                self.symbols(&answer.unwrap(), 0, &mut lines);
                lines
            }
            ("folds", _) => {
                let answer = self.whole("foldingRange", json!({}));
                self.list(answer, |it| {
                    format!("{}-{}", it["startLine"], it["endLine"])
                })
            }
            ("tokens", _) => self.tokens(),
            ("hints", _) => {
                let answer = self.whole("inlayHint", json!({ "range": self.text_range() }));
                self.list(answer, |it| {
                    format!(
                        "{} {}",
                        self.place(&it["position"]),
                        it["label"].as_str().unwrap()
                    )
                })
            }
            ("lenses", _) => {
                let answer = self.whole("codeLens", json!({}));
                self.list(answer, |it| {
                    let command = &it["command"];
                    format!(
                        "{} {} {}",
                        self.range(&it["range"]),
                        command["command"],
                        command["arguments"]
                    )
                })
            }
            ("drawing", _) => {
                let document = json!({ "textDocument": { "uri": self.uri } });
                match self.client.ask("statemark/drawing", document).unwrap() {
                    Value::Null => "nothing".to_owned(),
                    drawing => {
                        let svg = drawing["svg"].as_str().unwrap();
                        assert!(
                            svg.starts_with("<svg ") && !svg.contains("<script"),
                            "{svg}"
                        );
                        format!("{} of {}", drawing["machine"], drawing["machines"])
                    }
                }
            }
            ("replace", Some(from)) => {
                let (to, new) = rest.split_once(' ').unwrap_or((&rest, ""));
                self.replace(from, to, new)
            }
            _ => format!("no question: {question}"),
        }
    }

    fn findings(&mut self) -> String {
        let found = if self.pulls {
            self.whole("diagnostic", json!({})).unwrap()["items"]
                .as_array()
                .unwrap()
                .clone()
        } else {
            self.client.findings(&self.uri)
        };
        let lines = found.iter().map(|it| {
            let related = it["relatedInformation"].as_array().into_iter().flatten();
            let related: Vec<String> = related
                .map(|it| {
                    let message = it["message"].as_str().unwrap();
                    format!("\n  at {}: {message}", self.range(&it["location"]["range"]))
                })
                .collect();
            let text = |key: &str| it[key].as_str().unwrap_or_default().replace('\n', "\n  ");
            let link = it["codeDescription"]["href"].as_str().unwrap();
            assert!(link.ends_with(&format!("{}.md", text("code"))), "{link}");
            format!(
                "{} {} severity {}: {}{}",
                self.range(&it["range"]),
                text("code"),
                it["severity"],
                text("message"),
                related.concat()
            )
        });
        let lines: Vec<String> = lines.collect();
        if lines.is_empty() {
            "nothing".to_owned()
        } else {
            lines.join("\n")
        }
    }

    /// Asks about a place of the document.
    fn at(&mut self, method: &str, place: &str, more: Value) -> Result<Value, String> {
        let mut params = more;
        params["position"] = self.client.position(&self.text, self.places[place]);
        self.whole(method, params)
    }

    /// Asks about the document.
    fn whole(&mut self, method: &str, more: Value) -> Result<Value, String> {
        let mut params = more;
        params["textDocument"] = json!({ "uri": self.uri });
        let answer = self.client.ask(&format!("textDocument/{method}"), params);
        answer.map_err(|(_, message)| message)
    }

    fn list(&self, answer: Result<Value, String>, line: impl Fn(&Value) -> String) -> String {
        match answer {
            Err(error) => error,
            Ok(Value::Array(items)) if !items.is_empty() => {
                items.iter().map(line).collect::<Vec<_>>().join("\n")
            }
            Ok(_) => "nothing".to_owned(),
        }
    }

    /// Returns a place as `line:column`, from 0 as the protocol counts.
    fn place(&self, position: &Value) -> String {
        format!("{}:{}", position["line"], position["character"])
    }

    /// Returns a range with the text in it, which shows whether it is right.
    fn range(&self, range: &Value) -> String {
        let (start, end) = (&range["start"], &range["end"]);
        let bytes = self.client.byte(&self.text, start)..self.client.byte(&self.text, end);
        let text = self.text[bytes].replace("\r\n", "⏎").replace('\n', "⏎");
        let text = match text.chars().count() > 60 {
            true => text.chars().take(60).chain(['…']).collect(),
            false => text,
        };
        format!("{}-{} `{text}`", self.place(start), self.place(end))
    }

    fn text_range(&self) -> Value {
        json!({
            "start": self.client.position(&self.text, 0),
            "end": self.client.position(&self.text, self.text.len()),
        })
    }

    /// Returns the lines that edits change.
    fn changed(&self, edits: &Value) -> String {
        let new = self.client.apply(&self.text, edits.as_array().unwrap());
        difference(&self.text, &new)
    }

    fn action(&self, action: &Value) -> String {
        let preferred = if action["isPreferred"] == true {
            " (preferred)"
        } else {
            ""
        };
        let changed = self.changed(&action["edit"]["changes"][&self.uri]);
        let (kind, title) = (
            action["kind"].as_str().unwrap(),
            action["title"].as_str().unwrap(),
        );
        format!("{kind}: {title}{preferred}\n{changed}")
    }

    fn symbols(&self, symbols: &Value, depth: usize, lines: &mut String) {
        for symbol in symbols.as_array().into_iter().flatten() {
            let name = symbol["name"].as_str().unwrap();
            let detail = symbol["detail"].as_str().unwrap();
            let range = self.range(&symbol["selectionRange"]);
            lines.push_str(&format!(
                "{}{name} ({detail}) {range}\n",
                "  ".repeat(depth)
            ));
            self.symbols(&symbol["children"], depth + 1, lines);
        }
    }

    fn tokens(&mut self) -> String {
        let answer = self.whole("semanticTokens/full", json!({})).unwrap();
        let legend = &self.client.initialized["capabilities"]["semanticTokensProvider"]["legend"];
        let numbers: Vec<u64> = answer["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it.as_u64().unwrap())
            .collect();
        let (mut line, mut column) = (0, 0);
        let mut lines = Vec::new();
        for token in numbers.chunks(5) {
            let &[down, right, length, kind, modifiers] = token else {
                panic!("a token has five numbers");
            };
            column = if down == 0 { column + right } else { right };
            line += down;
            let range = json!({
                "start": { "line": line, "character": column },
                "end": { "line": line, "character": column + length },
            });
            let kind = &legend["tokenTypes"][usize::try_from(kind).unwrap()];
            let declared = if modifiers == 1 { " declaration" } else { "" };
            lines.push(format!(
                "{} {}{declared}",
                self.range(&range),
                kind.as_str().unwrap()
            ));
        }
        lines.join("\n")
    }

    /// Changes the text between two places, which are gone after that, and lets the places behind it move.
    fn replace(&mut self, from: &str, to: &str, new: &str) -> String {
        let (start, end) = (self.places[from], self.places[to]);
        let range = json!({
            "start": self.client.position(&self.text, start),
            "end": self.client.position(&self.text, end),
        });
        let new = new.replace("\\n", "\n");
        if !self.pulls {
            // What was pushed for the text before is of no interest.
            let _ = self.whole("foldingRange", json!({}));
            self.client.unasked.clear();
        }
        self.client.tell(
            "textDocument/didChange",
            json!({
                "textDocument": { "uri": self.uri, "version": 2 },
                "contentChanges": [{ "range": range, "text": new }],
            }),
        );
        self.text.replace_range(start..end, &new);
        self.places
            .retain(|_, place| *place <= start || *place >= end);
        for place in self.places.values_mut().filter(|place| **place >= end) {
            *place = *place - (end - start) + new.len();
        }
        String::new()
    }
}

/// Returns the lines of two texts that differ.
fn difference(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    if old == new {
        return "no change".to_owned();
    }
    if old.len() == new.len() {
        let pairs = old.iter().zip(&new).filter(|(old, new)| old != new);
        return pairs
            .map(|(old, new)| format!("- {old}\n+ {new}"))
            .collect::<Vec<_>>()
            .join("\n");
    }
    let start = old
        .iter()
        .zip(&new)
        .take_while(|(old, new)| old == new)
        .count();
    let same = |(old, new): &(&&str, &&str)| old == new;
    let end = old[start..]
        .iter()
        .rev()
        .zip(new[start..].iter().rev())
        .take_while(same)
        .count();
    let removed = old[start..old.len() - end]
        .iter()
        .map(|line| format!("- {line}"));
    let added = new[start..new.len() - end]
        .iter()
        .map(|line| format!("+ {line}"));
    removed.chain(added).collect::<Vec<_>>().join("\n")
}
