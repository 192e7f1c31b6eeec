/**
 * Ends ready jobs whose data the server cannot read, for example after a disk fault. One such job would
 * otherwise stop the claims of all queues.
 */
import { isJobmillError } from '../../job/errors.ts'
import { safeLine } from '../../job/text/safe-text.ts'
import type { ClaimRequest } from '../../store/types/claim.ts'
import { arrayOf, textArrayOf } from '../connection/array-text.ts'
import { codeOf } from '../connection/errors.ts'
import { type Context, run } from '../context.ts'
import { notifyFor, readyCounts } from '../enqueue/ready-counts.ts'
import { kindName, NOW, ORDERED, queueName } from '../fragments.ts'
import { followDeaths } from '../instances/reap.ts'
import { endWaiting } from '../operate/cancel.ts'
import { idsField } from '../operate/states.ts'

/** As many jobs of each queue as a claim reads, in its order. */
const NEXT = `
SELECT x.id FROM unnest($1::text[]) AS w(name) JOIN jobmill.queue AS q ON q.name = w.name
 CROSS JOIN LATERAL (
   SELECT r.id FROM jobmill.ready AS r WHERE r.queue_id = q.id ORDER BY r.queue_id, r.priority, r.seq LIMIT 500) AS x`

/** Reads all columns, including those that are stored out of line. */
const READ = `SELECT count(md5(j::text)) FROM jobmill.job AS j WHERE j.id = ANY ($1::uuid[])`
/** Reads the same rows by the same index, without values. Fails if the index or the table is damaged. */
const FIND = `SELECT count(j.ctid) FROM jobmill.job AS j WHERE j.id = ANY ($1::uuid[])`
/** If more jobs than this are unreadable at once, the jobs are not the cause. */
const MOST = 3

const END = endWaiting(
  'failed-permanently',
  'dead',
  `, ${queueName('taken.queue_id')} AS queue, ${kindName('taken.kind_id')} AS kind, ${NOW} AS at,
       CASE WHEN flags & ${ORDERED} <> 0 THEN (SELECT j.order_key FROM jobmill.job AS j WHERE j.id = taken.id) END AS order_key,
       (SELECT i.on_dead FROM jobmill.instance AS i WHERE i.id = (SELECT (p ->> 'instance')::uuid FROM given)) AS on_dead`,
)

/**
 * Class XX: an internal error or corrupted data. Poolers use it too, but only the server names the routine
 * that raised it.
 */
export function mayBeDamage(error: unknown): boolean {
  const said = isJobmillError(error) ? error.cause : error
  return codeOf(error)?.startsWith('XX') === true && hasRoutine(said)
}

function hasRoutine(said: unknown): boolean {
  return said instanceof Error && 'routine' in said && typeof said.routine === 'string'
}

/**
 * Returns whether the next jobs included unreadable ones, which are then dead; an operator can delete them.
 * Ends none if the index, the table or many values are damaged, because the jobs may be intact.
 */
export async function endUnreadable(
  context: Context,
  { instance, queues }: Pick<ClaimRequest, 'instance' | 'queues'>,
): Promise<boolean> {
  const { query } = context.connection
  const next = await query(context.sql(NEXT), [textArrayOf(queues.map(({ queue }) => queue))])
  const ids = next.map((row) => String(row['id']))
  if ((await readError(context, FIND, ids)) !== null) return false
  const damaged = await findDamaged(context, ids)
  if (damaged.size > MOST) return false
  for (const [id, why] of damaged) await end(context, { id, instance, why })
  return damaged.size > 0
}

/** The jobs that cannot be read, each with the reason. Halves the list until it has isolated each of them. */
async function findDamaged(context: Context, ids: readonly string[]): Promise<Map<string, string>> {
  const [id] = ids
  if (id === undefined || (await readError(context, READ, ids)) === null) return new Map()
  if (ids.length === 1) {
    // A damaged value fails in the same way again.
    const error = await readError(context, READ, ids)
    return new Map(error === null ? [] : [[id, error]])
  }
  const half = ids.length >> 1
  const first = await findDamaged(context, ids.slice(0, half))
  return new Map([...first, ...(await findDamaged(context, ids.slice(half)))])
}

/** Why the server cannot read one of these jobs; null if it can read all. */
async function readError(
  context: Context,
  statement: string,
  ids: readonly string[],
): Promise<string | null> {
  try {
    await context.connection.query(context.sql(statement), [arrayOf(ids)])
    return null
  } catch (error) {
    if (!mayBeDamage(error)) throw error
    const said = isJobmillError(error) ? error.cause : error
    return said instanceof Error ? said.message : String(said)
  }
}

interface Damaged {
  readonly id: string
  readonly instance: string
  readonly why: string
}

async function end(context: Context, { id, instance, why }: Damaged): Promise<void> {
  const error = `the database cannot read the data of this job: ${why}`
  const fields = `${idsField([id])},"instance":"${instance}","reason":${JSON.stringify(error)}`
  const counts = readyCounts()
  const ended = await context.connection.transaction(async (query) => {
    const rows = await run(context, query, END, fields)
    await followDeaths(context, query, rows, counts, () => error)
    return rows
  })
  for (const row of ended) counts.addLook(row['ordered'])
  notifyFor(context, counts)
  if (ended.length > 0)
    process.emitWarning(safeLine(`job ${id} is dead: ${error}. Restore it from a backup, or delete it`), {
      type: 'JobmillWarning',
      code: 'JOB_UNREADABLE',
    })
}
