//! The memory of a fit, which is required as a whole before its first pass: a refusal then names a limit that is enough
//! for all of it, and no work is lost to a later one.

use outcore_array::{Array, Explanation, Goal, explain, less_memory_if};
use outcore_image::{Error, Result};
use outcore_io::Runtime;

/// A page cache that has given back its pages still has headers, of less than one part in this number of its memory.
const CACHE_HEADERS_PART: u64 = 100;

/// A phase of a fit: a pass.
#[derive(Clone, Debug)]
pub struct Phase {
    /// The arrays that the pass computes together. Their numbers may be stand-ins.
    pub arrays: Vec<Array>,
    /// Memory of the model beside the pass.
    pub own_bytes: u64,
}

impl Phase {
    pub(crate) fn pass(arrays: Vec<Array>, own_bytes: u64) -> Self {
        Phase { arrays, own_bytes }
    }

    fn explained(&self, runtime: &Runtime) -> Result<Explanation> {
        explain(runtime, &self.arrays.iter().cloned().map(Goal::Value).collect::<Vec<_>>())
    }

    /// The bytes that the pass reads without a cache.
    pub(crate) fn read_bytes(&self, runtime: &Runtime) -> Result<u64> {
        let passes = self.explained(runtime)?.passes.into_iter();
        Ok(passes.map(|pass| pass.reads.iter().map(|(_, bytes)| bytes).sum()).max().unwrap_or(0))
    }

    /// The memory of the phase. Nothing is read.
    fn bytes(&self, runtime: &Runtime) -> Result<u64> {
        let pass_bytes = match self.explained(runtime) {
            Ok(plan) => plan.passes.iter().map(|pass| pass.memory_bytes + pass.result_bytes).max().unwrap_or(0),
            Err(Error::Memory { needed_bytes, .. }) => needed_bytes,
            Err(other) => return Err(other),
        };
        let bytes = pass_bytes.saturating_add(self.own_bytes);
        Ok(bytes.saturating_add(bytes / CACHE_HEADERS_PART))
    }
}

/// The memory of the largest of some phases.
pub(crate) fn most_bytes(runtime: &Runtime, phases: &[Phase]) -> Result<u64> {
    Ok(most_of(runtime, phases)?.0)
}

/// The memory of the largest of some phases, and the words of a refusal that say how it may need less.
pub(crate) fn most_of(runtime: &Runtime, phases: &[Phase]) -> Result<(u64, String)> {
    let bytes = phases.iter().map(|phase| Ok((phase.bytes(runtime)?, phase))).collect::<Result<Vec<_>>>()?;
    let most = bytes.into_iter().max_by_key(|&(bytes, _)| bytes);
    Ok(most.map_or((0, String::new()), |(bytes, phase)| (bytes, less_memory_if(&phase.arrays))))
}

/// Refuses a fit, called `name`, if one of its phases needs more memory than is left.
///
/// # Errors
/// Too little memory; a pass that cannot be planned.
pub(crate) fn require(runtime: &Runtime, name: &str, phases: &[Phase]) -> Result<()> {
    let (bytes, less) = most_of(runtime, phases)?;
    runtime.budget().require(&format!("{name}{less}"), bytes)
}

/// Refuses a model, called `name`, whose own numbers are so many that not even stand-ins for them can be planned with.
/// Every worker has about as many.
///
/// # Errors
/// Too little memory.
pub(crate) fn require_own(runtime: &Runtime, name: &str, own_bytes: u64) -> Result<()> {
    const PLANNED_BYTES: u64 = 1 << 30;
    let budget = runtime.budget();
    if own_bytes > budget.available_bytes().max(PLANNED_BYTES) {
        budget.require(name, own_bytes.saturating_mul(runtime.threads() as u64 + 1))?;
    }
    Ok(())
}

/// The product of sizes and the bytes of each number, at most `u64::MAX`.
pub(crate) fn bytes_of(each_bytes: u64, sizes: &[usize]) -> u64 {
    sizes.iter().fold(each_bytes, |bytes, &size| bytes.saturating_mul(size as u64))
}
