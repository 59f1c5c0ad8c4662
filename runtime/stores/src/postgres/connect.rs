//! From an address to a pool of connections.

use std::time::Duration;

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime as PoolRuntime,
};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Config, NoTls};

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

/// Parses an address.
/// What is wrong with it is told without quoting it, because it may hold a password.
pub(super) fn config(address: &str) -> Result<Config, StoreError> {
    let mut config: Config = address.parse().map_err(|_| StoreError::Invalid {
        what: "the address of the store isn't one of PostgreSQL; they look like \
               `postgres://user:password@host:5432/database`, with `%40` for an `@` in a password"
            .to_owned(),
    })?;
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECTING);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(SILENCE);
    }
    config.keepalives_idle(SILENCE);
    if config.get_application_name().is_none() {
        config.application_name("statemark");
    }
    Ok(config)
}

/// Connections are made when they are needed.
pub(super) fn pool(config: Config) -> Result<Pool, StoreError> {
    let recycling_method = RecyclingMethod::Fast;
    let manager = Manager::from_config(config, NoTls, ManagerConfig { recycling_method });
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

/// Returns the threads that speak to the server; whoever asks waits on its own.
pub(super) fn runtime() -> Result<Runtime, StoreError> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("statemark-postgres")
        .enable_io()
        .enable_time()
        .build();
    runtime.map_err(|error| StoreError::Failed {
        doing: "opening the store",
        cause: error.to_string(),
    })
}
