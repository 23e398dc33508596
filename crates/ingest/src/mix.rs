//! The hash of integers that all crates share: for dictionaries, checksums, samples and drawn vertices.

/// A well-mixed 64-bit hash of an integer (the finaliser of MurmurHash3; Appleby 2011).
#[inline(always)]
pub fn mix(value: u64) -> u64 {
    let mut mixed = value ^ (value >> 33);
    mixed = mixed.wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^= mixed >> 33;
    mixed = mixed.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ (mixed >> 33)
}
