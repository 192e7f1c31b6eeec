/** Enqueues and reads the child jobs of steps. */
import { stateOfCode } from '../../job/state.ts'
import { slicesOf } from '../../store/batch/slices.ts'
import {
  type ChildRecord,
  type ChildrenOf,
  type ChildrenStart,
  type ParentRecord,
  STEP_KINDS,
} from '../../store/types/step.ts'
import { ask, askOne, type Context, inTransaction } from '../context.ts'
import { enqueueInSlices, ensureNames } from '../enqueue/enqueue.ts'
import { notifyFor, readyCounts } from '../enqueue/ready-counts.ts'
import { GIVEN_CTE, HAS_STEPS, INPUT_IDS, NOW } from '../fragments.ts'
import { withRows } from './record.ts'

/** The lock of the row in `running` is the fence. */
const OPEN = `
WITH ${GIVEN_CTE}, held AS MATERIALIZED (
  SELECT r.id, r.token, r.flags FROM jobmill.running AS r, given
   WHERE r.id = (p ->> 'id')::uuid AND r.token = (p ->> 'token')::int8 FOR NO KEY UPDATE OF r
), marked AS (
  UPDATE jobmill.running AS r SET flags = r.flags | ${HAS_STEPS} FROM held AS h WHERE r.id = h.id AND h.flags & ${HAS_STEPS} = 0
), opened AS (
  INSERT INTO jobmill.step (job_id, name, place, kind, token, started_at)
  SELECT h.id, p ->> 'name', (p ->> 'place')::int4, ${STEP_KINDS.indexOf('child')}, h.token, ${NOW} FROM held AS h, given
  ON CONFLICT DO NOTHING RETURNING 1
)
SELECT EXISTS (SELECT FROM held) AS is_held, EXISTS (SELECT FROM opened) AS is_new`

export async function startChildren(context: Context, items: readonly ChildrenStart[]): Promise<boolean[]> {
  const started = await withRows(context, items, async (some) => {
    const replies: (true | undefined)[] = []
    for (const item of some) replies.push(await start(context, item))
    return replies
  })
  return started.map((one) => one === true)
}

/** Undefined if the token is stale. */
async function start(
  context: Context,
  { id, token, name, place, jobs }: ChildrenStart,
): Promise<true | undefined> {
  if (!context.names.knowsAllOf(jobs)) await ensureNames(context, jobs)
  const counts = readyCounts()
  const isHeld = await inTransaction(context, async (inside) => {
    const opened = await askOne<{ is_held: boolean; is_new: boolean }>(inside, OPEN, {
      id,
      token,
      name,
      place,
    })
    if (!opened.is_new) return opened.is_held
    const linked = jobs.map((job, at) => ({ ...job, parent: { id, step: name, place: at } }))
    await enqueueInSlices(inside, inside.connection.query, slicesOf(linked), counts)
    return true
  })
  notifyFor(context, counts)
  return isHeld ? true : undefined
}

const COLUMNS = `c.id, c.step, c.place, c.ended_as AS "endedAs", c.error`
const NO_RESULT = `${COLUMNS}, NULL AS result`
/** The parent, if it still exists. After a delete, records of open children can remain. See REMOVED. */
const PARENT = `(SELECT j.id FROM given JOIN jobmill.job AS j ON j.id = (p ->> 'id')::uuid)`

/** All use the index child_parent. */
const ofStep = (columns: string): string => `
WITH ${GIVEN_CTE}
SELECT ${columns} FROM jobmill.child AS c
 WHERE c.parent_id = ${PARENT} AND c.step = (SELECT p ->> 'step' FROM given) ORDER BY c.place`
const OF_STEP = ofStep(`${COLUMNS}, c.result`)
const ENDS_OF_STEP = ofStep(NO_RESULT)
const ofJob = (limit: number): string => `
WITH ${GIVEN_CTE}
SELECT ${NO_RESULT} FROM jobmill.child AS c WHERE c.parent_id = ${PARENT} ORDER BY c.step COLLATE "C", c.place LIMIT ${limit}`

const PARENTS = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
SELECT c.id AS child, c.parent_id AS id, c.step FROM jobmill.child AS c
 WHERE c.id = ANY (ARRAY(SELECT id FROM input)) AND EXISTS (SELECT FROM jobmill.job AS j WHERE j.id = c.parent_id)`

/** `endedAs` is the code of the state. */
export type ChildRow = Omit<ChildRecord, 'endedAs'> & { readonly endedAs: number | null }

export function childOf(row: ChildRow): ChildRecord {
  const { endedAs } = row
  return { ...row, endedAs: endedAs === null ? null : (stateOfCode(endedAs) as ChildRecord['endedAs']) }
}

export async function children(context: Context, id: string, of: ChildrenOf): Promise<ChildRecord[]> {
  const rows =
    'step' in of
      ? await ask<ChildRow>(context, of.results === false ? ENDS_OF_STEP : OF_STEP, { id, step: of.step })
      : await ask<ChildRow>(context, ofJob(of.limit), { id })
  return rows.map(childOf)
}

export async function parents(context: Context, ids: readonly string[]): Promise<(ParentRecord | null)[]> {
  if (ids.length === 0) return []
  const rows = await ask<ParentRecord & { readonly child: string }>(context, PARENTS, { ids })
  const found = new Map(rows.map(({ child, id, step }) => [child, { id, step }]))
  return ids.map((id) => found.get(id) ?? null)
}
