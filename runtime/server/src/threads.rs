//! The thread of a turn: the one that has its request, or another.
//!
//! To hand a turn to another thread and its answer back wakes two threads, and that takes as long as most turns do. So
//! brief ones work where their request is, on a thread of the runtime. A thread that works looks after nothing else, and
//! a brief turn may take long all the same, since another process may hold the store. Therefore:
//!
//! - One thread of the runtime is kept free of turns, whatever comes; what finds no slot has a thread of its own.
//! - A turn that takes longer than most has a watchdog wake another thread, which looks after what came meanwhile: a
//!   ping, a cancellation, a request. The runtime wakes none by itself, for as it sees things the first is busy.
//!
//! Only threads of [`runtime`] work so: those of others may be needed for something else.

use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinError;

/// Threads of the runtime beyond one for each core.
///
/// Why: one is kept free of turns, and while one waits for the store another has its core.
const SPARE: usize = 2;

/// Most turns that work on threads of the runtime.
///
/// Why: more cores than this wait for one store anyway.
const MAX_SLOTS: usize = 32;

/// Time between two rounds of the watchdog.
///
/// Why: nobody notices a ping that is late by two of them, and sixteen busy servers on a machine have sixteen watchdogs.
const ROUND: Duration = Duration::from_millis(10);

/// Rounds without a turn after which the watchdog sleeps until there is one.
///
/// Why: a tenth of a second, so that a busy server doesn't wake it for each call, nor an idle one wakes for nothing.
const QUIET_ROUNDS: u32 = 10;

thread_local! {
    /// The turns that may work on threads of this thread's runtime at once: none if it isn't one of ours.
    static SLOTS: Cell<usize> = const { Cell::new(0) };
}

/// Makes the runtime of a server whose stores wait by themselves, as all stores of this project do.
///
/// On its threads, brief calls work where their requests are, which halves the time of a read. A store that waits by
/// `Handle::block_on` would panic there: for one of that kind make a runtime of another kind.
///
/// # Errors
///
/// The system gives no threads.
pub fn runtime() -> io::Result<Runtime> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = cores + SPARE;
    Builder::new_multi_thread()
        .worker_threads(workers)
        .on_thread_start(move || SLOTS.set((workers - 1).min(MAX_SLOTS)))
        .enable_all()
        .build()
}

/// The threads of a server, as far as turns work on those of its runtime.
#[derive(Default)]
pub(crate) struct Threads {
    slots: Arc<Slots>,
    watchdog: OnceLock<Option<Thread>>,
}

/// The slots at which turns work, each with the number of its turn; zero if it is free.
#[derive(Default)]
struct Slots {
    turns: [AtomicU64; MAX_SLOTS],
    last: AtomicU64,
    /// True if the watchdog sleeps until it is woken.
    sleeps: AtomicBool,
    closed: AtomicBool,
}

/// A slot that is taken, until this is dropped.
struct Slot<'a>(&'a AtomicU64);

impl Threads {
    /// Does something that is brief as a rule, on this thread if it is one of ours and there is a slot.
    ///
    /// # Errors
    ///
    /// It panicked.
    pub(crate) async fn run_brief<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        if let Some(_slot) = self.slots.take(SLOTS.get()) {
            self.wake_watchdog();
            match catch_unwind(AssertUnwindSafe(work)) {
                Ok(done) => return Ok(done),
                // As an error of a task, as if it had had a thread of its own.
                Err(panic) => return tokio::task::spawn_blocking(|| resume_unwind(panic)).await,
            }
        }
        tokio::task::spawn_blocking(work).await
    }

    /// Wakes the watchdog if it sleeps, now that a slot is taken. The first time, there is none yet.
    fn wake_watchdog(&self) {
        let watchdog = self.watchdog.get_or_init(|| {
            let (slots, runtime) = (Arc::clone(&self.slots), Handle::current());
            let builder = std::thread::Builder::new().name("statemark-watch".to_owned());
            // Without one, a turn that takes long holds up what comes meanwhile, and nothing is lost.
            let thread = builder.spawn(move || slots.watch(&runtime)).ok();
            thread.map(|thread| thread.thread().clone())
        });
        if self.slots.sleeps.swap(false, Ordering::SeqCst)
            && let Some(watchdog) = watchdog
        {
            watchdog.unpark();
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.slots.closed.store(true, Ordering::SeqCst);
        if let Some(Some(watchdog)) = self.watchdog.get() {
            watchdog.unpark();
        }
    }
}

