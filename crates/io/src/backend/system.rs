//! Operations on files of the operating system that all back ends share: everything but reads and writes through
//! queues. Functions with the name of a method of [`Backend`](super::Backend) are its default.
#![allow(unsafe_code)]

use super::{Access, Change, FileKind, FileStatus, Handle, Location, Lock, Open, What, random};
use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::{File, FileType, Metadata, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, lchown};
use std::path::{Component, Path, PathBuf};

/// Whether files are reached by their paths alone: Miri knows neither `openat` nor flags, and no test that it runs
/// replaces a directory.
pub(crate) const BY_PATH: bool = cfg!(miri);

/// Permissions of created files.
const MODE: libc::c_uint = 0o666;
/// The bits of a mode that are permissions.
const MODE_BITS: u32 = 0o7777;
/// Permissions of files without a name.
const OWN_MODE: u32 = 0o600;

pub(crate) fn open(place: Location<'_>, how: Open) -> Result<File> {
    if BY_PATH {
        return open_by_path(&place.path(), how);
    }
    let opened = match how {
        Open::Directory => open_at(place, libc::O_RDONLY | libc::O_DIRECTORY),
        Open::OwnDirectory => open_at(place, libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW),
        Open::Input => open_at(place, libc::O_RDONLY).and_then(plain),
        Open::Read => open_at(place, libc::O_RDONLY | libc::O_NOFOLLOW).and_then(plain),
        Open::Write => open_at(place, libc::O_RDWR | libc::O_NOFOLLOW).and_then(plain),
        Open::Create => open_at(place, libc::O_RDWR | libc::O_NOFOLLOW | libc::O_CREAT | libc::O_EXCL).and_then(plain),
        Open::Nameless => nameless(&place.path()),
    };
    opened.map_err(|error| match error.raw_os_error() {
        // Where links are followed, these lead in a circle.
        Some(libc::ELOOP) if !matches!(how, Open::Directory | Open::Input | Open::Nameless) => {
            unlike("a link, which is not followed")
        }
        Some(libc::ENXIO) => unlike("a socket or a device"),
        _ => error,
    })
}

fn open_by_path(path: &Path, how: Open) -> Result<File> {
    match how {
        Open::Directory | Open::OwnDirectory | Open::Input | Open::Read => File::open(path),
        Open::Write => OpenOptions::new().read(true).write(true).open(path),
        Open::Create => OpenOptions::new().read(true).write(true).create_new(true).open(path),
        Open::Nameless => nameless(path),
    }
}

fn unlike(found: &str) -> Error {
    Error::new(ErrorKind::InvalidInput, format!("expected a file, found {found}"))
}

/// The file itself, if it is a plain one.
fn plain(file: File) -> Result<File> {
    let kind = file.metadata()?.file_type();
    if !kind.is_file() {
        return Err(unlike(kind_text(kind)));
    }
    // Blocking is right from here on: io_uring takes the flag to mean that reads must not wait for the device.
    set_flags(&file, 0)?;
    Ok(file)
}

fn kind_text(kind: FileType) -> &'static str {
    match kind {
        kind if kind.is_dir() => "a directory",
        kind if kind.is_fifo() => "a FIFO",
        kind if kind.is_socket() => "a socket",
        kind if kind.is_block_device() || kind.is_char_device() => "a device",
        _ => "something else",
    }
}

/// Sets the status flags of an open file.
pub(crate) fn set_flags(file: &File, flags: i32) -> Result<()> {
    // SAFETY: the descriptor is open, and the call touches no memory.
    checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags) }).map(drop)
}

/// The result of a system call, or its error.
fn checked(answer: libc::c_int) -> Result<libc::c_int> {
    if answer < 0 { Err(Error::last_os_error()) } else { Ok(answer) }
}

fn c_string(text: &OsStr) -> Result<CString> {
    Ok(CString::new(text.as_bytes())?)
}

/// Calls `act` with the descriptor of a directory and a name that is relative to it. Below an open directory every
/// directory on the way is opened itself, and no link is followed.
fn at<T>(place: Location<'_>, act: impl FnOnce(RawFd, &CStr) -> Result<T>) -> Result<T> {
    let Some(directory) = place.directory else {
        return act(libc::AT_FDCWD, &c_string(place.name.as_os_str())?);
    };
    let own = directory.handle().system()?.as_raw_fd();
    let mut names = Vec::new();
    for name in place.name.components() {
        let Component::Normal(name) = name else {
            let found = place.name.display();
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!("expected a name below a directory, found {found}"),
            ));
        };
        names.push(name);
    }
    let last = names.pop().unwrap_or(OsStr::new("."));
    let mut below: Option<File> = None;
    for name in names {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW;
        let parent = below.as_ref().map_or(own, AsRawFd::as_raw_fd);
        below = Some(descriptor_at(parent, &c_string(name)?, flags)?);
    }
    act(below.as_ref().map_or(own, AsRawFd::as_raw_fd), &c_string(last)?)
}

