/** Stores events for jobs that have not ended, and adds rows to `wake`, so that stage checks their waits. */
import { STATE_CODE, stateOfCode } from '../../job/state.ts'
import type { EventReply, SentEvent } from '../../store/types/step.ts'
import { type Context, run } from '../context.ts'
import { notifyAfterCommit, notifyFor, readyCounts } from '../enqueue/ready-counts.ts'
import { GIVEN_CTE, kindName, NOW, queueName, XID } from '../fragments.ts'
import { statesOf } from '../inspect/job-rows.ts'
import { notRun, type Tx, txQuery } from '../tx.ts'

const TO_STORE = `s.state < ${STATE_CODE.done} AND s.other_kind IS NULL`

// The kind is read by primary key, and only for an event that is for one kind.
const SEND = `
WITH ${GIVEN_CTE}, input AS MATERIALIZED (
  SELECT x.n, x.event_id, x.name, x.payload, x.kind, coalesce(x.id, (
           SELECT d.job_id FROM jobmill.dedupe AS d WHERE d.key = x.key AND (d.expires_at IS NULL OR d.expires_at > ${NOW}))) AS id
    FROM given, json_to_recordset(p -> 'events') AS x(n int4, event_id uuid, id uuid, key text, name text, payload text, kind text)
), found AS MATERIALIZED (${statesOf('SELECT DISTINCT input.id FROM input WHERE input.id IS NOT NULL')}
), sent AS MATERIALIZED (
  SELECT i.n, i.event_id, i.name, i.payload, f.id, f.state, CASE WHEN i.kind IS NOT NULL THEN nullif((
           SELECT ${kindName('j.kind_id')} FROM jobmill.job AS j WHERE j.id = f.id), i.kind) END AS other_kind
    FROM input AS i LEFT JOIN found AS f ON f.id = i.id
), stored AS (
  INSERT INTO jobmill.job_event (job_id, id, name, payload, sent_at)
  SELECT s.id, s.event_id, s.name, s.payload, ${NOW} FROM sent AS s WHERE ${TO_STORE}
  ON CONFLICT DO NOTHING
), called AS (
  INSERT INTO jobmill.wake (job_id) SELECT DISTINCT s.id FROM sent AS s WHERE ${TO_STORE}
)
SELECT s.n, s.id, s.state, s.other_kind, s.other_kind IS NULL AND (s.state < ${STATE_CODE.done} OR EXISTS (
         SELECT FROM jobmill.job_event AS e WHERE e.job_id = s.id AND e.id = s.event_id)) AS is_stored,
       (SELECT ${queueName('j.queue_id')} FROM jobmill.job AS j WHERE j.id = s.id) AS queue, ${XID}
  FROM sent AS s ORDER BY s.n`

interface Sent {
  readonly n: number
  readonly id: string | null
  readonly state: number | null
  readonly other_kind: string | null
  readonly is_stored: boolean | null
  readonly queue: string | null
}

export async function sendEvents(
  context: Context,
  items: readonly SentEvent[],
  { tx }: { readonly tx?: Tx | undefined } = {},
): Promise<EventReply[]> {
  if (items.length === 0) return []
  const events = items.map(({ eventId, to, name, payload, kind }, n) => ({
    n,
    event_id: eventId,
    ...(typeof to === 'string' ? { id: to } : { key: to.dedupeKey }),
    name,
    payload,
    ...(kind !== undefined && { kind }),
  }))
  const query = tx === undefined ? context.connection.prepared : txQuery(tx)
  const rows = await run<Sent>(context, query, SEND, { events })
  if (rows.length !== items.length) throw notRun()
  const counts = readyCounts()
  counts.noteTransaction(rows[0] as object as Record<string, unknown>)
  for (const { queue, is_stored: isStored } of rows) if (isStored === true) counts.addLook(queue)
  if (tx === undefined) notifyFor(context, counts)
  else notifyAfterCommit(context, counts)
  return rows.map(({ id, state, is_stored: isStored, other_kind: otherKind }) => ({
    id,
    state: state === null ? null : stateOfCode(state),
    isStored: isStored === true,
    ...(otherKind !== null && { otherKind }),
  }))
}
