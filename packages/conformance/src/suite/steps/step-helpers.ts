/** Steps, waits and events of the cases. */
import type { EventReply, Lease, SentEvent, StepWait, StepWrite, Waited } from 'jobmill/store'
import { only } from '../../factories.ts'
import type { Bench } from '../bench.ts'

export type Held = Pick<Lease, 'id' | 'token'>

/** The final finish of an attempt that waits in a step. */
export const PARKED = { to: 'parked' } as const

export function aStep({ id, token }: Held, name: string, more: Partial<StepWrite> = {}): StepWrite {
  const result = JSON.stringify(name)
  return { id, token, name, place: 0, kind: 'run', isDone: true, result, checkpoint: null, ranMs: 0, ...more }
}

export function aWait({ id, token }: Held, name: string, more: Partial<StepWait> = {}): StepWait {
  return { id, token, name, place: 0, events: [], waitMs: null, until: null, ...more }
}

/** A wait for an event of the same name. */
export async function waitForEvent(
  t: Bench,
  lease: Held,
  name: string,
  waitMs: number | null = null,
): Promise<Waited> {
  return only(await t.store.steps.wait([aWait(lease, name, { events: [name], waitMs })]))
}

let events = 0

/** An event with a new id. */
export function anEvent(to: SentEvent['to'], name: string, payload = '1'): SentEvent {
  events += 1
  return { eventId: `00000000-0000-7000-8000-${events.toString(16).padStart(12, '0')}`, to, name, payload }
}

export async function send(
  t: Bench,
  to: SentEvent['to'],
  name: string,
  payload?: string,
): Promise<EventReply> {
  return only(await t.store.steps.send([anEvent(to, name, payload)]))
}

/** The names of the done steps of a job, in their order. */
export async function doneSteps(t: Bench, id: string): Promise<string[]> {
  const [memos = []] = await t.store.steps.read([id])
  return memos.flatMap(({ name, isDone }) => (isDone ? [name] : []))
}

export const received = (event: string, payload = '1'): Waited => ({
  accepted: true,
  isDone: true,
  result: `{"event":"${event}","payload":${payload}}`,
  dueInMs: null,
})
export const waiting = (dueInMs: number | null): Waited => ({
  accepted: true,
  isDone: false,
  result: null,
  dueInMs,
})
export const TIMED_OUT: Waited = { accepted: true, isDone: true, result: null, dueInMs: null }
export const REFUSED: Waited = { accepted: false, isDone: false, result: null, dueInMs: null }
