//! Instruction sets that a loop is compiled for, and detection of those that the processor has.
//!
//! A [`Loop`] is compiled up to three times: for any processor, for AVX2 and for AVX-512. Its source is the same, no
//! product and sum are contracted but where it says `mul_add`, and no sum is reordered: so its results have the same
//! bits at every level.
//!
//! There are hundreds of loops, so their number decides the size of the program: whole numbers with a sign share the
//! loops of those without where the bits of a result are the same.
#![allow(unsafe_code)]

/// A loop over vectors with all that it needs.
pub trait Loop {
    /// The result of the loop.
    type Output;
    /// Whether the loop is compiled for AVX-512 beside AVX2: not worth its size for small whole numbers, of which AVX2
    /// computes at least eight at once.
    const HAS_AVX512: bool = true;

    /// Runs the loop. An implementation, and what it calls, is `#[inline(always)]`, or else it is not compiled for the
    /// processor. So a long body is that of a `for`, and no closure for an iterator to call. `mul_add` is one
    /// instruction if the processor has it, and slow otherwise.
    fn run(self) -> Self::Output;
}

/// Runs a loop with the widest vectors that the processor has.
#[inline(always)]
pub fn widest<L: Loop>(work: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if L::HAS_AVX512 && has_avx512() {
            // SAFETY: the processor has the features.
            return unsafe { with_avx512(work) };
        }
        if has_avx2() {
            // SAFETY: as above.
            return unsafe { with_avx2(work) };
        }
    }
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn has_avx512() -> bool {
    has_avx2() && outcore_io::has_simd!(Avx512, "avx512f", "avx512bw", "avx512dq", "avx512vl")
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn has_avx2() -> bool {
    outcore_io::has_simd!(Avx2, "avx2", "fma")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn with_avx512<L: Loop>(work: L) -> L::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<L: Loop>(work: L) -> L::Output {
    work.run()
}
