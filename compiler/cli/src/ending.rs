//! Somebody asks the process to end: by the keyboard, by closing the terminal, or as service managers do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is over when somebody asks the process to end. From now on that doesn't end it at once.
#[cfg(unix)]
pub(crate) fn asked_to_end() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut ended = signal(SignalKind::terminate())?;
    let left = (!outlives_its_terminal()).then(|| signal(SignalKind::hangup()));
    let mut left = left.transpose()?;
    Ok(async move {
        let left = async {
            match &mut left {
                Some(left) => left.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = ended.recv() => {}
            _ = left => {}
        }
    })
}

/// Whether it was begun so that it goes on when its terminal is closed (`nohup`): then that signal is ignored, and listening
/// for it would change that. Where the system doesn't say it, nobody has.
#[cfg(unix)]
fn outlives_its_terminal() -> bool {
    const HANGUP: u64 = 1;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut ignored = status
        .lines()
        .filter_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored
        .next()
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & HANGUP != 0)
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
