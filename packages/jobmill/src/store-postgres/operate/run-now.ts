/** Run now: makes scheduled jobs ready, or moves them to their order queue. */
import type { Verdict } from '../../store/types/replies.ts'
import { ask, type Context } from '../context.ts'
import { dueMoved, GIVEN_CTE, INPUT_IDS, NOW, queueName, WAITS_FOR_TURN } from '../fragments.ts'
import { readyCounts, notifyFor } from '../enqueue/ready-counts.ts'
import { type Moved, movedVerdict, operate } from './states.ts'

/**
 * Uses the unique index on id of `later`, in the order of the call. If a stage took the row first, nothing is
 * found here.
 */
const RUN_NOW = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}, due AS (
  DELETE FROM jobmill.later AS w USING input WHERE w.id = input.id
  RETURNING w.id, w.queue_id, w.kind_id, w.tries, w.priority, w.attempt, w.crashes, w.flags, ${NOW} AS due_at, input.n
), ${dueMoved('n')}
SELECT id, ${queueName('due.queue_id')} AS queue, ${WAITS_FOR_TURN} AS in_order_queue FROM due`

const IN_ORDER_QUEUE = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
SELECT l.id FROM input JOIN jobmill.order_queue AS l ON l.id = input.id`

export async function runNow(context: Context, ids: readonly string[]): Promise<Verdict[]> {
  const counts = readyCounts()
  const verdicts = await operate(context, ids, {
    async look(open) {
      const moved = await ask<Moved>(context, RUN_NOW, { ids: open })
      for (const { queue, in_order_queue: waits } of moved) counts.add(queue, waits ? 0 : 1)
      const found = new Map(moved.map((row) => [row.id, movedVerdict(row)]))
      if (found.size === open.length) return found
      for (const { id } of await ask<{ id: string }>(context, IN_ORDER_QUEUE, { ids: open }))
        if (!found.has(id)) found.set(id, { id, verdict: 'unchanged', state: 'scheduled' })
      return found
    },
    rest(id, state) {
      if (state === 'scheduled') return undefined
      return { id, verdict: state === 'ready' ? 'unchanged' : 'refused', state }
    },
  })
  notifyFor(context, counts)
  return verdicts
}
