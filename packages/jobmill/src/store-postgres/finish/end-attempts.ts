/** Calls the function `finish`, which ends attempts, and reads its reply. */
import { outcomeCode } from '../../job/attempt/outcome.ts'
import { BOUNDS, DEFAULTS } from '../../job/defaults.ts'
import { JobmillError } from '../../job/errors.ts'
import { STATE_CODE } from '../../job/state.ts'
import type { Finish, Transition } from '../../store/types/finish.ts'
import { unpackKnown, unpackMissing } from '../claim/unpack.ts'
import { arrayOf, jsonListOf } from '../connection/array-text.ts'
import type { Query, Row } from '../connection/connection.ts'
import type { Context } from '../context.ts'
import { XID } from '../fragments.ts'
import { notRun } from '../tx.ts'

const TYPES = 'int8 uuid[] int8[] int8[] text bool text int4 int8[] int8[]'.split(' ')
const FINISH = `SELECT jobmill.finish(${TYPES.map((_, at) => `$${at + 1}`).join(', ')}) AS told`
/** The same call with one parameter, for a user's transaction: see fragments.ts. */
const FINISH_IN_TX = `SELECT jobmill.finish(${TYPES.map((type, at) => `(p ->> ${at})::${type}`).join(', ')}) AS told, ${XID}
  FROM (SELECT $1::text::json AS p) AS s`

/** The results of the attempts, by job. Those in neither map are done. */
export interface Ends {
  /** Ended now: `state`, `queue_id` and `queue`. */
  readonly ended: ReadonlyMap<string, Row>
  /** Without a lease: the attempt that was recorded before, or nulls. */
  readonly left: ReadonlyMap<string, Row>
  /** For `ReadyCounts`: `freed` and `xid`. */
  readonly notes: readonly Row[]
}

/** What finish_each returns. */
interface Told {
  readonly ended: readonly Row[] | null
  readonly left: readonly Row[] | null
  readonly freed: string | null
}

/** `isAlone`: the call is committed on its own, so it may lock batches. */
export async function endAttempts(
  context: Context,
  query: Query,
  items: readonly Finish[],
  isAlone: boolean,
): Promise<Ends> {
  if (context.isUserTransaction === true) return endInTransaction(context, query, items)
  return endsOf(await query(context.sql(FINISH), columnsOf(context, items, isAlone)))
}

/**
 * The leases that exist outside of a transaction. Skips those that an open transaction is ending, perhaps
 * this one.
 */
const HELD = `
SELECT r.id FROM jobmill.running AS r JOIN unnest($1::uuid[], $2::int8[]) AS i(id, token) ON i.id = r.id AND i.token = r.token
 WHERE r.id = ANY ($1::uuid[]) FOR KEY SHARE OF r SKIP LOCKED`

/**
 * A user's transaction must not hold the lock of a batch until its commit, so jobs are unpacked outside of
 * it. If its snapshot is older than that, it cannot see their rows.
 */
async function endInTransaction(context: Context, query: Query, items: readonly Finish[]): Promise<Ends> {
  const end = async (some: readonly Finish[]): Promise<Ends> => {
    const rows = await query(context.sql(FINISH_IN_TX), [JSON.stringify(columnsOf(context, some, false))])
    if (rows[0]?.['told'] === undefined) throw notRun()
    return endsOf(rows)
  }
  const own = context.connection.query
  await unpackKnown(context, own, items)
  const first = await end(items)
  const missing = items.filter(({ id }) => isRefused(first.left.get(id)))
  if (!(await unpackMissing(context, own, missing))) return first
  const second = await end(missing)
  const refused = missing.filter(({ id }) => isRefused(second.left.get(id)))
  const leases = [refused.map(({ id }) => id), refused.map(({ token }) => token)] as const
  if (refused.length > 0 && (await own(context.sql(HELD), leases.map(arrayOf))).length > 0) {
    // A job is in a batch only once, so the runtime may refund the attempt.
    const isNew = context.batches.wereBatched(refused)
    throw new JobmillError(
      isNew ? 'TX_STALE' : 'STORE_BUSY',
      'the transaction does not see the row of its job yet',
      {
        fix: 'Roll back and run the transaction again',
      },
    )
  }
  return {
    ended: new Map([...first.ended, ...second.ended]),
    left: new Map([...[...first.left].filter(([, row]) => !isRefused(row)), ...second.left]),
    notes: [...first.notes, ...second.notes],
  }
}

