/** Replaces parts of a text, found in any order. */
import { HIDDEN } from './redact-keys.ts'

export interface Range {
  readonly start: number
  readonly end: number
  /** What stands on both sides of the replacement. */
  readonly mark: string
}

/** Of ranges that overlap the first counts, up to the end of the last. */
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
