//! Pipes, devices and the standard input, read so that a request to stop is noticed while no data arrives.
//!
//! No call here blocks in the operating system for longer than a moment: a pipe is opened even without a writer, and
//! read when data is available, or when all writers are gone.

use crate::process::is_readable;
use crate::runtime::CancelFlag;
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A pipe, a device or the standard input.
pub struct PipeReader {
    file: File,
    cancel: CancelFlag,
}

impl PipeReader {
    /// Opens a pipe or a device.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn open(path: &Path, cancel: &CancelFlag) -> Result<Self> {
        let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
        Ok(PipeReader { file, cancel: cancel.clone() })
    }

    /// The standard input, from its current position.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn standard_input(cancel: &CancelFlag) -> Result<Self> {
        let file = std::io::stdin().as_fd().try_clone_to_owned()?.into();
        Ok(PipeReader { file, cancel: cancel.clone() })
    }
}

impl Read for PipeReader {
    /// Waits until data is available, and reads it.
    ///
    /// # Errors
    /// Errors of the operating system; a request to stop, as an error that holds [`crate::Error::Cancelled`].
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            self.cancel.check().map_err(Error::other)?;
            if !is_readable(&self.file)? {
                continue;
            }
            match self.file.read(buffer) {
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                other => return other,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_pipe_is_read_to_its_end_and_a_request_to_stop_is_heard() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let cancel = CancelFlag::default();
        let mut pipe = PipeReader::open(&path, &cancel).unwrap();
        // The writer comes later, and is slow.
        let script = format!("sleep 0.2; (printf 1; sleep 0.2; printf 2) > '{}'", path.display());
        let mut writer = Command::new("sh").args(["-c", &script]).stdin(Stdio::null()).spawn().unwrap();
        let mut text = String::new();
        pipe.read_to_string(&mut text).unwrap();
        assert_eq!(text, "12");
        assert!(writer.wait().unwrap().success());
        let mut alone = PipeReader::open(&path, &cancel).unwrap();
        std::thread::scope(|scope| {
            let reading = scope.spawn(move || alone.read(&mut [0; 8]).unwrap_err().downcast::<crate::Error>());
            std::thread::sleep(std::time::Duration::from_millis(200));
            assert!(!reading.is_finished(), "nobody has written, nor will");
            cancel.cancel();
            assert!(matches!(reading.join().unwrap(), Ok(crate::Error::Cancelled)));
        });
    }
}
