//! Mutation: new inputs from old ones, by chance that a seed repeats.

/// A seeded generator of numbers (SplitMix64; Steele, Lea, Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator; other seeds give other numbers.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// A number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `most`, which is not 0.
    pub fn below(&mut self, most: usize) -> usize {
        (self.number() % most as u64) as usize
    }
}

/// Numbers at which arithmetic goes wrong.
const EDGES: [u64; 14] = [
    0,
    1,
    2,
    15,
    16,
    17,
    0x7f,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0xffff_ffff_ffff_ffff,
];

/// An input made of one that is kept and perhaps another, with some changes, at most `most_bytes` long.
pub fn mutate(random: &mut Random, one: &[u8], other: &[u8], tokens: &[&[u8]], most_bytes: usize) -> Vec<u8> {
    let mut bytes = one.to_vec();
    for _ in 0..1 << random.below(5) {
        change(random, &mut bytes, other, tokens);
    }
    bytes.truncate(most_bytes);
    bytes
}

/// One change.
fn change(random: &mut Random, bytes: &mut Vec<u8>, other: &[u8], tokens: &[&[u8]]) {
    let at = random.below(bytes.len() + 1);
    match random.below(10) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        1 if at < bytes.len() => bytes[at] = random.number() as u8,
        2 if at < bytes.len() => bytes[at] = bytes[at].wrapping_add(1 + 254 * random.below(2) as u8),
        3 => bytes.truncate(at),
        4 => {
            let end = (at + 1 + random.below(16)).min(bytes.len());
            bytes.drain(at.min(end)..end);
        }
        5 => {
            let number = EDGES[random.below(EDGES.len())].to_le_bytes();
            write(bytes, at, &number[..1 << random.below(4)], random.below(4) == 0);
        }
        6 => {
            let number = EDGES[random.below(EDGES.len())].wrapping_add(random.number() % 3).wrapping_sub(1);
            write(bytes, at, number.to_string().as_bytes(), true);
        }
        7 if !tokens.is_empty() => {
            let token = tokens[random.below(tokens.len())];
            write(bytes, at, token, random.below(3) > 0);
        }
        8 if !other.is_empty() => {
            let start = random.below(other.len());
            let end = (start + 1 + random.below(64)).min(other.len());
            write(bytes, at, &other[start..end], random.below(2) == 0);
        }
        _ if !bytes.is_empty() => {
            let start = random.below(bytes.len());
            let end = (start + 1 + random.below(32)).min(bytes.len());
            let piece = bytes[start..end].to_vec();
            write(bytes, at, &piece, random.below(2) == 0);
        }
        _ => bytes.push(random.number() as u8),
    }
}

/// Writes a piece at a place, between what is there or over it.
fn write(bytes: &mut Vec<u8>, at: usize, piece: &[u8], insert: bool) {
    let end = if insert { at } else { (at + piece.len()).min(bytes.len()) };
    bytes.splice(at..end, piece.iter().copied());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_depend_on_the_seed_alone_and_keep_to_their_length() {
        let made = |seed: u64| {
            let mut random = Random::new(seed);
            (0..2000).map(|_| mutate(&mut random, b"1 2\n3 4\n", b"5 6\n", &[b"#"], 40)).collect::<Vec<_>>()
        };
        let inputs = made(1);
        assert_eq!(inputs, made(1));
        assert_ne!(inputs, made(2));
        assert!(inputs.iter().all(|input| input.len() <= 40));
        let different: std::collections::BTreeSet<_> = inputs.iter().collect();
        assert!(different.len() > 1500, "only {} different inputs", different.len());
        let empty = mutate(&mut Random::new(3), b"", b"", &[], 10);
        assert!(empty.len() <= 10);
    }
}
