//! What the operating system knows of this process, of the machine's memory and of its disks.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::fs::{File, OpenOptions, TryLockError, read_to_string};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// The memory that the process holds now, in bytes.
pub fn current_memory_bytes() -> u64 {
    status_bytes("VmRSS:")
}

/// The most memory that the process ever held, in bytes.
pub fn peak_memory_bytes() -> u64 {
    status_bytes("VmHWM:")
}

/// The memory that the machine, or the cgroup that this process is in, has left, in bytes.
pub fn free_memory_bytes() -> u64 {
    let machine = read_to_string("/proc/meminfo").ok().and_then(|text| field_bytes(&text, "MemAvailable:"));
    let machine = machine.unwrap_or(1 << 30);
    cgroup_free_bytes().map_or(machine, |cgroup| cgroup.min(machine))
}

/// The space that the file system of a path has left for this user, in bytes.
///
/// # Errors
/// What the operating system refuses.
pub fn free_disk_bytes(path: &Path) -> std::io::Result<u64> {
    let name = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: all-zero bytes are a valid value of this plain C struct.
    let mut facts: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the name ends in zero and the struct may be written; both outlive the call.
    if unsafe { libc::statvfs(name.as_ptr(), &mut facts) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    #[allow(clippy::unnecessary_cast)]
    Ok((facts.f_bavail as u64).saturating_mul(facts.f_frsize as u64))
}

/// Takes the lock of a file or directory, which the operating system gives back when the returned file is dropped or the
/// process ends, however it ends; nothing if somebody else has it, or if the path names something else meanwhile.
///
/// # Errors
/// What the operating system refuses: a path that is not there, a link, a file system without locks.
pub fn lock_path(path: &Path) -> std::io::Result<Option<File>> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let (own, named) = (file.metadata()?, std::fs::symlink_metadata(path)?);
    Ok(((own.dev(), own.ino()) == (named.dev(), named.ino())).then_some(file))
}

/// Lets two paths exchange their names in one step.
#[cfg(target_os = "linux")]
pub(crate) fn exchange(one: &Path, other: &Path) -> std::io::Result<()> {
    let one = CString::new(one.as_os_str().as_bytes())?;
    let other = CString::new(other.as_os_str().as_bytes())?;
    let here = libc::AT_FDCWD;
    // SAFETY: both names end in zero and outlive the call.
    let answer =
        unsafe { libc::syscall(libc::SYS_renameat2, here, one.as_ptr(), here, other.as_ptr(), libc::RENAME_EXCHANGE) };
    if answer == 0 {
        return Ok(());
    }
    let error = std::io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::ENOSYS | libc::EINVAL) => Err(std::io::ErrorKind::Unsupported.into()),
        _ => Err(error),
    }
}

/// Lets two paths exchange their names in one step: not on this system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn exchange(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

fn status_bytes(field: &str) -> u64 {
    read_to_string("/proc/self/status").ok().and_then(|text| field_bytes(&text, field)).unwrap_or(0)
}

/// A field of a file of lines like `VmRSS:    1234 kB`.
fn field_bytes(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

/// What is left under the tightest limit of this process's cgroup and those above it.
fn cgroup_free_bytes() -> Option<u64> {
    let text = read_to_string("/proc/self/cgroup").ok()?;
    let mut least: Option<u64> = None;
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let (root, limit_name, usage_name) = if controllers.is_empty() {
            ("/sys/fs/cgroup", "memory.max", "memory.current")
        } else if controllers.split(',').any(|name| name == "memory") {
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
        } else {
            continue;
        };
        let mut path = path.to_owned();
        loop {
            let number = |name: &str| -> Option<u64> {
                read_to_string(format!("{root}{path}/{name}")).ok()?.trim().parse().ok()
            };
            if let (Some(limit), Some(usage)) = (number(limit_name), number(usage_name)) {
                let free = limit.saturating_sub(usage);
                least = Some(least.map_or(free, |least| least.min(free)));
            }
            match path.rfind('/') {
                Some(0) if path.len() > 1 => path.truncate(1),
                Some(end) if end > 0 => path.truncate(end),
                _ => break,
            }
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_exchanged_and_space_is_known() {
        let directory = tempfile::tempdir().unwrap();
        let (one, other) = (directory.path().join("one"), directory.path().join("other"));
        std::fs::create_dir(&one).unwrap();
        std::fs::write(&other, "other").unwrap();
        match exchange(&one, &other) {
            Ok(()) => assert!(one.is_file() && other.is_dir()),
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::Unsupported),
        }
        assert!(exchange(&one, &directory.path().join("missing")).is_err());
        assert!(free_disk_bytes(directory.path()).unwrap() > 0);
        assert!(free_disk_bytes(&directory.path().join("missing")).is_err());
    }

    #[test]
    fn a_lock_is_held_until_it_is_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        for path in [directory.path(), &file] {
            let lock = lock_path(path).unwrap().expect("nobody has it");
            assert!(lock_path(path).unwrap().is_none());
            drop(lock);
            assert!(lock_path(path).unwrap().is_some());
        }
        assert!(lock_path(&link).is_err());
        assert_eq!(lock_path(&directory.path().join("none")).unwrap_err().kind(), std::io::ErrorKind::NotFound);
    }

    #[test]
    fn the_process_holds_memory_and_the_machine_has_some_left() {
        assert!(current_memory_bytes() > 100_000);
        assert!(peak_memory_bytes() >= current_memory_bytes() / 2);
        assert!(free_memory_bytes() > 1 << 20);
        assert_eq!(field_bytes("A: 1 kB\nVmRSS:\t  12 kB\n", "VmRSS:"), Some(12 * 1024));
    }
}
