//! Short vectors and single values of any element type.
//!
//! [`Values`] and [`ValuesMut`] borrow a vector whose type is known only when the program runs; [`Element`] leads from
//! there to slices of a type that the compiler knows. A boolean is a byte of 1 or 0.
#![allow(clippy::unnecessary_cast)] // why: macros cast any type to any other

use bytemuck::Pod;
use outcore_format::ElementType;

/// A type of Rust that holds elements.
pub trait Element: sealed::Sealed + Pod + PartialOrd + Default + Send + Sync + 'static {
    /// The type of the elements. Bytes are `UInt8`; booleans, bytes too, have functions of their own.
    const TYPE: ElementType;

    /// Whether loops over such elements are compiled for AVX-512: real numbers, and whole ones of 64 bits.
    const HAS_AVX512: bool;

    /// The value as a scalar.
    fn scalar(self) -> Scalar;

    /// The scalar cast to this type.
    fn from_scalar(scalar: Scalar) -> Self;

    /// Whether the value differs from 0.
    #[inline(always)]
    fn is_set(self) -> bool {
        self != Self::default()
    }

    /// The elements of a vector of this type; bytes also of a vector of booleans.
    ///
    /// # Panics
    /// If the vector has another type.
    fn slice<'a>(values: Values<'a>) -> &'a [Self];

    /// [`Element::slice`] for writing.
    ///
    /// # Panics
    /// If the vector has another type.
    fn slice_mut<'a>(values: ValuesMut<'a>) -> &'a mut [Self];
}

mod sealed {
    pub trait Sealed {}
}

/// Calls a macro with the arguments that it has, and the variants of all types.
macro_rules! types {
    ($macro:ident($($args:tt)*)) => {
        $macro!(@ ($($args)*) Bool Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float32 Float64)
    };
}
pub(crate) use types;

/// Evaluates an expression for the elements of a vector of any type, and gives them a name.
macro_rules! each {
    (@ ($enum:ident, $values:expr, $x:ident => $body:expr) $($variant:ident)*) => {
        match $values {
            $($enum::$variant($x) => $body,)*
        }
    };
    ($($args:tt)*) => { $crate::kernel::values::types!(each($($args)*)) };
}
pub(crate) use each;

/// Makes a vector or a value of the type of another one out of its elements.
macro_rules! mapped {
    (@ ($from:ident, $to:ident, $values:expr, $x:ident => $body:expr) $($variant:ident)*) => {
        match $values {
            $($from::$variant($x) => $to::$variant($body),)*
        }
    };
    ($($args:tt)*) => { types!(mapped($($args)*)) };
}

/// Makes a vector or a value of a type that is known only when the program runs.
macro_rules! made {
    (@ ($enum:ident, $element:expr, $body:expr) $($variant:ident)*) => {
        match $element {
            $(ElementType::$variant => $enum::$variant($body),)*
        }
    };
    ($($args:tt)*) => { types!(made($($args)*)) };
}

