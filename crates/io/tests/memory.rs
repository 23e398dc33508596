//! The memory of the process counts. Alone in its process: memory that other tests hold or free would count too.

use outcore_io::{Runtime, RuntimeOptions, current_memory_bytes};

#[test]
fn a_renewed_runtime_counts_what_is_held_now() {
    let memory_bytes = Some(current_memory_bytes() + (100 << 20));
    let runtime = Runtime::new(RuntimeOptions { memory_bytes, ..RuntimeOptions::default() }).unwrap();
    let block = vec![1u8; 40 << 20];
    let renewed = runtime.renewed().unwrap();
    assert_eq!(Some(renewed.budget().limit_bytes()), memory_bytes);
    assert!(renewed.budget().available_bytes() + (39 << 20) < runtime.budget().available_bytes());
    assert!(block.iter().all(|&byte| byte == 1));
    runtime.cancel().cancel();
    assert!(renewed.cancel().is_cancelled());
}
