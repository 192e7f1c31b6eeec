/**
 * The job that follows a death, when the kind of the dead one asked for it. It is enqueued in the transaction that makes the job dead,
 * whoever writes that: the instance that ran it, or the reaper of an instance that crashed.
 */
import { createHash } from 'node:crypto'
import { DEFAULTS } from './defaults.ts'
import type { NewJob } from './new-job.ts'

const ENDING = ':dead'

/**
 * Where follow-ups run, served by every process that has an `onDead`. In the queue of the dead job they would draw on its limit, and wait for
 * it when that limit is what the job died of.
 */
export const ON_DEAD_QUEUE = 'jobmill.dead'

/** The kind of the job that runs `onDead` of a kind. */
export function onDeadKind(kind: string): string {
  return `${kind}${ENDING}`
}

export interface Death {
  readonly id: string
  readonly kind: string
  readonly queue: string
  readonly orderKey: string | null
  /** The error of its last attempt. */
  readonly error: string
  /** What no other death of this job has: the token of its lease, or for the reaper, which comes only after a while, the moment. */
  readonly at: number
}

/**
 * Its payload tells of the death. The id follows from it, so a repeated write makes no second job. It is the next of the order key that the dead one had:
 * what came after that goes on once the death has been told. Order keys count within a queue, so with one it stays in the queue of the dead job.
 */
export function onDeadJob({ id, kind, queue, orderKey, error, at }: Death): NewJob {
  return {
    id: idOf(`${id} ${at}`),
    kind: onDeadKind(kind),
    queue: orderKey === null ? ON_DEAD_QUEUE : queue,
    payload: JSON.stringify({ id, kind, queue, error }),
    priority: DEFAULTS.priority,
    maxAttempts: DEFAULTS.maxAttempts,
    dueAt: null,
    delayMs: 0,
    timeoutMs: null,
    tags: [],
    metadata: null,
    dedupe: null,
    orderKey,
    first: orderKey !== null,
  }
}

/** A UUID of version 8, made of the hash of a text. */
function idOf(text: string): string {
  const hash = createHash('sha256').update(text).digest('hex')
  const variant = ((Number.parseInt(hash.slice(16, 18), 16) & 0x3f) | 0x80).toString(16)
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `${variant}${hash.slice(18, 20)}`,
    hash.slice(20, 32),
  ].join('-')
}
