/**
 * The common finish: attempts that returned, of jobs without rows in other tables. Calls the function
 * finish_done.
 */
import { DEFAULTS } from '../../job/defaults.ts'
import type { Finish, Transition } from '../../store/types/finish.ts'
import { arrayOf, jsonListOf } from '../connection/array-text.ts'
import type { Query } from '../connection/connection.ts'
import type { Context } from '../context.ts'

const FINISH_DONE = `SELECT jobmill.finish_done($1, $2, $3, $4, $5, $6) AS left_over`
const FORGET_DONE = `SELECT jobmill.forget_done($1, $2) AS left_over`

export type Done = Finish & { readonly transition: Extract<Transition, { to: 'done' }> }

/** Whether the function can write this finish, as far as that is known without the job's row. */
export function isCommonFinish(item: Finish): item is Done {
  const { transition, outcome, error, log, cool, followUps } = item
  if (transition.to !== 'done' || outcome !== 'returned') return false
  return error === undefined && log === undefined && cool === undefined && (followUps?.length ?? 0) === 0
}

export function forgets({ transition }: Finish): boolean {
  return transition.to === 'done' && transition.forget === true
}

/** Whether these finishes of different jobs fit into one call: all forgotten or none. */
export function areAlike(items: readonly Finish[]): items is readonly Done[] {
  const [first] = items
  if (first === undefined) return false
  const isForgotten = forgets(first)
  return items.every((item) => isCommonFinish(item) && forgets(item) === isForgotten)
}

/** Returns the ids that the function skipped: jobs with rows in other tables, and jobs without a lease. */
export async function finishDone(
  context: Context,
  query: Query,
  items: readonly Done[],
): Promise<ReadonlySet<string>> {
  const [row] =
    items[0] !== undefined && forgets(items[0])
      ? await query(context.sql(FORGET_DONE), leaseColumns(items))
      : await query(context.sql(FINISH_DONE), doneColumns(context, items))
  const left = row?.['left_over']
  return new Set(typeof left === 'string' ? left.split(',') : [])
}

function leaseColumns(items: readonly Done[]): string[] {
  return [arrayOf(items.map(({ id }) => id)), arrayOf(items.map(({ token }) => token))]
}

function doneColumns({ clock }: Context, items: readonly Done[]): unknown[] {
  return [
    clock?.() ?? null,
    ...leaseColumns(items),
    arrayOf(items.map(({ ranMs }) => (ranMs === undefined ? null : Math.round(ranMs)))),
    jsonListOf(items.map(({ transition }) => transition.result)),
    DEFAULTS.historyPerJob,
  ]
}
