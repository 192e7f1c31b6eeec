/** Run now: makes scheduled jobs ready, or moves them to their order queue. */
import type { Verdict } from '../../store/types/replies.ts'
import { type Context, run } from '../context.ts'
import { dueMoved, GIVEN_CTE, INPUT_IDS, NEEDS_ORDER_LOCK, NOW, queueName } from '../fragments.ts'
import { readyCounts, notifyFor } from '../enqueue/ready-counts.ts'
import { idsField, operate } from './states.ts'

/**
 * Uses the unique index on id of `later`, in the order of the call. If a stage took the row first, nothing is
 * found here.
 */
const RUN_NOW = `
WITH ${GIVEN_CTE}, input AS MATERIALIZED (
  SELECT v.id::uuid AS id, v.n FROM given, json_array_elements_text(p -> 'ids') WITH ORDINALITY AS v(id, n)
), due AS (
  DELETE FROM jobmill.later AS w USING input WHERE w.id = input.id
  RETURNING w.id, w.queue_id, w.kind_id, w.tries, w.priority, w.attempt, w.crashes, w.flags, ${NOW} AS due_at, input.n
), ${dueMoved('n')}
SELECT id, ${queueName('due.queue_id')} AS queue, (${NEEDS_ORDER_LOCK}) AS in_order_queue FROM due`

const IN_ORDER_QUEUE = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
SELECT l.id FROM input JOIN jobmill.order_queue AS l ON l.id = input.id`

export async function runNow(context: Context, ids: readonly string[]): Promise<Verdict[]> {
  const { query } = context.connection
  const counts = readyCounts()
  const verdicts = await operate(context, ids, {
    async look(open) {
      const found = new Map<string, Verdict>()
      for (const row of await run(context, query, RUN_NOW, idsField(open))) {
        const id = String(row['id'])
        counts.add(row['queue'], row['in_order_queue'] === true ? 0 : 1)
        found.set(id, {
          id,
          verdict: 'changed',
          state: row['in_order_queue'] === true ? 'scheduled' : 'ready',
        })
      }
      if (found.size === open.length) return found
      for (const row of await run(context, query, IN_ORDER_QUEUE, idsField(open))) {
        const id = String(row['id'])
        if (!found.has(id)) found.set(id, { id, verdict: 'unchanged', state: 'scheduled' })
      }
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
