/** Stores the metrics and events of a process in one statement, each recording once. */
import { RESOLUTIONS, type Recording } from '../../store/types/metrics.ts'
import { ask, columnsOf, type Context } from '../context.ts'
import { GIVEN_CTE, NOW } from '../fragments.ts'

const [FINEST] = RESOLUTIONS

/** The start of the bucket of this size that contains an instant. */
export const bucketOf = (at: string, size: string | number): string => `(${at}) - (${at}) % ${size}`

/**
 * The row of the source decides: a concurrent duplicate waits for it and finds its number taken. Deltas are
 * only appended, so there is no contention for a bucket. A process is the only writer of its own metrics.
 */
const RECORD = `
WITH ${GIVEN_CTE}, fresh AS (
  INSERT INTO jobmill.recorded AS r (source, seq, recorded_at)
  SELECT (p ->> 'source')::uuid, (p ->> 'seq')::int8, now FROM given
  ON CONFLICT (source) DO UPDATE SET seq = excluded.seq, recorded_at = excluded.recorded_at WHERE r.seq < excluded.seq
  RETURNING 1
), deltas AS (
  INSERT INTO jobmill.metric_delta (at, scope, data)
  SELECT ${bucketOf('given.now - x.ago_ms', FINEST)}, x.scope, x.data
    FROM given, json_to_recordset(p -> 'deltas') AS x(scope text, ago_ms int8, data json) WHERE EXISTS (SELECT FROM fresh)
), own AS (
  INSERT INTO jobmill.metric (resolution, at, scope, data)
  SELECT DISTINCT ON (1, 2, 3) x.resolution, ${bucketOf('given.now - x.ago_ms', 'x.resolution')}, x.scope, x.data
    FROM given, json_to_recordset(p -> 'own') AS x(n int4, scope text, resolution int4, ago_ms int8, data json)
   WHERE EXISTS (SELECT FROM fresh) ORDER BY 1, 2, 3, x.n DESC
  ON CONFLICT (resolution, at, scope) DO UPDATE SET data = excluded.data
), events AS (
  INSERT INTO jobmill.event (at, type, source, queue, job_id, data)
  SELECT e.now - e.ago_ms, e.type, e.source, e.queue, e.job, e.data FROM (
    SELECT x.*, given.now, (p ->> 'source')::uuid AS source FROM given, json_to_recordset(p -> 'events')
      AS x(n int4, type text, ago_ms int8, queue text, job uuid, data json) WHERE EXISTS (SELECT FROM fresh) ORDER BY x.n) AS e
)
SELECT ${NOW}`

export async function record(context: Context, { source, seq, ...recorded }: Recording): Promise<void> {
  const { deltas, own, events } = recorded
  if (deltas.length + own.length + events.length === 0) return
  const fields = {
    source,
    seq,
    deltas: deltas.map(columnsOf),
    own: own.map((one, n) => ({ n, ...columnsOf(one) })),
  }
  // The data of an event is JSON text and is embedded unchanged.
  const texts = events.map(({ type, agoMs, queue, job, data }, n) => {
    const rest = JSON.stringify({ n, type, ago_ms: agoMs, queue, job })
    return `${rest.slice(0, -1)},"data":${data}}`
  })
  await ask(context, RECORD, `${JSON.stringify(fields).slice(1, -1)},"events":[${texts.join(',')}]`)
}
