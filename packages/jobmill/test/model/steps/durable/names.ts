// The few steps of each job, and the events that they wait for.
import type { StepKind } from '../../../../src/store/types/step.ts'

const STEPS: readonly (readonly [name: string, kind: StepKind])[] = [
  ['run 1', 'run'],
  ['nap 1', 'sleep'],
  ['event 1', 'event'],
  ['fan 1', 'child'],
  ['run 2', 'transaction'],
  ['event 2', 'event'],
  ['nap 2', 'sleep'],
  ['fan 2', 'child'],
  ['run 3', 'run'],
  ['event 3', 'event'],
]

const ofKind = (...kinds: readonly StepKind[]): string[] =>
  STEPS.flatMap(([name, kind]) => (kinds.includes(kind) ? name : []))

export const RUNS = ofKind('run', 'transaction')
export const NAPS = ofKind('sleep')
export const EVENT_WAITS = ofKind('event')
export const FANS = ofKind('child')
export const PLACES = STEPS.length
export const EVENTS = ['e1', 'e2', 'e3']

export function placeOf(name: string): number {
  return STEPS.findIndex(([known]) => known === name)
}

export function kindOf(name: string): StepKind {
  return STEPS[placeOf(name)]?.[1] ?? 'run'
}

/** The steps that a rewind to this place removes. */
export function namesFrom(place: number): Set<string> {
  return new Set(STEPS.slice(place).map(([name]) => name))
}
