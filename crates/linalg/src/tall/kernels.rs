//! The inner loops over tall matrices of one, two, four or eight columns.
//!
//! *Order.* Sums over rows go through a fixed number of lanes, and a product and a sum are rounded apart: so the bits
//! do not depend on the processor. Few rows are added up at a time: rounding grows with the length of a sum.
#![allow(unsafe_code)]

/// The most columns of a block.
pub const MOST_WIDTH: usize = 8;

/// Rows of a tile, which is multiplied by a strip of a small matrix in registers.
pub const TILE_ROWS: usize = 8;

/// Rows whose dot products are added up before they are added to those of others.
const SUMMED_ROWS: usize = 256;

/// A square matrix with the width of a block as its size, row by row; entries beyond that size are not used.
pub type Square = [[f64; MOST_WIDTH]; MOST_WIDTH];

/// Makes a function for the widths that blocks have, each for the processor that is there.
macro_rules! by_width {
    ($(#[$doc:meta])* $name:ident, $inner:ident, ($($argument:ident: $kind:ty),*)) => {
        $(#[$doc])*
        pub fn $name(width: usize, $($argument: $kind),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f")]
                fn with_avx512<const B: usize>($($argument: $kind),*) {
                    $inner::<B>($($argument),*);
                }
                #[target_feature(enable = "avx2")]
                fn with_avx2<const B: usize>($($argument: $kind),*) {
                    $inner::<B>($($argument),*);
                }
                if width == 8 && outcore_io::has_simd!(Avx512, "avx512f") {
                    // SAFETY: the processor has the feature.
                    return unsafe { with_avx512::<8>($($argument),*) };
                }
                if outcore_io::has_simd!(Avx2, "avx2") {
                    // SAFETY: as above.
                    return unsafe {
                        match width {
                            1 => with_avx2::<1>($($argument),*),
                            2 => with_avx2::<2>($($argument),*),
                            4 => with_avx2::<4>($($argument),*),
                            _ => with_avx2::<8>($($argument),*),
                        }
                    };
                }
            }
            match width {
                1 => $inner::<1>($($argument),*),
                2 => $inner::<2>($($argument),*),
                4 => $inner::<4>($($argument),*),
                _ => $inner::<8>($($argument),*),
            }
        }
    };
}

by_width! {
    /// Adds the dot products of the columns of `left` with those of `right`: `sums += left^T right`.
    dots, dots_wide, (left: &[f64], right: &[f64], sums: &mut Square)
}

by_width! {
    /// Adds a product: `sum += factor * square`.
    add_product, add_product_wide, (factor: &[f64], square: &Square, sum: &mut [f64])
}

by_width! {
    /// Multiplies a tile, column by column, by a strip of `width` columns, row by row. Each number of `product`, column
    /// by column, is a sum in the order of the tile's columns.
    multiply, multiply_wide, (tile: &[f64], strip: &[f64], product: &mut [f64])
}

/// Columns of a strip for [`multiply`]: as many as leave a tile of sums in the registers of the processor.
pub fn strip_columns() -> usize {
    #[cfg(target_arch = "x86_64")]
    if outcore_io::has_simd!(Avx512, "avx512f") {
        return 8;
    }
    4
}

by_width! {
    /// Replaces a block by a product: `block = block * square`.
    transform, transform_wide, (block: &mut [f64], square: &Square)
}

by_width! {
    /// Minimizes quadratic functions, one per row of `block`, over numbers that are not negative, column by column:
    /// `square` has the second derivatives, `gradient` the first. Adds the lengths of the derivatives that lead down,
    /// or up from numbers above zero, to `violations`, by column.
    descend, descend_wide,
    (block: &mut [f64], gradient: &[f64], square: &Square, violations: &mut [f64; MOST_WIDTH])
}

#[inline(always)]
fn dots_wide<const B: usize>(left: &[f64], right: &[f64], sums: &mut Square) {
    for (left, right) in left.chunks(SUMMED_ROWS * B).zip(right.chunks(SUMMED_ROWS * B)) {
        match B {
            1 => dots_in_lanes::<B, 16>(left, right, sums),
            2 => dots_in_lanes::<B, 4>(left, right, sums),
            _ => dots_in_lanes::<B, 1>(left, right, sums),
        }
    }
}

#[inline(always)]
fn dots_in_lanes<const B: usize, const LANES: usize>(left: &[f64], right: &[f64], sums: &mut Square) {
    let ((left, _), (right, _)) = (left.as_chunks::<B>(), right.as_chunks::<B>());
    let mut lanes = [[[0.0; B]; B]; LANES];
    let mut add = |lane: usize, left: &[f64; B], right: &[f64; B]| {
        for i in 0..B {
            for k in 0..B {
                lanes[lane][i][k] += left[i] * right[k];
            }
        }
    };
    let ((left, left_rest), (right, right_rest)) = (left.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    for (left, right) in left.iter().zip(right) {
        for lane in 0..LANES {
            add(lane, &left[lane], &right[lane]);
        }
    }
    for (left, right) in left_rest.iter().zip(right_rest) {
        add(0, left, right);
    }
    for i in 0..B {
        for k in 0..B {
            sums[i][k] += lanes.iter().map(|lane| lane[i][k]).sum::<f64>();
        }
    }
}

#[inline(always)]
fn add_product_wide<const B: usize>(factor: &[f64], square: &Square, sum: &mut [f64]) {
    let square: [[f64; B]; B] = std::array::from_fn(|i| std::array::from_fn(|k| square[i][k]));
    let ((factor, _), (sum, _)) = (factor.as_chunks::<B>(), sum.as_chunks_mut::<B>());
    for (factor, sum) in factor.iter().zip(sum) {
        for i in 0..B {
            for k in 0..B {
                sum[k] += factor[i] * square[i][k];
            }
        }
    }
}

#[inline(always)]
fn multiply_wide<const B: usize>(tile: &[f64], strip: &[f64], product: &mut [f64]) {
    let mut sums = [[0.0; TILE_ROWS]; B];
    for (column, factors) in tile.as_chunks::<TILE_ROWS>().0.iter().zip(strip.as_chunks::<B>().0) {
        for k in 0..B {
            for row in 0..TILE_ROWS {
                sums[k][row] += column[row] * factors[k];
            }
        }
    }
    product.copy_from_slice(sums.as_flattened());
}

#[inline(always)]
fn transform_wide<const B: usize>(block: &mut [f64], square: &Square) {
    let square: [[f64; B]; B] = std::array::from_fn(|i| std::array::from_fn(|k| square[i][k]));
    for row in block.as_chunks_mut::<B>().0 {
        let mut product = [0.0; B];
        for i in 0..B {
            for k in 0..B {
                product[k] += row[i] * square[i][k];
            }
        }
        *row = product;
    }
}

#[inline(always)]
fn descend_wide<const B: usize>(
    block: &mut [f64],
    gradient: &[f64],
    square: &Square,
    violations: &mut [f64; MOST_WIDTH],
) {
    let square: [[f64; B]; B] = std::array::from_fn(|i| std::array::from_fn(|k| square[i][k]));
    let mut sums = [0.0; B];
    for (row, &gradient) in block.as_chunks_mut::<B>().0.iter_mut().zip(gradient.as_chunks::<B>().0) {
        let mut gradient = gradient;
        for i in 0..B {
            let (before, slope) = (row[i], gradient[i]);
            sums[i] += if before == 0.0 { slope.min(0.0).abs() } else { slope.abs() };
            if square[i][i] > 0.0 {
                row[i] = (before - slope / square[i][i]).max(0.0);
                let step = row[i] - before;
                for k in 0..B {
                    gradient[k] += step * square[i][k];
                }
            }
        }
    }
    violations.iter_mut().zip(sums).for_each(|(violation, sum)| *violation += sum);
}
