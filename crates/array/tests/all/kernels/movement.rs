//! Casts, choices and transposes against naive ones.

use super::*;

fn cast_of<T: Edges>() {
    for len in LENGTHS {
        let mut x = T::vector(len, 3);
        x.iter_mut().zip(T::edges()).for_each(|(x, edge)| *x = edge);
        for element in ElementType::ALL {
            let mut bytes = vec![0u64; len];
            let bytes = &mut bytemuck::cast_slice_mut(&mut bytes)[..len * element.bytes()];
            cast(T::values(&x), ValuesMut::from_bytes(element, bytes));
            for (i, &x) in x.iter().enumerate() {
                // Casts of scalars are those of Rust, which saturate.
                let (found, expected) = (Values::from_bytes(element, bytes).get(i), x.scalar().cast(element));
                let is_nan = expected.to_f64().is_nan() && found.to_f64().is_nan();
                assert!(found == expected || is_nan, "{x:?}: {found:?} where {expected:?} is due");
            }
        }
    }
}

#[test]
fn casts_are_those_of_scalars() {
    for_each_number!(cast_of);
    assert_eq!(Scalar::Float64(-1.5).cast(ElementType::UInt8), Scalar::UInt8(0));
    assert_eq!(Scalar::Float64(1e30).cast(ElementType::Int64), Scalar::Int64(i64::MAX));
    assert_eq!(Scalar::Float64(f64::NAN).cast(ElementType::Int32), Scalar::Int32(0));
    assert_eq!(Scalar::Float64(f64::NAN).cast(ElementType::Bool), Scalar::Bool(1));
    assert_eq!(Scalar::Int64(-1).cast(ElementType::UInt16), Scalar::UInt16(65535));
    let mut to = [7.0; 2];
    cast(Values::Bool(&[1, 0]), ValuesMut::Float64(&mut to));
    assert_eq!(to, [1.0, 0.0]);
}

fn select_of<T: Edges>() {
    for len in LENGTHS {
        let (a, b) = (T::vector(len, 1), T::vector(len, 2));
        let condition: Vec<u8> = (0..len).map(|i| u8::from(i % 3 == 1)).collect();
        for form in 0..8 {
            let scalar = T::edges()[form];
            let pick = |bit: usize, x: Values<'static>| match form & bit {
                0 => Argument::Vector(x),
                _ => Argument::Scalar(scalar.scalar()),
            };
            let (a, b): (&'static [T], &'static [T]) = (a.clone().leak(), b.clone().leak());
            let choice = if form & 4 == 0 {
                Argument::Vector(Values::Bool(&condition))
            } else {
                Argument::Scalar(Scalar::Bool(1))
            };
            let mut to = vec![T::default(); len];
            select(choice, pick(1, T::values(a)), pick(2, T::values(b)), T::values_mut(&mut to));
            for i in 0..len {
                let (a, b) = (if form & 1 == 0 { a[i] } else { scalar }, if form & 2 == 0 { b[i] } else { scalar });
                let expected = if form & 4 != 0 || condition[i] != 0 { a } else { b };
                assert!(T::same(to[i], expected), "{form} {i}");
            }
        }
    }
}

#[test]
fn choices_are_those_of_scalars() {
    for_each_number!(select_of);
}

fn transpose_of<T: Edges>() {
    let size = size_of::<T>();
    for rows in [0, 1, 7, 8, 9, 20, 508] {
        for columns in [0, 1, 2, 7, 8, 9, 33] {
            for (gap, stride, is_big_endian) in [(0, rows, false), (3, rows + 5, true)] {
                let shape = RowMajor { rows, columns, row_stride_bytes: columns * size + gap, is_big_endian };
                let mut noise = Noise(5);
                let from: Vec<u8> = (0..rows * shape.row_stride_bytes + 1).map(|_| noise.next() as u8).collect();
                let mut to = vec![T::default(); columns * stride];
                transpose(&from[1..], shape, T::values_mut(&mut to), stride);
                for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
                    let start = 1 + row * shape.row_stride_bytes + column * size;
                    let mut bytes = from[start..start + size].to_vec();
                    if is_big_endian {
                        bytes.reverse();
                    }
                    let found = bytemuck::bytes_of(&to[column * stride + row]);
                    assert_eq!(found, bytes, "{rows} {columns} {row} {column}");
                }
                let mut back = from.clone();
                for row in back[1..].chunks_exact_mut(shape.row_stride_bytes.max(1)).take(rows) {
                    row[..columns * size].fill(0);
                }
                transpose_back(T::values(&to), stride, shape, &mut back[1..]);
                assert_eq!(back, from);
            }
        }
    }
}

#[test]
fn transposes_move_each_element() {
    transpose_of::<u8>();
    transpose_of::<u16>();
    transpose_of::<f32>();
    transpose_of::<f64>();
    let shape = RowMajor { rows: 2, columns: 2, row_stride_bytes: 2, is_big_endian: false };
    let mut to = [7; 4];
    transpose(&[0, 2, 255, 1], shape, ValuesMut::Bool(&mut to), 2);
    assert_eq!(to, [0, 1, 1, 1]);
}
