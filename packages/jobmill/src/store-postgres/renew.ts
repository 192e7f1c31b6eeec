/** The pulse: one statement that keeps an instance alive and tells it all it needs to know while idle. */
import { DEFAULTS } from '../job/defaults.ts'
import type { Pulse, PulseRequest } from '../store/instance.ts'
import { type Context, run } from './context.ts'
import { GIVEN } from './fragments.ts'

/** A claim for these queues and kinds would find this; by the same indexes as the claim. */
const READY = (crashes: string): string => `EXISTS (
  SELECT FROM json_array_elements_text(g.p -> 'queues') AS w(queue), jobmill.queue AS q, LATERAL (
    SELECT FROM jobmill.ready AS r WHERE r.queue_id = q.id AND r.crashes ${crashes}
       AND r.kind_id = ANY (ARRAY(SELECT k.id FROM given, json_array_elements_text(p -> 'kinds') AS v(name),
                                         jobmill.kind AS k WHERE k.name = v.name))
     ORDER BY r.priority, r.seq LIMIT 1) AS r
   WHERE q.name = w.queue AND NOT q.paused AND q.cool_until <= g.now)`

/**
 * The row is written only when its renewal is old enough; otherwise the statement only reads. Each part is one index probe.
 * A renewal that was due and found no row lost against the reaper, whatever the older snapshot of the rest says.
 */
const RENEW = `
WITH ${GIVEN}, renewed AS (
  UPDATE jobmill.instance AS i SET renewed_at = g.now, expires_at = g.now + (g.p ->> 'lease_ms')::int8
    FROM given AS g
   WHERE i.id = (g.p ->> 'instance')::uuid AND i.ended_at IS NULL
     AND (i.renewed_at <= g.now - (g.p ->> 'every_ms')::int8 OR i.expires_at <= g.now)
  RETURNING i.id
)
SELECT EXISTS (SELECT FROM renewed) OR EXISTS (
         SELECT FROM jobmill.instance AS i WHERE i.id = (g.p ->> 'instance')::uuid AND i.ended_at IS NULL
            AND i.renewed_at > g.now - (g.p ->> 'every_ms')::int8 AND i.expires_at > g.now) AS alive,
       (SELECT json_agg(json_build_object('id', r.id, 'token', r.token, 'reason', r.cancel_reason) ORDER BY r.id)
          FROM jobmill.running AS r
         WHERE r.instance = (g.p ->> 'instance')::uuid AND r.cancel_reason IS NOT NULL) AS cancels,
       (SELECT version FROM jobmill.settings) AS version,
       ${READY(`< ${DEFAULTS.crashesUntilAlone}`)} AS ready,
       ${READY(`>= ${DEFAULTS.crashesUntilAlone}`)} AS suspect,
       CASE WHEN EXISTS (SELECT FROM jobmill.line_call) THEN 0
            ELSE (SELECT greatest(due_at - g.now, 0) FROM jobmill.later ORDER BY due_at, id LIMIT 1) END AS stage_in_ms,
       EXISTS (SELECT FROM jobmill.instance AS i
                WHERE i.ended_at IS NULL AND i.expires_at <= g.now AND i.id <> (g.p ->> 'instance')::uuid)
       OR EXISTS (SELECT FROM jobmill.running AS r
                   WHERE r.instance = ANY (ARRAY(SELECT i.id FROM jobmill.instance AS i WHERE i.ended_at IS NOT NULL)))
       AS expired
  FROM given AS g`

/** A look of its own: beside a renewal or a reap at the same moment, the snapshot above is too old to tell which of them it was. */
const STILL_ALIVE = `
WITH ${GIVEN}
SELECT EXISTS (SELECT FROM jobmill.instance AS i WHERE i.id = (g.p ->> 'instance')::uuid AND i.ended_at IS NULL
                  AND i.expires_at > g.now) AS alive
  FROM given AS g`

export async function renew(context: Context, request: PulseRequest): Promise<Pulse> {
  const { instance, leaseMs, renewEveryMs, queues, kinds } = request
  const fields = JSON.stringify({ instance, lease_ms: leaseMs, every_ms: renewEveryMs, queues, kinds }).slice(
    1,
    -1,
  )
  const [row] = await run(context, context.connection.query, RENEW, fields)
  const cancels = row?.['cancels']
  const alive =
    row?.['alive'] === true ||
    (await run(context, context.connection.query, STILL_ALIVE, fields))[0]?.['alive'] === true
  return {
    alive,
    cancels: typeof cancels === 'string' ? (JSON.parse(cancels) as Pulse['cancels']) : [],
    settingsVersion: Number(row?.['version']),
    ready: row?.['ready'] === true,
    suspect: row?.['suspect'] === true,
    stageInMs: typeof row?.['stage_in_ms'] === 'number' ? row['stage_in_ms'] : null,
    expired: row?.['expired'] === true,
  }
}
