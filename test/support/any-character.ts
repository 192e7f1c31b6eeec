// For `fc.string({ unit })`: every character of well-formed text. The unit 'binary' of fast-check is the
// same, but takes a second of CPU time before its first value, in every process.
import fc from 'fast-check'

/** The code points in between are surrogates, which are not characters. */
const [BEFORE, AFTER] = [0xd800, 0xe000]
const GAP = AFTER - BEFORE

export const anyCharacter = fc.integer({ min: 0, max: 0x10ffff - GAP }).map(
  (n) => String.fromCodePoint(n < BEFORE ? n : n + GAP),
  (character) => {
    const point = typeof character === 'string' ? character.codePointAt(0) : undefined
    if (point === undefined || String.fromCodePoint(point) !== character) throw new Error('not one character')
    if (point >= BEFORE && point < AFTER) throw new Error('a lone surrogate')
    return point < BEFORE ? point : point - GAP
  },
)
