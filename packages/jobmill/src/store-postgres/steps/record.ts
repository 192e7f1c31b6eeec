/** Records steps of running attempts, fenced by the row in `running`. */
import { JobmillError } from '../../job/errors.ts'
import { STEP_KINDS, type StepWait, type StepWrite, type Waited } from '../../store/types/step.ts'
import { unpack, unpackMissing } from '../claim/unpack.ts'
import type { Query, Row } from '../connection/connection.ts'
import { ask, askWith, type Context, listOf, run } from '../context.ts'
import { GIVEN_CTE, HAS_STEPS } from '../fragments.ts'
import { inputFor, WRITTEN } from '../schema/functions/record-steps.ts'
import { notRun, type Tx, txQuery } from '../tx.ts'

const RECORD = 'SELECT n FROM jobmill.record_steps($1) AS n'
/** Does not change the row in `running`: a rollback of the user's transaction would undo the mark. */
const RECORD_IN_TX = `WITH ${GIVEN_CTE}, ${inputFor('FOR KEY SHARE')}${WRITTEN} UNION ALL SELECT -1`

/** Marks jobs as having steps, without changing their attempts. */
const MARK = `
UPDATE jobmill.running AS r SET flags = r.flags | ${HAS_STEPS}
  FROM unnest($1::uuid[], $2::int8[]) AS i(id, token)
 WHERE r.id = ANY ($1::uuid[]) AND r.id = i.id AND r.token = i.token
RETURNING r.id`

const WAIT_FOR = `SELECT jobmill.wait_for($1, $2) AS told`

type Keyed = Pick<StepWrite, 'id' | 'token' | 'versionedKind'>

const keyOf = ({ id, token }: Keyed): string => `${id} ${token}`

/**
 * Runs `write` for all items. For those that it does not find, creates their own rows and runs it again.
 * Returns the answer for each item, or undefined if its token is stale.
 */
export async function withRows<Item extends Keyed, Answer>(
  context: Context,
  items: readonly Item[],
  write: (items: readonly Item[]) => Promise<readonly (Answer | undefined)[]>,
): Promise<(Answer | undefined)[]> {
  const { query } = context.connection
  await prepareJobs(context, query, items)
  const answers = [...(await write(items))]
  const missing = items.filter((_, at) => answers[at] === undefined)
  if (await unpackMissing(context, query, missing)) {
    await keepVersions(context, missing)
    const again = [...(await write(missing))].values()
    return answers.map((answer) => answer ?? again.next().value)
  }
  return answers
}

/**
 * Gives each job its own row in `running`, and keeps its version. Runs once for each attempt: its later steps
 * skip it.
 */
async function prepareJobs(context: Context, query: Query, items: readonly Keyed[]): Promise<void> {
  const { batches, withSteps } = context
  const fresh = items.filter((item) => !withSteps.has(keyOf(item)))
  const tokens = batches.tokensOf(fresh)
  if (tokens.length > 0) await unpack(context, query, { tokens, ids: fresh.map(({ id }) => id) })
  await keepVersions(context, fresh)
  for (const item of fresh) withSteps.add(keyOf(item))
}

/**
 * Runs before the first step is recorded. After a crash in between, the job has no step yet and waits for the
 * version all the same. A job can have the flag without a step, after a rollback of the user's transaction.
 * Locks the jobs in the order of their ids, like `recordSteps`.
 */
const KEEP_VERSIONS = `
WITH ${GIVEN_CTE}, input AS MATERIALIZED (
  SELECT x.* FROM given, json_to_recordset(p -> 'jobs') AS x(id uuid, token int8, kind text)
), held AS MATERIALIZED (
  SELECT r.id, r.token FROM jobmill.running AS r
   WHERE r.id = ANY (ARRAY(SELECT id FROM input))
     AND (r.flags & ${HAS_STEPS} = 0 OR NOT EXISTS (SELECT FROM jobmill.step AS s WHERE s.job_id = r.id))
   ORDER BY r.id FOR NO KEY UPDATE
), kept AS MATERIALIZED (
  SELECT DISTINCT h.id, k.id AS kind_id FROM held AS h JOIN input AS i ON i.id = h.id AND i.token = h.token JOIN jobmill.kind AS k ON k.name = i.kind
), in_running AS (
  UPDATE jobmill.running AS r SET kind_id = k.kind_id FROM kept AS k WHERE r.id = ANY (ARRAY(SELECT id FROM kept)) AND r.id = k.id
)
UPDATE jobmill.job AS j SET kind_id = k.kind_id FROM kept AS k WHERE j.id = ANY (ARRAY(SELECT id FROM kept)) AND j.id = k.id`

