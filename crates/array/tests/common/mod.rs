//! Setup that tests of arrays share.

use outcore_io::backend::Backend;
use outcore_io::{Runtime, RuntimeOptions};
use std::sync::Arc;

/// A runtime with this much memory beside that of the process, on a given device if there is one.
pub fn runtime_with(bytes: u64, threads: usize, backend: Option<Arc<dyn Backend>>) -> Arc<Runtime> {
    let options = RuntimeOptions {
        memory_bytes: Some(bytes),
        beside_process: true,
        threads: Some(threads),
        backend,
        ..RuntimeOptions::default()
    };
    Arc::new(Runtime::new(options).unwrap())
}
