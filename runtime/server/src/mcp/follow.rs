//! What a client hears of by itself: changed lists, and runs that it has subscribed to.
//!
//! A client of the older era hears it in its session once it has said `initialized`; one of the newer era for as long as
//! its `subscriptions/listen` goes on. Authority is asked anew for each piece of news.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionSink};
use rmcp::{ErrorData, RoleServer};
use tokio::sync::broadcast::error::RecvError;

use crate::caller::Caller;
use crate::ctx::Ctx;
use crate::dispatch::Dispatcher;
use crate::notifications::Notification;
use crate::problem::Problem;
use crate::resource::Address;

/// Most addresses that one client hears of. Why: each is looked at for every piece of news.
const MOST: usize = 1_000;

/// How often a session is asked whether it is still there.
const THERE: Duration = Duration::from_secs(5);

/// What a client of the older era has asked to hear of.
#[derive(Clone, Debug, Default)]
pub(super) struct Subscribed(Arc<Mutex<BTreeSet<String>>>);

impl Subscribed {
    pub(super) fn add(&self, uri: String) -> Result<(), ErrorData> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST && !all.contains(&uri) {
            let message = format!("a session hears of {MOST} addresses at most");
            return Err(ErrorData::invalid_params(message, None));
        }
        all.insert(uri);
        Ok(())
    }

    pub(super) fn remove(&self, uri: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(uri);
    }

    fn all(&self) -> Vec<String> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().cloned().collect()
    }
}

/// Where news go.
pub(super) enum Outlet {
    /// A session of the older era.
    Session(Peer<RoleServer>, Subscribed),
    /// A subscription of the newer one, with the addresses that it is about.
    Stream(SubscriptionSink, Vec<String>),
}

/// A list that has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    Tools,
    Prompts,
    Resources,
}

impl Outlet {
    fn addresses(&self) -> Vec<String> {
        match self {
            Self::Session(_, subscribed) => subscribed.all(),
            Self::Stream(_, uris) => uris.iter().take(MOST).cloned().collect(),
        }
    }

    fn is_closed(&self) -> bool {
        match self {
            Self::Session(peer, _) => peer.is_transport_closed(),
            Self::Stream(..) => false,
        }
    }

    /// A client that is gone, or didn't ask for this list, hears nothing.
    async fn changed(&self, list: List) {
        match self {
            Self::Session(peer, _) => drop(match list {
                List::Tools => peer.notify_tool_list_changed().await,
                List::Prompts => peer.notify_prompt_list_changed().await,
                List::Resources => peer.notify_resource_list_changed().await,
            }),
            Self::Stream(sink, _) => drop(match list {
                List::Tools => sink.notify_tool_list_changed().await,
                List::Prompts => sink.notify_prompt_list_changed().await,
                List::Resources => sink.notify_resource_list_changed().await,
            }),
        }
    }

    async fn updated(&self, uri: String) {
        match self {
            Self::Session(peer, _) => {
                let param = ResourceUpdatedNotificationParam::new(uri);
                drop(peer.notify_resource_updated(param).await);
            }
            Self::Stream(sink, _) => drop(sink.notify_resource_updated(uri).await),
        }
    }
}

/// Whether a caller may hear of an address.
pub(super) fn check(ctx: &Ctx<'_>, uri: &str) -> Result<(), Problem> {
    let address = Address::parse(uri)?;
    address.check(ctx)?;
    match address.run() {
        Some(run) => ctx.resolve_run(Some(run.as_str())).map(drop),
        None => Ok(()),
    }
}

/// Tells a client what is new for it, until it is gone.
pub(super) async fn follow(dispatcher: Arc<Dispatcher>, caller: Caller, outlet: Outlet) {
    let began = {
        let (dispatcher, caller) = (Arc::clone(&dispatcher), caller.clone());
        tokio::task::spawn_blocking(move || {
            (
                dispatcher.publisher().subscribe(),
                tools(&dispatcher, &caller),
            )
        })
    };
    let Ok(((mut notifications, _), mut known)) = began.await else {
        return;
    };
    let is_bound = dispatcher.ctx(&caller).bound_run().is_some();
    loop {
        let item = match tokio::time::timeout(THERE, notifications.recv()).await {
            Err(_) if outlet.is_closed() => return,
            Err(_) => continue,
            Ok(Ok(item)) => Some(item),
            // Whoever has missed something looks at everything.
            Ok(Err(RecvError::Lagged(_))) => None,
            Ok(Err(RecvError::Closed)) => return,
        };
        let uris = outlet.addresses();
        // Most clients have asked for nothing, and a busy store has news a thousand times a second.
        if matches!(item, Some(Notification::Run { .. })) && !is_bound && uris.is_empty() {
            continue;
        }
        let looked = {
            let (dispatcher, caller) = (Arc::clone(&dispatcher), caller.clone());
            let item = item.clone();
            tokio::task::spawn_blocking(move || look(&dispatcher, &caller, item.as_ref(), uris))
        };
        let Ok((tools, uris)) = looked.await else {
            return;
        };
        if let Some(tools) = tools.filter(|tools| *tools != known) {
            known = tools;
            outlet.changed(List::Tools).await;
        }
        if !matches!(item, Some(Notification::Run { .. })) {
            outlet.changed(List::Prompts).await;
            outlet.changed(List::Resources).await;
        }
        for uri in uris {
            outlet.updated(uri).await;
        }
        if outlet.is_closed() {
            return;
        }
    }
}

/// The tools that a caller is offered now, if they may be others; and the addresses that are worth another look.
fn look(
    dispatcher: &Dispatcher,
    caller: &Caller,
    item: Option<&Notification>,
    uris: Vec<String>,
) -> (Option<Vec<&'static str>>, Vec<String>) {
    let ctx = dispatcher.ctx(caller);
    let concerns = match (item, ctx.bound_run()) {
        (_, None) => false,
        (Some(Notification::Run { run, .. }), Some(bound)) => run == bound,
        (_, Some(_)) => true,
    };
    let is_new = |uri: &String| {
        let Ok(address) = Address::parse(uri) else {
            return false;
        };
        let is_about = match (item, address.run()) {
            (None, _) | (Some(Notification::Workflows), None) => true,
            (Some(Notification::Run { run, .. }), Some(own)) => run == own,
            _ => false,
        };
        is_about && check(&ctx, uri).is_ok()
    };
    let uris = uris.into_iter().filter(is_new).collect();
    (concerns.then(|| tools(dispatcher, caller)), uris)
}

fn tools(dispatcher: &Dispatcher, caller: &Caller) -> Vec<&'static str> {
    dispatcher
        .offered_tools(caller)
        .iter()
        .map(|tool| tool.name)
        .collect()
}
