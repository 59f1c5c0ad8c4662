//! Notifications to clients: of changed lists, and of the runs that they have subscribed to.
//!
//! A client of the older era gets them in its session once it has sent `initialized`; one of the newer era as long as
//! its `subscriptions/listen` lasts. Authority is checked anew for each notification.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionSink};
use statemark_tools::{Address, Caller, Ctx, Dispatcher, Problem};
use tokio::sync::broadcast::error::RecvError;

use crate::hub::Hub;
use crate::notifications::{Interest, Notification, Publisher};

/// Most addresses of a client. Why: each is compared with every notification.
const MAX_ADDRESSES: usize = 1_000;

/// The interval at which a session is checked for its end.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// The addresses that a client of the older era has subscribed to.
#[derive(Clone, Default)]
pub(super) struct Subscriptions(Arc<Mutex<Subscribed>>);

#[derive(Default)]
struct Subscribed {
    uris: BTreeSet<String>,
    /// There while there are addresses.
    interest: Option<Interest>,
}

impl Subscriptions {
    fn lock(&self) -> MutexGuard<'_, Subscribed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an address, on a thread that may block: whatever changes once this has returned is told.
    pub(super) fn add(&self, uri: String, publisher: &Publisher) -> Result<(), Problem> {
        let (interest, _) = publisher.take_interest();
        let mut all = self.lock();
        if all.uris.len() >= MAX_ADDRESSES && !all.uris.contains(&uri) {
            let message = format!("a session can subscribe to {MAX_ADDRESSES} addresses at most");
            return Err(Problem::new("invalid_arguments", message));
        }
        all.uris.insert(uri);
        all.interest = Some(interest);
        Ok(())
    }

    pub(super) fn remove(&self, uri: &str) {
        let mut all = self.lock();
        all.uris.remove(uri);
        if all.uris.is_empty() {
            all.interest = None;
        }
    }

    fn all(&self) -> Vec<String> {
        self.lock().uris.iter().cloned().collect()
    }
}

/// A receiver of notifications.
pub(super) enum Subscriber {
    /// A session of the older era.
    Session(Peer<RoleServer>, Subscriptions),
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

impl Subscriber {
    fn addresses(&self) -> Vec<String> {
        match self {
            Self::Session(_, subscribed) => subscribed.all(),
            Self::Stream(_, uris) => uris.iter().take(MAX_ADDRESSES).cloned().collect(),
        }
    }

    fn is_closed(&self) -> bool {
        match self {
            Self::Session(peer, _) => peer.is_transport_closed(),
            Self::Stream(..) => false,
        }
    }

    /// Notifies the client of a changed list. Does nothing if the client has left or didn't ask for it.
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

/// Checks that a caller may hear of an address.
pub(super) fn check(ctx: &Ctx<'_>, uri: &str) -> Result<(), Problem> {
    let address = Address::parse(uri)?;
    address.check(ctx)?;
    match address.run() {
        Some(run) => ctx.resolve_run(Some(run.as_str())).map(drop),
        None => Ok(()),
    }
}

/// Notifies a client of changes, until it has left.
pub(super) async fn follow(hub: Arc<Hub>, caller: Caller, subscriber: Subscriber) {
    let dispatcher = Arc::clone(&hub.dispatcher);
    let is_bound = dispatcher.ctx(&caller).bound_run().is_some();
    // A session takes an interest with its first address.
    let is_interested =
        is_bound || matches!(&subscriber, Subscriber::Stream(_, uris) if !uris.is_empty());
    let began = {
        let (hub, caller) = (Arc::clone(&hub), caller.clone());
        tokio::task::spawn_blocking(move || {
            let notifications = hub.publisher.subscribe();
            let interest = is_interested.then(|| hub.publisher.take_interest().0);
            (notifications, interest, tools(&hub.dispatcher, &caller))
        })
    };
    let Ok((mut notifications, _interest, mut known)) = began.await else {
        return;
    };
    loop {
        let item = match tokio::time::timeout(CHECK_INTERVAL, notifications.recv()).await {
            Err(_) if subscriber.is_closed() => return,
            Err(_) => continue,
            Ok(Ok(item)) => Some(item),
            // A client that has missed something reads everything.
            Ok(Err(RecvError::Lagged(_))) => None,
            Ok(Err(RecvError::Closed)) => return,
        };
        let uris = subscriber.addresses();
        // Somebody else's interest: a busy store changes a thousand times a second.
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
            subscriber.changed(List::Tools).await;
        }
        if matches!(item, None | Some(Notification::Workflows)) {
            subscriber.changed(List::Prompts).await;
            subscriber.changed(List::Resources).await;
        }
        for uri in uris {
            subscriber.updated(uri).await;
        }
        if subscriber.is_closed() {
            return;
        }
    }
}

/// Returns the present tools if they may have changed, and the addresses that may have.
fn look(
    dispatcher: &Dispatcher,
    caller: &Caller,
    item: Option<&Notification>,
    uris: Vec<String>,
) -> (Option<Vec<Cow<'static, str>>>, Vec<String>) {
    let ctx = dispatcher.ctx(caller);
    let concerns = match (item, ctx.bound_run()) {
        (None | Some(Notification::Tools), _) => true,
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

fn tools(dispatcher: &Dispatcher, caller: &Caller) -> Vec<Cow<'static, str>> {
    dispatcher.offered_tools(caller, |tool| tool.name.clone())
}
