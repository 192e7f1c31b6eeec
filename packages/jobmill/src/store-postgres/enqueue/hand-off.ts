/**
 * Direct dispatch for calls that enqueue_alike and enqueue_due cannot write: ids that may exist, or a mix
 * with keyed or scheduled jobs. One transaction first chooses the jobs to lease and then inserts all of them.
 */
import type { NewJob } from '../../job/new-job.ts'
import { STATE_CODE } from '../../job/state.ts'
import { insertLeased } from '../../store/insert-leased.ts'
import type { HandOff } from '../../store/types/claim.ts'
import type { Enqueued } from '../../store/types/replies.ts'
import { arrayOf } from '../connection/array-text.ts'
import type { Query } from '../connection/connection.ts'
import { type Context, listOf, run } from '../context.ts'
import { roomsOf } from './enqueue-due.ts'
import { fullLook, rangeColumns } from '../claim/floors.ts'
import { GIVEN_CTE, NAMES_TRUE, queueName } from '../fragments.ts'
import { INPUT_JOBS, JOB_COLUMNS, JOB_VALUES, jobsFields, placementSql, READY_COUNTS } from './job-input.ts'
import { NamesChanged } from '../names/names-changed.ts'
import { NEXT_TOKEN } from '../schema/functions/pieces.ts'
import type { ReadyCounts } from './ready-counts.ts'

/** The jobs of one call that are leased to the enqueuing instance. */
export interface HandedOff {
  readonly instance: string
  readonly token: number
  readonly ids: ReadonlySet<string>
}

/** Uses primary keys, in the snapshot of one statement. */
const LOOK = `
WITH ${GIVEN_CTE}
SELECT g.now, ${NEXT_TOKEN} AS token,
       (SELECT json_agg(json_build_object('queue', ${queueName('h.queue_id')}, 'priority', h.first_priority))
          FROM jobmill.open_heads((g.p ->> 'instance')::uuid, ARRAY(
           SELECT q.id FROM json_array_elements_text(g.p -> 'queues') WITH ORDINALITY AS w(name, n)
             LEFT JOIN jobmill.queue AS q ON q.name = w.name ORDER BY w.n), g.now,
         (g.p ->> 'range_queues')::int4[], (g.p ->> 'range_priorities')::int4[], (g.p ->> 'range_seqs')::int8[], (g.p ->> 'range_ends')::int4[]) AS h) AS heads,
       (SELECT json_agg(j.id) FROM jobmill.job AS j WHERE j.id = ANY ((g.p ->> 'ids')::uuid[])) AS known
  FROM given AS g`

/**
 * Inserts ids that may exist. The chosen jobs among the new ones start as running. All get their sequence
 * numbers in the order of the call.
 */
const ENQUEUE_HANDING_OFF = `
WITH ${GIVEN_CTE}, ${INPUT_JOBS}, written AS (
  INSERT INTO jobmill.job (${JOB_COLUMNS}) SELECT ${JOB_VALUES} FROM input ORDER BY id
  ON CONFLICT (id) DO NOTHING RETURNING id
), new_job AS MATERIALIZED (
  SELECT i.*, CASE WHEN i.due <= i.now AND i.order_key IS NULL THEN nextval('jobmill.seq') END AS seq,
         i.id = ANY (ARRAY(SELECT v.id::uuid FROM given, json_array_elements_text(p -> 'chosen') AS v(id))) AS chosen
    FROM (SELECT input.* FROM input JOIN written ON written.id = input.id ORDER BY n) AS i
), fresh AS (
  SELECT * FROM new_job WHERE NOT chosen
), to_running AS (
  INSERT INTO jobmill.running (id, token, instance, seq, ready_at, started_at, queue_id, kind_id, tries, priority, attempt, crashes, flags)
  SELECT n.id, (g.p ->> 'token')::int8, (g.p ->> 'instance')::uuid, n.seq, n.now, n.now, n.queue_id, n.kind_id, 1, n.priority, 1, 0, n.flags
    FROM new_job AS n, given AS g WHERE n.chosen
  RETURNING id
), ${placementSql('seq', 'new_job')}, tallied_running AS (
  INSERT INTO jobmill.tally (queue_id, to_state, n)
  SELECT queue_id, ${STATE_CODE.running}, count(*) FROM new_job WHERE chosen GROUP BY 1
)
SELECT ${READY_COUNTS} AS ready, ${NAMES_TRUE} AS names_true, g.now, (SELECT json_agg(id) FROM to_running) AS leased FROM given AS g`

