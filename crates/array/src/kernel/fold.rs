//! Folds: sums, products, extremes and counts, of a vector or of several vectors element by element.
//!
//! *Order.* If real numbers are rounded, the order of additions is fixed: among the whole blocks of 32 elements of a
//! vector, element `i` is added to lane `i mod 32`; then the second half of the lanes is added to the first, and so on
//! until one is left, which is added to the earlier sum; the remaining elements are added last, one after the other.
//! This number of lanes is enough that no addition waits for another.

use super::binary::{Apply, function};
use super::function::named;
use super::simd::{Loop, widest};
use super::values::{Element, Scalar, Values, ValuesMut, each};
use outcore_format::ElementType;
use std::marker::PhantomData;

/// The lanes that elements are spread over.
pub(crate) const LANES: usize = 32;

named! {
    /// A function that folds elements into one.
    Fold:
    Sum = "sum", "The sum; whole numbers wrap.";
    Product = "prod", "The product; whole numbers wrap.";
    Min = "min", "The least; NaN if there is one.";
    Max = "max", "The greatest; NaN if there is one.";
    Any = "any", "Whether any boolean is true.";
    All = "all", "Whether all booleans are true.";
}

impl Fold {
    /// The type of the result for elements of a type; `None` if the fold does not take that.
    pub fn result(self, of: ElementType) -> Option<ElementType> {
        let of_bool = matches!(self, Fold::Any | Fold::All);
        (of_bool == (of == ElementType::Bool)).then_some(of)
    }
}

/// The fold of no elements: for the minimum the largest value of the type, for the maximum the smallest, infinite for
/// real numbers.
///
/// # Panics
/// If the fold does not take the type.
pub fn identity(fold: Fold, element: ElementType) -> Scalar {
    assert!(fold.result(element).is_some(), "{} does not take {}", fold.name(), element.name());
    match fold {
        Fold::Sum | Fold::Any => Scalar::UInt8(0).cast(element),
        Fold::Product | Fold::All => Scalar::UInt8(1).cast(element),
        // Casts of infinities stop at the limits of whole numbers.
        Fold::Min => Scalar::Float64(f64::INFINITY).cast(element),
        Fold::Max => Scalar::Float64(f64::NEG_INFINITY).cast(element),
    }
}

struct Accumulate<'a, T, F> {
    x: &'a [T],
    to: &'a mut [T],
    function: PhantomData<F>,
}

impl<T: Element, F: Apply<T, Out = T>> Loop for Accumulate<'_, T, F> {
    type Output = ();
    const HAS_AVX512: bool = T::HAS_AVX512;

    #[inline(always)]
    fn run(self) {
        for (to, &x) in self.to.iter_mut().zip(self.x) {
            *to = F::apply(*to, x);
        }
    }
}

fn accumulate_with<F: Apply<T, Out = T>, T: Element>(x: &[T], to: ValuesMut<'_>) {
    let to = T::slice_mut(to);
    assert_eq!(x.len(), to.len(), "vectors of one operation have one length");
    widest(Accumulate::<T, F> { x, to, function: PhantomData });
}

/// Folds vectors element by element: `to[i] = to[i] op x[i]`.
///
/// # Panics
/// If the fold does not take the type, `to` has another type, or the lengths differ.
pub fn accumulate(fold: Fold, x: Values<'_>, to: ValuesMut<'_>) {
    if ignores_sign(fold) && x.element().is_signed() {
        return accumulate(fold, x.unsigned(), to.unsigned());
    }
    macro_rules! route {
        ($x:expr, $($fold:ident $function:ident)*) => {
            match fold {
                $(Fold::$fold => accumulate_with::<function::$function, _>($x, to),)*
                _ => panic!("{} does not take {}", fold.name(), x.element().name()),
            }
        };
    }
    match x {
        Values::Bool(x) => route!(x, Any BitwiseOr All BitwiseAnd),
        Values::Int8(x) => route!(x, Min Minimum Max Maximum),
        Values::Int16(x) => route!(x, Min Minimum Max Maximum),
        Values::Int32(x) => route!(x, Min Minimum Max Maximum),
        Values::Int64(x) => route!(x, Min Minimum Max Maximum),
        Values::UInt8(x) => route!(x, Sum Add Product Multiply Min Minimum Max Maximum),
        Values::UInt16(x) => route!(x, Sum Add Product Multiply Min Minimum Max Maximum),
        Values::UInt32(x) => route!(x, Sum Add Product Multiply Min Minimum Max Maximum),
        Values::UInt64(x) => route!(x, Sum Add Product Multiply Min Minimum Max Maximum),
        Values::Float32(x) => route!(x, Sum Add Product Multiply Min Minimum Max Maximum),
        Values::Float64(x) => route!(x, Sum Add Product Multiply Min Minimum Max Maximum),
    }
}

/// Whether the bits of the result are the same for whole numbers with and without sign.
fn ignores_sign(fold: Fold) -> bool {
    matches!(fold, Fold::Sum | Fold::Product)
}

