/**
 * Reports jobs whose queue or kind has no row, because rows were deleted while triggers were disabled. No
 * process claims them, and no table has their names, so only an operator can restore them.
 */
import { broken, type Diagnostic, ok } from '../../store/admin/admin.ts'
import { STRAY_ROWS } from '../../store/admin/stray-keys.ts'
import type { Query, Row } from '../connection/connection.ts'
import { ask, type Context } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'

/** For rows `from` with ids: how many have no name, and which ids. */
const unnamedOf = (from: string): string => `
SELECT count(*) AS jobs, array_agg(DISTINCT u.queue_id) FILTER (WHERE u.no_queue)::text AS queues,
       array_agg(DISTINCT u.kind_id) FILTER (WHERE u.no_kind)::text AS kinds
  FROM (SELECT t.queue_id, t.kind_id, q.id IS NULL AS no_queue, k.id IS NULL AS no_kind FROM ${from} AS t
          LEFT JOIN jobmill.queue AS q ON q.id = t.queue_id LEFT JOIN jobmill.kind AS k ON k.id = t.kind_id
         WHERE q.id IS NULL OR k.id IS NULL) AS u`

/**
 * The jobs at the front, which would be claimed or promoted next; jobs that no process claims stay there.
 * Finds the queues in the index of `ready`, because the table of queues may lack them.
 */
const AT_FRONT = `
WITH RECURSIVE ${GIVEN_CTE}, lane AS (
  SELECT (SELECT r.queue_id FROM jobmill.ready AS r ORDER BY r.queue_id LIMIT 1) AS queue_id
  UNION ALL
  SELECT (SELECT r.queue_id FROM jobmill.ready AS r WHERE r.queue_id > l.queue_id ORDER BY r.queue_id LIMIT 1)
    FROM lane AS l WHERE l.queue_id IS NOT NULL
), front AS MATERIALIZED (
  SELECT r.queue_id, r.kind_id FROM lane AS l CROSS JOIN LATERAL (
    SELECT t.queue_id, t.kind_id FROM jobmill.ready AS t WHERE t.queue_id = l.queue_id ORDER BY t.priority, t.seq LIMIT 100) AS r
  UNION ALL (SELECT queue_id, kind_id FROM jobmill.later ORDER BY due_at, id LIMIT ${STRAY_ROWS})
  UNION ALL (SELECT queue_id, kind_id FROM jobmill.order_queue ORDER BY due_at, id LIMIT ${STRAY_ROWS})
) ${unnamedOf('front')}`

const ALL = unnamedOf('jobmill.job')

const FIX =
  'Restore these rows with their ids. If the names have other ids now, set the new ids in the tables job, ready, later, running, batch, order_queue and attempt'

/** Null if every row has its names. */
function describe(row: Row | undefined): string | null {
  const jobs = Number(row?.['jobs'])
  if (jobs === 0) return null
  const tables = (['kind', 'queue'] as const).flatMap((table) => {
    const ids = row?.[`${table}s`]
    return typeof ids === 'string' ? [`${table} (ids ${ids.slice(1, -1).split(',').join(', ')})`] : []
  })
  return `${jobs} jobs refer to deleted rows of ${tables.join(' and ')}, so no process runs them`
}

/** Reads the front of each queue by its index. */
async function atFront(context: Context): Promise<string | null> {
  return describe((await ask(context, AT_FRONT))[0])
}

/** Called at the end of a retention pass. First restores the rows that this process has cached. */
export async function warnOfUnnamed(context: Context): Promise<void> {
  if ((await atFront(context)) === null) return
  await context.names.reload({ queues: [], kinds: [] })
  const found = await atFront(context)
  if (found === null) return
  process.emitWarning(`at least ${found}. ${FIX}.`, { type: 'JobmillWarning', code: 'JOBS_WITHOUT_NAMES' })
}

/** For the doctor: reads the jobs in full. */
export async function unnamedDiagnostic(query: Query, sql: (text: string) => string): Promise<Diagnostic> {
  const [row] = await query(sql(ALL), [])
  const found = describe(row)
  return found === null ? ok('names', 'every job has a queue and a kind') : broken('names', found, FIX)
}
