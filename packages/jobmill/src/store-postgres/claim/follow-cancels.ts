/** Enqueues the follow-ups of cancelled jobs. */
import { type Cancellation, onCancelledJob } from '../../job/attempt/on-cancelled.ts'
import { ask, type Context, inTransaction } from '../context.ts'
import { enqueueWith, ensureNames } from '../enqueue/enqueue.ts'
import { notifyFor, readyCounts } from '../enqueue/ready-counts.ts'
import { GIVEN_CTE } from '../fragments.ts'

export interface Followed extends Cancellation {
  /** The id of the row in `wake`. */
  readonly wake: string
}

const TAKE = `
WITH ${GIVEN_CTE}
DELETE FROM jobmill.wake AS w
 WHERE w.id = ANY (ARRAY(SELECT v.id::uuid FROM given, json_array_elements_text(p -> 'ids') AS v(id))) RETURNING w.id`

/**
 * The transaction that deletes the row of a cancel enqueues its follow-up, so it is enqueued once. A job that
 * was retried and cancelled again has a row for each cancel, which all lead to the follow-up of the last one.
 */
export async function followCancels(context: Context, cancelled: readonly Followed[]): Promise<void> {
  if (cancelled.length === 0) return
  await ensureNames(context, cancelled.map(onCancelledJob))
  const counts = readyCounts()
  await inTransaction(context, async (inside) => {
    const taken = await ask<{ id: string }>(inside, TAKE, { ids: cancelled.map(({ wake }) => wake) })
    const wakes = new Set(taken.map(({ id }) => id))
    const followUps = cancelled.filter(({ wake }) => wakes.has(wake)).map(onCancelledJob)
    const jobs = [...new Map(followUps.map((job) => [job.id, job])).values()]
    if (jobs.length > 0) await enqueueWith(inside, inside.connection.query, jobs, true, counts)
  })
  notifyFor(context, counts)
}