/// Adds halves of lanes until one is left.
#[inline(always)]
pub(crate) fn halved<T: Copy>(mut lanes: [T; LANES], add: impl Fn(T, T) -> T) -> T {
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = add(lanes[lane], lanes[lane + half]);
        }
        half /= 2;
    }
    lanes[0]
}

/// Folds terms in the order that this file fixes.
#[inline(always)]
pub(crate) fn fold_in_lanes<T: Copy, U: Copy>(x: &[T], start: U, term: impl Fn(T) -> U, add: impl Fn(U, U) -> U) -> U {
    let (blocks, rest) = x.as_chunks::<LANES>();
    let mut total = start;
    if let Some((first, blocks)) = blocks.split_first() {
        let mut lanes: [U; LANES] = std::array::from_fn(|lane| term(first[lane]));
        for block in blocks {
            for lane in 0..LANES {
                lanes[lane] = add(lanes[lane], term(block[lane]));
            }
        }
        total = add(total, halved(lanes, &add));
    }
    rest.iter().fold(total, |total, &x| add(total, term(x)))
}

/// Real numbers, in the fixed order.
struct InLanes<'a, T, F> {
    x: &'a [T],
    start: T,
    function: PhantomData<F>,
}

impl<T: Element, F: Apply<T, Out = T>> Loop for InLanes<'_, T, F> {
    type Output = T;

    #[inline(always)]
    fn run(self) -> T {
        fold_in_lanes(self.x, self.start, |x| x, F::apply)
    }
}

/// Whole numbers, whose order does not matter.
struct InAnyOrder<'a, T, F> {
    x: &'a [T],
    start: T,
    function: PhantomData<F>,
}

impl<T: Element, F: Apply<T, Out = T>> Loop for InAnyOrder<'_, T, F> {
    type Output = T;
    const HAS_AVX512: bool = T::HAS_AVX512;

    #[inline(always)]
    fn run(self) -> T {
        self.x.iter().fold(self.start, |total, &x| F::apply(total, x))
    }
}

/// The least or greatest real number, or NaN.
struct Extreme<'a, T, const MAX: bool> {
    x: &'a [T],
}

impl<T: Element, const MAX: bool> Loop for Extreme<'_, T, MAX> {
    type Output = Option<T>;

    #[inline(always)]
    #[expect(clippy::eq_op)]
    fn run(self) -> Option<T> {
        let first = *self.x.first()?;
        let better = |a: T, b: T| if MAX { a > b } else { a < b };
        let (blocks, rest) = self.x.as_chunks::<LANES>();
        // A comparison with NaN is false: NaNs are collected in separate lanes.
        let (mut lanes, mut nans) = ([first; LANES], [T::default(); LANES]);
        for block in blocks {
            for lane in 0..LANES {
                let x = block[lane];
                lanes[lane] = if better(x, lanes[lane]) { x } else { lanes[lane] };
                nans[lane] = if x != x { x } else { nans[lane] };
            }
        }
        let nan = nans.iter().chain(rest).find(|x| **x != **x);
        let best = || lanes.iter().chain(rest).fold(first, |best, &x| if better(x, best) { x } else { best });
        Some(nan.copied().unwrap_or_else(best))
    }
}

/// Whether a vector has an element that is equal to one, or that is NaN if this one is.
struct Find<'a, T> {
    x: &'a [T],
    element: T,
}

impl<T: Element> Loop for Find<'_, T> {
    type Output = Option<usize>;
    const HAS_AVX512: bool = T::HAS_AVX512;

    #[inline(always)]
    #[expect(clippy::eq_op)]
    fn run(self) -> Option<usize> {
        let is_nan = self.element != self.element;
        let is_it = |x: &T| (*x == self.element) | (is_nan & (*x != *x));
        let is_in = |block: &[T]| block.iter().fold(false, |is_in, x| is_in | is_it(x));
        let block = self.x.chunks(2 * LANES).position(is_in)?;
        let start = block * 2 * LANES;
        self.x[start..].iter().position(is_it).map(|index| start + index)
    }
}

