//! Facts of the operating system about this process and the machine's memory.
#![allow(unsafe_code)]

use crate::error::{Error, Result};
use std::fs::{File, read_to_string};
use std::os::fd::AsRawFd;
use std::path::Path;

/// Interval at which a wait for data checks for a request to stop.
const POLL_MS: libc::c_int = 50;
/// The memory of a machine that does not tell it: more than any has.
const UNKNOWN_MACHINE_BYTES: u64 = 1 << 48;

/// Makes the allocator return freed memory of more than 128 KiB to the operating system at once, which it otherwise
/// stops doing after some of these: memory that it keeps counts in the process beside its replacement. For a process of
/// our own.
pub fn give_back_freed_memory() {
    // SAFETY: the call changes a setting of the allocator, under its lock.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 128 << 10);
    }
}

/// Returns small pieces of freed memory from the allocator to the operating system: they would count in the process
/// beside their replacement.
pub fn trim_freed_memory() {
    // SAFETY: the call takes the allocator's locks, and changes nothing that is in use.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Fills the numbers 0, 1 and 2 of descriptors that are closed, so that no file gets them: with the null device, but
/// that of the standard output with a socket that is connected to nothing. Every write to it fails with
/// [`NotConnected`](std::io::ErrorKind::NotConnected). For a process of our own, before the start of Rust, which would
/// open the null device there, and lose what is written.
pub fn fill_standard_descriptors() {
    for number in 0..3 {
        // SAFETY: the calls take a number, constants and a text that ends in a zero. The lowest free number is
        // `number`, for those before it are open, and no other thread runs yet.
        unsafe {
            match number {
                _ if libc::fcntl(number, libc::F_GETFD) >= 0 => continue,
                libc::STDOUT_FILENO => libc::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0),
                _ => libc::open(c"/dev/null".as_ptr(), libc::O_RDWR),
            };
        }
    }
}

/// Whether the process ignores a signal, as `nohup` has it ignore that of a terminal which closes.
pub fn ignores_signal(number: i32) -> bool {
    let mut action: std::mem::MaybeUninit<libc::sigaction> = std::mem::MaybeUninit::uninit();
    // SAFETY: without a new action the call changes nothing; it fills the old one if it succeeds.
    unsafe {
        libc::sigaction(number, std::ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Limits the arenas in which the allocator keeps the allocations of threads. By default each thread that reads files
/// gets its own, and every step leaves freed memory in some of them, 7 MiB in all. Workers that share an arena share
/// cache lines too (PageRank took a third longer with two), so this is wrong where no threads read files. For a process
/// of our own.
pub fn limit_arenas(count: usize) {
    // SAFETY: the call changes a setting of the allocator, under its lock.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, count as libc::c_int);
    }
}

/// The part of our code that counts in the process memory, because the slack of operations has no room for it.
const COUNTED_CODE_BYTES: u64 = 25 << 17;

/// The current memory of the process, in bytes, without most of the code of this program. The code left out is part of
/// the slack of operations, however much of it has run so far.
pub fn current_memory_bytes() -> u64 {
    let code_bytes = code_bytes(&read_to_string("/proc/self/smaps").unwrap_or_default());
    status_bytes("VmRSS:").saturating_sub(code_bytes.saturating_sub(COUNTED_CODE_BYTES))
}

/// Unmaps the pages of this program's code and constants: code that runs next is mapped again from the file, page by
/// page. For the moment between two parts of a job that run different code.
pub fn let_go_of_code() {
    let mappings = read_to_string("/proc/self/smaps").unwrap_or_default();
    // Pages that were written to, such as those with breakpoints, are not in the file.
    for Mapping { range, .. } in own_mappings(&mappings).into_iter().filter(|own| !own.writable && own.anonymous == 0) {
        // SAFETY: the range is a private mapping of the file that contains this code. It is not writable and was never
        // written, so its pages are the same when they are mapped again.
        unsafe {
            libc::madvise(range.start as *mut libc::c_void, (range.end - range.start) as usize, libc::MADV_DONTNEED);
        }
    }
}

/// A part of the memory of this process that is mapped from a file.
struct Mapping {
    range: std::ops::Range<u64>,
    file: String,
    writable: bool,
    /// Bytes in memory, and those of them that differ from the file.
    resident: u64,
    anonymous: u64,
}

/// Memory of the file that contains this function: the command, or the Python module.
fn code_bytes(mappings: &str) -> u64 {
    own_mappings(mappings).iter().map(|own| own.resident.saturating_sub(own.anonymous)).sum()
}

/// The mappings of the file that contains this function.
fn own_mappings(mappings: &str) -> Vec<Mapping> {
    let mut all: Vec<Mapping> = Vec::new();
    let mut is_file = false;
    for line in mappings.lines() {
        if !line.split_ascii_whitespace().next().is_some_and(|word| word.ends_with(':')) {
            let mapping = mapping(line);
            is_file = mapping.is_some();
            all.extend(mapping);
        } else if let Some(last) = all.last_mut().filter(|_| is_file) {
            last.resident += field_bytes(line, "Rss:").unwrap_or(0);
            last.anonymous += field_bytes(line, "Anonymous:").unwrap_or(0);
        }
    }
    let place = own_mappings as *const () as u64;
    let file = all.iter().find(|mapping| mapping.range.contains(&place)).map(|mapping| mapping.file.clone());
    all.retain(|mapping| Some(&mapping.file) == file.as_ref());
    all
}

/// Parses a line such as `5581-55a2 r-xp 0000 08:01 1234 /usr/bin/outcore`, if a file is mapped.
fn mapping(line: &str) -> Option<Mapping> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let range = u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?;
    let writable = words.next()?.contains('w');
    let (device, inode) = (words.nth(1)?, words.next()?);
    let file = format!("{device} {inode}");
    (inode != "0").then_some(Mapping { range, file, writable, resident: 0, anonymous: 0 })
}

/// The peak memory of the process, in bytes.
pub fn peak_memory_bytes() -> u64 {
    status_bytes("VmHWM:")
}

/// The CPU time of all threads of the process so far, ended ones included, in seconds.
pub fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: there is one struct, which may be written and outlives the call.
    match unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) } {
        0 => time.tv_sec as f64 + time.tv_nsec as f64 / 1e9,
        _ => 0.0,
    }
}