async function keepVersions(context: Context, items: readonly Keyed[]): Promise<void> {
  const jobs = items.flatMap(({ id, token, versionedKind: kind }) =>
    kind === undefined ? [] : [{ id, token, kind }],
  )
  if (jobs.length === 0) return
  await context.names.ensure(new Set(), new Set(jobs.map(({ kind }) => kind)))
  await ask(context, KEEP_VERSIONS, { jobs })
}

export async function recordSteps(
  context: Context,
  items: readonly StepWrite[],
  { tx }: { readonly tx?: Tx | undefined } = {},
): Promise<boolean[]> {
  if (items.length === 0) return []
  if (tx !== undefined) return recordInTx(context, items, tx)
  const found = await withRows(context, items, async (some) => {
    const rows = await run(context, context.connection.query, RECORD, stepsField(some))
    return foundIn(some, rows)
  })
  return found.map((one) => one === true)
}

/** The rows of the jobs must exist before the transaction of the handler begins. See TX_STALE. */
async function recordInTx(context: Context, items: readonly StepWrite[], tx: Tx): Promise<boolean[]> {
  const { query } = context.connection
  const avoided = context.batches.avoid()
  if (avoided.length > 0) await unpack(context, query, { tokens: avoided })
  await prepareJobs(context, query, items)
  const leases = [items.map(({ id }) => id), items.map(({ token }) => token)]
  const marked = await askWith<{ id: string }>(context, MARK, leases)
  const rows = await run(context, txQuery(tx), RECORD_IN_TX, stepsField(items))
  if (!rows.some((row) => row['n'] === -1)) throw notRun()
  const found = foundIn(items, rows)
  const isUnseen = items.some(({ id }, at) => found[at] === undefined && marked.some((row) => row.id === id))
  if (!isUnseen) return found.map((one) => one === true)
  throw new JobmillError('TX_STALE', 'the transaction does not see the row of its job yet', {
    fix: 'Roll back and run the transaction again',
  })
}

function foundIn(items: readonly Keyed[], rows: readonly Row[]): (true | undefined)[] {
  const found = new Set(rows.map((row) => Number(row['n'])))
  return items.map((_, n) => (found.has(n) ? true : undefined))
}

function stepsField(items: readonly StepWrite[]): object {
  return {
    steps: items.map(({ id, token, name, place, kind, isDone, result, checkpoint, ranMs }, n) => ({
      n,
      id,
      token,
      name,
      place,
      kind: STEP_KINDS.indexOf(kind),
      done: isDone,
      result,
      checkpoint,
      ran_ms: Math.round(ranMs),
    })),
  }
}

interface Told {
  readonly accepted: boolean
  readonly done?: boolean
  readonly result?: string | null
  readonly due_in_ms?: number | null
}

export async function waitForSteps(context: Context, items: readonly StepWait[]): Promise<Waited[]> {
  if (items.length === 0) return []
  const waited = await withRows(context, items, async (some) => {
    // The function locks the jobs one after another, in the order of their ids like `recordSteps`.
    const inOrder = some.toSorted((a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)))
    const list = inOrder.map(({ waitMs, forChildren: children, ...item }) => ({
      ...item,
      wait_ms: waitMs,
      children,
    }))
    const [row] = await askWith(context, WAIT_FOR, [context.clock?.() ?? null, JSON.stringify(list)])
    const told = listOf<Told>(row?.['told'])
    const replies = new Map(inOrder.map((item, at) => [item, told[at]]))
    return some.map((item) => (replies.get(item)?.accepted === true ? replies.get(item) : undefined))
  })
  return waited.map((told) => ({
    accepted: told !== undefined,
    isDone: told?.done === true,
    result: told?.result ?? null,
    dueInMs: told?.due_in_ms ?? null,
  }))
}
