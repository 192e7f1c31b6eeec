/** The queues that can be claimed from now, and whether a claim would find jobs. */
import { limitOf, nextOf } from '../limits/limit-row.ts'
import { type ReadyIndex, readyKinds } from './ready-lanes.ts'
import type { Look } from '../work.ts'

// Uses the unique name. Runs under the write lock of a claim, so that the claim sees a committed pause.
const OPEN = `SELECT id, limit_id, group_fair FROM jobmill_queue WHERE name = ? AND paused = 0 AND cool_until <= ?`

// The same for all queues at once, limited to those whose counter row shows ready jobs: when idle, one
// statement is enough for any number of queues. Not for a claim, because the counters lack the writes of its
// own transaction.
const WITH_READY = `
  SELECT q.id, q.limit_id, q.group_fair FROM json_each(?) AS asked CROSS JOIN jobmill_queue AS q ON q.name = asked.value
    CROSS JOIN jobmill_count AS c ON c.queue_id = q.id AND c.state = 1
  WHERE q.paused = 0 AND q.cool_until <= ? AND c.n > 0`

export interface OpenQueue {
  readonly id: number
  /** The limit that it uses. */
  readonly limit_id: number | null
  readonly group_fair: number
}

/** Undefined when the queue is unknown, paused or cooling down. */
export function openQueue({ sql, now }: Look, name: string): OpenQueue | undefined {
  return sql(OPEN).get(name, now) as OpenQueue | undefined
}

export interface ReadyWork {
  readonly ready: boolean
  readonly quarantined: boolean
  /**
   * When a limit that holds jobs back has budget again; null when there is none, or that depends on a
   * release.
   */
  readonly budgetInMs: number | null
}

/**
 * What an instance with these queues and kinds would find. Needs no write lock, and must not run inside a
 * write.
 */
export function readyWork(look: Look, queues: readonly string[], kinds: readonly string[]): ReadyWork {
  const found = look.sql(WITH_READY).all(JSON.stringify(queues), look.now) as OpenQueue[]
  let [ready, quarantined] = [false, false]
  let budgetInMs: number | null = null
  const wanted = found.length === 0 ? new Set<number>() : kindIds(look, kinds)
  for (const { id, limit_id: limitId } of found) {
    const here = {
      ready: hasKind(look, 'ready', id, wanted),
      quarantined: hasKind(look, 'quarantined', id, wanted),
    }
    if (!here.ready && !here.quarantined) continue
    const inMs = limitId === null ? 0 : nextOf(look, limitOf(look.sql, limitId))
    if (inMs === 0) {
      ready ||= here.ready
      quarantined ||= here.quarantined
    } else if (inMs !== null) budgetInMs = Math.min(inMs, budgetInMs ?? inMs)
  }
  return { ready, quarantined, budgetInMs }
}

export function kindIds({ names }: Look, kinds: readonly string[]): Set<number> {
  const ids = new Set<number>()
  for (const kind of kinds) {
    const id = names.findKind(kind)
    if (id !== undefined) ids.add(id)
  }
  return ids
}

function hasKind({ sql }: Look, index: ReadyIndex, queueId: number, wanted: ReadonlySet<number>): boolean {
  for (const kindId of readyKinds(sql, index, queueId)) if (wanted.has(kindId)) return true
  return false
}
