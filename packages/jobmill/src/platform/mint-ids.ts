/**
 * Generates ids: UUID version 7, rising within the process. Every job needs one, so for speed the digits are
 * written into one buffer, and random words are drawn in bulk.
 */
import { randomFillSync } from 'node:crypto'

/**
 * The layout of `xxxxxxxx-xxxx-7ccc-vccc-ccccxxxxxxxx`: time, then a counter of 42 bits, then 32 random bits.
 */
const TIME_HIGH = { at: 0, digits: 8 }
const TIME_LOW = { at: 9, digits: 4 }
const COUNT_HIGH = { at: 15, digits: 3 }
const COUNT_MIDDLE = { at: 19, digits: 4 }
const COUNT_LOW = { at: 24, digits: 4 }
const CHANCE = { at: 28, digits: 8 }

const COUNTERS = 2 ** 42

/** If the clock was set back by no more than this, ids keep the last time, so that they keep rising. */
const MOST_BACK_MS = 10_000

/** `fill` is the source of randomness; a simulator passes its own. */
export function mintIds(
  now: () => number,
  fill: (words: Uint32Array) => unknown = randomFillSync,
): () => string {
  const text = Buffer.from('00000000-0000-7000-8000-000000000000', 'latin1')
  const chance = new Uint32Array(1_024)
  let drawn = chance.length
  let wall = Number.NEGATIVE_INFINITY
  let counter = 0

  function draw(): number {
    if (drawn === chance.length) {
      fill(chance)
      drawn = 0
    }
    drawn += 1
    return chance[drawn - 1] ?? 0
  }

  function begin(ms: number): void {
    wall = ms
    // Starts in the lower half: two processes rarely collide, and there is room to count.
    counter = (draw() % 2 ** 9) * 2 ** 32 + draw()
    write(text, TIME_HIGH, Math.floor(ms / 2 ** 16))
    write(text, TIME_LOW, ms % 2 ** 16)
  }

  return () => {
    const ms = now()
    counter += 1
    if (ms > wall || ms < wall - MOST_BACK_MS) begin(ms)
    else if (counter >= COUNTERS) begin(wall + 1)
    write(text, COUNT_HIGH, Math.floor(counter / 2 ** 30))
    // The first two bits encode the UUID variant.
    write(text, COUNT_MIDDLE, 0x8000 + (Math.floor(counter / 2 ** 16) % 2 ** 14))
    write(text, COUNT_LOW, counter % 2 ** 16)
    write(text, CHANCE, draw())
    return text.toString('latin1')
  }
}

const DIGITS = Buffer.from('0123456789abcdef', 'latin1')

function write(
  text: Buffer,
  { at, digits }: { readonly at: number; readonly digits: number },
  value: number,
): void {
  let left = value
  for (let place = at + digits - 1; place >= at; place -= 1) {
    text[place] = DIGITS[left & 15] ?? 0
    left >>>= 4
  }
}
