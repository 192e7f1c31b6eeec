// All results of a run, as written to the JSON file.
import type { Machine } from '../measure/machine.ts'
import type { Setting, StoreName } from '../system.ts'
import { type Target, targetsOf } from './targets.ts'
import { type Raw, type Summary, summarize } from './figures.ts'

export interface AboutSystem {
  readonly system: string
  readonly store: StoreName
  readonly setting: Setting
  readonly version: string
  readonly settings: string
  readonly keeps: string
}

export interface AboutServer {
  readonly name: string
  readonly version: string
  readonly settings: string
}

/** A cell without figures and the reason, or a note on its figures. */
export interface Remark {
  readonly case: string
  readonly store: StoreName
  readonly system: string
  readonly setting: Setting
  readonly text: string
}

export interface Findings {
  readonly startedAt: string
  readonly minutes: number
  readonly quick: boolean
  /** The value of `--payload`. */
  readonly payloadBytes?: number | undefined
  readonly machine: Machine & {
    readonly loadAfter: number
    /** Cores used by unrelated processes, on average. */
    readonly noise: number
  }
  readonly servers: readonly AboutServer[]
  readonly systems: readonly AboutSystem[]
  readonly figures: readonly Raw[]
  readonly failures: readonly Remark[]
  readonly notes: readonly Remark[]
}

export interface Report extends Omit<Findings, 'figures'> {
  readonly targets: readonly Target[]
  readonly figures: readonly Summary[]
}

export function reportOf({ figures: raw, ...rest }: Findings): Report {
  const figures = summarize(raw)
  return { ...rest, targets: targetsOf(figures), figures }
}
