/** Run now: a scheduled job becomes ready, or joins its line. */
import { STATE_CODE } from '../job/state.ts'
import type { Verdict } from '../store/replies.ts'
import { type Context, run } from './context.ts'
import { GIVEN, HAS_TURN, INPUT_IDS, NOW, ORDERED } from './fragments.ts'
import { idsField, operate } from './states.ts'

const { scheduled, ready } = STATE_CODE
const NEEDS_TURN = `flags & ${ORDERED} <> 0 AND flags & ${HAS_TURN} = 0`

/** By the unique index on id of `later`. A stage that took the row first leaves nothing here. In the order of the call. */
const RUN_NOW = `
WITH ${GIVEN}, input AS MATERIALIZED (
  SELECT v.id::uuid AS id, v.n FROM given, json_array_elements_text(p -> 'ids') WITH ORDINALITY AS v(id, n)
), due AS (
  DELETE FROM jobmill.later AS w USING input WHERE w.id = input.id RETURNING w.*, input.n
), to_ready AS (
  INSERT INTO jobmill.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
  SELECT queue_id, priority, nextval('jobmill.seq'), id, ${NOW}, kind_id, tries, attempt, crashes, flags
    FROM (SELECT * FROM due WHERE NOT (${NEEDS_TURN}) ORDER BY n) AS d
), in_line AS (
  INSERT INTO jobmill.line (queue_id, order_key, pos, id, due_at, kind_id, tries, priority, flags)
  SELECT d.queue_id, d.order_key, nextval('jobmill.seq'), d.id, ${NOW}, d.kind_id, d.tries, d.priority, d.flags
    FROM (SELECT due.*, j.order_key FROM due JOIN jobmill.job AS j ON j.id = due.id WHERE ${NEEDS_TURN} ORDER BY due.n) AS d
  RETURNING queue_id, order_key
), called AS (
  INSERT INTO jobmill.line_call (queue_id, order_key) SELECT DISTINCT queue_id, order_key FROM in_line
), tallied AS (
  INSERT INTO jobmill.tally (queue_id, from_state, to_state, n)
  SELECT queue_id, ${scheduled}, ${ready}, count(*) FROM due WHERE NOT (${NEEDS_TURN}) GROUP BY 1
)
SELECT id, queue_id, (${NEEDS_TURN}) AS in_line FROM due`

const IN_LINE = `
WITH ${GIVEN}, ${INPUT_IDS}
SELECT l.id FROM input JOIN jobmill.line AS l ON l.id = input.id`

export async function runNow(context: Context, ids: readonly string[]): Promise<Verdict[]> {
  const { query } = context.connection
  const queueIds = new Set<number>()
  const verdicts = await operate(context, ids, {
    async look(open) {
      const found = new Map<string, Verdict>()
      for (const row of await run(context, query, RUN_NOW, idsField(open))) {
        const id = String(row['id'])
        queueIds.add(Number(row['queue_id']))
        found.set(id, { id, verdict: 'changed', state: row['in_line'] === true ? 'scheduled' : 'ready' })
      }
      if (found.size === open.length) return found
      for (const row of await run(context, query, IN_LINE, idsField(open))) {
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
  await context.names.learn(queueIds, [])
  context.ring([...queueIds].map((id) => context.names.queueName(id)))
  return verdicts
}