/// Opens a file without blocking.
fn open_at(place: Location<'_>, flags: i32) -> Result<File> {
    at(place, |directory, name| descriptor_at(directory, name, flags))
}

fn descriptor_at(directory: RawFd, name: &CStr, flags: i32) -> Result<File> {
    let flags = flags | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    loop {
        // SAFETY: the name ends in zero and outlives the call.
        match checked(unsafe { libc::openat(directory, name.as_ptr(), flags, MODE) }) {
            // SAFETY: the descriptor is new, and has no other owner.
            Ok(descriptor) => return Ok(unsafe { File::from_raw_fd(descriptor) }),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A file that has no name, or loses it at once.
fn nameless(directory: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(OWN_MODE);
    if let Ok(file) = options.clone().custom_flags(libc::O_TMPFILE).open(directory) {
        return Ok(file);
    }
    without_name(directory, &options)
}

/// A nameless file in a file system that has none: one with an unpredictable name, which is removed at once.
fn without_name(directory: &Path, options: &OpenOptions) -> Result<File> {
    loop {
        let name = directory.join(format!(".{:016x}.outcore-partial", random()));
        match options.clone().create_new(true).open(&name) {
            Ok(file) => match std::fs::remove_file(&name) {
                // Another process may have taken it for a leftover, and removed it.
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => return Ok(file),
            },
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

pub(crate) fn read(file: &File, bytes: &mut [u8], offset_bytes: u64) -> Result<usize> {
    loop {
        match file.read_at(bytes, offset_bytes) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

pub(crate) fn change(change: &Change<'_>) -> Result<()> {
    match *change {
        Change::Write { file, offset_bytes, bytes } => file.system()?.write_all_at(bytes, offset_bytes),
        Change::Truncate { file, len_bytes } => file.system()?.set_len(len_bytes),
        Change::Allocate { file, offset_bytes, len_bytes } => allocate(file.system()?, 0, offset_bytes, len_bytes),
        Change::Punch { file, offset_bytes, len_bytes } => punch(file.system()?, offset_bytes, len_bytes),
        Change::Sync { file } => file.system()?.sync_all(),
        Change::SyncDirectory { directory } => open(Location::at(directory), Open::Directory)?.sync_all(),
        Change::CreateDirectory { directory } => std::fs::create_dir(directory),
        Change::Rename { from, to } => std::fs::rename(from, to),
        Change::Exchange { one, other } => exchange(one, other),
        Change::Link { file, path } => link(file.system()?, path),
        Change::Permit { path, access } => permit(path, access),
        Change::Remove { place } => remove(place),
    }
}

fn allocate(file: &File, mode: libc::c_int, offset_bytes: u64, len_bytes: u64) -> Result<()> {
    let too_far = |_| Error::from(ErrorKind::FileTooLarge);
    let (offset, len) = (offset_bytes.try_into().map_err(too_far)?, len_bytes.try_into().map_err(too_far)?);
    // SAFETY: the descriptor is open, and the call touches no memory.
    checked(unsafe { libc::fallocate(file.as_raw_fd(), mode, offset, len) }).map(drop)
}

fn punch(file: &File, offset_bytes: u64, len_bytes: u64) -> Result<()> {
    allocate(file, libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE, offset_bytes, len_bytes)
}

/// Exchanges the names of two paths in one step.
fn exchange(one: &Path, other: &Path) -> Result<()> {
    let (one, other) = (c_string(one.as_os_str())?, c_string(other.as_os_str())?);
    let here = libc::AT_FDCWD;
    // SAFETY: both names end in zero and outlive the call.
    let answer =
        unsafe { libc::syscall(libc::SYS_renameat2, here, one.as_ptr(), here, other.as_ptr(), libc::RENAME_EXCHANGE) };
    if answer == 0 {
        return Ok(());
    }
    let error = Error::last_os_error();
    match error.raw_os_error() {
        // Sandboxes answer to a call that they do not know as to one that is not permitted.
        Some(libc::ENOSYS | libc::EINVAL | libc::EOPNOTSUPP | libc::EPERM | libc::EXDEV) => {
            Err(ErrorKind::Unsupported.into())
        }
        _ => Err(error),
    }
}

/// Gives a name to a file that has none.
fn link(file: &File, path: &Path) -> Result<()> {
    let own = c_string(format!("/proc/self/fd/{}", file.as_raw_fd()).as_ref())?;
    let path = c_string(path.as_os_str())?;
    let (here, flags) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
    // SAFETY: both names end in zero and outlive the call.
    checked(unsafe { libc::linkat(here, own.as_ptr(), here, path.as_ptr(), flags) }).map(drop)
}

/// A group that may not be given is no reason to give its rights to another one: that has those of all others.
fn permit(path: &Path, Access { mut mode, owner, group }: Access) -> Result<()> {
    let now = look(What::Itself(Location::at(path)))?.access;
    if now.group != group && lchown(path, None, Some(group)).is_err() {
        mode = mode & 0o1707 | (mode & 0o7) << 3;
    }
    if now.mode != mode {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode))?;
    }
    if now.owner != owner {
        // A replaced file of another user becomes this user's, unless the system permits more.
        let _ = lchown(path, Some(owner), None);
    }
    Ok(())
}

fn remove(place: Location<'_>) -> Result<()> {
    let is_directory = look(What::Itself(place))?.kind == FileKind::Directory;
    if BY_PATH {
        let path = place.path();
        return if is_directory { std::fs::remove_dir(path) } else { std::fs::remove_file(path) };
    }
    let flags = if is_directory { libc::AT_REMOVEDIR } else { 0 };
    // SAFETY: the name ends in zero and outlives the call.
    at(place, |directory, name| checked(unsafe { libc::unlinkat(directory, name.as_ptr(), flags) }).map(drop))
}

pub(crate) fn look(what: What<'_>) -> Result<FileStatus> {
    let status = |metadata: Metadata| {
        let kind = match metadata.file_type() {
            kind if kind.is_file() => FileKind::File,
            kind if kind.is_dir() => FileKind::Directory,
            kind if kind.is_symlink() => FileKind::Link,
            _ => FileKind::Other,
        };
        let access = Access { mode: metadata.mode() & MODE_BITS, owner: metadata.uid(), group: metadata.gid() };
        let (identity, modified) = ((metadata.dev(), metadata.ino()), u64::try_from(metadata.mtime()).ok());
        FileStatus { kind, len_bytes: metadata.len(), identity, access, modified }
    };
    match what {
        What::Open(file) => file.system()?.metadata().map(status),
        What::Named(path) => std::fs::metadata(path).map(status),
        What::Itself(place) if place.directory.is_none() || BY_PATH => {
            std::fs::symlink_metadata(place.path()).map(status)
        }
        What::Itself(place) => at(place, look_at),
    }
}

fn look_at(directory: RawFd, name: &CStr) -> Result<FileStatus> {
    // SAFETY: all-zero bytes are a valid value of this plain C struct.
    let mut facts: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the name ends in zero and the struct may be written; both outlive the call.
    checked(unsafe { libc::fstatat(directory, name.as_ptr(), &mut facts, libc::AT_SYMLINK_NOFOLLOW) })?;
    let kind = match facts.st_mode & libc::S_IFMT {
        libc::S_IFREG => FileKind::File,
        libc::S_IFDIR => FileKind::Directory,
        libc::S_IFLNK => FileKind::Link,
        _ => FileKind::Other,
    };
    #[allow(clippy::unnecessary_cast)]
    let (len_bytes, identity) = (facts.st_size as u64, (facts.st_dev as u64, facts.st_ino as u64));
    #[allow(clippy::unnecessary_cast)]
    let mode = facts.st_mode as u32 & MODE_BITS;
    let access = Access { mode, owner: facts.st_uid, group: facts.st_gid };
    let modified = u64::try_from(facts.st_mtime).ok();
    Ok(FileStatus { kind, len_bytes, identity, access, modified })
}

pub(crate) fn list(directory: Location<'_>) -> Result<Vec<OsString>> {
    if BY_PATH {
        return std::fs::read_dir(directory.path())?.map(|entry| Ok(entry?.file_name())).collect();
    }
    let how = if directory.directory.is_some() { Open::OwnDirectory } else { Open::Directory };
    let descriptor = open(directory, how)?.into_raw_fd();
    // SAFETY: the descriptor is open and has no other owner; if the call succeeds, the stream owns it.
    let stream = unsafe { libc::fdopendir(descriptor) };
    if stream.is_null() {
        let error = Error::last_os_error();
        // SAFETY: the call failed, so that the descriptor is still ours.
        drop(unsafe { File::from_raw_fd(descriptor) });
        return Err(error);
    }
    let mut names = Vec::new();
    let outcome = loop {
        // SAFETY: the stream is open, and the pointer is to this thread's own number of the last error.
        let entry = unsafe {
            *errno() = 0;
            libc::readdir(stream)
        };
        if entry.is_null() {
            let error = Error::last_os_error();
            break if error.raw_os_error() == Some(0) { Ok(()) } else { Err(error) };
        }
        // SAFETY: the entry is valid until the next call, and its name ends in zero.
        let name = unsafe { CStr::from_ptr((*entry).d_name.as_ptr()) }.to_bytes();
        if name != b"." && name != b".." {
            names.push(OsStr::from_bytes(name).to_owned());
        }
    };
    // SAFETY: the stream is open, and is not used afterwards.
    unsafe { libc::closedir(stream) };
    outcome.map(|()| names)
}

/// The address of this thread's last error number.
fn errno() -> *mut libc::c_int {
    // SAFETY: the call has no conditions.
    unsafe { libc::__errno_location() }
}

pub(crate) fn lock(path: &Path) -> Result<Option<Lock>> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let file = Handle::System(file);
    let (own, named) = (look(What::Open(&file))?, look(What::Itself(Location::at(path)))?);
    let Handle::System(file) = file else { return Ok(None) };
    Ok((own.identity == named.identity).then_some(Lock { _file: Some(file) }))
}

pub(crate) fn free_bytes(path: &Path) -> Result<u64> {
    let name = c_string(path.as_os_str())?;
    // SAFETY: all-zero bytes are a valid value of this plain C struct.
    let mut facts: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the name ends in zero and the struct may be written; both outlive the call.
    checked(unsafe { libc::statvfs(name.as_ptr(), &mut facts) })?;
    #[allow(clippy::unnecessary_cast)]
    Ok((facts.f_bavail as u64).saturating_mul(facts.f_frsize as u64))
}

pub(crate) fn resolve(path: &Path) -> Result<PathBuf> {
    std::fs::canonicalize(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(path: &Path, how: Open) -> Handle {
        Handle::System(open(Location::at(path), how).unwrap())
    }

    #[test]
    fn syncs_reach_the_kernel() {
        // A character device cannot be synced: the refusal shows that the kernel was called.
        let null = Handle::System(OpenOptions::new().write(true).open("/dev/null").unwrap());
        change(&Change::Write { file: &null, offset_bytes: 0, bytes: b"x" }).unwrap();
        assert_eq!(change(&Change::Sync { file: &null }).unwrap_err().kind(), ErrorKind::InvalidInput);
        let directory = tempfile::tempdir().unwrap();
        let file = opened(&directory.path().join("file"), Open::Create);
        change(&Change::Sync { file: &file }).unwrap();
        change(&Change::SyncDirectory { directory: directory.path() }).unwrap();
        let error = change(&Change::SyncDirectory { directory: &directory.path().join("file") }).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotADirectory);
    }

    #[test]
    fn names_are_exchanged_and_space_is_known() {
        let directory = tempfile::tempdir().unwrap();
        let [one, other, missing] = ["one", "other", "missing"].map(|name| directory.path().join(name));
        change(&Change::CreateDirectory { directory: &one }).unwrap();
        std::fs::write(&other, "other").unwrap();
        match exchange(&one, &other) {
            Ok(()) => assert!(one.is_file() && other.is_dir()),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Unsupported),
        }
        assert!(exchange(&one, &missing).is_err());
        assert!(free_bytes(directory.path()).unwrap() > 0);
        assert!(free_bytes(&missing).is_err());
        assert_eq!(resolve(&missing).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn a_lock_is_held_until_it_is_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        for path in [directory.path(), &file] {
            let owned = lock(path).unwrap().expect("nobody has it");
            assert!(lock(path).unwrap().is_none());
            drop(owned);
            assert!(lock(path).unwrap().is_some());
        }
        assert!(lock(&link).is_err());
        assert_eq!(lock(&directory.path().join("none")).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn a_name_that_another_process_removes_first_is_gone_as_well() {
        let directory = tempfile::tempdir().unwrap();
        let at_work = std::sync::atomic::AtomicBool::new(true);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while at_work.load(std::sync::atomic::Ordering::Relaxed) {
                    for name in list(Location::at(directory.path())).unwrap() {
                        let _ = std::fs::remove_file(directory.path().join(name));
                    }
                }
            });
            let mut options = OpenOptions::new();
            options.read(true).write(true);
            let made: Vec<_> = (0..2000).map(|_| without_name(directory.path(), &options).map(drop)).collect();
            at_work.store(false, std::sync::atomic::Ordering::Relaxed);
            made.into_iter().for_each(|made| made.unwrap());
        });
        assert!(list(Location::at(directory.path())).unwrap().is_empty());
    }

    #[test]
    fn files_grow_shrink_and_get_a_name() {
        let directory = tempfile::tempdir().unwrap();
        let name = directory.path().join("file");
        let file = opened(directory.path(), Open::Nameless);
        assert!(list(Location::at(directory.path())).unwrap().is_empty());
        change(&Change::Write { file: &file, offset_bytes: 4096, bytes: &[7; 8192] }).unwrap();
        change(&Change::Allocate { file: &file, offset_bytes: 0, len_bytes: 20_000 }).unwrap();
        assert_eq!(look(What::Open(&file)).unwrap().len_bytes, 20_000);
        change(&Change::Truncate { file: &file, len_bytes: 10_000 }).unwrap();
        let mut expected = [vec![0; 4096], vec![7; 5904]].concat();
        match change(&Change::Punch { file: &file, offset_bytes: 4096, len_bytes: 4096 }) {
            Ok(()) => expected[4096..8192].fill(0),
            Err(error) => assert!(matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP) | None), "{error}"),
        }
        let mut bytes = vec![1; 20_000];
        assert_eq!(read(file.system().unwrap(), &mut bytes, 0).unwrap(), 10_000);
        assert!(bytes[..10_000] == expected);
        if let Err(error) = change(&Change::Link { file: &file, path: &name }) {
            // A file system that has no files without names.
            assert_eq!(error.kind(), ErrorKind::NotFound);
            return;
        }
        let status = look(What::Itself(Location::at(&name))).unwrap();
        assert_eq!((status.kind, status), (FileKind::File, look(What::Open(&file)).unwrap()));
        assert!(open(Location::at(&name), Open::Create).is_err());
        let again = opened(&name, Open::Write);
        change(&Change::Write { file: &again, offset_bytes: 9999, bytes: b"end" }).unwrap();
        assert_eq!(std::fs::read(&name).unwrap()[9998..], *b"\x07end");
    }

    #[test]
    fn nothing_is_followed_out_of_a_directory_nor_removed_through_a_link() {
        use crate::backend::{Backend, Posix};
        let parent = tempfile::tempdir().unwrap();
        let [victim, tree] = ["victim", "tree"].map(|name| parent.path().join(name));
        std::fs::create_dir(&victim).unwrap();
        std::fs::write(victim.join("precious"), "x").unwrap();
        std::fs::create_dir_all(tree.join("a/b/c")).unwrap();
        std::fs::write(tree.join("a/b/file"), "x").unwrap();
        std::os::unix::fs::symlink(&victim, tree.join("a/link")).unwrap();
        let backend: std::sync::Arc<dyn Backend> = std::sync::Arc::new(Posix);
        let directory = crate::Directory::open(&backend, &tree).unwrap();
        let within = |name: &'static str| Location::within(&directory, Path::new(name));
        assert_eq!(directory.names("").unwrap(), ["a"]);
        assert_eq!(directory.names("a").unwrap(), ["b", "link"]);
        assert_eq!(look(What::Itself(within("a/link"))).unwrap().kind, FileKind::Link);
        assert_eq!(look(What::Itself(within("a/b"))).unwrap().kind, FileKind::Directory);
        for name in ["a/link/precious", "../victim/precious", "a/link", "a/b"] {
            assert!(open(within(name), Open::Read).is_err(), "{name}");
        }
        assert!(directory.names("a/link").is_err());
        assert!(change(&Change::Remove { place: within("a/link/precious") }).is_err());
        backend.remove_all(&tree).unwrap();
        assert_eq!(list(Location::at(parent.path())).unwrap(), ["victim"]);
        assert_eq!(std::fs::read(victim.join("precious")).unwrap(), b"x");
    }
}