impl Slots {
    /// Takes one of the first few slots, if one is free.
    fn take(&self, count: usize) -> Option<Slot<'_>> {
        if count == 0 {
            return None;
        }
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let free = |slot: &&AtomicU64| {
            let taken = slot.compare_exchange(0, number, Ordering::SeqCst, Ordering::Relaxed);
            taken.is_ok()
        };
        self.turns.iter().take(count).find(free).map(Slot)
    }

    /// Wakes another thread of the runtime for each turn that is there for a whole round.
    ///
    /// It ends with the server.
    fn watch(&self, runtime: &Handle) {
        let mut seen = [0; MAX_SLOTS];
        let mut known = [0; MAX_SLOTS];
        let mut quiet = 0;
        while !self.closed.load(Ordering::SeqCst) {
            std::thread::sleep(ROUND);
            let mut is_quiet = true;
            for ((turn, seen), known) in self.turns.iter().zip(&mut seen).zip(&mut known) {
                let now = turn.load(Ordering::SeqCst);
                is_quiet &= now == 0;
                if now != 0 && now == *seen && now != *known {
                    *known = now;
                    // A thread comes to take it, and stays for what else there is.
                    drop(runtime.spawn(async {}));
                }
                *seen = now;
            }
            quiet = if is_quiet { quiet + 1 } else { 0 };
            if quiet >= QUIET_ROUNDS {
                quiet = 0;
                self.sleep();
            }
        }
    }

    /// Sleeps until a slot is taken, or the server has ended.
    fn sleep(&self) {
        self.sleeps.store(true, Ordering::SeqCst);
        let is_free = |slot: &AtomicU64| slot.load(Ordering::SeqCst) == 0;
        while self.sleeps.load(Ordering::SeqCst)
            && !self.closed.load(Ordering::SeqCst)
            && self.turns.iter().all(is_free)
        {
            std::thread::park();
        }
        self.sleeps.store(false, Ordering::SeqCst);
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;
    use std::sync::mpsc;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    /// Longest time that the test waits for what comes in milliseconds.
    const LONGEST: Duration = Duration::from_secs(60);

    /// What `work` comes to on a thread of a runtime.
    fn run_on<T: Send + 'static>(runtime: &Runtime, work: fn() -> T) -> Result<T, JoinError> {
        let task = async move { Threads::default().run_brief(work).await };
        runtime.block_on(async { tokio::spawn(task).await.unwrap() })
    }

    #[test]
    fn a_turn_has_the_thread_of_its_request_on_our_runtime_alone() {
        let here = async || {
            let threads = Threads::default();
            let own = std::thread::current().id();
            let thread = threads.run_brief(|| std::thread::current().id()).await;
            thread.unwrap() == own
        };
        let is_here = |runtime: &Runtime| {
            let task = runtime.spawn(here());
            runtime.block_on(task).unwrap()
        };
        assert!(is_here(&runtime().unwrap()));
        assert!(!is_here(&Runtime::new().unwrap()));
        let single = Builder::new_current_thread().build().unwrap();
        assert!(!single.block_on(here()));
    }

    #[test]
    fn a_panic_is_an_error_wherever_the_turn_works() {
        for runtime in [runtime().unwrap(), Runtime::new().unwrap()] {
            let done = run_on(&runtime, || panic!("as planned"));
            assert!(done.unwrap_err().is_panic());
            assert_eq!(run_on(&runtime, || 1).unwrap(), 1);
        }
    }

    /// A turn waits for a lock while others come: over connections, so that the thread that looks after those has it.
    #[test]
    fn turns_that_wait_hold_up_no_request() {
        let runtime = runtime().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let (begun, has_begun) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(std::sync::Mutex::new(released));
        let threads = Arc::new(Threads::default());
        runtime.spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (begun, released) = (begun.clone(), Arc::clone(&released));
                let threads = Arc::clone(&threads);
                tokio::spawn(async move {
                    let mut asked = [0];
                    while stream.read_exact(&mut asked).await.is_ok() {
                        if asked == *b"w" {
                            let (begun, released) = (begun.clone(), Arc::clone(&released));
                            let wait = move || {
                                begun.send(()).unwrap();
                                released.lock().unwrap().recv().unwrap();
                            };
                            threads.run_brief(wait).await.unwrap();
                        }
                        stream.write_all(&asked).await.unwrap();
                    }
                });
            }
        });
        let connect = || {
            let stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(LONGEST)).unwrap();
            stream
        };
        let echo = |mut stream: &TcpStream| {
            let mut answer = [0];
            stream.read_exact(&mut answer).unwrap();
            answer
        };
        let mut quick = connect();
        for count in [1, 1, 1, 1, 1, 40] {
            let mut waiting: Vec<TcpStream> = (0..count).map(|_| connect()).collect();
            for stream in &mut waiting {
                stream.write_all(b"w").unwrap();
                has_begun.recv_timeout(LONGEST).unwrap();
                for _ in 0..3 {
                    quick.write_all(b"p").unwrap();
                    assert_eq!(echo(&quick), *b"p");
                }
            }
            for _ in 0..count {
                release.send(()).unwrap();
            }
            for stream in &waiting {
                assert_eq!(echo(stream), *b"w");
            }
        }
    }
}