/// Declares an enum with a variant for each element type, and the element type of its values.
macro_rules! by_type {
    ($(#[$doc:meta])* $name:ident $(<$life:lifetime>)?, $($wrap:tt)*) => {
        by_type!(@ [$(#[$doc])*] $name [$($life)?] ($($wrap)*)
            Bool(u8, "booleans, bytes of 1 or 0") Int8(i8, "`int8`") Int16(i16, "`int16`") Int32(i32, "`int32`")
            Int64(i64, "`int64`") UInt8(u8, "`uint8`") UInt16(u16, "`uint16`") UInt32(u32, "`uint32`")
            UInt64(u64, "`uint64`") Float32(f32, "`float32`") Float64(f64, "`float64`"));
    };
    (@ [$(#[$doc:meta])*] $name:ident [$($life:lifetime)?] $wrap:tt $($variant:ident($type:ty, $text:literal))*) => {
        $(#[$doc])*
        pub enum $name $(<$life>)? {
            $(#[doc = concat!("Of ", $text, ".")] $variant(by_type!(@wrap $wrap $type)),)*
        }

        impl $(<$life>)? $name $(<$life>)? {
            /// The type of the elements.
            pub fn element(&self) -> ElementType {
                match self {
                    $($name::$variant(_) => ElementType::$variant,)*
                }
            }
        }
    };
    (@wrap (&$life:lifetime mut []) $type:ty) => { &$life mut [$type] };
    (@wrap (&$life:lifetime []) $type:ty) => { &$life [$type] };
    (@wrap (itself) $type:ty) => { $type };
}

by_type! {
    /// A vector of elements.
    #[derive(Clone, Copy, Debug, PartialEq)]
    Values<'a>, &'a []
}

by_type! {
    /// A vector of elements to be written.
    #[derive(Debug, PartialEq)]
    ValuesMut<'a>, &'a mut []
}

by_type! {
    /// A single value.
    #[derive(Clone, Copy, Debug, PartialEq)]
    Scalar, itself
}

/// An argument of a function: a vector, or a value that stands for any number of equal elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument<'a> {
    /// A vector.
    Vector(Values<'a>),
    /// A single value.
    Scalar(Scalar),
}

impl Argument<'_> {
    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        match self {
            Argument::Vector(values) => values.element(),
            Argument::Scalar(scalar) => scalar.element(),
        }
    }

    /// The bits of whole numbers with a sign as whole numbers without; other elements as they are.
    pub(crate) fn unsigned(self) -> Self {
        match self {
            Argument::Vector(values) => Argument::Vector(values.unsigned()),
            Argument::Scalar(scalar) => Argument::Scalar(scalar.unsigned()),
        }
    }
}

/// An operand whose type the compiler knows.
#[derive(Clone, Copy)]
pub(crate) enum Side<'a, T> {
    Vector(&'a [T]),
    Scalar(T),
}

impl<'a, T: Element> Side<'a, T> {
    /// The operand as one of this type.
    ///
    /// # Panics
    /// If a vector has another type.
    #[inline(never)]
    pub(crate) fn of(operand: Argument<'a>) -> Self {
        match operand {
            Argument::Vector(values) => Side::Vector(T::slice(values)),
            Argument::Scalar(scalar) => Side::Scalar(T::from_scalar(scalar)),
        }
    }
}

impl<T: Copy> Side<'_, T> {
    /// Element `i`.
    #[inline(always)]
    pub(crate) fn at(&self, i: usize) -> T {
        match self {
            Side::Vector(values) => values[i],
            Side::Scalar(value) => *value,
        }
    }

    /// Checks that a vector has as many elements as are needed.
    #[inline]
    pub(crate) fn check(&self, len: usize) {
        if let Side::Vector(values) = self {
            assert_eq!(values.len(), len, "vectors of one operation have one length");
        }
    }
}

/// The type of whole numbers without a sign that is as wide as one with a sign; other types as they are.
fn unsigned(element: ElementType) -> ElementType {
    match element {
        ElementType::Int8 => ElementType::UInt8,
        ElementType::Int16 => ElementType::UInt16,
        ElementType::Int32 => ElementType::UInt32,
        ElementType::Int64 => ElementType::UInt64,
        other => other,
    }
}

impl<'a> Values<'a> {
    /// The elements that bytes hold, in the byte order of the processor.
    ///
    /// # Panics
    /// If the bytes are not aligned as the type needs it, or are no whole number of elements.
    pub fn from_bytes(element: ElementType, bytes: &'a [u8]) -> Self {
        made!(Values, element, bytemuck::cast_slice(bytes))
    }

    /// The bytes of the elements.
    pub fn bytes(self) -> &'a [u8] {
        each!(Values, self, x => bytemuck::cast_slice(x))
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        each!(Values, self, x => x.len())
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `len` elements from `start` on.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn slice(self, start: usize, len: usize) -> Values<'a> {
        mapped!(Values, Values, self, x => &x[start..start + len])
    }

    /// The bits of whole numbers with a sign as whole numbers without; other elements as they are.
    pub(crate) fn unsigned(self) -> Self {
        Values::from_bytes(unsigned(self.element()), self.bytes())
    }

    /// Element `i`.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn get(&self, i: usize) -> Scalar {
        mapped!(Values, Scalar, self, x => x[i])
    }
}

impl<'a> ValuesMut<'a> {
    /// The elements that bytes hold, in the byte order of the processor.
    ///
    /// # Panics
    /// If the bytes are not aligned as the type needs it, or are no whole number of elements.
    pub fn from_bytes(element: ElementType, bytes: &'a mut [u8]) -> Self {
        made!(ValuesMut, element, bytemuck::cast_slice_mut(bytes))
    }

    /// The bytes of the elements.
    pub fn into_bytes(self) -> &'a mut [u8] {
        each!(ValuesMut, self, x => bytemuck::cast_slice_mut(x))
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        each!(ValuesMut, self, x => x.len())
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `len` elements from `start` on.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn slice(self, start: usize, len: usize) -> ValuesMut<'a> {
        mapped!(ValuesMut, ValuesMut, self, x => &mut x[start..start + len])
    }

    /// The bits of whole numbers with a sign as whole numbers without; other elements as they are.
    pub(crate) fn unsigned(self) -> Self {
        ValuesMut::from_bytes(unsigned(self.element()), self.into_bytes())
    }

    /// A reborrow of the elements for a shorter time.
    pub fn reborrow(&mut self) -> ValuesMut<'_> {
        mapped!(ValuesMut, ValuesMut, self, x => x)
    }

    /// A read-only view of the elements.
    pub fn as_values(&self) -> Values<'_> {
        mapped!(ValuesMut, Values, self, x => x)
    }

    /// Sets all elements to a value, cast to their type.
    pub fn fill(&mut self, value: Scalar) {
        let value = value.cast(self.element());
        each!(ValuesMut, self, x => x.fill(Element::from_scalar(value)));
    }
}

