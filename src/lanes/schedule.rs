//! Messages of unequal length into lanes: fill, run until the shortest is done, take out, refill.

use std::ops::Range;

use super::backend::Plan;
use super::padding::Core;

/// A message with a chunk of it that is being hashed.
struct Lane<'s, 'c, T: 'static, const WORDS: usize, const BLOCK: usize> {
    core: &'s mut Core<T, WORDS, BLOCK>,
    /// Blocks of the core's buffer that come next.
    buffered: Range<usize>,
    /// Whole blocks of the chunk that come after those.
    blocks: &'c [[u8; BLOCK]],
    /// What fills no block, until it has been kept.
    tail: Option<&'c [u8]>,
    last: bool,
}

impl<'s, 'c, T: Copy, const WORDS: usize, const BLOCK: usize> Lane<'s, 'c, T, WORDS, BLOCK> {
    fn new(core: &'s mut Core<T, WORDS, BLOCK>, chunk: &'c [u8], last: bool) -> Self {
        if core.is_padded() {
            core.reset();
        }
        let (rest, whole) = core.begin(chunk);
        let (blocks, tail) = rest.as_chunks();
        Self {
            core,
            buffered: 0..usize::from(whole),
            blocks,
            tail: Some(tail),
            last,
        }
    }

    /// The blocks that can be hashed without a look at anything else.
    fn run(&self) -> &[[u8; BLOCK]] {
        if self.buffered.is_empty() {
            self.blocks
        } else {
            &self.core.buffer[self.buffered.clone()]
        }
    }

    fn consume(&mut self, blocks: usize) {
        if self.buffered.is_empty() {
            self.blocks = &self.blocks[blocks..];
        } else {
            self.buffered.start += blocks;
        }
    }

    /// Makes the next run ready; false if the chunk is done.
    fn prepare(&mut self) -> bool {
        if !self.run().is_empty() {
            return true;
        }
        let Some(tail) = self.tail.take() else {
            return false;
        };
        self.core.keep(tail);
        if self.last {
            self.buffered = 0..self.core.pad();
        }
        self.last
    }
}

/// The lanes at work: `lanes[..active]` are taken, and column `i` of the bank belongs to lane `i`.
struct Table<'s, 'c, T: 'static, const WORDS: usize, const BLOCK: usize, const LANES: usize> {
    plan: Plan<T, WORDS, BLOCK, LANES>,
    bank: [[T; LANES]; WORDS],
    lanes: [Option<Lane<'s, 'c, T, WORDS, BLOCK>>; LANES],
    active: usize,
}

impl<'s, 'c, T: Copy + Default, const WORDS: usize, const BLOCK: usize, const LANES: usize>
    Table<'s, 'c, T, WORDS, BLOCK, LANES>
{
    fn put(&mut self, lane: Lane<'s, 'c, T, WORDS, BLOCK>) {
        for (row, &word) in self.bank.iter_mut().zip(&lane.core.words) {
            row[self.active] = word;
        }
        self.lanes[self.active] = Some(lane);
        self.active += 1;
    }

    /// Hands the words back to their message and closes the gap with the last lane.
    fn take_out(&mut self, index: usize) {
        self.active -= 1;
        self.lanes.swap(index, self.active);
        let mut lane = self.lanes[self.active].take();
        for (word, row) in self.bank.iter_mut().enumerate() {
            if let Some(lane) = &mut lane {
                lane.core.words[word] = row[index];
            }
            row[index] = row[self.active];
        }
    }

    /// Advances the lanes until the shortest run is done, and takes out those without another.
    fn step(&mut self) {
        let kernel = self.plan.choose(self.active);
        let used = self.active.min(kernel.lanes);
        let mut inputs: [&[[u8; BLOCK]]; LANES] = [&[]; LANES];
        let mut blocks = usize::MAX;
        for (input, lane) in inputs.iter_mut().zip(self.lanes[..used].iter().flatten()) {
            *input = lane.run();
            blocks = blocks.min(input.len());
        }
        // A lane without a message repeats the first one's blocks; nobody looks at its column.
        let first = inputs[0];
        inputs[used..kernel.lanes].fill(first);
        self.plan.run(kernel, &mut self.bank, &inputs, blocks);
        for index in (0..used).rev() {
            let more = self.lanes[index].as_mut().is_some_and(|lane| {
                lane.consume(blocks);
                lane.prepare()
            });
            if !more {
                self.take_out(index);
            }
        }
    }
}

/// Hashes the chunk of every message; the padding too where the flag says that it is the last.
///
/// Messages are `(core, chunk, last)`. No memory is allocated.
pub(super) fn advance<
    's,
    'c,
    T: Copy + Default,
    const WORDS: usize,
    const BLOCK: usize,
    const LANES: usize,
>(
    plan: Plan<T, WORDS, BLOCK, LANES>,
    messages: impl Iterator<Item = (&'s mut Core<T, WORDS, BLOCK>, &'c [u8], bool)>,
) {
    let mut waiting = messages.filter_map(|(core, chunk, last)| {
        let mut lane = Lane::new(core, chunk, last);
        lane.prepare().then_some(lane)
    });
    // The table is large; without work it is not even made.
    let Some(first) = waiting.next() else {
        return;
    };
    let mut table = Table {
        plan,
        bank: [[T::default(); LANES]; WORDS],
        lanes: [const { None }; LANES],
        active: 0,
    };
    table.put(first);
    loop {
        while table.active < plan.widest() {
            let Some(lane) = waiting.next() else { break };
            table.put(lane);
        }
        if table.active == 0 {
            return;
        }
        table.step();
    }
}