/// Free memory of the machine, or of the cgroup of this process or under its resource limits if that is less, in bytes.
pub(crate) fn free_memory_bytes() -> u64 {
    let machine = read_to_string("/proc/meminfo").ok().and_then(|text| field_bytes(&text, "MemAvailable:"));
    let limits = resource_limits().into_iter().zip(["VmSize:", "VmData:"]);
    let of_process = limits.filter_map(|(limit, field)| Some(limit?.saturating_sub(status_bytes(field))));
    of_process.chain(cgroup_free_bytes()).fold(machine.unwrap_or(1 << 30), u64::min)
}

/// The memory of the machine and of its swap files, in bytes.
pub(crate) fn machine_memory_bytes() -> u64 {
    let text = read_to_string("/proc/meminfo").unwrap_or_default();
    let [memory, swap] = ["MemTotal:", "SwapTotal:"].map(|field| field_bytes(&text, field));
    memory.map_or(UNKNOWN_MACHINE_BYTES, |bytes| bytes.saturating_add(swap.unwrap_or(0)))
}

/// The limits of the addresses of the process (`ulimit -v`) and of its data (`ulimit -d`), where it has such.
pub(crate) fn resource_limits() -> [Option<u64>; 2] {
    [libc::RLIMIT_AS, libc::RLIMIT_DATA].map(|resource| {
        let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: the struct may be written, and outlives the call.
        let answer = unsafe { libc::getrlimit(resource, &mut limit) };
        #[allow(clippy::unnecessary_cast)]
        (answer == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur as u64)
    })
}

/// Whether a read of a file would not block: data is available, or none will arrive any more. Waits a moment for that.
pub(crate) fn is_readable(file: &File) -> std::io::Result<bool> {
    let mut poll = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: there is one struct, which may be written and outlives the call.
    match unsafe { libc::poll(&mut poll, 1, POLL_MS) } {
        0 => Ok(false),
        1.. => Ok(true),
        _ => match std::io::Error::last_os_error() {
            error if error.kind() == std::io::ErrorKind::Interrupted => Ok(false),
            error => Err(error),
        },
    }
}

/// Fails unless this is the process of that number: after a fork it is another one.
pub(crate) fn check_process(opened_by: u32, name: &str) -> Result<()> {
    if opened_by == std::process::id() { Ok(()) } else { Err(Error::OtherProcess { name: name.to_owned(), opened_by }) }
}

fn status_bytes(field: &str) -> u64 {
    read_to_string("/proc/self/status").ok().and_then(|text| field_bytes(&text, field)).unwrap_or(0)
}

/// A field of a file of lines like `VmRSS:    1234 kB`.
fn field_bytes(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Free memory under the tightest limit of this process's cgroup and its ancestors.
fn cgroup_free_bytes() -> Option<u64> {
    free_of_cgroups(&read_to_string("/proc/self/cgroup").ok()?, Path::new("/sys/fs/cgroup"))
}

/// Free memory under the tightest limit of the cgroups listed in `/proc/self/cgroup` and of their ancestors.
///
/// Usage counts file pages that the kernel has cached for any process of the group; it drops them when memory is
/// wanted, so they are free.
fn free_of_cgroups(groups: &str, root: &Path) -> Option<u64> {
    let mut least: Option<u64> = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, limit, usage, file_pages) = if controllers.is_empty() {
            (root.to_owned(), "memory.max", "memory.current", ["active_file", "inactive_file"])
        } else if controllers.split(',').any(|name| name == "memory") {
            let names = ["total_active_file", "total_inactive_file"];
            (root.join("memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", names)
        } else {
            continue;
        };
        // In a container the path may lie outside of it, so that only its end, or nothing, exists here.
        for group in Path::new(path.trim_start_matches('/')).ancestors() {
            let directory = root.join(group);
            let number = |name: &str| read_to_string(directory.join(name)).ok()?.trim().parse::<u64>().ok();
            let (Some(limit), Some(usage)) = (number(limit), number(usage)) else { continue };
            let stat = read_to_string(directory.join("memory.stat")).unwrap_or_default();
            let cached: u64 = file_pages.iter().filter_map(|name| stat_bytes(&stat, name)).sum();
            let free = limit.saturating_sub(usage.saturating_sub(cached));
            least = Some(least.map_or(free, |least| least.min(free)));
        }
    }
    least
}

