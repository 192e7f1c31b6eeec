/**
 * Positions of the waits and runs of a job on its timeline, to scale, except that very short ones stay
 * visible. All values are shares of the width, 0 to 1.
 */
import type { Try } from '../tries.ts'

export interface Part {
  readonly key: string
  /** Set for a run; null for a wait. */
  readonly run: Try | null
  readonly from: number
  readonly to: number
  readonly left: number
  readonly width: number
}

export interface Timeline {
  readonly enqueuedAt: number
  readonly endedAt: number | null
}

/**
 * A run gets more minimum width than a wait. Together the minimum widths take at most half of the timeline.
 */
const LEAST_RUN = 0.012
const LEAST_WAIT = 0.003
const MOST_OF_LEAST = 0.5

export function partsOf(
  { enqueuedAt, endedAt }: Timeline,
  tries: readonly Try[],
  now: number,
): readonly Part[] {
  const spans: Omit<Part, 'left' | 'width'>[] = []
  let at = enqueuedAt
  const until = (to: number, run: Try | null): void => {
    // Clocks of several machines may disagree, but time on the timeline never goes backwards.
    const end = Math.max(at, to)
    if (run !== null || end > at)
      spans.push({ key: run === null ? `wait ${spans.length}` : `run ${run.n}`, run, from: at, to: end })
    at = end
  }
  for (const one of tries) {
    until(one.startedAt ?? one.endedAt ?? at, null)
    until(one.endedAt ?? now, one)
  }
  until(endedAt ?? now, null)
  return placeParts(spans)
}

function placeParts(spans: readonly Omit<Part, 'left' | 'width'>[]): readonly Part[] {
  const widths = widthsOf(
    spans.map(({ from, to }) => to - from),
    spans.map(({ run }) => (run === null ? LEAST_WAIT : LEAST_RUN)),
  )
  let left = 0
  return spans.map((span, at) => {
    const width = widths[at] ?? 0
    const part = { ...span, left, width }
    left += width
    return part
  })
}

/** Shares that add up to 1, by duration, none below its minimum. The others shrink in proportion. */
export function widthsOf(lengths: readonly number[], wanted: readonly number[]): readonly number[] {
  const sum = total(wanted)
  const least = sum > MOST_OF_LEAST ? wanted.map((one) => (one * MOST_OF_LEAST) / sum) : wanted
  const isShort = lengths.map(() => false)
  for (;;) {
    const room = 1 - total(least.filter((_, at) => isShort[at] === true))
    const long = total(lengths.filter((_, at) => isShort[at] !== true))
    const share = (at: number): number => (long > 0 ? ((lengths[at] ?? 0) / long) * room : 0)
    const shorter = lengths.findIndex((_, at) => isShort[at] !== true && share(at) < (least[at] ?? 0))
    if (shorter === -1 || long === 0) {
      const shown = lengths.map((_, at) => (isShort[at] === true ? (least[at] ?? 0) : share(at)))
      const all = total(shown)
      // All durations are zero: parts of the same type get equal shares.
      return all > 0 ? shown.map((one) => one / all) : least.map((one) => one / total(least))
    }
    isShort[shorter] = true
  }
}

const total = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0)
