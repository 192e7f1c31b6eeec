/** The jobs of the scene `steps`, and what their handlers write down. */
import type { Place } from '../../cluster/places.ts'

export interface StepTask {
  readonly place: Place
  readonly ledger: string
}

/** One line of the ledger. */
export interface StepLine {
  /** ran: the function of a step was called. waits: a wait begins. saw: the handler got this result. */
  readonly what: 'ran' | 'waits' | 'saw'
  readonly job: string
  readonly token: number
  readonly step: string
  readonly value?: string | number
  readonly at: number
}

export const STEPS_KIND = { kind: 'stepping', queue: 'steps' } as const
export const EVENTS_KIND = { kind: 'listening', queue: 'events' } as const
/** What jobs of both kinds wait for. */
export const EVENT = 'note'

export interface StepsPayload {
  /** The number of steps, or of waits. */
  readonly count: number
}
