//! From an address to a pool of connections.

use std::time::Duration;

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime as PoolRuntime,
};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::config::SslMode;

use super::address::{self, Address};
use super::tls::{Mode, Tls};
use statemark_runs::store::StoreError;

/// Most connections of one process. Why: a server has a hundred for everybody, and 16 reach its rate.
const CONNECTIONS: usize = 16;

/// Longest wait for a new connection, or for one to become free.
const CONNECTING: Duration = Duration::from_secs(10);

/// After how long a silent peer is given up.
const SILENCE: Duration = Duration::from_secs(30);

/// A server that was told not to wait for its disk would lose what it has acknowledged.
/// One that waits for more than its own disk is left as it is.
const DURABLE: &str = "SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit', true) = 'off'";

/// Reads an address, with our own limits where it names none.
pub(super) fn read(address: &str) -> Result<Address, StoreError> {
    let mut address = address::read(address)?;
    let config = &mut address.config;
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECTING);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(SILENCE);
    }
    config.keepalives_idle(SILENCE);
    Ok(address)
}

/// Returns the address with the other choice of TLS, if the mode leaves it to the server.
pub(super) fn other_way(address: &Address) -> Option<Address> {
    let mode = match address.tls.mode {
        Mode::Allow => SslMode::Require,
        Mode::Prefer => SslMode::Disable,
        _ => return None,
    };
    let Address { mut config, tls } = address.clone();
    config.ssl_mode(mode);
    let mode = Mode::Prefer;
    Some(Address {
        config,
        tls: Tls { mode, ..tls },
    })
}

/// Reports whether a connection failed because of TLS, or for want of it.
///
/// Then the server's rules have no place for the user (28000), or the two sides have no TLS in common.
pub(super) fn is_about_tls(error: &StoreError) -> bool {
    let message = error.to_string();
    message.contains("(28000)") || message.contains("TLS")
}

/// Connections are made when they are needed.
pub(super) fn pool(address: Address) -> Result<Pool, StoreError> {
    let recycling_method = RecyclingMethod::Fast;
    let connector = address.tls.connector()?;
    let config = ManagerConfig { recycling_method };
    let manager = Manager::from_config(address.config, connector, config);
    let durable = Hook::async_fn(|client, _| {
        Box::pin(async move {
            let done = client.batch_execute(DURABLE).await;
            done.map_err(HookError::Backend)
        })
    });
    let pool = Pool::builder(manager)
        .max_size(CONNECTIONS)
        .create_timeout(Some(CONNECTING))
        .wait_timeout(Some(CONNECTING))
        .runtime(PoolRuntime::Tokio1)
        .post_create(durable)
        .build();
    pool.map_err(|error| StoreError::Failed {
        doing: "opening the store",
        cause: error.to_string(),
    })
}

/// Returns the runtime whose thread speaks to the server; whoever asks waits on its own.
///
/// One thread: a second would be woken with it each time, and would find nothing to do.
pub(super) fn runtime() -> Result<Runtime, StoreError> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("statemark-postgres")
        .enable_io()
        .enable_time()
        .build();
    runtime.map_err(|error| StoreError::Failed {
        doing: "opening the store",
        cause: error.to_string(),
    })
}
