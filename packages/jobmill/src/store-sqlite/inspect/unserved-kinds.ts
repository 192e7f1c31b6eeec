/** Kinds with ready jobs for which no live instance has a worker. */
import { type UnservedKind, UNSERVED_ROWS } from '../../store/types/queue-record.ts'
import { countReady, readyKinds } from '../claim/ready-lanes.ts'
import type { Look } from '../work.ts'

const QUEUES = `SELECT id, name FROM jobmill_queue ORDER BY name`

// The part of jobmill_instance_expiry after now: one row per live process.
const ALIVE = `
  SELECT queues, kinds FROM jobmill_instance INDEXED BY jobmill_instance_expiry WHERE state = 0 AND expires_at > ?`

interface Alive {
  readonly queues: ReadonlySet<string>
  readonly kinds: ReadonlySet<string>
}

/** Hops from kind to kind, so that only jobs without a worker are counted, up to a bound per kind. */
export function unservedKinds(look: Look): UnservedKind[] {
  const { sql, names } = look
  const alive = aliveInstances(look)
  return (sql(QUEUES).all() as { id: number; name: string }[]).flatMap(({ id, name: queue }) => {
    const kindIds = new Set([...readyKinds(sql, 'ready', id), ...readyKinds(sql, 'quarantined', id)])
    return [...kindIds]
      .map((kindId) => ({ kindId, kind: names.kindName(kindId) }))
      .filter(({ kind }) => !alive.some(({ queues, kinds }) => queues.has(queue) && kinds.has(kind)))
      .toSorted((a, b) => (a.kind < b.kind ? -1 : 1))
      .map(({ kindId, kind }) => ({ queue, kind, jobs: countReady(sql, id, kindId, UNSERVED_ROWS) }))
  })
}

function aliveInstances({ sql, now }: Look): Alive[] {
  return (sql(ALIVE).all(now) as { queues: string; kinds: string }[]).map(({ queues, kinds }) => ({
    queues: new Set(JSON.parse(queues) as string[]),
    kinds: new Set(JSON.parse(kinds) as string[]),
  }))
}
