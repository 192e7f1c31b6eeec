/** Groups: lists them, and changes the settings of one. */
import {
  GROUP_WAITING_MOST,
  type GroupListRequest,
  type GroupPatch,
  type GroupRecord,
  isChanged,
} from '../../store/types/group.ts'
import { queueUnknown } from '../../store/types/queue-record.ts'
import { READY, SCHEDULED } from '../job-row.ts'
import { readyKinds } from '../claim/ready-lanes.ts'
import type { Look, Work } from '../work.ts'
import { tokensOf } from './stage-groups.ts'
import { checkGroup, findGroup, type GroupRow, needGroup, PLACES, queueGroups, startOf } from './turns.ts'

// Reads the unique names.
const NAMES = `SELECT name FROM jobmill_group WHERE queue_id = ? ORDER BY name LIMIT 1000`
// Reads the running jobs of each instance.
const RUNNING = `SELECT group_name AS name, count(*) AS jobs FROM jobmill_job
  WHERE state = 2 AND queue_id = ? AND group_name IS NOT NULL GROUP BY 1`
// Reads jobmill_job_group.
const HELD = `SELECT count(*) AS jobs, min(due_at) AS oldest FROM (
  SELECT due_at FROM jobmill_job INDEXED BY jobmill_job_group
  WHERE queue_id = ? AND group_name = ? AND state = 0 AND in_order_queue = 2 ORDER BY seq LIMIT ${GROUP_WAITING_MOST})`
// Each priority of a kind, by jobmill_job_ready.
const PRIORITIES = `SELECT priority FROM jobmill_job INDEXED BY jobmill_job_ready
  WHERE state = 1 AND crashes < 2 AND queue_id = ? AND kind_id = ? AND priority > ? ORDER BY priority LIMIT 1`
const OF_GROUP = `FROM jobmill_job INDEXED BY jobmill_job_ready
  WHERE state = 1 AND crashes < 2 AND queue_id = ? AND kind_id = ? AND priority = ? AND seq >= ? AND seq < ?`
const READY_OF = `SELECT count(*) AS jobs, min(ready_at) AS oldest FROM (SELECT ready_at ${OF_GROUP} LIMIT ${GROUP_WAITING_MOST})`
const READY_PKS = `SELECT pk, seq, priority ${OF_GROUP} ORDER BY seq`
const HOLD = `UPDATE jobmill_job SET state = 0, in_order_queue = 2, seq = ?, due_at = ready_at WHERE pk = ?`
const SAVE = `UPDATE jobmill_group SET weight = ?, concurrency = ?, rate = ?, rate_per_ms = ?, paused = ?, changed_by = ?, changed_at = ?
  WHERE id = ?`

function needQueue({ names }: Look, queue: string): number {
  const id = names.findQueue(queue)
  if (id === undefined) throw queueUnknown(queue)
  return id
}

