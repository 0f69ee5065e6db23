//! Bytes a second of one stream of every algorithm, over a buffer in memory.

use divan::Bencher;
use divan::counter::BytesCount;
use multisum::Algorithm;
use multisum::hasher::new_hasher;

fn main() {
    divan::main();
}

#[divan::bench(args = Algorithm::all().collect::<Vec<_>>())]
fn stream(bencher: Bencher<'_, '_>, algorithm: Algorithm) {
    let buffer: Vec<u8> = (0..=250).cycle().take(1 << 20).collect();
    let mut hasher = new_hasher(algorithm);
    bencher
        .counter(BytesCount::new(buffer.len()))
        .bench_local(|| hasher.update(&buffer));
}
