/** What the process of the mill and the one that started it say to each other. */
import type { ProcessSample } from './figures.ts'
import type { Leak } from './planted.ts'
import type { Place } from '../cluster/places.ts'
import type { Counts } from './open-jobs.ts'

export interface Task {
  readonly place: Place
  readonly leaks: readonly Leak[]
}

/** `finish`: enqueue nothing more, wait until all has ended, stop. */
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
      /** By the counts of the store: also what nobody acknowledged. */
      readonly waiting: number
      readonly ticks: number
      readonly broken: readonly string[]
    }
