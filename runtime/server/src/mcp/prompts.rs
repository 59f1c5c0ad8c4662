//! `prompts/list` and `prompts/get`, for the prompts of `prompt.rs`.

use rmcp::model::{
    CacheScope, GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult,
    PaginatedRequestParams, Prompt, PromptArgument, PromptMessage, Role,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use super::Server;
use super::pages::page;
use crate::prompt;

/// The lifetime of the list. Unit: milliseconds.
///
/// Why: each spec has a prompt, and specs may change at any time.
const LIFETIME: u64 = 5_000;

/// Lists a page of the prompts.
pub(super) async fn list(
    server: &Server,
    asked: Option<PaginatedRequestParams>,
    context: &RequestContext<RoleServer>,
) -> Result<ListPromptsResult, ErrorData> {
    let all = server.ask(context, |_, ctx| Ok(prompt::list(ctx))).await?;
    let (shown, next) = page(all, |it| &it.name, asked)?;
    let prompts = shown.into_iter().map(|prompt| {
        let arguments = prompt.arguments.iter().map(|(name, description)| {
            PromptArgument::new(*name)
                .with_description(*description)
                .with_required(false)
        });
        Prompt::new(
            prompt.name,
            Some(prompt.description),
            Some(arguments.collect()),
        )
        .with_title(prompt.title)
    });
    let mut answer = ListPromptsResult::with_all_items(prompts.collect())
        .with_ttl_ms(LIFETIME)
        .with_cache_scope(CacheScope::Private);
    answer.next_cursor = next;
    Ok(answer)
}

/// Returns the text of a prompt.
pub(super) async fn get(
    server: &Server,
    request: GetPromptRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<GetPromptResponse, ErrorData> {
    let arguments = request.arguments.unwrap_or_default();
    let name = request.name;
    let text = server.ask(context, move |_, ctx| prompt::write(ctx, &name, &arguments));
    let messages = vec![PromptMessage::new_text(Role::User, text.await?)];
    Ok(GetPromptResult::new(messages).into())
}
