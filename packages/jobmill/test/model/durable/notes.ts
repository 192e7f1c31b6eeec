// What a run remembers of the jobs with durable steps, from the replies alone: results, waits and events.
import assert from 'node:assert/strict'
import type { NewJob } from '../../../src/job/enqueue/new-job.ts'
import type { SentEvent, StepWrite } from '../../../src/store/types/step.ts'
import type { LeaseName, NamedFinish } from '../lease-name.ts'

/** A write before the token of its claim in each system is known. */
export type NamedWrite = Omit<StepWrite, 'token'> & { readonly claim: number }

export interface NamedStart extends LeaseName {
  readonly name: string
  readonly place: number
  readonly jobs: readonly NewJob[]
  readonly versionedKind?: string
}

interface StoredEvent {
  readonly id: string
  readonly name: string
  readonly payload: string
  /** The step that received it. */
  step: string | null
}

export interface JobNotes {
  /** The results of its recorded steps, by name. */
  readonly results: Map<string, string | null>
  readonly events: StoredEvent[]
  /** The waits of the last attempt that waited. */
  waits: { claim: number; readonly names: Set<string> }
}

export interface DurableNotes {
  readonly jobs: Map<string, JobNotes>
  /** The kind of each job that was ever made. */
  readonly kinds: Map<string, string>
  /** The parent of each child that was ever started. */
  readonly parents: Map<string, string>
  /** Everything that was ever sent, to be sent again at the worst time. */
  readonly sentWrites: (readonly NamedWrite[])[]
  readonly sentEvents: (readonly SentEvent[])[]
  readonly sentStarts: NamedStart[]
  /** Jobs that the current command concerns: all that can be read of them is compared after it. */
  readonly touched: Set<string>
  /** Whether the current command ended with a stage of all jobs. */
  isStaged: boolean
  /** How many events were sent. */
  events: number
}

export function durableNotes(): DurableNotes {
  return {
    jobs: new Map(),
    kinds: new Map(),
    parents: new Map(),
    sentWrites: [],
    sentEvents: [],
    sentStarts: [],
    touched: new Set(),
    isStaged: false,
    events: 0,
  }
}

export const noNotes = (): JobNotes => ({
  results: new Map(),
  events: [],
  waits: { claim: 0, names: new Set() },
})

export function notesOf({ jobs }: DurableNotes, id: string): JobNotes {
  const notes = jobs.get(id) ?? noNotes()
  jobs.set(id, notes)
  return notes
}

/** P17: the first result of a step stays. */
export function noteResult({ results }: JobNotes, name: string, result: string | null): void {
  if (!results.has(name)) results.set(name, result)
  assert.equal(results.get(name), result, `P17: step "${name}" has another result`)
}

/** P18: an event ends one wait, and the oldest event comes first. */
export function noteReceived({ events }: JobNotes, step: string, result: string): void {
  const { event: name, payload } = JSON.parse(result) as { event: string; payload: unknown }
  const received = events.find((one) => one.name === name && one.payload === JSON.stringify(payload))
  assert.ok(received !== undefined, `P18: step "${step}" received an event that was never sent: ${result}`)
  assert.ok(received.step === null || received.step === step, `P18: ${result} was received twice`)
  received.step = step
}

export function noteStored({ events }: JobNotes, { eventId: id, name, payload }: SentEvent): void {
  if (!events.some((one) => one.id === id)) events.push({ id, name, payload, step: null })
}

/** The waits of an earlier attempt do not count: the code may have changed. */
export function noteWait(notes: JobNotes, claim: number, name: string, isOpen: boolean): void {
  if (notes.waits.claim !== claim) notes.waits = { claim, names: new Set() }
  if (isOpen) notes.waits.names.add(name)
  else notes.waits.names.delete(name)
}

/** A rewind removed these steps: their events can be received again. */
export function forgetSteps({ results, events }: JobNotes, names: ReadonlySet<string>): void {
  for (const name of names) results.delete(name)
  for (const event of events) if (event.step !== null && names.has(event.step)) event.step = null
}

/** Whether one of these jobs is a descendant of another. */
export function areRelated({ parents }: DurableNotes, ids: readonly string[]): boolean {
  return ids.some((id) => {
    for (let parent = parents.get(id); parent !== undefined; parent = parents.get(parent))
      if (ids.includes(parent)) return true
    return false
  })
}

/**
 * The items that may be sent together. The contract leaves open in which order a store changes a job and its
 * children within a call.
 */
export function apart<Item extends LeaseName | NamedFinish>(
  notes: DurableNotes,
  items: readonly Item[],
): (readonly Item[])[] {
  return areRelated(
    notes,
    items.map(({ id }) => id),
  )
    ? items.map((item) => [item])
    : [items]
}
