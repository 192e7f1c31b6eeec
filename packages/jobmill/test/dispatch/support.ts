/** Shared by the tests of the reducer: a state to start from, and a way to send it events. */
import { DispatchState, type Member } from '../../src/dispatch/state.ts'
import type { DispatchEffect, DispatchEvent } from '../../src/dispatch/events.ts'
import { next } from '../../src/dispatch/next.ts'
import type { LimitSettings } from '../../src/job/limit/limit.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import { aLease } from '../work/leases.ts'

export interface Given {
  /** By queue. */
  readonly workers?: Readonly<Record<string, number>>
  readonly capacity?: number | null
  readonly limits?: Readonly<Record<string, LimitSettings>>
  readonly members?: readonly Member[]
  readonly kinds?: readonly string[]
  readonly instance?: string
}

export interface TestDispatch {
  readonly state: DispatchState
  /** Sends events at this time, and returns the effects of all of them. */
  readonly at: (now: number, ...events: readonly DispatchEvent[]) => DispatchEffect[]
}

export const TICK: DispatchEvent = { type: 'tick' }

function settingsOf({ workers = { a: 2 }, limits = {}, members = [] }: Given) {
  return {
    workers: new Map(Object.entries(workers)),
    isLimited: (queue: string) => limits[queue] !== undefined,
    limit: (queue: string) => limits[queue] ?? null,
    members: () => members,
  }
}

export function settingsChanged(given: Given): DispatchEvent {
  return { type: 'settingsChanged', settings: settingsOf(given) }
}

/** Started at time 0, alive for an hour, and without a sign of work. */
export function testDispatch(given: Given = {}): TestDispatch {
  const { kinds = ['work'], capacity = null, instance = 'me' } = given
  const state = new DispatchState(instance, kinds, capacity)
  const at: TestDispatch['at'] = (now, ...events) => events.flatMap((event) => [...next(state, event, now)])
  at(0, settingsChanged(given), { type: 'leaseRenewed', until: 3_600_000 }, { type: 'started' })
  state.maybeReady.clear()
  state.isDue = false
  return { state, at }
}

export const jobsReady = (...queues: string[]): DispatchEvent => ({ type: 'jobsReady', queues })
export const claimed = (...leases: Lease[]): DispatchEvent => ({ type: 'claimed', leases })
export const workerFreed = (queue = 'a'): DispatchEvent => ({ type: 'workerFreed', queue })
export const jobFinished = (queue = 'a', ranMs = 1): DispatchEvent => ({
  type: 'outcomesSettled',
  count: 0,
  finished: [{ queue, kind: 'work', ranMs }],
})
export const outcomeSettled: DispatchEvent = { type: 'outcomesSettled', count: 1, finished: [] }

export const leasesIn = (queue: string, count: number): Lease[] =>
  Array.from({ length: count }, () => aLease({ queue }))

/** The claims among the effects: the room of each queue. */
export function claimsIn(effects: readonly DispatchEffect[]): Record<string, number>[] {
  return effects.flatMap((effect) =>
    effect.type === 'claim'
      ? [Object.fromEntries(effect.request.queues.map(({ queue, room }) => [queue, room]))]
      : [],
  )
}

export const started = (effects: readonly DispatchEffect[]): Lease[] =>
  effects.flatMap((effect) => (effect.type === 'run' ? [effect.lease] : []))

export const releasedIn = (effects: readonly DispatchEffect[]): Lease[] =>
  effects.flatMap((effect) => (effect.type === 'release' ? effect.leases : []))

export const sleepIn = (effects: readonly DispatchEffect[]): number | undefined =>
  effects.findLast((effect) => effect.type === 'sleepUntil')?.at
