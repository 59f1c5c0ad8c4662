//! `completion/complete`.

use std::collections::BTreeMap;

use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use super::Server;
use crate::complete::{self, Owner};

/// Completes an argument of a prompt or a part of an address.
pub(super) async fn complete(
    server: &Server,
    request: CompleteRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CompleteResult, ErrorData> {
    let others = request.context.and_then(|it| it.arguments);
    let others: BTreeMap<String, String> = others.into_iter().flatten().collect();
    let argument = request.argument;
    let reference = request.r#ref;
    let found = server.ask(context, move |_, ctx| {
        let owner = match &reference {
            Reference::Prompt(it) => Owner::Prompt(&it.name),
            Reference::Resource(it) => Owner::Template(&it.uri),
            _ => return Ok((Vec::new(), false)),
        };
        let asked = (argument.name.as_str(), argument.value.as_str());
        Ok(complete::complete(ctx, &owner, asked, &others))
    });
    let (values, more) = found.await?;
    let total = u32::try_from(values.len()).ok().filter(|_| !more);
    let info = CompletionInfo::with_pagination(values, total, more);
    let info = info.map_err(|error| ErrorData::internal_error(error, None))?;
    Ok(CompleteResult::new(info))
}