/** Whether any of these jobs may qualify for direct dispatch, without asking the database. */
export function mayHandOff(jobs: readonly NewJob[], { queues, kinds }: HandOff): boolean {
  const rooms = roomsOf(queues, (queue) => queue)
  return jobs.some((job) => isEligible(job, { rooms, kinds: new Set(kinds) }))
}

function isEligible(
  { queue, kind, dedupe, orderKey, delayMs }: NewJob,
  { rooms, kinds }: { readonly rooms: ReadonlyMap<string, number>; readonly kinds: ReadonlySet<string> },
): boolean {
  return dedupe === null && orderKey === null && delayMs === 0 && rooms.has(queue) && kinds.has(kind)
}

/** Must be the first statement of the transaction. */
export async function chooseHandedOff(
  context: Context,
  query: Query,
  jobs: readonly NewJob[],
  { instance, queues, kinds }: HandOff,
): Promise<HandedOff> {
  const rooms = roomsOf(queues, (queue) => queue)
  const eligible = jobs.filter((job) => isEligible(job, { rooms, kinds: new Set(kinds) }))
  const open = [...new Set(eligible.map((job) => job.queue))]
  const looks = open.map((queue) => fullLook(queue))
  const [range_queues, range_priorities, range_seqs, range_ends] = rangeColumns(looks)
  const asked = {
    instance,
    queues: open,
    ids: arrayOf(jobs.map(({ id }) => id)),
    range_queues,
    range_priorities,
    range_seqs,
    range_ends,
  }
  const [row = {}] = await run(context, query, LOOK, JSON.stringify(asked).slice(1, -1))
  const heads = new Map(
    listOf<{ queue: string; priority: number }>(row['heads']).map(({ queue, priority }) => [queue, priority]),
  )
  const known = new Set(listOf<string>(row['known']))
  const ids = new Set<string>()
  for (const { id, queue, priority, dueAt } of eligible.toSorted((a, b) => a.priority - b.priority)) {
    const room = rooms.get(queue) ?? 0
    const isDue = dueAt === null || dueAt <= Number(row['now'])
    const first = heads.get(queue)
    if (room === 0 || !isDue || known.has(id) || first === undefined || priority >= first) continue
    rooms.set(queue, room - 1)
    ids.add(id)
  }
  return { instance, token: Number(row['token']), ids }
}

export async function enqueueHandingOff(
  context: Context,
  query: Query,
  jobs: readonly NewJob[],
  { instance, token, ids }: HandedOff,
  counts: ReadyCounts,
): Promise<Enqueued[]> {
  const map = context.names.current
  const chosen = jobs.filter(({ id }) => ids.has(id)).map(({ id }) => id)
  const fields = JSON.stringify({ instance, token, chosen }).slice(1, -1)
  const [row = {}] = await run(context, query, ENQUEUE_HANDING_OFF, `${fields},${jobsFields(context, jobs)}`)
  if (row['names_true'] !== true) throw new NamesChanged()
  counts.addCounts(row['ready'], map)
  const leased = new Set(listOf<string>(row['leased']))
  return jobs.map((job) => {
    const { id } = job
    if (!leased.has(id)) return { id, outcome: 'enqueued' }
    return { id, outcome: 'enqueued', lease: insertLeased(job, token, Number(row['now'])) }
  })
}
