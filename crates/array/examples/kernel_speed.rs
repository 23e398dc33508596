//! Prints what functions of vectors of 508 elements take:
//! `cargo run --release -p outcore-array --example kernel_speed`.

use outcore_array::kernel::*;
use outcore_format::ElementType;
use std::hint::black_box;
use std::time::Instant;

const LEN: usize = 508;

/// Prints the time per element of the fastest of some runs.
fn time(name: &str, elements: usize, mut run: impl FnMut()) {
    let calls = (4_000_000 / elements).max(20);
    let mut best = f64::INFINITY;
    for _ in 0..9 {
        let start = Instant::now();
        (0..calls).for_each(|_| run());
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / (calls * elements) as f64);
    }
    println!("{name:<32} {best:8.3} ns");
}

fn main() {
    use ElementType::*;
    let mut seeds = vec![0.0; LEN];
    random_uniform(Stream::of(7), 0, &mut seeds);
    let mut bytes = [(); 3].map(|()| vec![0u64; LEN]);
    let [a, b, to] = &mut bytes;
    let fill = |element: ElementType, bytes: &mut [u64], factor: f64| {
        let scaled: Vec<f64> = seeds.iter().map(|x| x * factor).collect();
        let bytes = &mut bytemuck::cast_slice_mut::<u64, u8>(bytes)[..LEN * element.bytes()];
        cast(Values::Float64(&scaled), ValuesMut::from_bytes(element, bytes));
    };
    for element in [Float64, Float32, Int64, Int32, Int16, UInt8, Bool] {
        let len = LEN * element.bytes();
        fill(element, a, 90.0);
        fill(element, b, 30.0);
        let a = Values::from_bytes(element, &bytemuck::cast_slice(a)[..len]);
        let b = Values::from_bytes(element, &bytemuck::cast_slice(b)[..len]);
        let to: &mut [u8] = bytemuck::cast_slice_mut(to);
        functions(element, a, b, to);
        folds(element, a, to);
        others(element, a, b, to, &seeds);
    }
    transposes();
    randoms();
}

fn functions(element: ElementType, a: Values<'_>, b: Values<'_>, to: &mut [u8]) {
    for &function in Unary::ALL {
        if let Some(result) = function.result(element) {
            let to = &mut to[..LEN * result.bytes()];
            time(&format!("{} {}", element.name(), function.name()), LEN, || {
                unary(function, black_box(a), ValuesMut::from_bytes(result, to));
            });
        }
    }
    for &function in Binary::ALL {
        if let Some(result) = function.result(element) {
            let to = &mut to[..LEN * result.bytes()];
            for (kind, b) in [("vector", Argument::Vector(b)), ("scalar", Argument::Scalar(b.get(3)))] {
                time(&format!("{} {} {kind}", element.name(), function.name()), LEN, || {
                    let a = Argument::Vector(black_box(a));
                    binary(function, a, b, ValuesMut::from_bytes(result, to));
                });
            }
        }
    }
}

fn folds(element: ElementType, a: Values<'_>, to: &mut [u8]) {
    let len = a.bytes().len();
    for &fold in Fold::ALL {
        if fold.result(element).is_some() {
            let start = identity(fold, element);
            time(&format!("{} reduce {}", element.name(), fold.name()), LEN, || {
                black_box(reduce(fold, black_box(a), start));
            });
            time(&format!("{} accumulate {}", element.name(), fold.name()), LEN, || {
                accumulate(fold, black_box(a), ValuesMut::from_bytes(element, &mut to[..len]));
            });
        }
    }
}

fn others(element: ElementType, a: Values<'_>, b: Values<'_>, to: &mut [u8], seeds: &[f64]) {
    use ElementType::*;
    let len = a.bytes().len();
    for other in [Float64, Float32, Int64, Int32, UInt8, Bool] {
        time(&format!("{} cast to {}", element.name(), other.name()), LEN, || {
            cast(black_box(a), ValuesMut::from_bytes(other, &mut to[..LEN * other.bytes()]));
        });
    }
    time(&format!("{} count_nonzero", element.name()), LEN, || {
        black_box(count_nonzero(black_box(a)));
    });
    if element != Bool {
        time(&format!("{} arg_reduce", element.name()), LEN, || {
            black_box(arg_reduce(true, black_box(a)));
        });
        let mut best_index = vec![0; LEN];
        time(&format!("{} arg_accumulate", element.name()), LEN, || {
            let best = ValuesMut::from_bytes(element, &mut to[..len]);
            arg_accumulate(true, 1, black_box(a), best, &mut best_index);
        });
    }
    let condition: Vec<u8> = seeds.iter().map(|&x| u8::from(x < 0.5)).collect();
    time(&format!("{} select", element.name()), LEN, || {
        let condition = Argument::Vector(Values::Bool(black_box(&condition)));
        let to = ValuesMut::from_bytes(element, &mut to[..len]);
        select(condition, Argument::Vector(a), Argument::Vector(b), to);
    });
    if element.is_real() {
        time(&format!("{} moments", element.name()), LEN, || {
            black_box(moments(black_box(a)));
        });
        time(&format!("{} accumulate_product", element.name()), LEN, || {
            let to = ValuesMut::from_bytes(element, &mut to[..len]);
            accumulate_product(Argument::Vector(black_box(a)), Argument::Vector(b), to);
        });
        time(&format!("{} squared_difference", element.name()), LEN, || {
            let to = ValuesMut::from_bytes(element, &mut to[..len]);
            accumulate_squared_difference(Argument::Vector(black_box(a)), Argument::Vector(b), to);
        });
    }
}

fn transposes() {
    for (element, columns) in
        [(8, 2), (8, 32), (8, 100), (8, 512), (4, 2), (4, 32), (4, 512), (1, 32)].map(|(bytes, columns)| {
            let element = [ElementType::UInt8, ElementType::Float32, ElementType::Float64][bytes / 4];
            (element, columns)
        })
    {
        let len = LEN * columns * element.bytes();
        let mut rows = vec![1u8; len + 1];
        let mut to = vec![0u64; len.div_ceil(8)];
        let to = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut to)[..len];
        for is_big_endian in [false, true] {
            let row_stride_bytes = columns * element.bytes();
            let shape = RowMajor { rows: LEN, columns, row_stride_bytes, is_big_endian };
            let swap = if is_big_endian { " swapped" } else { "" };
            time(&format!("transpose {} {columns}{swap}", element.name()), LEN * columns, || {
                transpose(black_box(&rows[1..]), shape, ValuesMut::from_bytes(element, to), LEN);
            });
            time(&format!("transpose_back {} {columns}{swap}", element.name()), LEN * columns, || {
                transpose_back(Values::from_bytes(element, black_box(to)), LEN, shape, &mut rows[1..]);
            });
        }
    }
}

fn randoms() {
    let (mut real, mut whole, mut bool) = (vec![0.0; LEN], vec![0; LEN], vec![0; LEN]);
    time("random_uniform", LEN, || random_uniform(Stream::of(1), 0, black_box(&mut real)));
    time("random_normal", LEN, || random_normal(Stream::of(1), 0, black_box(&mut real)));
    time("random_exponential", LEN, || random_exponential(Stream::of(1), 0, black_box(&mut real)));
    time("random_integers", LEN, || random_integers(Stream::of(1), 0, -50, 1000, black_box(&mut whole)));
    time("random_bernoulli", LEN, || random_bernoulli(Stream::of(1), 0, 0.3, black_box(&mut bool)));
}
