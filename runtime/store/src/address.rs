//! Stores by address.

use std::path::Path;
use std::sync::Arc;

use crate::clock::Clock;
use crate::memory::MemoryStore;
use crate::sqlite::SqliteStore;
use crate::store::{Store, StoreError};

/// Opens the store at an address: `memory:`, `sqlite:PATH`, or a path, which is SQLite's.
///
/// # Errors
///
/// The address isn't one; what it leads to can't be opened.
pub fn open(address: &str, clock: Arc<dyn Clock>) -> Result<Arc<dyn Store>, StoreError> {
    if address == "memory:" {
        return Ok(Arc::new(MemoryStore::new(clock)));
    }
    let path = address.strip_prefix("sqlite:").unwrap_or(address);
    if path.is_empty() || path.contains("://") {
        let what = format!("`{address}` is no address of a store; write `sqlite:PATH`");
        return Err(StoreError::Invalid { what });
    }
    Ok(Arc::new(SqliteStore::open(Path::new(path), clock)?))
}
