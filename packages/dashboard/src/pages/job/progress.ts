/** Reads progress as a share. A handler may report any value; the common forms are understood. */

export interface Share {
  /** 0 to 1. */
  readonly share: number
  readonly of: readonly [number, number] | null
}

const DONE = ['looked', 'done', 'current', 'processed', 'completed'] as const
const ALL = ['jobs', 'total', 'of', 'all'] as const

export function shareOf(progress: unknown): Share | null {
  if (typeof progress === 'number') return percentOf(progress)
  if (typeof progress !== 'object' || progress === null) return null
  const fields = progress as Readonly<Record<string, unknown>>
  const done = DONE.map((key) => fields[key]).find(isCount)
  const all = ALL.map((key) => fields[key]).find(isCount)
  if (done !== undefined && all !== undefined)
    return { share: all === 0 ? 1 : Math.min(1, done / all), of: [done, all] }
  return typeof fields['percent'] === 'number' ? percentOf(fields['percent']) : null
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0

function percentOf(value: number): Share | null {
  return value >= 0 && value <= 100 ? { share: value / 100, of: null } : null
}
