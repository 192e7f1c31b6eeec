// For `fc.string({ unit })`: every character that a well-formed text can have. The unit 'binary' of fast-check is the same, and takes a core for a second before
// it gives the first one, in every process.
import fc from 'fast-check'

/** Between the two are the halves of pairs, which are no characters. */
const [BEFORE, AFTER] = [0xd800, 0xe000]
const GAP = AFTER - BEFORE

export const anyCharacter = fc.integer({ min: 0, max: 0x10ffff - GAP }).map(
  (n) => String.fromCodePoint(n < BEFORE ? n : n + GAP),
  (character) => {
    const point = typeof character === 'string' ? character.codePointAt(0) : undefined
    if (point === undefined || String.fromCodePoint(point) !== character) throw new Error('not one character')
    if (point >= BEFORE && point < AFTER) throw new Error('half of a pair')
    return point < BEFORE ? point : point - GAP
  },
)
