//! Setup that tests of arrays share.

use outcore_io::backend::Backend;
use outcore_io::{Runtime, RuntimeOptions};
use std::sync::Arc;

/// A runtime with so much memory beside what the process holds, on a device of its own if one is given.
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
