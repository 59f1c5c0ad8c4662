//! Somebody asks the process to end: by the keyboard, or as service managers do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is over when somebody asks the process to end. From now on that doesn't end it at once.
#[cfg(unix)]
pub(crate) fn asked_to_end() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut ended = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = ended.recv() => {}
        }
    })
}

#[cfg(not(unix))]
pub(crate) fn asked_to_end() -> std::io::Result<impl Future<Output = ()>> {
    let mut interrupted = tokio::signal::windows::ctrl_c()?;
    Ok(async move {
        interrupted.recv().await;
    })
}

/// Whether somebody has asked the process to end, once it doesn't end at once any more.
///
/// # Errors
///
/// The system doesn't let signals be waited for.
pub(crate) fn is_asked_to_end() -> std::io::Result<impl Fn() -> bool + use<>> {
    let tokio = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let asked = {
        let _guard = tokio.enter();
        asked_to_end()?
    };
    let is_asked = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&is_asked);
    std::thread::Builder::new()
        .name("statemark-ending".to_owned())
        .spawn(move || {
            tokio.block_on(asked);
            told.store(true, Ordering::Relaxed);
        })?;
    Ok(move || is_asked.load(Ordering::Relaxed))
}
