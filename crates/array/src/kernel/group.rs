//! Vectors folded into groups by the labels of their elements.

use super::fold::Fold;
use super::values::{Element, Values, ValuesMut, each};
use outcore_format::ElementType;

/// Sums of few groups are computed in this number of lanes, for an addition waits for the previous one to the same sum.
const LANES: usize = 4;
/// Largest number of groups that counts as few.
const FEW_GROUPS: usize = 64;

/// Adds every element to its group.
fn sum<T: Element>(x: &[T], labels: &[i64], groups: &mut [T], add: impl Fn(T, T) -> T) {
    let mut lanes = [[T::default(); FEW_GROUPS]; LANES];
    let count = groups.len();
    let labels = &labels[..x.len()];
    if count > FEW_GROUPS {
        return into_groups(x, labels, groups, add);
    }
    let (chunks, rest) = x.as_chunks::<LANES>();
    let (label_chunks, label_rest) = labels.as_chunks::<LANES>();
    for (chunk, labels) in chunks.iter().zip(label_chunks) {
        for lane in 0..LANES {
            into_groups(&chunk[lane..=lane], &labels[lane..=lane], &mut lanes[lane][..count], &add);
        }
    }
    into_groups(rest, label_rest, &mut lanes[0][..count], &add);
    for (place, group) in groups.iter_mut().enumerate() {
        let own = lanes.each_ref().map(|lane| lane[place]);
        *group = add(*group, add(add(own[0], own[1]), add(own[2], own[3])));
    }
}

/// Folds every element into its group.
#[inline(always)]
fn into_groups<T: Element>(x: &[T], labels: &[i64], groups: &mut [T], with: impl Fn(T, T) -> T) {
    for (&value, &label) in x.iter().zip(labels) {
        // A label below 0 becomes a large one, which no group has.
        if let Some(group) = groups.get_mut(label as usize) {
            *group = with(*group, value);
        }
    }
}

/// Folds every element into the group that its label names; elements whose label is no group are ignored.
///
/// # Panics
/// If the types are not the same, or there are fewer labels than elements.
pub fn group_accumulate(fold: Fold, x: Values<'_>, labels: &[i64], groups: ValuesMut<'_>) {
    let labels = &labels[..x.len()];
    macro_rules! whole {
        ($($variant:ident)*) => {
            match (x, groups) {
                (Values::Bool(x), ValuesMut::Bool(groups)) => match fold {
                    Fold::All => into_groups(x, labels, groups, |a, b| a & b),
                    _ => into_groups(x, labels, groups, |a, b| a | b),
                },
                $((Values::$variant(x), ValuesMut::$variant(groups)) => match fold {
                    Fold::Sum => sum(x, labels, groups, |a, b| a.wrapping_add(b)),
                    Fold::Product => into_groups(x, labels, groups, |a, b| a.wrapping_mul(b)),
                    Fold::Min => into_groups(x, labels, groups, |a, b| a.min(b)),
                    Fold::Max => into_groups(x, labels, groups, |a, b| a.max(b)),
                    Fold::Any | Fold::All => unreachable!("numbers are cast to bool before"),
                },)*
                (Values::Float32(x), ValuesMut::Float32(groups)) => real!(x, groups),
                (Values::Float64(x), ValuesMut::Float64(groups)) => real!(x, groups),
                (x, _) => panic!("groups of another type than {}", x.element().name()),
            }
        };
    }
    macro_rules! real {
        ($x:ident, $groups:ident) => {
            match fold {
                Fold::Sum => sum($x, labels, $groups, |a, b| a + b),
                Fold::Product => into_groups($x, labels, $groups, |a, b| a * b),
                // NaN spreads.
                Fold::Min => into_groups($x, labels, $groups, |a, b| if a.is_nan() || a <= b { a } else { b }),
                Fold::Max => into_groups($x, labels, $groups, |a, b| if a.is_nan() || a >= b { a } else { b }),
                Fold::Any | Fold::All => unreachable!("numbers are cast to bool before"),
            }
        };
    }
    whole!(Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64);
}

/// Sets every element by its place.
pub fn set_each(to: ValuesMut<'_>, value: impl Fn(usize) -> super::Scalar) {
    fn of<T: Element>(to: &mut [T], value: impl Fn(usize) -> super::Scalar) {
        to.iter_mut().enumerate().for_each(|(i, to)| *to = T::from_scalar(value(i)));
    }
    if to.element() == ElementType::Bool {
        let ValuesMut::Bool(to) = to else { unreachable!("booleans") };
        return to.iter_mut().enumerate().for_each(|(i, to)| *to = u8::from(value(i).to_f64() != 0.0));
    }
    each!(ValuesMut, to, x => of(x, value));
}

impl super::Scalar {
    /// The value of the bytes of an element, in the byte order of the processor.
    ///
    /// # Panics
    /// If there are not as many bytes.
    pub fn from_bytes(element: ElementType, bytes: &[u8]) -> Self {
        let mut word = [0u64; 1];
        let own: &mut [u8] = &mut bytemuck::cast_slice_mut(&mut word)[..element.bytes()];
        own.copy_from_slice(bytes);
        Values::from_bytes(element, own).get(0)
    }

    /// 0, or false.
    pub fn zero(element: ElementType) -> Self {
        super::Scalar::Bool(0).cast(element)
    }

    /// This value and `count` times another one of the same type.
    pub(crate) fn plus_times(self, count: u64, step: Self) -> Self {
        macro_rules! of {
            ($($variant:ident $type:ty),*; $($real:ident $real_type:ty),*) => {
                match (self, step) {
                    $((Self::$variant(start), Self::$variant(step)) => {
                        Self::$variant(start.wrapping_add(step.wrapping_mul(count as $type)))
                    })*
                    $((Self::$real(start), Self::$real(step)) => Self::$real(start + step * count as $real_type),)*
                    (start, _) => start,
                }
            };
        }
        of!(Int8 i8, Int16 i16, Int32 i32, Int64 i64, UInt8 u8, UInt16 u16, UInt32 u32, UInt64 u64;
            Float32 f32, Float64 f64)
    }
}

impl std::fmt::Display for super::Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{}", *value != 0),
            value => each!(Self, value, x => write!(f, "{x}")),
        }
    }
}
