/**
 * Enqueues jobs with a dedupe key. The insert into `dedupe` decides which job holds a key. It waits for a
 * concurrent insert of the same key, so there is no race between check and write. Losing jobs read the holder
 * with a second statement, because the first snapshot may be older than the winner.
 */
import { JobmillError } from '../../job/errors.ts'
import type { NewJob } from '../../job/new-job.ts'
import { inRounds } from '../../store/rounds.ts'
import type { Enqueued } from '../../store/types/replies.ts'
import type { Query } from '../connection/connection.ts'
import { type Context, run } from '../context.ts'
import { GIVEN_CTE, INPUT_IDS, NOW, XID } from '../fragments.ts'
import { INPUT_JOBS, JOB_COLUMNS, JOB_VALUES, jobsFields, PLACED, READY_COUNTS } from './job-input.ts'
import { NamesChanged } from '../names/names-changed.ts'
import type { ReadyCounts } from './ready-counts.ts'
import { replaceHolders } from './replace.ts'

/**
 * An expired hold is taken over; otherwise the insert decides. DO NOTHING instead of DO UPDATE, which would
 * lock the row of a held key. An open user transaction that found a duplicate would then prevent the holder
 * from finishing. Keys are sorted, so that two batches cannot deadlock.
 */
const ENQUEUE_KEYED = `
WITH ${GIVEN_CTE}, ${INPUT_JOBS}, known AS (
  SELECT j.id FROM jobmill.job AS j JOIN input ON input.id = j.id
), taken_over AS (
  UPDATE jobmill.dedupe AS d SET job_id = input.id, expires_at = NULL FROM input
   WHERE d.key = input.dedupe_key AND d.expires_at <= ${NOW} AND NOT EXISTS (SELECT FROM known WHERE known.id = input.id)
  RETURNING d.job_id AS id
), taken AS (
  INSERT INTO jobmill.dedupe (key, job_id)
  SELECT dedupe_key, id FROM input
   WHERE NOT EXISTS (SELECT FROM known WHERE known.id = input.id)
     AND NOT EXISTS (SELECT FROM taken_over AS t WHERE t.id = input.id)
   ORDER BY dedupe_key
  ON CONFLICT (key) DO NOTHING RETURNING job_id AS id
), won AS (
  SELECT id FROM taken_over UNION ALL SELECT id FROM taken
), written AS (
  INSERT INTO jobmill.job (${JOB_COLUMNS}) SELECT ${JOB_VALUES} FROM input JOIN won USING (id)
  ON CONFLICT (id) DO NOTHING RETURNING id
), fresh AS (
  SELECT input.* FROM input JOIN written ON written.id = input.id
), ${PLACED}
SELECT input.id,
       EXISTS (SELECT FROM won WHERE won.id = input.id) AS won,
       EXISTS (SELECT FROM written WHERE written.id = input.id) AS written,
       EXISTS (SELECT FROM known WHERE known.id = input.id) AS known,
       ${READY_COUNTS} AS ready, ${XID}
  FROM input`

/**
 * The job already existed when its key was taken, because the same id was sent twice concurrently. The key is
 * released.
 */
const RETURN_KEYS = `
WITH ${GIVEN_CTE}
DELETE FROM jobmill.dedupe AS d USING given, json_to_recordset(p -> 'keys') AS v(key text, id uuid)
 WHERE d.key = v.key AND d.job_id = v.id`

const HOLDERS = `
WITH ${GIVEN_CTE}
SELECT d.key, d.job_id, d.expires_at IS NULL AS live, j.kind_id
  FROM given, json_array_elements_text(p -> 'keys') AS v(key), jobmill.dedupe AS d LEFT JOIN jobmill.job AS j ON j.id = d.job_id
 WHERE d.key = v.key AND (d.expires_at IS NULL OR d.expires_at > given.now)`