/// Folds the elements of a vector and `start`, the result of earlier elements. Real numbers are added and multiplied in
/// the order that the head of this file fixes.
///
/// # Panics
/// If the fold does not take the type.
pub fn reduce(fold: Fold, x: Values<'_>, start: Scalar) -> Scalar {
    let element = x.element();
    if ignores_sign(fold) && element.is_signed() {
        return reduce(fold, x.unsigned(), start.cast(element).unsigned()).cast(element);
    }
    macro_rules! whole {
        ($x:expr, $type:ty, $($fold:ident $function:ident)*) => {{
            let (x, start) = ($x, <$type>::from_scalar(start));
            match fold {
                $(Fold::$fold => widest(InAnyOrder::<$type, function::$function> { x, start, function: PhantomData }),)*
                _ => panic!("{} does not take {}", fold.name(), element.name()),
            }
            .scalar()
        }};
    }
    macro_rules! real {
        ($x:expr, $type:ty) => {{
            let (x, start) = ($x, <$type>::from_scalar(start));
            match fold {
                Fold::Sum => widest(InLanes::<$type, function::Add> { x, start, function: PhantomData }),
                Fold::Product => widest(InLanes::<$type, function::Multiply> { x, start, function: PhantomData }),
                Fold::Min => widest(Extreme::<$type, false> { x })
                    .map_or(start, |x| <function::Minimum as Apply<$type>>::apply(start, x)),
                Fold::Max => widest(Extreme::<$type, true> { x })
                    .map_or(start, |x| <function::Maximum as Apply<$type>>::apply(start, x)),
                Fold::Any | Fold::All => panic!("{} does not take {}", fold.name(), element.name()),
            }
            .scalar()
        }};
    }
    match x {
        Values::Bool(x) => reduce_bool(fold, x, start),
        Values::Int8(x) => whole!(x, i8, Min Minimum Max Maximum),
        Values::Int16(x) => whole!(x, i16, Min Minimum Max Maximum),
        Values::Int32(x) => whole!(x, i32, Min Minimum Max Maximum),
        Values::Int64(x) => whole!(x, i64, Min Minimum Max Maximum),
        Values::UInt8(x) => whole!(x, u8, Sum Add Product Multiply Min Minimum Max Maximum),
        Values::UInt16(x) => whole!(x, u16, Sum Add Product Multiply Min Minimum Max Maximum),
        Values::UInt32(x) => whole!(x, u32, Sum Add Product Multiply Min Minimum Max Maximum),
        Values::UInt64(x) => whole!(x, u64, Sum Add Product Multiply Min Minimum Max Maximum),
        Values::Float32(x) => real!(x, f32),
        Values::Float64(x) => real!(x, f64),
    }
}

fn reduce_bool(fold: Fold, x: &[u8], start: Scalar) -> Scalar {
    let start = u8::from_scalar(start);
    Scalar::Bool(match fold {
        Fold::Any => widest(InAnyOrder::<u8, function::BitwiseOr> { x, start, function: PhantomData }),
        Fold::All => widest(InAnyOrder::<u8, function::BitwiseAnd> { x, start, function: PhantomData }),
        _ => panic!("{} does not take booleans", fold.name()),
    })
}

struct ArgAccumulate<'a, T, const MAX: bool> {
    index: i64,
    x: &'a [T],
    best: &'a mut [T],
    best_index: &'a mut [i64],
}

impl<T: Element, const MAX: bool> Loop for ArgAccumulate<'_, T, MAX> {
    type Output = ();
    const HAS_AVX512: bool = T::HAS_AVX512;

    #[inline(always)]
    #[expect(clippy::eq_op)]
    fn run(self) {
        let takes = |x: T, best: T| {
            let is_better = if MAX { x > best } else { x < best };
            is_better | ((x != x) & (best == best))
        };
        for ((&x, &best), best_index) in self.x.iter().zip(&*self.best).zip(self.best_index) {
            let old = *best_index;
            *best_index = if takes(x, best) { self.index } else { old };
        }
        for (&x, best) in self.x.iter().zip(self.best) {
            let old = *best;
            *best = if takes(x, old) { x } else { old };
        }
    }
}

/// Keeps the least or greatest elements of several vectors, element by element, and the numbers of the vectors that
/// they are from: the first of equal ones, and the first NaN if there is any. Before, `best` is a copy of the first
/// vector and `best_index` its number.
///
/// # Panics
/// If the types are not the same, or booleans, or the lengths differ.
pub fn arg_accumulate(is_max: bool, index: i64, x: Values<'_>, best: ValuesMut<'_>, best_index: &mut [i64]) {
    fn of_type<T: Element>(is_max: bool, index: i64, x: &[T], best: &mut [T], best_index: &mut [i64]) {
        let lens = (best.len(), best_index.len());
        assert_eq!((x.len(), x.len()), lens, "vectors of one operation have one length");
        match is_max {
            true => widest(ArgAccumulate::<T, true> { index, x, best, best_index }),
            false => widest(ArgAccumulate::<T, false> { index, x, best, best_index }),
        }
    }
    assert!(x.element() != ElementType::Bool, "booleans have no order");
    each!(Values, x, x => of_type(is_max, index, x, Element::slice_mut(best), best_index));
}

/// The least or greatest element of a vector and its index: the first of equal ones, and the first NaN if there is any.
///
/// # Panics
/// If the vector is empty, or of booleans.
pub fn arg_reduce(is_max: bool, x: Values<'_>) -> (Scalar, usize) {
    assert!(!x.is_empty() && x.element() != ElementType::Bool, "an extreme of numbers");
    let fold = if is_max { Fold::Max } else { Fold::Min };
    let extreme = reduce(fold, x, x.get(0));
    macro_rules! find {
        ($($variant:ident)*) => {
            match (x.unsigned(), extreme.unsigned()) {
                $((Values::$variant(x), Scalar::$variant(element)) => widest(Find { x, element }),)*
                _ => unreachable!("an extreme has the type of the elements"),
            }
        };
    }
    let index = find!(UInt8 UInt16 UInt32 UInt64 Float32 Float64);
    let index = index.expect("it is one of them");
    (x.get(index), index)
}
