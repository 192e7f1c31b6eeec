/**
 * Chooses the bucket size for a range: as fine as the store keeps, and coarser when many queues would make
 * the response large.
 */
const RESOLUTIONS = { '10s': 10_000, '1m': 60_000, '1h': 3_600_000 } as const
export type Resolution = keyof typeof RESOLUTIONS

const HOUR = 3_600_000

/**
 * The longest range, and the oldest start, for which each bucket size is useful. The server has the same
 * table.
 */
const FINER = [
  { resolution: '10s', longestMs: HOUR, keptMs: 6 * HOUR },
  { resolution: '1m', longestMs: 48 * HOUR, keptMs: 7 * 24 * HOUR },
] as const

/** Points of all queues together; each takes about a kilobyte. */
const MOST_POINTS = 8_000

interface Asked {
  readonly from: number
  readonly to: number
  readonly now: number
  readonly queues: number
}

export function resolutionFor({ from, to, now, queues }: Asked): Resolution {
  const fine = FINER.find(
    ({ resolution, longestMs, keptMs }) =>
      to - from <= longestMs &&
      now - from <= keptMs &&
      ((to - from) / RESOLUTIONS[resolution]) * queues <= MOST_POINTS,
  )
  return fine?.resolution ?? '1h'
}

/** Slow-moving data need not be fetched at every refresh. */
export function paceFor({ from, to }: Pick<Asked, 'from' | 'to'>): number {
  const lengthMs = to - from
  if (lengthMs <= HOUR / 4) return 0
  return lengthMs <= HOUR ? 5_000 : 30_000
}
