//! Hashes of integers that all crates share: for dictionaries, checksums and samples.

/// A well-mixed 64-bit hash of an integer (the finaliser of MurmurHash3; Appleby 2011).
#[inline(always)]
pub fn mix(value: u64) -> u64 {
    let mut mixed = value ^ (value >> 33);
    mixed = mixed.wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^= mixed >> 33;
    mixed = mixed.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ (mixed >> 33)
}

/// A permutation of 32-bit integers, in an order as good as random (the 32-bit finaliser of MurmurHash3).
#[inline(always)]
pub fn mix_32(value: u32) -> u32 {
    let mut mixed = (value ^ value >> 16).wrapping_mul(0x85eb_ca6b);
    mixed = (mixed ^ mixed >> 13).wrapping_mul(0xc2b2_ae35);
    mixed ^ mixed >> 16
}
