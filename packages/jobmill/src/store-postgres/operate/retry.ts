/**
 * Retries dead and cancelled jobs, keeping their history, unless another job holds the dedupe key. A new
 * payload is written by the statement that revives the job.
 */
import { BOUNDS } from '../../job/defaults.ts'
import { type JobState, STATE_CODE, stateOfCode } from '../../job/state.ts'
import type { NewPayload } from '../../store/types/new-payload.ts'
import type { Verdict } from '../../store/types/replies.ts'
import { ask, type Context, inTransaction } from '../context.ts'
import {
  GIVEN_CTE,
  GROUPED,
  HAS_STEPS,
  HELD_UNTIL_END,
  INPUT_IDS,
  IS_CHILD,
  KEYED,
  NEXT_PLACE,
  NOW,
  ORDERED,
  queueName,
  READY_FLAGS,
  turnKey,
  WAITS_FOR_TURN,
} from '../fragments.ts'
import { NEW_TAGS, retagged } from '../enqueue/entries.ts'
import { readyCounts, notifyFor } from '../enqueue/ready-counts.ts'
import { type Moved, movedVerdict, operate } from './states.ts'

const { scheduled, dead, cancelled } = STATE_CODE
const RETRYABLE = `a.ended_as IN (${dead}, ${cancelled})`
const ENDED = 'a.ended_as IS NOT NULL'

/** Locks the attempts that ended the jobs, so that retention and delete leave the jobs alone. */
const lock = (which: string): string => `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
SELECT a.job_id AS id, a.ended_as AS state, a.ended_at, j.dedupe_key IS NOT NULL AND j.hold_after IN ${HELD_UNTIL_END} AS keyed
  FROM jobmill.attempt AS a JOIN input ON input.id = a.job_id JOIN jobmill.job AS j ON j.id = a.job_id
 WHERE ${which} ORDER BY a.job_id FOR UPDATE OF a`

/**
 * Takes keys like an enqueue does, without locking keys of other jobs. A key that is still held for the job
 * itself is taken back. A job does not take a key that it held for a time only.
 */
const TAKE_KEYS = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}, wanted AS (
  SELECT DISTINCT ON (j.dedupe_key) j.dedupe_key AS key, j.id FROM input JOIN jobmill.job AS j ON j.id = input.id
   ORDER BY j.dedupe_key, j.id
), taken_over AS (
  UPDATE jobmill.dedupe AS d SET job_id = w.id, expires_at = NULL FROM wanted AS w
   WHERE d.key = w.key AND (d.expires_at <= ${NOW} OR d.job_id = w.id) RETURNING d.job_id AS id
), taken AS (
  INSERT INTO jobmill.dedupe (key, job_id)
  SELECT w.key, w.id FROM wanted AS w WHERE NOT EXISTS (SELECT FROM taken_over AS t WHERE t.id = w.id) ORDER BY w.key
  ON CONFLICT (key) DO NOTHING RETURNING job_id AS id
)
SELECT id FROM taken_over UNION ALL SELECT id FROM taken`

const HOLDERS = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
SELECT j.id, d.job_id AS holder FROM input JOIN jobmill.job AS j ON j.id = input.id JOIN jobmill.dedupe AS d ON d.key = j.dedupe_key`

/** A rewind removes the steps from a place on. */
const STAYS = `s.place < coalesce((SELECT (p ->> 'place')::int4 FROM given), ${BOUNDS.steps} + 1)`

const reviveStatement = (inputs: string): string => `
WITH ${GIVEN_CTE}, ${inputs}, was AS (
  SELECT a.job_id, a.token, a.ended_as AS state, a.tries FROM jobmill.attempt AS a JOIN input ON input.id = a.job_id
   WHERE a.ended_as IS NOT NULL
), reopened AS (
  UPDATE jobmill.attempt AS a SET ended_as = NULL FROM was WHERE a.job_id = was.job_id AND a.token = was.token
), revived AS (
  SELECT j.*, was.state, was.tries, input.n, ((CASE WHEN j.hold_after IN ${HELD_UNTIL_END} THEN ${KEYED} ELSE 0 END)
         + (CASE WHEN j.order_key IS NULL THEN 0 ELSE ${ORDERED} END)
         + (CASE WHEN j.group_name IS NULL THEN 0 ELSE ${GROUPED} END)
         + (CASE WHEN EXISTS (SELECT FROM jobmill.step AS s WHERE s.job_id = j.id AND ${STAYS}) THEN ${HAS_STEPS} ELSE 0 END)
         + (CASE WHEN EXISTS (SELECT FROM jobmill.child AS c WHERE c.id = j.id) THEN ${IS_CHILD} ELSE 0 END))::int2 AS flags
    FROM input JOIN jobmill.job AS j ON j.id = input.id JOIN was ON was.job_id = j.id
), children_reopened AS (
  UPDATE jobmill.child AS c SET ended_as = NULL, result = NULL, error = NULL
   WHERE c.id = ANY (ARRAY(SELECT r.id FROM revived AS r WHERE r.flags & ${IS_CHILD} <> 0))
), to_ready AS (
  INSERT INTO jobmill.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
  SELECT queue_id, priority, ${NEXT_PLACE}, id, ${NOW}, kind_id, tries, 0, 0, ${READY_FLAGS}
    FROM (SELECT * FROM revived WHERE NOT ${WAITS_FOR_TURN} ORDER BY n) AS r
), in_order_queue AS (
  INSERT INTO jobmill.order_queue (queue_id, order_key, pos, id, due_at, kind_id, tries, priority, flags)
  SELECT queue_id, ${turnKey('r')}, nextval('jobmill.seq'), id, ${NOW}, kind_id, tries, priority, flags
    FROM (SELECT * FROM revived WHERE ${WAITS_FOR_TURN} ORDER BY n) AS r
  RETURNING queue_id, order_key
), called AS (
  INSERT INTO jobmill.order_check (queue_id, order_key) SELECT DISTINCT queue_id, order_key FROM in_order_queue
), tallied AS (
  INSERT INTO jobmill.tally (queue_id, from_state, to_state, n)
  SELECT queue_id, state, CASE WHEN ${WAITS_FOR_TURN} THEN ${scheduled} ELSE ${STATE_CODE.ready} END, count(*) FROM revived GROUP BY 1, 2, 3
)
SELECT id, ${queueName('revived.queue_id')} AS queue, ${WAITS_FOR_TURN} AS in_order_queue FROM revived`

