/** The lane of a process: its runs in tracks, so that runs at the same time do not cover each other. */
import type { RecentRun } from '../../../api/types.ts'

export interface Lane {
  readonly instance: string
  /** Sorted by start. */
  readonly runs: readonly RecentRun[]
  /** The track of each run. */
  readonly tracks: readonly number[]
  readonly height: number
  /** The most runs at the same time. */
  readonly peak: number
  readonly failed: number
}

/** Further runs at the same time share the last track. */
export const MOST_TRACKS = 12

const FAILED: readonly (RecentRun['outcome'] | undefined)[] = ['failed', 'timed-out', 'failed-permanently']

export const isFailed = ({ outcome }: Pick<RecentRun, 'outcome'>): boolean => FAILED.includes(outcome)

/** `runs` are sorted by their start. Running jobs last until `to`. */
export function lanesOf(runs: readonly RecentRun[], to: number): Lane[] {
  return [...Map.groupBy(runs, ({ instance }) => instance)].map(([instance, own]) => {
    const tracks = tracksOf(own, to)
    const height = tracks.reduce((most, track) => Math.max(most, track + 1), 1)
    return { instance, runs: own, tracks, height, peak: peakOf(own, to), failed: own.filter(isFailed).length }
  })
}

type Times = Pick<RecentRun, 'startedAt' | 'endedAt'>

/** How many runs there were at the same time. One that ends when another starts does not overlap with it. */
export function peakOf(runs: readonly Times[], to: number): number {
  const changes = runs
    .flatMap(({ startedAt, endedAt }) => [
      [startedAt, 1],
      [Math.max(startedAt, endedAt ?? to), -1],
    ])
    .toSorted(([a = 0, up = 0], [b = 0, other = 0]) => a - b || up - other)
  let [now, most] = [0, runs.length === 0 ? 0 : 1]
  for (const [, change = 0] of changes) {
    now += change
    most = Math.max(most, now)
  }
  return most
}

/** The first track that is free when a run starts. */
export function tracksOf(runs: readonly Times[], to: number): readonly number[] {
  const ends: number[] = []
  return runs.map(({ startedAt, endedAt }) => {
    const free = ends.findIndex((end) => end <= startedAt)
    const track = free === -1 ? Math.min(ends.length, MOST_TRACKS - 1) : free
    ends[track] = Math.max(ends[track] ?? 0, endedAt ?? to)
    return track
  })
}

/** The run that an arrow key, Home or End moves the focus to. Undefined for other keys. */
export function nextRun(at: number, key: string, count: number): number | undefined {
  const last = count - 1
  const moved = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[key]
  return moved === undefined ? undefined : Math.max(0, Math.min(last, moved))
}
