//! Reading through memory maps, safe against files that are cut short meanwhile.
//!
//! Touching a mapped page behind the end of a file, or one that the disk cannot deliver, raises
//! SIGBUS, which kills a process that does not handle it. Here a handler looks whether the address
//! lies in a window of this module; if so it puts zeros there and in all that follows in the window, so
//! that the interrupted instruction goes on and faults no more, and marks the window as damaged. A
//! damaged window is never reported as read. Faults elsewhere go to whatever handler was there before.
//!
//! Files are mapped window by window, so that resident memory does not grow with the file.
#![expect(
    unsafe_code,
    reason = "mapping memory and handling the faults it can raise"
)]

use std::fs::File;
use std::io;
use std::mem;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use memmap2::{Advice, Mmap, MmapOptions};

/// Windows that can exist at the same time; one is in use for each file being read.
pub(super) const MAX_WINDOWS: usize = 1024;

/// A window as the signal handler sees it. `len` is 0 while the place is free or being filled.
struct Place {
    taken: AtomicBool,
    start: AtomicUsize,
    len: AtomicUsize,
    damaged: AtomicBool,
}

static PLACES: [Place; MAX_WINDOWS] = [const {
    Place {
        taken: AtomicBool::new(false),
        start: AtomicUsize::new(0),
        len: AtomicUsize::new(0),
        damaged: AtomicBool::new(false),
    }
}; MAX_WINDOWS];

static PAGE_BYTES: AtomicUsize = AtomicUsize::new(4096);
static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();
static INSTALLED: OnceLock<Result<(), i32>> = OnceLock::new();

/// A file that is read window by window.
#[derive(Debug)]
pub(super) struct Mapping {
    file: File,
    size: u64,
    offset: u64,
    window: Option<Window>,
    damaged: bool,
}

impl Mapping {
    /// Prepares a file of `size` bytes for mapping.
    pub(super) fn new(file: File, size: u64) -> io::Result<Self> {
        install_handler()?;
        Ok(Self {
            file,
            size,
            offset: 0,
            window: None,
            damaged: false,
        })
    }

    /// Leaves out what comes before this place. Only before the first window.
    pub(super) fn skip_to(&mut self, offset: u64) {
        self.offset = offset.min(self.size);
    }

    /// Maps the next window, of at most `len` bytes, and returns its length: 0 at the end of the
    /// file. Lengths are multiples of a page, so that windows start at pages.
    pub(super) fn map_next(&mut self, len: u64) -> io::Result<usize> {
        self.close_window();
        let len = len.min(self.size - self.offset);
        if len == 0 {
            return Ok(0);
        }
        let window = Window::new(&self.file, self.offset, len)?;
        self.offset += len;
        Ok(self.window.insert(window).bytes().len())
    }

    /// The bytes of the current window; empty before the first and after the last.
    pub(super) fn window(&self) -> &[u8] {
        self.window.as_ref().map_or(&[], Window::bytes)
    }

    /// Whether a page could not be delivered, so that zeros were read in its place.
    pub(super) fn is_damaged(&mut self) -> bool {
        self.close_window();
        self.damaged
    }

    fn close_window(&mut self) {
        if let Some(window) = self.window.take() {
            self.damaged |= window.is_damaged();
        }
    }
}

/// One mapped part of a file, known to the signal handler for as long as it exists.
#[derive(Debug)]
struct Window {
    map: Mmap,
    place: usize,
}

impl Window {
    fn new(file: &File, offset: u64, len: u64) -> io::Result<Self> {
        let len = usize::try_from(len).map_err(io::Error::other)?;
        let place = take_place().ok_or_else(|| io::Error::other("too many mapped files"))?;
        // SAFETY: the mapping is private to this module and read-only. Truncation cannot make it
        // invalid, since the handler below replaces pages that are gone. Another process may change
        // bytes while they are read, which Rust leaves undefined; that is accepted here as by
        // every user of memory maps: the hashers treat bytes as numbers only, and the caller
        // compares the file's stamp before and after.
        let map = unsafe { MmapOptions::new().offset(offset).len(len).map(file) };
        let map = map.inspect_err(|_| free_place(place))?;
        // Only a hint; a kernel that does not know it reads correctly all the same.
        map.advise(Advice::Sequential).ok();
        let known = &PLACES[place];
        known.start.store(map.as_ptr().addr(), Ordering::SeqCst);
        known.len.store(map.len(), Ordering::SeqCst);
        Ok(Self { map, place })
    }

    fn bytes(&self) -> &[u8] {
        &self.map
    }

    fn is_damaged(&self) -> bool {
        PLACES[self.place].damaged.load(Ordering::SeqCst)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        free_place(self.place);
    }
}