const REVIVE = reviveStatement(INPUT_IDS)

/** The attempts are locked, so no other statement changes these job rows. */
const REVIVE_WITH_PAYLOAD = reviveStatement(`input AS MATERIALIZED (
  SELECT x.n, x.id, x.payload, x.entries
    FROM given AS g, json_to_recordset(g.p -> 'jobs') AS x(n int4, id uuid, payload json, entries text[])
), ${retagged('input')}, replaced AS (
  UPDATE jobmill.job AS j SET payload = coalesce(i.payload, 'null'::json), tags = ${NEW_TAGS}
    FROM input AS i LEFT JOIN retagged AS r ON r.id = i.id WHERE j.id = i.id
)`)

/** Keyed by job id. */
type Payloads = ReadonlyMap<string, NewPayload>
const NO_PAYLOADS: Payloads = new Map()

export async function retry(
  context: Context,
  ids: readonly string[],
  given?: readonly NewPayload[],
): Promise<Verdict[]> {
  const counts = readyCounts()
  const payloads: Payloads = new Map(given?.map((payload, n) => [ids[n] ?? '', payload]))
  const verdicts = await operate(context, ids, {
    async look(open) {
      const { refused, revived } = await inTransaction(context, (inside) =>
        revive(inside, open, { payloads }),
      )
      for (const { queue, in_order_queue: waits } of revived) counts.add(queue, waits ? 0 : 1)
      return new Map([...refused, ...revived.map(movedVerdict)].map((verdict) => [verdict.id, verdict]))
    },
    rest: (id, state) =>
      state === 'dead' || state === 'cancelled' ? undefined : { id, verdict: 'refused', state },
  })
  notifyFor(context, counts)
  return verdicts
}

export async function revive(
  inside: Context,
  ids: readonly string[],
  { payloads = NO_PAYLOADS, rewindTo }: { readonly payloads?: Payloads; readonly rewindTo?: number } = {},
): Promise<{ refused: Verdict[]; revived: Moved[] }> {
  const ended = await ask<Ended>(inside, lock(rewindTo === undefined ? RETRYABLE : ENDED), { ids })
  const isStale = ({ id, ended_at: at }: Ended): boolean => (payloads.get(id)?.endedAt ?? at) !== at
  const stale = ended.filter(isStale)
  const locked = ended.filter((one) => !isStale(one))
  const states = new Map(locked.map(({ id, state }) => [id, stateOfCode(state)]))
  const lost = new Set(locked.flatMap(({ id, keyed }) => (keyed ? id : [])))
  const won = lost.size === 0 ? [] : await ask<{ id: string }>(inside, TAKE_KEYS, { ids: [...lost] })
  for (const { id } of won) lost.delete(id)
  const order = ids.filter((id) => states.has(id) && !lost.has(id))
  const refused = stale.map(({ id, state }): Verdict => ({
    id,
    verdict: 'refused',
    state: stateOfCode(state),
  }))
  return {
    refused: [...refused, ...(lost.size === 0 ? [] : await refusedBy(inside, lost, states))],
    revived: order.length === 0 ? [] : await reviveLocked(inside, order, { payloads, place: rewindTo }),
  }
}

interface Ended {
  readonly id: string
  readonly state: number
  readonly ended_at: number
  readonly keyed: boolean
}

function reviveLocked(
  inside: Context,
  ids: readonly string[],
  { payloads, place }: { readonly payloads: Payloads; readonly place: number | undefined },
): Promise<Moved[]> {
  if (payloads.size === 0) return ask<Moved>(inside, REVIVE, { ids, place })
  const jobs = ids.map((id, n) => {
    const { payload = 'null', entries = [] } = payloads.get(id) ?? {}
    return `{"n":${n},"id":"${id}","payload":${payload},"entries":${JSON.stringify(entries)}}`
  })
  return ask<Moved>(inside, REVIVE_WITH_PAYLOAD, `"jobs":[${jobs.join(',')}]`)
}

/**
 * Omits jobs whose key is free by now, or is their own. They lost only because another job with this key was
 * tried.
 */
async function refusedBy(
  inside: Context,
  lost: ReadonlySet<string>,
  states: ReadonlyMap<string, JobState>,
): Promise<Verdict[]> {
  const rows = await ask<{ id: string; holder: string }>(inside, HOLDERS, { ids: [...lost] })
  return rows
    .filter(({ id, holder }) => holder !== id)
    .map(({ id, holder }) => ({ id, verdict: 'refused', state: states.get(id) ?? null, holder }))
}
