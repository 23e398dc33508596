//! Functions of vectors against naive ones of single values; groups, distances, random bits, and types of results.

/// Calls a test for each type of numbers.
macro_rules! for_each_number {
    ($test:ident) => {
        $test::<i8>();
        $test::<i16>();
        $test::<i32>();
        $test::<i64>();
        $test::<u8>();
        $test::<u16>();
        $test::<u32>();
        $test::<u64>();
        $test::<f32>();
        $test::<f64>();
    };
}

mod against_scalars;
mod elements;
mod folds;
mod maths;
mod movement;

use elements::*;
use outcore_array::ElementType;
use outcore_array::internal::philox;
use outcore_array::kernel::*;

#[test]
fn names_lead_back_to_functions() {
    for &function in Unary::ALL {
        assert_eq!(Unary::from_name(function.name()), Some(function));
    }
    for &function in Binary::ALL {
        assert_eq!(Binary::from_name(function.name()), Some(function));
    }
    assert_eq!(Unary::from_name("add"), None);
}

#[test]
fn promotion_follows_the_tables() {
    use ElementType::*;
    // Rows and columns: i8 i16 i32 i64 with u8 u16 u32 u64.
    let signed = [Int8, Int16, Int32, Int64];
    let unsigned = [UInt8, UInt16, UInt32, UInt64];
    let table = [
        [Some(Int16), Some(Int32), Some(Int64), None],
        [Some(Int16), Some(Int32), Some(Int64), None],
        [Some(Int32), Some(Int32), Some(Int64), None],
        [Some(Int64), Some(Int64), Some(Int64), None],
    ];
    for (i, a) in signed.into_iter().enumerate() {
        for (k, b) in unsigned.into_iter().enumerate() {
            assert_eq!(promote(a, b), table[i][k], "{a:?} {b:?}");
            assert_eq!(promote(b, a), table[i][k], "{b:?} {a:?}");
            assert_eq!(promote_mixed(a, b), table[i][k].unwrap_or(Float64));
        }
        for (k, b) in signed.into_iter().enumerate() {
            assert_eq!(promote(a, b), Some(signed[i.max(k)]));
            assert_eq!(promote(unsigned[i], unsigned[k]), Some(unsigned[i.max(k)]));
        }
    }
    assert_eq!(promote(Float32, Float64), Some(Float64));
    for other in ElementType::ALL.into_iter().filter(|&other| other != Bool) {
        assert_eq!((promote(Bool, other), promote(other, Bool)), (None, None));
        assert_eq!((promote_mixed(Bool, other), promote_mixed(other, Bool)), (other, other));
        if !other.is_real() {
            let small = matches!(other, Int8 | Int16 | UInt8 | UInt16);
            assert_eq!((promote(Float32, other), promote(other, Float64)), (None, None));
            assert_eq!(promote_mixed(other, Float32), if small { Float32 } else { Float64 });
            assert_eq!(promote_mixed(Float64, other), Float64);
        }
    }
}

#[test]
fn elements_go_to_their_groups() {
    let (x, labels) = ([5i32, -1, 7, 9, 2], [0i64, 2, 0, -1, 3]);
    for (fold, expected) in [(Fold::Sum, [12, 0, -1]), (Fold::Min, [5, i32::MAX, -1]), (Fold::Max, [7, i32::MIN, -1])] {
        let mut groups = [0i32; 3];
        ValuesMut::Int32(&mut groups).fill(identity(fold, ElementType::Int32));
        group_accumulate(fold, Values::Int32(&x), &labels, ValuesMut::Int32(&mut groups));
        assert_eq!(groups, expected);
    }
    // Sums in lanes, of few groups, and sums of many are the same ones; labels outside are left out.
    let whole: Vec<f64> = (0..1001).map(|i| f64::from(i * 37 % 101)).collect();
    let labels: Vec<i64> = (0..1001).map(|i| i * i % 67 - 1).collect();
    for count in 1..=130 {
        let mut groups = vec![0.5; count];
        group_accumulate(Fold::Sum, Values::Float64(&whole), &labels, ValuesMut::Float64(&mut groups));
        for (group, found) in groups.iter().enumerate() {
            let own = whole.iter().zip(&labels).filter(|(_, label)| **label == group as i64);
            assert_eq!(*found, 0.5 + own.map(|(value, _)| value).sum::<f64>(), "{group} of {count}");
        }
    }
    let mut groups = [f64::INFINITY; 2];
    let x = [1.0, f64::NAN, -3.0, 2.0];
    group_accumulate(Fold::Min, Values::Float64(&x), &[0, 0, 0, 1], ValuesMut::Float64(&mut groups));
    assert!(groups[0].is_nan() && groups[1] == 2.0);
}

#[test]
fn distances_are_sums_of_squares() {
    for (rows, width, count) in [(1, 1, 1), (15, 3, 5), (16, 2, 4), (40, 7, 9), (508, 32, 10)] {
        let value = |i: usize| ((i * 7919) % 1013) as f64 / 31.0;
        let columns: Vec<Vec<f64>> = (0..width).map(|j| (0..rows).map(|i| value(i * width + j)).collect()).collect();
        let points: Vec<f64> = (0..count * width).map(|i| value(3 * i + 1)).collect();
        let mut to = vec![-1.0; count * (rows + 3)];
        let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        squared_distances(&slices, &points, &mut to, rows + 3);
        for point in 0..count {
            for row in 0..rows {
                let terms = (0..width).map(|j| columns[j][row] - points[point * width + j]);
                let expected = terms.fold(0.0, |sum, d| sum + d * d);
                assert_eq!(to[point * (rows + 3) + row], expected, "{row} of {rows}, {point} of {count}");
            }
            assert_eq!(to[point * (rows + 3) + rows..][..3], [-1.0; 3]);
        }
    }
}

/// The answers that come with Random123 (`kat_vectors`).
#[test]
fn philox_gives_the_known_answers() {
    let known = [
        ([0; 4], [0; 2], [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]),
        ([0xffffffff; 4], [0xffffffff; 2], [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]),
        (
            [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
            [0xa4093822, 0x299f31d0],
            [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
        ),
    ];
    for (counter, key, answer) in known {
        let key: [u64; 2] = key;
        assert_eq!(philox(counter, key[0] | key[1] << 32), answer);
    }
}
