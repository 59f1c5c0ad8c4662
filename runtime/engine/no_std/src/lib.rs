//! The runtime without a standard library: decodes a table, verifies it, and steps it.
#![no_std]

use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicUsize, Ordering};

use statemark_runtime::{ActionId, EventId, Host, Machine, decode, verify};

/// Hands out memory from one end and takes none back: enough for one machine.
struct Arena {
    next: AtomicUsize,
}

/// Unit: bytes.
const ARENA_SIZE: usize = 1 << 20;

#[repr(align(16))]
struct Memory(core::cell::UnsafeCell<[u8; ARENA_SIZE]>);

// SAFETY: each byte is handed out once, by `Arena::alloc`, to whoever asked for it.
unsafe impl Sync for Memory {}

static MEMORY: Memory = Memory(core::cell::UnsafeCell::new([0; ARENA_SIZE]));

// SAFETY: `alloc` gives aligned ranges within `MEMORY` that don't overlap, or null.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let want = layout.size().saturating_add(layout.align());
        let take = |start: usize| start.checked_add(want).filter(|&end| end <= ARENA_SIZE);
        let taken = self
            .next
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        let Ok(start) = taken else {
            return core::ptr::null_mut();
        };
        let base = MEMORY.0.get().cast::<u8>();
        // SAFETY: `start + want` is within the arena, and aligning moves by less than the alignment.
        unsafe {
            let place = base.add(start);
            place.add(place.align_offset(layout.align()))
        }
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static ARENA: Arena = Arena {
    next: AtomicUsize::new(0),
};

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

/// Counts what the machine does.
struct Count(u32);

impl Host for Count {
    fn action(&mut self, _: ActionId) {
        self.0 += 1;
    }
}

/// Runs a table and sends it one event; gives the number of actions, or -1 where anything went wrong.
///
/// # Safety
///
/// `table` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statemark_step(table: *const u8, length: usize, event: u16) -> i64 {
    // SAFETY: the caller says so.
    let bytes = unsafe { core::slice::from_raw_parts(table, length) };
    let Some(table) = decode(bytes).ok().and_then(|rows| verify(rows).ok()) else {
        return -1;
    };
    let Ok(mut machine) = Machine::start(&table, Count(0)) else {
        return -1;
    };
    if machine.send(EventId::new(event)).is_err() {
        return -1;
    }
    i64::from(machine.into_host().0)
}