const KNOWN = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
SELECT j.id FROM input JOIN jobmill.job AS j ON j.id = input.id`

/**
 * How often a key may become free between losing it and reading its holder, before the store reports
 * STORE_BUSY.
 */
const MOST_LOOKS = 20

/** Which of these keys are held at the moment. */
export async function heldKeys(
  context: Context,
  query: Query,
  jobs: readonly NewJob[],
): Promise<Set<string>> {
  const rows = await run(
    context,
    query,
    HOLDERS,
    `"keys":${JSON.stringify(jobs.map((job) => job.dedupe?.key))}`,
  )
  return new Set(rows.map((row) => String(row['key'])))
}

export async function enqueueKeyed(
  context: Context,
  query: Query,
  jobs: readonly NewJob[],
  counts: ReadyCounts,
): Promise<Enqueued[]> {
  const replies = new Map<string, Enqueued>()
  const known = await knownAmong(context, query, jobs)
  const [leaders, followers] = apart(jobs.filter(({ id }) => !known.has(id)))
  for (const round of inRounds(leaders, (job) => job.dedupe?.key ?? '')) {
    let open: readonly NewJob[] = round
    for (let look = 0; open.length > 0 && look < MOST_LOOKS; look += 1) {
      open = await oneLook(context, query, open, { replies, counts })
    }
    if (open.length > 0)
      throw new JobmillError('STORE_BUSY', 'the holder of a dedupe key kept changing', {
        fix: 'Retry the call',
      })
  }
  follow(leaders, followers, replies)
  return jobs.map(({ id }) => replies.get(id) ?? { id, outcome: 'enqueued' })
}

/**
 * Followers have onConflict `keep` and the same key as an earlier job of this call. They get the same answer
 * as that job.
 */
function apart(jobs: readonly NewJob[]): [leaders: NewJob[], followers: NewJob[]] {
  const seen = new Set<string>()
  const leaders: NewJob[] = []
  const followers: NewJob[] = []
  for (const job of jobs) {
    const key = job.dedupe?.key ?? ''
    if (job.dedupe?.onConflict === 'keep' && seen.has(key)) followers.push(job)
    else leaders.push(job)
    seen.add(key)
  }
  return [leaders, followers]
}

/**
 * Existing ids, if a key occurs twice. An existing job got its key earlier, so it says nothing about later
 * jobs of this call. If every key is unique, the statement itself finds existing ids.
 */
async function knownAmong(context: Context, query: Query, jobs: readonly NewJob[]): Promise<Set<string>> {
  if (new Set(jobs.map((job) => job.dedupe?.key)).size === jobs.length) return new Set()
  const rows = await run(context, query, KNOWN, `"ids":${JSON.stringify(jobs.map(({ id }) => id))}`)
  return new Set(rows.map((row) => String(row['id'])))
}

function follow(
  leaders: readonly NewJob[],
  followers: readonly NewJob[],
  replies: Map<string, Enqueued>,
): void {
  const holders = new Map<string, string>()
  for (const job of leaders) holders.set(job.dedupe?.key ?? '', replies.get(job.id)?.id ?? job.id)
  for (const job of followers) {
    const holder = holders.get(job.dedupe?.key ?? '') ?? job.id
    // The same id twice in one call is the same job.
    replies.set(job.id, { id: holder, outcome: holder === job.id ? 'enqueued' : 'duplicate' })
  }
}

/** The results that a look adds to. */
interface Found {
  readonly replies: Map<string, Enqueued>
  readonly counts: ReadyCounts
}

/** Stores replies for settled jobs, and returns the jobs whose key became free in between. */
async function oneLook(
  context: Context,
  query: Query,
  jobs: readonly NewJob[],
  found: Found,
): Promise<NewJob[]> {
  const { replies, counts } = found
  const map = context.names.current
  const rows = await run(context, query, ENQUEUE_KEYED, jobsFields(context, jobs))
  if (rows.length === 0) throw new NamesChanged()
  counts.addCounts(rows[0]?.['ready'], map)
  counts.noteTransaction(rows[0])
  const byId = new Map(rows.map((row) => [String(row['id']), row]))
  const strays: { key: string; id: string }[] = []
  const lost: NewJob[] = []
  for (const job of jobs) {
    const row = byId.get(job.id)
    if (row?.['won'] === true && row['written'] !== true)
      strays.push({ key: job.dedupe?.key ?? '', id: job.id })
    if (row?.['won'] === true || row?.['known'] === true)
      replies.set(job.id, { id: job.id, outcome: 'enqueued' })
    else lost.push(job)
  }
  if (strays.length > 0) await run(context, query, RETURN_KEYS, `"keys":${JSON.stringify(strays)}`)
  return lost.length === 0 ? [] : settleLost(context, query, lost, found)
}

async function settleLost(
  context: Context,
  query: Query,
  lost: readonly NewJob[],
  { replies, counts }: Found,
): Promise<NewJob[]> {
  const rows = await run(
    context,
    query,
    HOLDERS,
    `"keys":${JSON.stringify(lost.map((job) => job.dedupe?.key))}`,
  )
  const holders = new Map(
    rows.map((row) => [
      String(row['key']),
      { id: String(row['job_id']), live: row['live'] === true, kindId: Number(row['kind_id']) },
    ]),
  )
  // A payload must not reach the handler of another kind.
  const mayReplace = (job: NewJob, { live, kindId }: { live: boolean; kindId: number }): boolean =>
    live && job.dedupe?.onConflict === 'replace' && kindId === context.names.kindId(job.kind)
  const toReplace: { job: NewJob; holder: string }[] = []
  const open: NewJob[] = []
  for (const job of lost) {
    const holder = holders.get(job.dedupe?.key ?? '')
    if (holder === undefined) open.push(job)
    else if (holder.id === job.id) replies.set(job.id, { id: job.id, outcome: 'enqueued' })
    else if (mayReplace(job, holder)) toReplace.push({ job, holder: holder.id })
    else replies.set(job.id, { id: holder.id, outcome: 'duplicate' })
  }
  const replaced = await replaceHolders(context, query, toReplace, counts)
  for (const { job, holder } of toReplace) {
    replies.set(job.id, { id: holder, outcome: replaced.has(holder) ? 'replaced' : 'duplicate' })
  }
  return open
}
