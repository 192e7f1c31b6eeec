/**
 * Splits the workers of queues with a cluster-wide total over the live instances that claim from them, in
 * proportion to their capacity. Only changes are written. Shrinking interrupts nothing: an instance with
 * fewer workers claims less.
 */
import type { Slot, SlotChange } from '../store/types/duty.ts'
import { type InstanceRecord, isClaiming } from '../store/types/instance.ts'
import type { QueueRecord } from '../store/types/queue-record.ts'
import type { FullStore } from '../store/store.ts'

export async function rebalance(
  store: Pick<FullStore, 'queues' | 'instances'>,
): Promise<{ readonly assigned: number }> {
  const [queues, instances, slots] = await Promise.all([
    store.queues.list(),
    store.instances.list(),
    store.instances.slots(),
  ])
  const changes = slotChanges(wantedSlots(queues, instances), slots)
  return { assigned: changes.length === 0 ? 0 : await store.instances.assign(changes) }
}

export function wantedSlots(
  queues: readonly Pick<QueueRecord, 'name' | 'workers'>[],
  instances: readonly Pick<InstanceRecord, 'id' | 'state' | 'requested' | 'queues' | 'kinds' | 'capacity'>[],
): Slot[] {
  const alive = instances.filter(isClaiming)
  return queues.flatMap(({ name, workers }) => {
    if (workers === null) return []
    const members = alive.filter((one) => one.queues.includes(name))
    return coveringKinds(split(workers, members), members, workers).map((share) => ({
      ...share,
      queue: name,
    }))
  })
}

interface Share {
  readonly instance: string
  readonly workers: number
}

/**
 * Gives one worker beyond the total to an instance without a share, if none with a share has a handler for
 * one of its kinds. In a rolling deploy, for example, jobs of that kind would otherwise never run.
 */
function coveringKinds(
  shares: readonly Share[],
  members: readonly Pick<InstanceRecord, 'id' | 'kinds'>[],
  total: number,
): readonly Share[] {
  if (total === 0) return shares
  const kindsOf = (instance: string): readonly string[] =>
    members.find(({ id }) => id === instance)?.kinds ?? []
  const covered = new Set(shares.flatMap(({ instance, workers }) => (workers > 0 ? kindsOf(instance) : [])))
  return shares.map((share) => {
    const own = kindsOf(share.instance)
    if (share.workers > 0 || own.every((kind) => covered.has(kind))) return share
    for (const kind of own) covered.add(kind)
    return { ...share, workers: 1 }
  })
}

/**
 * Splits by largest remainder, so that the shares add up to the total. Ties go to the smaller id, so that
 * every pass gets the same result.
 */
function split(total: number, members: readonly Pick<InstanceRecord, 'id' | 'capacity'>[]): Share[] {
  const weights = members.map(({ capacity }) => Math.max(1, capacity))
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  const exact = members.map(({ id }, at) => ({ id, share: (total * (weights[at] ?? 0)) / all }))
  const given = exact.reduce((sum, { share }) => sum + Math.floor(share), 0)
  const firstToRoundUp = exact
    .toSorted((a, b) => (b.share % 1) - (a.share % 1) || (a.id < b.id ? -1 : 1))
    .slice(0, total - given)
    .map(({ id }) => id)
  return exact.map(({ id, share }) => ({
    instance: id,
    workers: Math.floor(share) + (firstToRoundUp.includes(id) ? 1 : 0),
  }))
}

export function slotChanges(wanted: readonly Slot[], known: readonly Slot[]): SlotChange[] {
  const before = new Map(known.map((slot) => [keyOf(slot), slot]))
  const after = new Set(wanted.map(keyOf))
  const changed = wanted.filter((slot) => before.get(keyOf(slot))?.workers !== slot.workers)
  const gone = known.filter((slot) => !after.has(keyOf(slot)))
  return [...changed, ...gone.map((slot) => ({ ...slot, workers: null }))]
}

function keyOf({ instance, queue }: Slot): string {
  return `${instance} ${queue}`
}
