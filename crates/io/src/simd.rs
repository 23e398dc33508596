//! The widest vector instructions that loops may use.
//!
//! Every loop has a form for any processor and perhaps forms for AVX2 and AVX-512, which it takes where the processor
//! has them. All forms give the same bits. [`limit`] forbids forms, so that tests compare them on one machine.

use std::sync::atomic::{AtomicU8, Ordering};

/// A set of vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Simd {
    /// The instructions that every processor of the architecture has.
    Baseline,
    /// AVX, AVX2 and what processors have along with them.
    Avx2,
    /// AVX-512.
    Avx512,
}

static MOST: AtomicU8 = AtomicU8::new(Simd::Avx512 as u8);

/// Lets loops of this process use instructions up to `most`, where the processor has them.
pub fn limit(most: Simd) {
    MOST.store(most as u8, Ordering::Relaxed);
}

/// Whether loops may use these instructions, if the processor has them.
#[inline(always)]
pub fn allows(level: Simd) -> bool {
    level as u8 <= MOST.load(Ordering::Relaxed)
}

/// Whether loops may use a set of instructions and the processor has all of the named features. The standard library
/// caches what the processor has, so that this is a few loads.
#[macro_export]
macro_rules! has_simd {
    ($level:ident $(, $feature:tt)+) => {
        $crate::simd::allows($crate::simd::Simd::$level) $(&& ::std::is_x86_feature_detected!($feature))+
    };
}

impl std::str::FromStr for Simd {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "baseline" => Ok(Simd::Baseline),
            "avx2" => Ok(Simd::Avx2),
            "avx512" => Ok(Simd::Avx512),
            _ => Err(format!("expected baseline, avx2 or avx512, found `{text}`")),
        }
    }
}
