/** Stores events for jobs that have not ended, and adds rows to `wake`, so that stage checks their waits. */
import { STATE_CODE, stateOfCode } from '../../job/state.ts'
import type { EventReply, SentEvent } from '../../store/types/step.ts'
import { type Context, run } from '../context.ts'
import { notifyAfterCommit, notifyFor, readyCounts } from '../enqueue/ready-counts.ts'
import { GIVEN_CTE, NOW, queueName, XID } from '../fragments.ts'
import { statesOf } from '../inspect/job-rows.ts'
import { notRun, type Tx, txQuery } from '../tx.ts'

const SEND = `
WITH ${GIVEN_CTE}, input AS MATERIALIZED (
  SELECT x.n, x.event_id, x.name, x.payload, coalesce(x.id, (
           SELECT d.job_id FROM jobmill.dedupe AS d WHERE d.key = x.key AND (d.expires_at IS NULL OR d.expires_at > ${NOW}))) AS id
    FROM given, json_to_recordset(p -> 'events') AS x(n int4, event_id uuid, id uuid, key text, name text, payload text)
), found AS MATERIALIZED (${statesOf('SELECT DISTINCT input.id FROM input WHERE input.id IS NOT NULL')}
), stored AS (
  INSERT INTO jobmill.job_event (job_id, id, name, payload, sent_at)
  SELECT i.id, i.event_id, i.name, i.payload, ${NOW} FROM input AS i JOIN found AS f ON f.id = i.id WHERE f.state < ${STATE_CODE.done}
  ON CONFLICT DO NOTHING
), called AS (
  INSERT INTO jobmill.wake (job_id) SELECT f.id FROM found AS f WHERE f.state < ${STATE_CODE.done}
)
SELECT i.n, f.id, f.state, f.state < ${STATE_CODE.done} OR EXISTS (
         SELECT FROM jobmill.job_event AS e WHERE e.job_id = i.id AND e.id = i.event_id) AS is_stored,
       (SELECT ${queueName('j.queue_id')} FROM jobmill.job AS j WHERE j.id = f.id) AS queue, ${XID}
  FROM input AS i LEFT JOIN found AS f ON f.id = i.id ORDER BY i.n`

interface Sent {
  readonly n: number
  readonly id: string | null
  readonly state: number | null
  readonly is_stored: boolean | null
  readonly queue: string | null
}

export async function sendEvents(
  context: Context,
  items: readonly SentEvent[],
  { tx }: { readonly tx?: Tx | undefined } = {},
): Promise<EventReply[]> {
  if (items.length === 0) return []
  const events = items.map(({ eventId, to, name, payload }, n) => ({
    n,
    event_id: eventId,
    ...(typeof to === 'string' ? { id: to } : { key: to.dedupeKey }),
    name,
    payload,
  }))
  const query = tx === undefined ? context.connection.query : txQuery(tx)
  const rows = await run<Sent>(context, query, SEND, { events })
  if (rows.length !== items.length) throw notRun()
  const counts = readyCounts()
  counts.noteTransaction(rows[0] as object as Record<string, unknown>)
  for (const { queue, is_stored: isStored } of rows) if (isStored === true) counts.addLook(queue)
  if (tx === undefined) notifyFor(context, counts)
  else notifyAfterCommit(context, counts)
  return rows.map(({ id, state, is_stored: isStored }) => ({
    id,
    state: state === null ? null : stateOfCode(state),
    isStored: isStored === true,
  }))
}
