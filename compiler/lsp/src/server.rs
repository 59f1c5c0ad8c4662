//! The server: from messages to answers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;

use gen_lsp_types as lsp;
use lsp_server::{
    Connection, ErrorCode, Message, Notification, ProtocolError, Request, RequestId, Response,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::analysis::Analysis;
use crate::document::{Document, Encoding, path_of, uri_of};
use crate::inbox::Inbox;
use crate::outlines::Outlines;
use crate::project::Project;
use crate::{actions, completion, decoration, drawing, findings, hover, names, symbols};

/// The reason why a server ends before its client asks it to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The client doesn't keep to the protocol's beginning or end.
    #[error("the editor doesn't keep to the protocol: {0}")]
    Protocol(#[from] ProtocolError),
}

/// Serves an editor until it ends the session, or hangs up.
///
/// # Errors
///
/// The editor doesn't keep to the protocol.
pub fn serve(connection: &Connection, project: &dyn Project) -> Result<(), ServeError> {
    let (id, params) = loop {
        let (id, params) = match connection.initialize_start() {
            Ok(start) => start,
            Err(error) if error.channel_is_disconnected() => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        match serde_json::from_value::<lsp::InitializeParams>(params) {
            Ok(params) => break (id, params),
            Err(error) => send(connection, invalid(id, &error)),
        }
    };
    let client = Client::new(&params);
    let answer = lsp::InitializeResult {
        capabilities: capabilities(&client),
        server_info: Some(lsp::ServerInfo {
            name: findings::SOURCE.to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
    };
    match connection.initialize_finish(id, json!(answer)) {
        Ok(()) => {}
        Err(error) if error.channel_is_disconnected() => return Ok(()),
        Err(error) => return Err(error.into()),
    }
    let mut server = Server {
        connection,
        inbox: Inbox::new(connection),
        project,
        client,
        outlines: Outlines::default(),
        documents: BTreeMap::new(),
        unpublished: BTreeSet::new(),
        problem: None,
    };
    server.watch();
    server.run()
}

/// The abilities of the client, and the folders that it works in.
#[derive(Debug)]
struct Client {
    encoding: Encoding,
    folders: Vec<PathBuf>,
    /// True if it asks for findings.
    pulls: bool,
    /// True if it asks again when it is told to.
    refreshes: bool,
    /// True if it watches files for us.
    watches: bool,
    /// The commands of code lenses that it has.
    commands: Vec<String>,
}

impl Client {
    fn new(params: &lsp::InitializeParams) -> Self {
        let workspace = params.capabilities.workspace.as_ref();
        let text = params.capabilities.text_document.as_ref();
        let general = params.capabilities.general.as_ref();
        let encodings = general.and_then(|it| it.position_encodings.as_deref());
        let knows_bytes = encodings.is_some_and(|it| it.contains(&lsp::PositionEncodingKind::UTF8));
        let folders = match &params.workspace_folders_initialize_params.workspace_folders {
            Some(lsp::WorkspaceFolders::WorkspaceFolderList(list)) if !list.is_empty() => {
                list.iter().filter_map(|it| path_of(&it.uri, "")).collect()
            }
            _ => root_uri(params)
                .and_then(|it| path_of(it, ""))
                .into_iter()
                .collect(),
        };
        let options = params.initialization_options.as_ref();
        let commands = options
            .and_then(|it| it.get("commands"))
            .and_then(Value::as_array);
        let commands = commands.into_iter().flatten().filter_map(Value::as_str);
        Self {
            encoding: if knows_bytes {
                Encoding::Utf8
            } else {
                Encoding::Utf16
            },
            folders,
            pulls: text.is_some_and(|it| it.diagnostic.is_some()),
            refreshes: workspace
                .and_then(|it| it.diagnostics.as_ref())
                .and_then(|it| it.refresh_support)
                .unwrap_or_default(),
            watches: workspace
                .and_then(|it| it.did_change_watched_files.as_ref())
                .and_then(|it| it.dynamic_registration)
                .unwrap_or_default(),
            commands: commands.map(str::to_owned).collect(),
        }
    }
}

fn root_uri(params: &lsp::InitializeParams) -> Option<&lsp::Uri> {
    #[expect(
        deprecated,
        reason = "older clients have no other word for their folder"
    )]
    params.root_uri.as_ref()
}

fn capabilities(client: &Client) -> lsp::ServerCapabilities {
    let has_lenses = !client.commands.is_empty();
    lsp::ServerCapabilities {
        position_encoding: Some(match client.encoding {
            Encoding::Utf8 => lsp::PositionEncodingKind::UTF8,
            Encoding::Utf16 => lsp::PositionEncodingKind::UTF16,
        }),
        text_document_sync: Some(lsp::TextDocumentSync::Options(
            lsp::TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(lsp::TextDocumentSyncKind::Incremental),
                ..Default::default()
            },
        )),
        diagnostic_provider: client.pulls.then(|| {
            lsp::DiagnosticProvider::DiagnosticOptions(lsp::DiagnosticOptions {
                identifier: Some(findings::SOURCE.to_owned()),
                ..Default::default()
            })
        }),
        code_action_provider: Some(lsp::CodeActionProvider::CodeActionOptions(
            lsp::CodeActionOptions {
                code_action_kinds: Some(actions::kinds()),
                ..Default::default()
            },
        )),
        document_formatting_provider: Some(true.into()),
        document_symbol_provider: Some(true.into()),
        folding_range_provider: Some(true.into()),
        hover_provider: Some(true.into()),
        definition_provider: Some(true.into()),
        references_provider: Some(true.into()),
        document_highlight_provider: Some(true.into()),
        rename_provider: Some(lsp::RenameProvider::RenameOptions(lsp::RenameOptions {
            prepare_provider: Some(true),
            ..Default::default()
        })),
        completion_provider: Some(lsp::CompletionOptions {
            trigger_characters: Some(completion::TRIGGERS.map(str::to_owned).to_vec()),
            ..Default::default()
        }),
        workspace_symbol_provider: Some(true.into()),
        semantic_tokens_provider: Some(lsp::SemanticTokensProvider::SemanticTokensOptions(
            lsp::SemanticTokensOptions {
                legend: decoration::legend(),
                full: Some(true.into()),
                ..Default::default()
            },
        )),
        inlay_hint_provider: Some(true.into()),
        code_lens_provider: has_lenses.then(lsp::CodeLensOptions::default),
        experimental: Some(json!({ "statemarkDrawing": true })),
        ..Default::default()
    }
}

/// An open document, with what the compiler says of it.
struct Open {
    document: Document,
    /// None after a change, until somebody asks.
    analysis: Option<Rc<Analysis>>,
}

struct Server<'s> {
    connection: &'s Connection,
    inbox: Inbox<'s>,
    project: &'s dyn Project,
    client: Client,
    outlines: Outlines,
    /// The open documents that may be specs, by their address.
    documents: BTreeMap<String, Open>,
    /// The documents whose findings the client doesn't know yet.
    unpublished: BTreeSet<String>,
    /// The fault in the configuration that was shown last.
    problem: Option<String>,
}