/** Whether this attempt has no lease, and no finish of it was written before. */
export function isRefused(left: Row | undefined): boolean {
  return left !== undefined && left['outcome'] === null && left['is_gone'] !== true
}

function endsOf([row = {}]: readonly Row[]): Ends {
  const told = typeof row['told'] === 'string' ? (JSON.parse(row['told']) as Told[]) : []
  return {
    ended: byId(told.flatMap(({ ended }) => ended ?? [])),
    left: byId(told.flatMap(({ left }) => left ?? [])),
    notes: [row, ...told.map(({ freed }) => ({ freed }))],
  }
}

function byId(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [String(row['id']), row]))
}

/** The parameters of the function. */
function columnsOf(
  { batches, clock }: Context,
  items: readonly Finish[],
  isAlone: boolean,
): (string | number | boolean | null)[] {
  const first = items.find(isPlain)
  const forget = first !== undefined && forgets(first)
  const plain: Finish[] = []
  const rare: Finish[] = []
  for (const item of items) (isPlain(item) && forgets(item) === forget ? plain : rare).push(item)
  const emptied = isAlone ? batches.emptiedBy(items) : []
  return [
    clock?.() ?? null,
    arrayOf(plain.map(({ id }) => id)),
    arrayOf(plain.map(({ token }) => token)),
    arrayOf(plain.map(({ ranMs }) => (ranMs === undefined ? null : Math.round(ranMs)))),
    jsonListOf(plain.map(({ transition }) => resultOf(transition))),
    forget,
    rare.length === 0 ? null : `[${rare.map(rareText).join(',')}]`,
    DEFAULTS.historyPerJob,
    isAlone ? arrayOf(batches.tokensOf(plain)) : null,
    emptied.length === 0 ? null : arrayOf(emptied),
  ]
}

/** Whether the handler returned, and only its result has to be written. */
function isPlain({ transition, outcome, error, log, cool }: Finish): boolean {
  if (transition.to !== 'done' || outcome !== 'returned') return false
  return error === undefined && log === undefined && cool === undefined
}

function forgets({ transition }: Finish): boolean {
  return transition.to === 'done' && transition.forget === true
}

function resultOf(transition: Transition): string | null {
  return transition.to === 'done' ? transition.result : null
}

const ALL_ATTEMPTS = BOUNDS.maxAttempts.most

/** An item of `rare`. The result is JSON text and is embedded unchanged. */
function rareText(item: Finish, n: number): string {
  const { id, token, transition, outcome, error, log, ranMs } = item
  const fields = JSON.stringify({
    n,
    id,
    token,
    to_state: STATE_CODE[transition.to === 'parked' ? 'scheduled' : transition.to],
    parked: transition.to === 'parked' ? true : undefined,
    delay_ms: transition.to === 'scheduled' ? transition.delayMs : undefined,
    // A wait counts as a recorded step, so attempts are counted from there.
    refund: transition.to === 'parked' ? ALL_ATTEMPTS : refunds(transition) ? 1 : undefined,
    outcome: outcome === null ? null : outcomeCode(outcome),
    error,
    ran_ms: ranMs === undefined ? undefined : Math.round(ranMs),
    log,
    forget: forgets(item),
  })
  const result = resultOf(transition)
  return result === null ? fields : `${fields.slice(0, -1)},"has_result":true,"result":${result}}`
}

function refunds(transition: Transition): boolean {
  if (transition.to === 'ready' || transition.to === 'parked') return true
  return (transition.to === 'scheduled' || transition.to === 'dead') && transition.refund === true
}
