//! Hashes of integers that all crates share: for dictionaries, checksums, samples, generators and drawn vertices.

/// A well-mixed 64-bit hash of an integer (the finaliser of MurmurHash3; Appleby 2011).
#[inline(always)]
pub fn mix(value: u64) -> u64 {
    let mut mixed = value ^ (value >> 33);
    mixed = mixed.wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^= mixed >> 33;
    mixed = mixed.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ (mixed >> 33)
}

/// The step between the states of SplitMix64.
pub const SPLIT_MIX_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output of the generator SplitMix64 (Steele, Lea, Flood 2014) for a state: its hash.
#[inline(always)]
pub fn split_mix(state: u64) -> u64 {
    let mut mixed = state.wrapping_add(SPLIT_MIX_STEP);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A permutation of 32-bit integers, in an order as good as random (the 32-bit finaliser of MurmurHash3).
#[inline(always)]
pub fn mix_32(value: u32) -> u32 {
    let mut mixed = (value ^ value >> 16).wrapping_mul(0x85eb_ca6b);
    mixed = (mixed ^ mixed >> 13).wrapping_mul(0xc2b2_ae35);
    mixed ^ mixed >> 16
}