fn take_place() -> Option<usize> {
    PLACES
        .iter()
        .position(|place| !place.taken.swap(true, Ordering::SeqCst))
}

fn free_place(place: usize) {
    let place = &PLACES[place];
    place.len.store(0, Ordering::SeqCst);
    place.damaged.store(false, Ordering::SeqCst);
    place.taken.store(false, Ordering::SeqCst);
}

fn install_handler() -> io::Result<()> {
    let installed =
        INSTALLED.get_or_init(|| try_install().map_err(|error| error.raw_os_error().unwrap_or(0)));
    installed.map_err(io::Error::from_raw_os_error)
}

fn try_install() -> io::Result<()> {
    // SAFETY: sysconf has no preconditions.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    PAGE_BYTES.store(
        usize::try_from(page).map_err(io::Error::other)?,
        Ordering::SeqCst,
    );
    // SAFETY: all-zero is a valid sigaction: no flags, an empty mask, the default handler.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = on_sigbus as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // The previous action must be known before the first fault can arrive.
    // SAFETY: all-zero is a valid sigaction, and it is only written to.
    let mut previous: libc::sigaction = unsafe { mem::zeroed() };
    // SAFETY: a null pointer asks only for the current action, which `previous` has room for.
    let asked = unsafe { libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut previous) };
    PREVIOUS.get_or_init(|| previous);
    // SAFETY: `action` is fully initialised, and its handler is safe to run in a signal context.
    let set = unsafe { libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()) };
    if asked == 0 && set == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Runs in a signal context: touches nothing but atomics and makes only system calls.
extern "C" fn on_sigbus(_signal: i32, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the kernel passes a pointer to a valid siginfo_t.
    let info = unsafe { &*info };
    // Sent by a process and raised by no access: nothing of ours.
    if info.si_code <= 0 {
        give_back();
        // SAFETY: raise may be called in a signal context; the signal arrives when this returns.
        unsafe { libc::raise(libc::SIGBUS) };
        return;
    }
    // SAFETY: SIGBUS is one of the signals whose siginfo_t holds an address.
    let address = unsafe { info.si_addr() }.addr();
    let ours = PLACES.iter().find_map(|place| {
        let (start, len) = (
            place.start.load(Ordering::SeqCst),
            place.len.load(Ordering::SeqCst),
        );
        let is_inside = address >= start && address - start < len;
        is_inside.then_some((place, start + len))
    });
    match ours {
        Some((place, end)) if put_zeros(address, end) => {
            place.damaged.store(true, Ordering::SeqCst);
        }
        _ => give_back(),
    }
}

/// From the page of `address` to the `end` of its window: of a file that was cut short all the pages
/// are gone that follow, and a fault for each would take minutes for a large one.
fn put_zeros(address: usize, end: usize) -> bool {
    let page = PAGE_BYTES.load(Ordering::SeqCst);
    let first = address - address % page;
    let len = (end - first).div_ceil(page) * page;
    let start = ptr::without_provenance_mut(first);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    // SAFETY: the pages lie in a window that this module mapped and that cannot be unmapped while
    // the interrupted thread is reading from it.
    let zeros = unsafe { libc::mmap(start, len, libc::PROT_READ, flags, -1, 0) };
    zeros != libc::MAP_FAILED
}

/// Hands the fault to the handler that was there before: the instruction runs and faults again.
fn give_back() {
    if let Some(previous) = PREVIOUS.get() {
        // SAFETY: `previous` was filled by the kernel.
        unsafe { libc::sigaction(libc::SIGBUS, previous, ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn windows_cover_the_file_exactly() {
        let mut file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = (0..200_001).map(|i| (i % 251) as u8).collect();
        file.write_all(&bytes).unwrap();
        let mut mapping = Mapping::new(file, bytes.len() as u64).unwrap();
        let mut read = Vec::new();
        while mapping.map_next(65_536).unwrap() > 0 {
            read.extend_from_slice(mapping.window());
        }
        assert!(read == bytes);
        assert!(!mapping.is_damaged());
    }

    #[test]
    fn a_file_cut_short_under_the_map_is_damage_and_not_death() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[7; 100_000]).unwrap();
        let other = file.try_clone().unwrap();
        let mut mapping = Mapping::new(file, 100_000).unwrap();
        mapping.map_next(1 << 20).unwrap();
        other.set_len(10).unwrap();
        let sum: u64 = mapping.window().iter().map(|&byte| u64::from(byte)).sum();
        assert!(sum < 700_000);
        assert!(mapping.is_damaged());
    }
}