/// A field of `memory.stat`, whose lines are like `inactive_file 8192`.
fn stat_bytes(stat: &str, name: &str) -> Option<u64> {
    stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_holds_memory_and_the_machine_has_some_left() {
        assert!(current_memory_bytes() > 100_000);
        assert!(peak_memory_bytes() >= current_memory_bytes() / 2);
        assert!(current_memory_bytes() <= peak_memory_bytes());
        assert!(free_memory_bytes() > 1 << 20);
        assert_eq!(field_bytes("A: 1 kB\nVmRSS:\t  12 kB\n", "VmRSS:"), Some(12 * 1024));
    }

    #[test]
    fn code_that_has_run_can_be_let_go_of() {
        let bytes = || code_bytes(&read_to_string("/proc/self/smaps").unwrap());
        let before = bytes();
        let_go_of_code();
        let after = bytes();
        assert!(64 << 10 < after && after < before, "{before} bytes of code, then {after}");
        // The loader writes to some mapping of the file, which keeps the written pages.
        let mappings = read_to_string("/proc/self/smaps").unwrap();
        let own = own_mappings(&mappings);
        assert!(own.iter().any(|mapping| mapping.anonymous > 0) && own.iter().any(|mapping| !mapping.writable));
        assert!(mapping("7f00-7f10 rw-p 00000000 00:00 0").is_none());
    }

    /// A tree of files like that of cgroups: paths and contents.
    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, format!("{text}\n")).unwrap();
        }
        root
    }

    #[test]
    fn cached_files_of_a_cgroup_are_free_memory() {
        let stat = "anon 1000\nfile 95000\nkernel 10\ninactive_file 60000\nactive_file 35000\nunevictable 7";
        let two = tree(&[("box/memory.max", "100000"), ("box/memory.current", "99000"), ("box/memory.stat", stat)]);
        assert_eq!(free_of_cgroups("0::/box", two.path()), Some(96_000));
        // Version 1 counts descendants of a group only in the totals.
        let stat = "cache 5\ninactive_file 1\nactive_file 1\ntotal_cache 95000\ntotal_inactive_file 60000\ntotal_active_file 35000";
        let one = tree(&[
            ("memory/box/memory.limit_in_bytes", "100000"),
            ("memory/box/memory.usage_in_bytes", "99000"),
            ("memory/box/memory.stat", stat),
            ("memory/memory.limit_in_bytes", "9223372036854771712"),
            ("memory/memory.usage_in_bytes", "500000"),
            ("box/memory.max", "5"),
            ("box/memory.current", "0"),
        ]);
        let groups = "4:cpu,cpuacct:/box\n3:rw,memory:/box\n1:name=systemd:/box";
        assert_eq!(free_of_cgroups(groups, one.path()), Some(96_000));
    }

    #[test]
    fn the_tightest_of_nested_cgroups_decides() {
        let files = [
            ("a/memory.max", "50000"),
            ("a/memory.current", "45000"),
            ("a/memory.stat", "inactive_file 1000\nactive_file 2000"),
            ("a/b/memory.max", "max"),
            ("a/b/memory.current", "40000"),
            ("a/b/c/memory.max", "20000"),
            ("a/b/c/memory.current", "3000"),
        ];
        let nested = tree(&files);
        assert_eq!(free_of_cgroups("0::/a/b/c", nested.path()), Some(8000));
        assert_eq!(free_of_cgroups("0::/a/b", nested.path()), Some(8000));
        // Without a file of statistics all used memory counts; use beyond a limit leaves nothing.
        let full = tree(&[("a/memory.max", "100"), ("a/memory.current", "300")]);
        assert_eq!(free_of_cgroups("0::/a", full.path()), Some(0));
        // A container may see its own group as the root, under another path.
        let inside = tree(&[("memory.max", "1000"), ("memory.current", "300"), ("memory.stat", "inactive_file 100")]);
        assert_eq!(free_of_cgroups("0::/docker/4711", inside.path()), Some(800));
        assert_eq!(free_of_cgroups("0::/", inside.path()), Some(800));
    }

    #[test]
    fn where_no_cgroup_has_a_limit_the_machine_decides() {
        let free = tree(&[("a/memory.max", "max"), ("a/memory.current", "300")]);
        for groups in ["0::/a", "", "rubbish", "0::", "5:memory:/a", "0::/../../a"] {
            assert_eq!(free_of_cgroups(groups, free.path()), None, "{groups}");
        }
    }
}
