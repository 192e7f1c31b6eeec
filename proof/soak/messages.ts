/** The messages between the mill's process and its parent. */
import type { ProcessSample } from './verdict/figures.ts'
import type { Leak } from './planted.ts'
import type { Place } from '../cluster/places.ts'
import type { Counts } from './open-jobs.ts'

export interface Task {
  readonly place: Place
  readonly leaks: readonly Leak[]
}

/** `finish`: stop enqueuing, wait until everything has ended, and stop. */
export type Order = 'sample' | 'finish'

export interface Progress {
  readonly counts: Counts
  readonly open: number
  readonly refused: number
  readonly unknown: number
}

export type Report =
  | { readonly is: 'ready' }
  | { readonly is: 'sample'; readonly sample: ProcessSample; readonly progress: Progress }
  | {
      readonly is: 'end'
      readonly progress: Progress
      /** By the counters of the store, including unacknowledged jobs. */
      readonly waiting: number
      readonly ticks: number
      readonly broken: readonly string[]
    }
