/** The pulse: one statement that keeps an instance alive and tells it all it needs to know while idle. */
import type { Pulse, PulseRequest } from '../store/instance.ts'
import type { Row } from './connection.ts'
import { type Context, listOf, run } from './context.ts'
import { bidFields, DUTIES_LED, LEADS } from './duties.ts'
import { GIVEN, NOW } from './fragments.ts'
import { firstReady, KIND_IDS, limitedColumns, type LimitedQueue, limitedQueues } from './limited.ts'
import { isReady, lookForPulse } from './pulse-look.ts'
import { SCHEDULE_IN_MS } from './schedules.ts'
import { MY_SLOTS } from './slots.ts'

/** A claim of a suspect in these queues and of these kinds would find this; by the same index as the claim. */
const SUSPECT = `EXISTS (
  SELECT FROM open AS o CROSS JOIN LATERAL (${firstReady('>=')}) AS r WHERE o.limit_name IS NULL)`

/** The numbers of the queues in the order of the parameter; null of those that a claim would pass by. */
const QUEUE_IDS = `ARRAY(SELECT o.queue_id FROM given, json_array_elements_text(p -> 'queues') WITH ORDINALITY AS w(queue, n)
  LEFT JOIN open AS o ON o.name = w.queue AND o.limit_name IS NULL ORDER BY w.n)`

/**
 * Rows are written only when the renewal is old enough or a duty is vacant; otherwise the statement only reads. Each part is one index probe.
 * A renewal that was due and found no row lost against the reaper, whatever the older snapshot of the rest says.
 */
const renewStatement = (context: Context): string => `
WITH ${GIVEN}, renewed AS (
  UPDATE jobmill.instance AS i SET renewed_at = g.now, expires_at = g.now + (g.p ->> 'lease_ms')::int8
    FROM given AS g
   WHERE i.id = (g.p ->> 'instance')::uuid AND i.ended_at IS NULL
     AND (i.renewed_at <= g.now - (g.p ->> 'every_ms')::int8 OR i.expires_at <= g.now)
  RETURNING i.id
), me AS MATERIALIZED (
  SELECT (g.p ->> 'instance')::uuid AS id, EXISTS (SELECT FROM renewed) AS renewed,
         EXISTS (SELECT FROM renewed) OR EXISTS (
           SELECT FROM jobmill.instance AS i WHERE i.id = (g.p ->> 'instance')::uuid AND i.ended_at IS NULL
              AND i.renewed_at > g.now - (g.p ->> 'every_ms')::int8 AND i.expires_at > g.now) AS alive
    FROM given AS g
), open AS MATERIALIZED (
  SELECT q.id AS queue_id, q.name, q.limit_name
    FROM given AS g, json_array_elements_text(g.p -> 'queues') AS w(queue), jobmill.queue AS q
   WHERE q.name = w.queue AND NOT q.paused AND q.cool_until <= g.now
), ${DUTIES_LED}, look AS MATERIALIZED (
  SELECT i.open, a.* FROM given AS g, (SELECT ${QUEUE_IDS} AS open) AS i, jobmill.any_ready(i.open, ${KIND_IDS}, (g.p ->> 'range_queues')::int4[],
    (g.p ->> 'range_priorities')::int4[], (g.p ->> 'range_seqs')::int8[], (g.p ->> 'range_ends')::int4[]) AS a
)
SELECT g.now, me.alive,
       (SELECT json_agg(json_build_object('id', r.id, 'token', r.token, 'reason', r.cancel_reason) ORDER BY r.id)
          FROM jobmill.running AS r WHERE r.instance = me.id AND r.cancel_reason IS NOT NULL) AS cancels,
       (SELECT version FROM jobmill.settings) AS settings_version,
       (SELECT version FROM jobmill.members) AS members_version,
       ${LEADS} AS leads,
       ${MY_SLOTS} AS slots,
       (SELECT row_to_json(l) FROM look AS l) AS look,
       ${SUSPECT} AS suspect,
       ${limitedColumns(context)},
       CASE WHEN EXISTS (SELECT FROM jobmill.line_call) THEN 0
            WHEN next_due.due_at IS NOT NULL THEN greatest(next_due.due_at - g.now, 0) END AS stage_in_ms, next_due.due_at AS next_due, next_due.ms AS due_ms,
       ${SCHEDULE_IN_MS} AS schedule_in_ms,
       EXISTS (SELECT FROM jobmill.instance AS i WHERE i.ended_at IS NULL AND i.expires_at <= g.now AND i.id <> me.id)
       OR EXISTS (SELECT FROM jobmill.running AS r
                   WHERE r.instance = ANY (ARRAY(SELECT i.id FROM jobmill.instance AS i WHERE i.ended_at IS NOT NULL)))
       AS expired,
       EXISTS (SELECT FROM jobmill.tally) OR EXISTS (SELECT FROM jobmill.figure) AS unrolled
  FROM given AS g, me, jobmill.next_due((SELECT (p ->> 'since')::int8 FROM given)) AS next_due`

/** A look of its own: beside a renewal or a reap at the same moment, the snapshot above is too old to tell which of them it was. */
const STILL_ALIVE = `
WITH ${GIVEN}
SELECT EXISTS (SELECT FROM jobmill.instance AS i WHERE i.id = (g.p ->> 'instance')::uuid AND i.ended_at IS NULL
                  AND i.expires_at > g.now) AS alive,
       (SELECT json_agg(d.name ORDER BY d.name COLLATE "C")
          FROM jobmill.duty AS d, json_to_recordset(g.p -> 'duties') AS x(name text)
         WHERE d.name = x.name AND d.leader = (g.p ->> 'instance')::uuid AND d.expires_at > ${NOW}) AS leads
  FROM given AS g`

export async function renew(context: Context, request: PulseRequest): Promise<Pulse> {
  const { instance, leaseMs, renewEveryMs, queues, kinds, duties } = request
  const fields = JSON.stringify({
    instance,
    lease_ms: leaseMs,
    every_ms: renewEveryMs,
    queues,
    kinds,
    duties: bidFields(duties),
  }).slice(1, -1)
  const { query } = context.connection
  const looked = lookForPulse(context, request)
  const [row = {}] = await run(context, query, renewStatement(context), `${fields},${looked.fields}`)
  looked.tell(row)
  const limited = await limitedQueues(context, row, request)
  if (row['alive'] === true) return pulseOf(row, row, limited)
  const [still = {}] = await run(context, query, STILL_ALIVE, fields)
  return pulseOf(row, still, limited)
}

function pulseOf(row: Row, { alive, leads }: Row, limited: readonly LimitedQueue[]): Pulse {
  const open = limited.filter((one) => one.available > 0)
  return {
    alive: alive === true,
    cancels: listOf<Pulse['cancels'][number]>(row['cancels']),
    settingsVersion: row['settings_version'] as number,
    membersVersion: row['members_version'] as number,
    leads: alive === true ? listOf<string>(leads) : [],
    slots: listOf<Pulse['slots'][number]>(row['slots']),
    ready: isReady(row['look']) || open.some((one) => one.ready),
    suspect: row['suspect'] === true || open.some((one) => one.suspect),
    stageInMs: row['stage_in_ms'] as number | null,
    budgetInMs: soonest(limited.filter((one) => one.available === 0)),
    scheduleInMs: row['schedule_in_ms'] as number | null,
    expired: row['expired'] === true,
    unrolled: row['unrolled'] === true,
  }
}

function soonest(limited: readonly LimitedQueue[]): number | null {
  const waits = limited.flatMap(({ nextInMs }) => nextInMs ?? [])
  return waits.length === 0 ? null : Math.min(...waits)
}
