//! The hash of integers for numbers that look random: faults of the simulated device, generators, starts of iterations.

/// The step between the states of SplitMix64.
pub const SPLIT_MIX_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output of the generator SplitMix64 for a state: its hash (Steele, Lea, Flood, *Fast splittable pseudorandom
/// number generators*, OOPSLA 2014).
#[inline(always)]
pub fn split_mix(state: u64) -> u64 {
    let mut mixed = state.wrapping_add(SPLIT_MIX_STEP);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_those_of_the_published_generator() {
        let outputs = [0, 1, 2].map(|step| split_mix(SPLIT_MIX_STEP.wrapping_mul(step)));
        assert_eq!(outputs, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }
}