/// A request that isn't carried out.
type Refused = (ErrorCode, String);

impl Server<'_> {
    fn run(&mut self) -> Result<(), ServeError> {
        loop {
            if self.inbox.is_empty() {
                self.publish();
            }
            match self.inbox.next() {
                Some(Message::Request(request)) if request.method == "shutdown" => {
                    if self.inbox.is_empty() {
                        return match self.connection.handle_shutdown(&request) {
                            Ok(_) => Ok(()),
                            Err(error) if error.channel_is_disconnected() => Ok(()),
                            Err(error) => Err(error.into()),
                        };
                    }
                    // `exit` was read with it: nothing else is left to be done.
                    self.send(Response::new_ok(request.id, ()));
                    return Ok(());
                }
                Some(Message::Request(request)) => {
                    let response = match self.inbox.is_cancelled(&request.id) {
                        true => refused(request.id, cancelled()),
                        false => self.answer(request),
                    };
                    self.send(response);
                }
                Some(Message::Notification(notification)) => {
                    if notification.method == "exit" {
                        return Ok(());
                    }
                    self.note(notification);
                }
                // Nothing of ours depends on what the client answers.
                Some(Message::Response(_)) => {}
                None => return Ok(()),
            }
        }
    }

    fn send(&self, message: impl Into<Message>) {
        send(self.connection, message);
    }

    /// Asks the client to tell when a configuration changes.
    fn watch(&self) {
        if !self.client.watches {
            return;
        }
        let watchers = [json!({ "globPattern": "**/statemark.toml" })];
        let registration = json!({
            "id": "configuration",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": { "watchers": watchers },
        });
        self.send(Request::new(
            RequestId::from("watch".to_owned()),
            "client/registerCapability".to_owned(),
            json!({ "registrations": [registration] }),
        ));
    }

    fn note(&mut self, notification: Notification) {
        let params = notification.params;
        match notification.method.as_str() {
            "textDocument/didOpen" => {
                if let Some(params) = read::<lsp::DidOpenTextDocumentParams>(params) {
                    self.open(params.text_document);
                }
            }
            "textDocument/didChange" => {
                if let Some(params) = read::<lsp::DidChangeTextDocumentParams>(params) {
                    self.change(&params);
                }
            }
            "textDocument/didClose" => {
                if let Some(params) = read::<lsp::DidCloseTextDocumentParams>(params) {
                    self.close(&params.text_document.uri);
                }
            }
            "workspace/didChangeWatchedFiles" | "textDocument/didSave" => self.forget_rules(),
            // Whatever else there is can be left alone.
            _ => {}
        }
    }

    fn open(&mut self, item: lsp::TextDocumentItem) {
        let language = String::from(item.language_id);
        let Some(path) = path_of(&item.uri, &language) else {
            return;
        };
        if !self.project.is_spec(&path) {
            return;
        }
        let key = item.uri.to_string();
        let document = Document::new(item.uri, path, item.version, &item.text);
        self.warn(&document);
        let open = Open {
            document,
            analysis: None,
        };
        self.documents.insert(key.clone(), open);
        self.unpublished.insert(key);
    }

    fn change(&mut self, params: &lsp::DidChangeTextDocumentParams) {
        let id = &params.text_document;
        let key = id.text_document_identifier.uri.to_string();
        let encoding = self.client.encoding;
        let Some(open) = self.documents.get_mut(&key) else {
            return;
        };
        let was_unknown = open.document.unknown;
        open.document
            .change(id.version, &params.content_changes, encoding);
        open.analysis = None;
        if let Some(open) = self.documents.get(&key)
            && open.document.unknown != was_unknown
        {
            self.warn(&open.document);
        }
        self.unpublished.insert(key);
    }

    fn close(&mut self, uri: &lsp::Uri) {
        let key = uri.to_string();
        self.unpublished.remove(&key);
        if self.documents.remove(&key).is_some() && !self.client.pulls {
            self.push(uri, None, Vec::new());
        }
    }

    /// Says why a document isn't read.
    fn warn(&self, document: &Document) {
        if let Some(reason) = document.unknown {
            let uri = &document.uri;
            self.show(lsp::MessageType::Warning, format!("{uri} {reason}"));
        }
    }

    fn show(&self, kind: lsp::MessageType, message: String) {
        let params = lsp::ShowMessageParams { kind, message };
        self.send(Notification::new("window/showMessage".to_owned(), params));
    }

    /// Compiles every document anew, because a configuration may have changed.
    fn forget_rules(&mut self) {
        for (key, open) in &mut self.documents {
            open.analysis = None;
            self.unpublished.insert(key.clone());
        }
        if self.client.pulls && self.client.refreshes {
            self.send(Request::new(
                RequestId::from("refresh".to_owned()),
                "workspace/diagnostic/refresh".to_owned(),
                Value::Null,
            ));
        }
    }

    /// Pushes the findings that the client doesn't know, unless it asks for them.
    fn publish(&mut self) {
        for key in std::mem::take(&mut self.unpublished) {
            if self.client.pulls {
                continue;
            }
            let Some(analysis) = self.analysis(&key) else {
                continue;
            };
            let Some(open) = self.documents.get(&key) else {
                continue;
            };
            let uri = &open.document.uri;
            let found = findings::diagnostics(&analysis, uri, self.client.encoding);
            self.push(uri, Some(open.document.version), found);
        }
    }

    fn push(&self, uri: &lsp::Uri, version: Option<i32>, diagnostics: Vec<lsp::Diagnostic>) {
        let params = lsp::PublishDiagnosticsParams {
            uri: uri.clone(),
            version,
            diagnostics,
        };
        self.send(Notification::new(
            "textDocument/publishDiagnostics".to_owned(),
            params,
        ));
    }

    /// Returns what the compiler says of an open document.
    fn analysis(&mut self, key: &str) -> Option<Rc<Analysis>> {
        let open = self.documents.get(key)?;
        if let Some(analysis) = &open.analysis {
            return Some(Rc::clone(analysis));
        }
        let rules = self
            .project
            .rules(&open.document.path, &self.client.folders);
        let (sources, file) = (open.document.sources.clone(), open.document.file);
        let analysis = match rules {
            Ok(rules) => {
                self.problem = None;
                Analysis::new(sources, file, &*rules)
            }
            Err(problem) => {
                if self.problem.as_ref() != Some(&problem) {
                    self.show(lsp::MessageType::Error, problem.clone());
                    self.problem = Some(problem);
                }
                Analysis::new(sources, file, &crate::NoProject)
            }
        };
        let analysis = Rc::new(analysis);
        if let Some(open) = self.documents.get_mut(key) {
            open.analysis = Some(Rc::clone(&analysis));
        }
        Some(analysis)
    }

    fn answer(&mut self, request: Request) -> Response {
        let id = request.id.clone();
        match self.handle(request) {
            Ok(value) => Response::new_ok(id, value),
            Err(reason) => refused(id, reason),
        }
    }

    /// Carries out a request. A document that isn't open, or isn't ours, has an empty answer.
    fn handle(&mut self, request: Request) -> Result<Value, Refused> {
        let encoding = self.client.encoding;
        let Request { id, method, params } = request;
        match method.as_str() {
            "textDocument/diagnostic" => {
                let params: lsp::DocumentDiagnosticParams = parse(params)?;
                let uri = &params.text_document.uri;
                let found = self.analysis(uri.as_ref());
                let items = found.map(|it| findings::diagnostics(&it, uri, encoding));
                Ok(json!({ "kind": "full", "items": items.unwrap_or_default() }))
            }
            "workspace/symbol" => {
                let params: lsp::WorkspaceSymbolParams = parse(params)?;
                Ok(json!(self.workspace_symbols(&id, &params.query)?))
            }
            "textDocument/codeAction" => {
                let params: lsp::CodeActionParams = parse(params)?;
                let uri = &params.text_document.uri;
                let only = params.context.only.as_deref();
                self.with_rules(uri, |analysis, rules| {
                    let context = (rules, encoding);
                    actions::code_actions(analysis, uri, params.range, only, context)
                })
            }
            "textDocument/formatting" => {
                let params: lsp::DocumentFormattingParams = parse(params)?;
                self.with(&params.text_document.uri, |analysis| {
                    actions::formatting(analysis, encoding)
                })
            }
            "textDocument/documentSymbol" => {
                let params: lsp::DocumentSymbolParams = parse(params)?;
                self.with(&params.text_document.uri, |analysis| {
                    symbols::document_symbols(analysis, encoding)
                })
            }
            "textDocument/foldingRange" => {
                let params: lsp::FoldingRangeParams = parse(params)?;
                self.with(&params.text_document.uri, symbols::folding_ranges)
            }
            "textDocument/hover" => {
                let params: lsp::HoverParams = parse(params)?;
                self.at(&params.text_document_position_params, |it, byte| {
                    hover::hover(it, byte, encoding)
                })
            }
            "textDocument/definition" => {
                let params: lsp::DefinitionParams = parse(params)?;
                let place = &params.text_document_position_params;
                self.at(place, |it, byte| {
                    names::definition(it, byte, &place.text_document.uri, encoding)
                })
            }
            "textDocument/references" => {
                let params: lsp::ReferenceParams = parse(params)?;
                let place = &params.text_document_position_params;
                let has_declaration = params.context.include_declaration;
                self.at(place, |it, byte| {
                    let context = (&place.text_document.uri, encoding);
                    names::references(it, byte, has_declaration, context)
                })
            }
            "textDocument/documentHighlight" => {
                let params: lsp::DocumentHighlightParams = parse(params)?;
                self.at(&params.text_document_position_params, |it, byte| {
                    names::highlights(it, byte, encoding)
                })
            }
            "textDocument/completion" => {
                let params: lsp::CompletionParams = parse(params)?;
                let tools = self.project.tools();
                self.at(&params.text_document_position_params, |it, byte| {
                    completion::complete(it, byte, &tools, encoding)
                })
            }
            "textDocument/prepareRename" | "textDocument/rename" => self.rename(&method, params),
            _ => self.handle_others(&method, params),
        }
    }

    fn rename(&mut self, method: &str, params: Value) -> Result<Value, Refused> {
        let encoding = self.client.encoding;
        let failed = |reason| (ErrorCode::RequestFailed, reason);
        if method == "textDocument/prepareRename" {
            let params: lsp::PrepareRenameParams = parse(params)?;
            let place = &params.text_document_position_params;
            let Some((analysis, byte)) = self.locate(place) else {
                return Ok(Value::Null);
            };
            let prepared = names::prepare_rename(&analysis, byte, encoding).map_err(failed)?;
            return Ok(json!(prepared));
        }
        let params: lsp::RenameParams = parse(params)?;
        let place = &params.text_document_position_params;
        let uri = &place.text_document.uri;
        let Some((analysis, byte)) = self.locate(place) else {
            return Ok(Value::Null);
        };
        let path = self
            .documents
            .get(uri.as_ref())
            .map(|it| it.document.path.clone());
        let rules = self
            .project
            .rules(&path.unwrap_or_default(), &self.client.folders);
        let rules = rules.map_err(failed)?;
        let edits = names::rename(&analysis, byte, &params.new_name, (&*rules, encoding));
        Ok(json!(actions::workspace_edit(uri, edits.map_err(failed)?)))
    }

    fn handle_others(&mut self, method: &str, params: Value) -> Result<Value, Refused> {
        let encoding = self.client.encoding;
        match method {
            "textDocument/semanticTokens/full" => {
                let params: lsp::SemanticTokensParams = parse(params)?;
                self.with(&params.text_document.uri, |analysis| {
                    decoration::semantic_tokens(analysis, encoding)
                })
            }
            "textDocument/inlayHint" => {
                let params: lsp::InlayHintParams = parse(params)?;
                self.with(&params.text_document.uri, |analysis| {
                    decoration::inlay_hints(analysis, params.range, encoding)
                })
            }
            "textDocument/codeLens" => {
                let params: lsp::CodeLensParams = parse(params)?;
                let uri = &params.text_document.uri;
                let commands = self.client.commands.clone();
                self.with(uri, |analysis| {
                    decoration::code_lenses(analysis, uri, &commands, encoding)
                })
            }
            drawing::METHOD => {
                let params: drawing::DrawingParams = parse(params)?;
                self.with(&params.text_document.uri, |it| drawing::draw(it, &params))
            }
            _ => {
                let message = format!("this server has no `{method}`");
                Err((ErrorCode::MethodNotFound, message))
            }
        }
    }

    /// Answers from an open document.
    fn with<T: Serialize>(
        &mut self,
        uri: &lsp::Uri,
        ask: impl FnOnce(&Analysis) -> T,
    ) -> Result<Value, Refused> {
        Ok(self
            .analysis(uri.as_ref())
            .map_or(Value::Null, |it| json!(ask(&it))))
    }

    /// Answers from an open document and the rules for it.
    fn with_rules<T: Serialize>(
        &mut self,
        uri: &lsp::Uri,
        ask: impl FnOnce(&Analysis, &dyn crate::FileRules) -> T,
    ) -> Result<Value, Refused> {
        let Some(analysis) = self.analysis(uri.as_ref()) else {
            return Ok(Value::Null);
        };
        let Some(open) = self.documents.get(uri.as_ref()) else {
            return Ok(Value::Null);
        };
        let rules = self
            .project
            .rules(&open.document.path, &self.client.folders);
        Ok(match rules {
            Ok(rules) => json!(ask(&analysis, &*rules)),
            Err(_) => json!(ask(&analysis, &crate::NoProject)),
        })
    }

    /// Answers from a place of an open document.
    fn at<T: Serialize>(
        &mut self,
        place: &lsp::TextDocumentPositionParams,
        ask: impl FnOnce(&Analysis, usize) -> T,
    ) -> Result<Value, Refused> {
        let found = self.locate(place);
        Ok(found.map_or(Value::Null, |(analysis, byte)| json!(ask(&analysis, byte))))
    }

    fn locate(&mut self, place: &lsp::TextDocumentPositionParams) -> Option<(Rc<Analysis>, usize)> {
        let key = place.text_document.uri.as_ref();
        let analysis = self.analysis(key)?;
        let document = &self.documents.get(key)?.document;
        let byte = document.offset(place.position, self.client.encoding);
        Some((analysis, byte))
    }

    /// Returns the states and machines of a name.
    ///
    /// Open documents count as they are, all others as they are in files.
    fn workspace_symbols(
        &mut self,
        id: &RequestId,
        query: &str,
    ) -> Result<Vec<lsp::SymbolInformation>, Refused> {
        /// Most symbols of an answer. Why: a person reads a list of them, and types another letter.
        const MOST: usize = 500;
        let encoding = self.client.encoding;
        let mut found = Vec::new();
        let keys: Vec<String> = self.documents.keys().cloned().collect();
        for key in &keys {
            if let Some(analysis) = self.analysis(key) {
                let symbols = symbols::document_symbols(&analysis, encoding);
                let uri = lsp::Uri::from(key.as_str());
                symbols::add_matching(&symbols, query, &uri, &mut found);
            }
        }
        let open = self.documents.values().map(|it| it.document.path.clone());
        let mut seen: BTreeSet<PathBuf> = open.collect();
        for folder in &self.client.folders {
            for file in self.project.specs(folder) {
                if found.len() >= MOST {
                    found.truncate(MOST);
                    return Ok(found);
                }
                if !seen.insert(file.path.clone()) {
                    continue;
                }
                if self.inbox.is_cancelled(id) {
                    return Err(cancelled());
                }
                let symbols = self.outlines.outline(&file, self.project, encoding);
                let uri = uri_of(&file.path);
                symbols::add_matching(&symbols, query, &uri, &mut found);
            }
        }
        self.outlines.keep_only(&seen);
        found.truncate(MOST);
        Ok(found)
    }
}

fn send(connection: &Connection, message: impl Into<Message>) {
    // A client that has hung up is noticed when it is read from.
    let _ = connection.sender.send(message.into());
}

fn read<T: DeserializeOwned>(params: Value) -> Option<T> {
    serde_json::from_value(params).ok()
}

fn parse<T: DeserializeOwned>(params: Value) -> Result<T, Refused> {
    serde_json::from_value(params)
        .map_err(|error| (ErrorCode::InvalidParams, format!("can't be read: {error}")))
}

fn refused(id: RequestId, (code, message): Refused) -> Response {
    Response::new_err(id, code as i32, message)
}

fn cancelled() -> Refused {
    (ErrorCode::RequestCanceled, "cancelled".to_owned())
}

fn invalid(id: RequestId, error: &serde_json::Error) -> Response {
    refused(
        id,
        (ErrorCode::InvalidParams, format!("can't be read: {error}")),
    )
}
