/** Replaces ranges of a text, which may be found in any order. */
import { HIDDEN } from './redact-keys.ts'

export interface Range {
  readonly start: number
  readonly end: number
  /** The quotes on both sides of the replacement. */
  readonly mark: string
}

/** Overlapping ranges are merged into one replacement. */
export function hideRanges(text: string, ranges: readonly Range[]): string {
  if (ranges.length === 0) return text
  const parts: string[] = []
  let from = 0
  for (const { start, end, mark } of ranges.toSorted((a, b) => a.start - b.start)) {
    if (start >= from) parts.push(text.slice(from, start), `${mark}${HIDDEN}${mark}`)
    from = Math.max(from, end)
  }
  return `${parts.join('')}${text.slice(from)}`
}

/**
 * Hides what `rangeBehind` finds behind each match, if anything. The next match is searched after the hidden
 * range.
 */
export function hideBehind(
  text: string,
  pattern: RegExp,
  rangeBehind: (match: RegExpExecArray, start: number) => Range | null,
): string {
  const matches = new RegExp(pattern)
  const ranges: Range[] = []
  for (let match = matches.exec(text); match !== null; match = matches.exec(text)) {
    const range = rangeBehind(match, matches.lastIndex)
    if (range === null) continue
    ranges.push(range)
    matches.lastIndex = range.end
  }
  return hideRanges(text, ranges)
}
