/** Assertions on the jobs that a test mill enqueued. Their messages list what was enqueued instead. */
import { AssertionError } from 'node:assert'
import type { JobKind } from '../../job/kind/job-kind.ts'
import type { EnqueuedRecord } from './mill/mill-store.ts'

/** A partial value at any depth. A list must match as a whole, with each item in part. */
export type Part<T> = T extends readonly (infer Item)[]
  ? readonly Part<Item>[]
  : T extends Date
    ? T
    : T extends object
      ? { readonly [Key in keyof T]?: Part<T[Key]> }
      : T

interface Recorded {
  enqueued(kind?: string): EnqueuedRecord[]
}

/**
 * The first job of this kind whose payload contains `match`. A duplicate was not enqueued and does not count.
 */
export function expectEnqueued<Input>(
  mill: Recorded,
  job: JobKind<Input>,
  match?: Part<Input>,
): EnqueuedRecord<Input> {
  // Converted like stored JSON: a Date becomes a string, and undefined fields disappear.
  const wanted: unknown = match === undefined ? undefined : JSON.parse(JSON.stringify(match))
  const fits = enqueuedOf(mill, job.kind).find(
    ({ payload }) => wanted === undefined || contains(payload, wanted),
  )
  if (fits !== undefined) return fits as EnqueuedRecord<Input>
  const which = wanted === undefined ? '' : ` with a payload that contains ${JSON.stringify(wanted)}`
  throw new AssertionError({
    message: `expected a job of kind "${job.kind}"${which}, but ${listed(mill.enqueued())}`,
    stackStartFn: expectEnqueued,
  })
}

/** Throws if a job of this kind was enqueued, or any job if no kind is given. */
export function expectNothingEnqueued(mill: Recorded, job?: JobKind): void {
  const jobs = enqueuedOf(mill, job?.kind)
  if (jobs.length === 0) return
  const what = job === undefined ? 'no job' : `no job of kind "${job.kind}"`
  throw new AssertionError({
    message: `expected ${what}, but ${listed(jobs)}`,
    stackStartFn: expectNothingEnqueued,
  })
}

function enqueuedOf(mill: Recorded, kind: string | undefined): EnqueuedRecord[] {
  return mill.enqueued(kind).filter(({ outcome }) => outcome !== 'duplicate')
}

function contains(value: unknown, part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return value === part
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== Array.isArray(part))
    return false
  if (Array.isArray(value) && Array.isArray(part) && value.length !== part.length) return false
  return Object.entries(part).every(
    ([key, inner]) => Object.hasOwn(value, key) && contains(Reflect.get(value, key), inner),
  )
}

const MOST_LISTED = 20
const LONGEST_PAYLOAD = 200

function listed(records: readonly EnqueuedRecord[]): string {
  if (records.length === 0) return 'nothing was enqueued'
  const lines = records.slice(0, MOST_LISTED).map(({ kind, queue, outcome, payload }, at) => {
    const text = JSON.stringify(payload)
    const short = text.length > LONGEST_PAYLOAD ? `${text.slice(0, LONGEST_PAYLOAD)}…` : text
    return `\n  ${at + 1}. ${kind} in ${queue}${outcome === 'enqueued' ? '' : ` (${outcome})`}: ${short}`
  })
  const left = records.length - lines.length
  return `these were enqueued:${lines.join('')}${left > 0 ? `\n  … ${left} more` : ''}`
}