impl Scalar {
    /// The value cast to another type, by the rules of [`cast`](super::cast).
    pub fn cast(self, to: ElementType) -> Scalar {
        if to == ElementType::Bool {
            return Scalar::Bool(each!(Scalar, self, x => u8::from(x.is_set())));
        }
        made!(Scalar, to, each!(Scalar, self, x => x as _))
    }

    /// The bits of a whole number with a sign as one without; other values as they are.
    pub(crate) fn unsigned(self) -> Self {
        match self {
            Scalar::Int8(x) => Scalar::UInt8(x as u8),
            Scalar::Int16(x) => Scalar::UInt16(x as u16),
            Scalar::Int32(x) => Scalar::UInt32(x as u32),
            Scalar::Int64(x) => Scalar::UInt64(x as u64),
            other => other,
        }
    }

    /// The value as a real number, rounded where it has more digits.
    pub fn to_f64(self) -> f64 {
        each!(Scalar, self, x => x as f64)
    }
}

macro_rules! elements {
    ($($type:ty, $variant:ident $(or $other:ident)?;)*) => {$(
        impl sealed::Sealed for $type {}

        impl Element for $type {
            const TYPE: ElementType = ElementType::$variant;
            const HAS_AVX512: bool = size_of::<$type>() == 8 || matches!(Self::TYPE, ElementType::Float32);

            #[inline]
            fn scalar(self) -> Scalar {
                Scalar::$variant(self)
            }

            #[inline]
            fn from_scalar(scalar: Scalar) -> Self {
                each!(Scalar, scalar, x => x as $type)
            }

            fn slice<'a>(values: Values<'a>) -> &'a [Self] {
                match values {
                    Values::$variant(x) $(| Values::$other(x))? => x,
                    other => panic!("a vector of {} where {} is due", other.element().name(), Self::TYPE.name()),
                }
            }

            fn slice_mut<'a>(values: ValuesMut<'a>) -> &'a mut [Self] {
                match values {
                    ValuesMut::$variant(x) $(| ValuesMut::$other(x))? => x,
                    other => panic!("a vector of {} where {} is due", other.element().name(), Self::TYPE.name()),
                }
            }
        }
    )*};
}
elements! {
    i8, Int8; i16, Int16; i32, Int32; i64, Int64;
    u8, UInt8 or Bool; u16, UInt16; u32, UInt32; u64, UInt64;
    f32, Float32; f64, Float64;
}
