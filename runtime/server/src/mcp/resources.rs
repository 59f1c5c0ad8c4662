//! `resources/list`, `resources/templates/list` and `resources/read`.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::{
    CacheScope, ListResourceTemplatesResult, ListResourcesResult, MetaObject,
    PaginatedRequestParams, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::json;

use statemark_tools::{Address, Effort};

use super::Server;
use super::pages::{page, ranked};
use crate::resource::{self, Template};

/// The lifetime of texts of specs. Unit: milliseconds. Why: specs may change at any time.
const LIFETIME: u64 = 5_000;

/// The key in `_meta` with the address of the rest.
const NEXT: &str = "statemark/next";

/// Lists a page of the resources.
pub(super) async fn list(
    server: &Server,
    asked: Option<PaginatedRequestParams>,
    context: &RequestContext<RoleServer>,
) -> Result<ListResourcesResult, ErrorData> {
    let entries = server.ask(context, |_, ctx| resource::list(ctx)).await?;
    let (entries, next) = ranked(entries, |it| &it.address, resource::rank, asked)?;
    let resources = entries.into_iter().map(|entry| {
        let name = entry.address.strip_prefix(Address::SCHEME);
        let name = name.unwrap_or(&entry.address).to_owned();
        let mut resource = Resource::new(entry.address, name).with_title(entry.title);
        if !entry.description.is_empty() {
            resource = resource.with_description(entry.description);
        }
        if !entry.media.is_empty() {
            resource = resource.with_mime_type(entry.media);
        }
        resource
    });
    let mut answer = ListResourcesResult::with_all_items(resources.collect())
        .with_ttl_ms(0)
        .with_cache_scope(CacheScope::Private);
    answer.next_cursor = next;
    Ok(answer)
}

/// Lists a page of the templates of addresses.
pub(super) fn templates(
    server: &Server,
    asked: Option<PaginatedRequestParams>,
) -> Result<ListResourceTemplatesResult, ErrorData> {
    let all = resource::templates(&server.hub.dispatcher.ctx(&server.caller));
    let (shown, next) = page(all, |it: &Template| it.0, asked)?;
    let templates = shown.into_iter().map(|(uri, name, description, media)| {
        let template = ResourceTemplate::new(uri, name).with_description(description);
        if media.is_empty() {
            template
        } else {
            template.with_mime_type(media)
        }
    });
    let mut answer = ListResourceTemplatesResult::with_all_items(templates.collect())
        .with_ttl_ms(LIFETIME)
        .with_cache_scope(CacheScope::Public);
    answer.next_cursor = next;
    Ok(answer)
}

/// Reads a resource: as text if it is text, else as base64.
pub(super) async fn read(
    server: &Server,
    uri: String,
    context: &RequestContext<RoleServer>,
) -> Result<ReadResourceResponse, ErrorData> {
    let address = Address::parse(&uri);
    let effort = match &address {
        Ok(address) if address.is_drawing() => Effort::Compiling,
        _ => Effort::Long,
    };
    let read = server.ask_at(context, effort, move |_, ctx| {
        let address = address?;
        let content = resource::read(ctx, &address)?;
        Ok((content, address.run().is_some()))
    });
    let (content, is_of_run) = read.await?;
    let contents = match String::from_utf8(content.bytes) {
        Ok(text) => ResourceContents::text(text, uri),
        Err(error) => ResourceContents::blob(BASE64_STANDARD.encode(error.as_bytes()), uri),
    };
    let mut contents = contents.with_mime_type(content.media);
    if let Some(more) = content.more {
        let mut meta = MetaObject::default();
        meta.insert(NEXT.to_owned(), json!(more.to_string()));
        contents = contents.with_meta(meta);
    }
    let answer = ReadResourceResult::new(vec![contents])
        .with_ttl_ms(if is_of_run { 0 } else { LIFETIME })
        .with_cache_scope(CacheScope::Private);
    Ok(answer.into())
}