export function listGroups(look: Look, queue: string, { limit, names }: GroupListRequest): GroupRecord[] {
  const queueId = needQueue(look, queue)
  const counted = look.sql(RUNNING).all(queueId) as { name: string; jobs: number }[]
  const running = new Map(counted.map(({ name, jobs }) => [name, jobs]))
  const known = names ?? (look.sql(NAMES).all(queueId) as { name: string }[]).map(({ name }) => name)
  return [...new Set(known)]
    .map((name) => recordOf(look, queueId, name, running.get(name) ?? 0))
    .filter(
      ({ waiting, running, overrides }) => names !== undefined || waiting + running > 0 || overrides !== null,
    )
    .toSorted((a, b) => b.waiting - a.waiting || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
}

function recordOf(look: Look, queueId: number, name: string, running: number): GroupRecord {
  const queue = queueGroups(look, queueId)
  const row = findGroup(look, queueId, name)
  const held = look.sql(HELD).get(queueId, name) as { jobs: number; oldest: number | null }
  const isFair = queue?.group_fair === 1
  const ready = isFair && row !== undefined ? readyOf(look, queueId, row) : { jobs: 0, oldest: null }
  const passed = isFair ? ready.jobs : Math.max(0, (row?.running ?? 0) - running)
  const since = [held.oldest, ready.oldest].filter((at) => at !== null)
  const rate = row?.rate ?? queue?.group_rate ?? null
  return {
    name,
    weight: row?.weight ?? 1,
    concurrency: row?.concurrency ?? queue?.group_concurrency ?? null,
    rate,
    ratePerMs: row?.rate_per_ms ?? (rate === null ? null : (queue?.group_rate_per_ms ?? null)),
    paused: row?.paused === 1,
    waiting: Math.min(held.jobs + passed, GROUP_WAITING_MOST),
    running,
    oldestMs: since.length === 0 ? null : look.now - Math.min(...since),
    nextTokenMs: nextTokenMs(row, queue, look.now),
    overrides: row === undefined ? null : overridesOf(row),
  }
}

function nextTokenMs(row: GroupRow | undefined, queue: ReturnType<typeof queueGroups>, now: number) {
  const at = tokensOf(row, queue, now).nextAt(0)
  return at === null || at <= now ? null : at - now
}

function overridesOf(row: GroupRow): GroupRecord['overrides'] {
  const { weight, concurrency, rate, rate_per_ms: ratePerMs, changed_by: by, changed_at: at } = row
  return at === null ? null : { weight, concurrency, rate, ratePerMs, paused: row.paused === 1, by, at }
}

/** The places of the group in each kind and priority of the queue. */
function* rangesOf({ sql }: Look, queueId: number, { id }: GroupRow): Generator<readonly number[]> {
  const start = startOf(id)
  for (const kindId of readyKinds(sql, 'ready', queueId)) {
    let priority = -1_000_000
    for (;;) {
      const next = sql(PRIORITIES).get(queueId, kindId, priority) as { priority: number } | undefined
      if (next === undefined) break
      priority = next.priority
      yield [queueId, kindId, priority, start, start + PLACES]
    }
  }
}

function readyOf(look: Look, queueId: number, row: GroupRow): { jobs: number; oldest: number | null } {
  let jobs = 0
  let oldest: number | null = null
  for (const range of rangesOf(look, queueId, row)) {
    const found = look.sql(READY_OF).get(...range) as { jobs: number; oldest: number | null }
    jobs += found.jobs
    if (found.oldest !== null) oldest = Math.min(found.oldest, oldest ?? found.oldest)
  }
  return { jobs, oldest }
}

export function changeGroup(
  work: Work,
  queue: string,
  group: string,
  patch: GroupPatch,
  by: string | null = null,
): GroupRecord {
  const queueId = needQueue(work, queue)
  const row = needGroup(work, queueId, group)
  const { weight, concurrency, rate, rate_per_ms: ratePerMs } = row
  const changed = { weight, concurrency, rate, ratePerMs, paused: row.paused === 1, ...patch }
  const isSet = isChanged(changed)
  work
    .sql(SAVE)
    .run(
      changed.weight,
      changed.concurrency,
      changed.rate,
      changed.ratePerMs,
      Number(changed.paused),
      isSet ? by : null,
      isSet ? work.now : null,
      row.id,
    )
  const hasLimits = changed.paused || changed.concurrency !== null || changed.rate !== null
  if (hasLimits && queueGroups(work, queueId)?.group_fair === 1) hold(work, queueId, row)
  checkGroup(work, queueId, row.id)
  const [record] = listGroups(work, queue, { limit: 1, names: [group] })
  return record as GroupRecord
}

/** Its ready jobs wait in the group from now on. */
function hold(work: Work, queueId: number, row: GroupRow): void {
  const { sql, moves, counters } = work
  const jobs = [...rangesOf(work, queueId, row)].flatMap(
    (range) => sql(READY_PKS).all(...range) as { pk: number; seq: number; priority: number }[],
  )
  jobs.sort((a, b) => a.priority - b.priority || a.seq - b.seq)
  for (const { pk } of jobs) sql(HOLD).run(counters.take('seq'), pk)
  if (jobs.length > 0) moves.move(queueId, READY, SCHEDULED, jobs.length)
}
