/** The lane of a process: its runs in tracks, so that runs at the same time do not cover each other. */
import type { RecentRun } from '../../../api/types.ts'

export interface Lane {
  readonly instance: string
  /** By their start. */
  readonly runs: readonly RecentRun[]
  /** The track of each run. */
  readonly tracks: readonly number[]
  readonly height: number
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
    return { instance, runs: own, tracks, height, failed: own.filter(isFailed).length }
  })
}

/** The first track that is free when a run starts. */
export function tracksOf(
  runs: readonly Pick<RecentRun, 'startedAt' | 'endedAt'>[],
  to: number,
): readonly number[] {
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
