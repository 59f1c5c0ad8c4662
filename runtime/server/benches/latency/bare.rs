//! The bare server: one rmcp tool that returns the rows of a run.
//!
//! It reads them by prepared statements, and returns them as they are.

use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::serve::ListenerExt as _;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, JsonObject, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde_json::{Map, Value, json};

#[derive(Clone)]
struct Bare(Arc<Mutex<Connection>>);

impl Bare {
    fn new(folder: &Path) -> Self {
        let connection = Connection::open(folder.join("runs.db")).unwrap();
        connection.set_prepared_statement_cache_capacity(16);
        Self(Arc::new(Mutex::new(connection)))
    }

    /// Reads the run, its fold, and the records after the fold.
    fn rows(&self, run: &str) -> Value {
        let connection = self.0.lock().unwrap();
        let all = |sql: &str| {
            let mut statement = connection.prepare_cached(sql).unwrap();
            let mut rows = statement.query([run]).unwrap();
            let mut found = Vec::new();
            while let Some(row) = rows.next().unwrap() {
                found.push(object(row));
            }
            found
        };
        json!({
            "run": all("SELECT * FROM runs WHERE run = ?1"),
            "fold": all("SELECT * FROM folds WHERE run = ?1"),
            "records": all("SELECT * FROM records WHERE run = ?1 AND seq > (SELECT max(seq) FROM folds WHERE run = ?1)"),
        })
    }
}

fn object(row: &Row<'_>) -> Value {
    let names = row.as_ref().column_names();
    let fields = names.enumerate().map(|(index, name)| {
        let value = match row.get_ref(index).unwrap() {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => json!(number),
            ValueRef::Real(number) => json!(number),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => json!(String::from_utf8_lossy(bytes)),
        };
        (name.to_owned(), value)
    });
    Value::Object(fields.collect::<Map<_, _>>())
}

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = Tool::new("get_run", "Rows of a run.", Arc::new(JsonObject::default()));
        Ok(ListToolsResult {
            tools: vec![tool],
            ..ListToolsResult::default()
        })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let run = arguments.get("run_id").and_then(Value::as_str);
        let rows = self.rows(run.unwrap_or_default());
        Ok(CallToolResult::structured(rows).into())
    }
}

pub(crate) fn stdio(folder: &Path) {
    let server = Bare::new(folder);
    runtime().unwrap().block_on(async {
        let running = server.serve(rmcp::transport::stdio()).await.unwrap();
        running.waiting().await.unwrap();
    });
}

pub(crate) fn http(folder: &Path) {
    let server = Bare::new(folder);
    let service: StreamableHttpService<Bare, LocalSessionManager> = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::default(),
        StreamableHttpServerConfig::default(),
    );
    runtime().unwrap().block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("{}", listener.local_addr().unwrap());
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap());
        let router = axum::Router::new().nest_service("/mcp", service);
        axum::serve(listener, router).await.unwrap();
    });
}

/// Makes the runtime as most servers do.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.enable_all().build()
}
