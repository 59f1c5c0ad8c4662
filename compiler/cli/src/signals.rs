//! Signals that ask the process to end: from the keyboard, a closed terminal, or a service manager.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::{Failure, system_message};

/// Returns a future that is ready when the process is asked to end, which doesn't end it at once then.
///
/// It has the name of the signal.
#[cfg(unix)]
pub(crate) fn end_signal() -> std::io::Result<impl Future<Output = &'static str>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut ended = signal(SignalKind::terminate())?;
    let hangup = (!outlives_its_terminal()).then(|| signal(SignalKind::hangup()));
    let mut hangup = hangup.transpose()?;
    Ok(async move {
        let hung_up = async {
            match &mut hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = interrupted.recv() => "SIGINT",
            _ = ended.recv() => "SIGTERM",
            _ = hung_up => "SIGHUP",
        }
    })
}

/// Reports whether the process was started to outlive its terminal (`nohup`).
///
/// The signal is ignored then, and listening for it would change that. Where the system doesn't tell, it is assumed that
/// it wasn't.
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
pub(crate) fn end_signal() -> std::io::Result<impl Future<Output = &'static str>> {
    let mut interrupted = tokio::signal::windows::ctrl_c()?;
    Ok(async move {
        interrupted.recv().await;
        "Ctrl-C"
    })
}

/// Returns a function that reports whether the process was asked to end, which doesn't end it at once.
pub(crate) fn watch_end() -> Result<impl Fn() -> bool + use<>, Failure> {
    try_watch_end().map_err(|error| {
        let message = system_message(&error);
        Failure::new(format!("signals can't be handled: {message}"))
    })
}

fn try_watch_end() -> std::io::Result<impl Fn() -> bool + use<>> {
    let tokio = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let signal = {
        let _guard = tokio.enter();
        end_signal()?
    };
    let is_asked = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_asked);
    std::thread::Builder::new()
        .name("statemark-signals".to_owned())
        .spawn(move || {
            tokio.block_on(signal);
            flag.store(true, Ordering::Relaxed);
        })?;
    Ok(move || is_asked.load(Ordering::Relaxed))
}
