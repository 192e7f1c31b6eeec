/**
 * Enqueues jobs of which some have a dedupe key. The insert into `dedupe` decides which job holds a key. It
 * waits for a concurrent insert of the same key, so there is no race between check and write. Losing jobs
 * read the holder with a second statement, because the first snapshot may be older than the winner.
 */
import type { NewJob } from '../../job/enqueue/new-job.ts'
import { inRounds } from '../../store/batch/rounds.ts'
import type { Enqueued } from '../../store/types/replies.ts'
import type { Query } from '../connection/connection.ts'
import { type Context, run } from '../context.ts'
import { GIVEN_CTE, INPUT_IDS, kindName } from '../fragments.ts'
import { keptChanging, lookAgain } from '../look-again.ts'
import { debounceHolders } from './debounce.ts'
import { insertJobs, type InsertOptions } from './insert-jobs.ts'
import { replaceHolders } from './replace.ts'

/**
 * Releases the keys of jobs that already existed when they took them: the same id was sent twice
 * concurrently. Also those of debounced jobs that no longer wait.
 */
const RETURN_KEYS = `
WITH ${GIVEN_CTE}
DELETE FROM jobmill.dedupe AS d USING given, json_to_recordset(p -> 'keys') AS v(key text, id uuid)
 WHERE d.key = v.key AND d.job_id = v.id`

/** Reads the primary keys in one snapshot without locks. */
const HOLDERS = `
WITH ${GIVEN_CTE}
SELECT d.key, d.job_id AS id, d.expires_at IS NULL AS live, ${kindName('j.kind_id')} AS kind_name
  FROM given, json_array_elements_text(p -> 'keys') AS v(key), jobmill.dedupe AS d LEFT JOIN jobmill.job AS j ON j.id = d.job_id
 WHERE d.key = v.key AND (d.expires_at IS NULL OR d.expires_at > given.now)`

const KNOWN = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
SELECT j.id FROM input JOIN jobmill.job AS j ON j.id = input.id`

interface Holder {
  readonly id: string
  readonly live: boolean
  /** Null if the job was deleted. */
  readonly kind: string | null
}

/** The jobs that hold these dedupe keys, by key. */
export async function holdersOf(
  context: Context,
  query: Query,
  keys: readonly string[],
): Promise<Map<string, Holder>> {
  if (keys.length === 0) return new Map()
  const rows = await run(context, query, HOLDERS, { keys })
  return new Map(
    rows.map((row) => [
      String(row['key']),
      { id: String(row['id']), live: row['live'] === true, kind: row['kind_name'] as string | null },
    ]),
  )
}

export async function holders(context: Context, keys: readonly string[]): Promise<(string | null)[]> {
  const found = await holdersOf(context, context.connection.query, keys)
  return keys.map((key) => found.get(key)?.id ?? null)
}

export async function enqueueKeyed(
  context: Context,
  jobs: readonly NewJob[],
  options: InsertOptions,
): Promise<Enqueued[]> {
  const query = options.query ?? context.connection.query
  const replies = new Map<string, Enqueued>()
  const known = await knownAmong(context, query, jobs)
  const [leaders, followers] = apart(jobs.filter(({ id }) => !known.has(id)))
  for (const round of inRounds(leaders, keyOf)) {
    const open = await lookAgain(round, (open) => oneLook(context, open, replies, options))
    if (open.length > 0) throw keptChanging('the holder of a dedupe key kept changing')
  }
  follow(leaders, followers, replies)
  return jobs.map(({ id }) => replies.get(id) ?? { id, outcome: 'enqueued' })
}

/** The dedupe key. For a job without one, its id, which no other job shares. */
function keyOf({ id, dedupe }: NewJob): string {
  return dedupe === null ? `id ${id}` : `key ${dedupe.key}`
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
    const key = keyOf(job)
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
  if (new Set(jobs.map(keyOf)).size === jobs.length) return new Set()
  const rows = await run(context, query, KNOWN, { ids: jobs.map(({ id }) => id) })
  return new Set(rows.map((row) => String(row['id'])))
}

function follow(
  leaders: readonly NewJob[],
  followers: readonly NewJob[],
  replies: Map<string, Enqueued>,
): void {
  const holders = new Map<string, string>()
  for (const job of leaders) holders.set(keyOf(job), replies.get(job.id)?.id ?? job.id)
  for (const job of followers) {
    const holder = holders.get(keyOf(job)) ?? job.id
    // The same id twice in one call is the same job.
    replies.set(job.id, { id: holder, outcome: holder === job.id ? 'enqueued' : 'duplicate' })
  }
}

/** Stores replies for settled jobs, and returns the jobs whose key became free in between. */
async function oneLook(
  context: Context,
  jobs: readonly NewJob[],
  replies: Map<string, Enqueued>,
  options: InsertOptions,
): Promise<NewJob[]> {
  const query = options.query ?? context.connection.query
  const inserted = await insertJobs(context, jobs, options)
  const lost = new Set(inserted.lost)
  for (const [n, job] of jobs.entries()) {
    const reply = inserted.replies[n]
    if (reply !== undefined && !lost.has(job)) replies.set(job.id, reply)
  }
  const strays = inserted.stray.map(({ id, dedupe }) => ({ key: dedupe?.key, id }))
  if (strays.length > 0) await run(context, query, RETURN_KEYS, { keys: strays })
  return lost.size === 0 ? [] : settleLost(context, query, inserted.lost, { replies, counts: options.counts })
}

/** A payload must not reach the handler of another kind. */
function mayReplace(job: NewJob, { live, kind }: Holder): boolean {
  return live && job.dedupe?.onConflict === 'replace' && kind === job.kind
}

async function settleLost(
  context: Context,
  query: Query,
  lost: readonly NewJob[],
  { replies, counts }: { readonly replies: Map<string, Enqueued>; readonly counts: InsertOptions['counts'] },
): Promise<NewJob[]> {
  const lostKeys = lost.flatMap(({ dedupe }) => dedupe?.key ?? [])
  const holders = await holdersOf(context, query, lostKeys)
  const toReplace: { job: NewJob; holder: string }[] = []
  const toDebounce: { job: NewJob; holder: string }[] = []
  const open: NewJob[] = []
  for (const job of lost) {
    const holder = holders.get(job.dedupe?.key ?? '')
    if (holder === undefined) open.push(job)
    else if (holder.id === job.id) replies.set(job.id, { id: job.id, outcome: 'enqueued' })
    else if (job.dedupe?.holdAfter === 'due') toDebounce.push({ job, holder: holder.id })
    else if (mayReplace(job, holder)) toReplace.push({ job, holder: holder.id })
    else replies.set(job.id, { id: holder.id, outcome: 'duplicate' })
  }
  const replaced = await replaceHolders(context, query, toReplace, counts)
  for (const { job, holder } of toReplace) {
    replies.set(job.id, { id: holder, outcome: replaced.has(holder) ? 'replaced' : 'duplicate' })
  }
  const debounced = await debounceHolders(context, query, toDebounce, counts)
  const begun = toDebounce.filter(({ holder }) => !debounced.has(holder))
  for (const { job, holder } of toDebounce)
    if (debounced.has(holder)) replies.set(job.id, { id: holder, outcome: 'replaced' })
  if (begun.length === 0) return open
  const keys = begun.map(({ job, holder }) => ({ key: job.dedupe?.key, id: holder }))
  await run(context, query, RETURN_KEYS, { keys })
  return [...open, ...begun.map(({ job }) => job)]
}
