//! Edges from an iterator of the caller, as a source of an import.

use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, LargeStringArray, PrimitiveArray, RecordBatch, RecordBatchIterator};
use arrow_schema::{DataType, Field, Schema};
use outcore_image::Result;
use outcore_ingest::{InputOptions, Source, from_batches};
use std::sync::Arc;

/// Rows of a batch.
const BATCH_ROWS: usize = 8192;

/// A value that stands for a vertex or a weight, and its type as a column.
pub trait Cell: sealed::Sealed + Sized + Send + 'static {
    /// The type of the column.
    #[doc(hidden)]
    const KIND: DataType;

    /// A column of values.
    #[doc(hidden)]
    fn column(values: Vec<Self>) -> ArrayRef;
}

/// An id of a vertex: `u32`, `u64`, `usize`, `i32`, `i64`, `String` or `&'static str`.
pub trait EdgeId: Cell {}

/// A weight of an edge: `f32`, `f64`, `u32`, `u64`, `i32` or `i64`.
///
/// The image stores whole numbers where all weights are whole and no real one is beyond 2^53, whatever their type here:
/// weights of 1.0 and 2.0 are 1 and 2, and distances are sums of whole numbers. A single fraction makes all of them
/// real. [`Graph::weight_kind`](crate::Graph::weight_kind) says which they are; no option sets it.
pub trait EdgeWeight: Cell {}

/// An edge: `(source, target)` or `(source, target, weight)`.
pub trait EdgeTuple: sealed::Sealed + Send + 'static {
    /// The columns of some edges, by name.
    #[doc(hidden)]
    fn columns(edges: Vec<Self>) -> Vec<ArrayRef>
    where
        Self: Sized;

    /// Names and types of the columns.
    #[doc(hidden)]
    fn fields() -> Vec<Field>;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! numbers {
    ($($value:ty => $column:ty: $($role:ident)+;)*) => {$(
        impl sealed::Sealed for $value {}

        impl Cell for $value {
            const KIND: DataType = <$column as ArrowPrimitiveType>::DATA_TYPE;

            #[allow(clippy::unnecessary_cast)]
            fn column(values: Vec<Self>) -> ArrayRef {
                let values = values.into_iter().map(|value| value as <$column as ArrowPrimitiveType>::Native);
                Arc::new(PrimitiveArray::<$column>::from_iter_values(values))
            }
        }

        $(impl $role for $value {})+
    )*};
}
numbers! {
    u32 => UInt32Type: EdgeId EdgeWeight;
    u64 => UInt64Type: EdgeId EdgeWeight;
    usize => UInt64Type: EdgeId;
    i32 => Int32Type: EdgeId EdgeWeight;
    i64 => Int64Type: EdgeId EdgeWeight;
    f32 => Float32Type: EdgeWeight;
    f64 => Float64Type: EdgeWeight;
}

macro_rules! texts {
    ($($value:ty),*) => {$(
        impl sealed::Sealed for $value {}

        impl Cell for $value {
            const KIND: DataType = DataType::LargeUtf8;

            fn column(values: Vec<Self>) -> ArrayRef {
                Arc::new(values.into_iter().map(Some).collect::<LargeStringArray>())
            }
        }

        impl EdgeId for $value {}
    )*};
}
texts!(String, &'static str);

impl<I: EdgeId> sealed::Sealed for (I, I) {}
impl<I: EdgeId, W: EdgeWeight> sealed::Sealed for (I, I, W) {}

fn ends<I: EdgeId>() -> Vec<Field> {
    ["source", "target"].map(|name| Field::new(name, I::KIND, false)).into()
}

impl<I: EdgeId> EdgeTuple for (I, I) {
    fn columns(edges: Vec<Self>) -> Vec<ArrayRef> {
        let (sources, targets) = edges.into_iter().unzip();
        vec![I::column(sources), I::column(targets)]
    }

    fn fields() -> Vec<Field> {
        ends::<I>()
    }
}

impl<I: EdgeId, W: EdgeWeight> EdgeTuple for (I, I, W) {
    fn columns(edges: Vec<Self>) -> Vec<ArrayRef> {
        let (sources, (targets, weights)) =
            edges.into_iter().map(|(source, target, weight)| (source, (target, weight))).unzip();
        vec![I::column(sources), I::column(targets), W::column(weights)]
    }

    fn fields() -> Vec<Field> {
        let mut fields = ends::<I>();
        fields.push(Field::new("weight", W::KIND, false));
        fields
    }
}

/// Edges from an iterator, as the source of an import. It is asked for some thousand edges at a time, so it may yield
/// more than the memory holds; ids are numbers or strings, and weights are numbers, stored as
/// [`EdgeWeight`] says.
///
/// ```
/// # mod outcore {
/// #     pub use {outcore_graph::{Graph, import}, outcore_image::Result, outcore_io::{Runtime, RuntimeOptions}};
/// # }
/// use outcore::{Graph, Runtime, import};
///
/// # fn main() -> outcore::Result<()> {
/// let runtime = Runtime::new(Default::default())?;
/// let edges = import::from_edges([("ada", "bob", 1.5), ("bob", "cy", 2.0)])?;
/// let graph = Graph::in_memory(&runtime, edges, &Default::default())?;
/// assert_eq!((graph.vertices(), graph.edges()), (3, 2));
/// # Ok(()) }
/// ```
///
/// # Errors
/// None before the import: it refuses weights that are not finite.
pub fn from_edges<E: EdgeTuple>(edges: impl IntoIterator<Item = E, IntoIter: Send + 'static>) -> Result<Source> {
    let schema = Arc::new(Schema::new(E::fields()));
    let (batch_schema, mut edges) = (Arc::clone(&schema), edges.into_iter().fuse());
    let batches = std::iter::from_fn(move || {
        let some: Vec<E> = edges.by_ref().take(BATCH_ROWS).collect();
        (!some.is_empty()).then(|| RecordBatch::try_new(Arc::clone(&batch_schema), E::columns(some)))
    });
    from_batches(Box::new(RecordBatchIterator::new(batches, schema)), "edges", &InputOptions::default())
}
