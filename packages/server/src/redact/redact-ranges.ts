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
