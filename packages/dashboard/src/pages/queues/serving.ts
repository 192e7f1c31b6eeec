/** Finds the processes that serve a queue, as far as they have reported it. */
import type { Instance, UnservedKind, Workers } from '../../api/types.ts'
import { isClaiming } from '../../metrics/workers.ts'

export interface Server {
  readonly instance: Instance
  /** The process's share of the queue's workers; null when it is not limited. */
  readonly workers: number | null
}

export const nameOf = ({ label, id }: Pick<Instance, 'label' | 'id'>): string => label ?? `…${id.slice(-8)}`

/** The processes that claim from the queue, by name. One with a share of 0 currently runs no jobs of it. */
export function serversOf(queue: string, isShared: boolean, workers: Workers | undefined): Server[] {
  const { instances = [], slots = [] } = workers ?? {}
  return instances
    .filter((one) => isClaiming(one) && one.queues.includes(queue))
    .map((instance) => {
      const slot = slots.find((one) => one.instance === instance.id && one.queue === queue)
      return { instance, workers: isShared ? (slot?.workers ?? 0) : null }
    })
    .toSorted((a, b) => nameOf(a.instance).localeCompare(nameOf(b.instance)))
}

export const unservedIn = (queue: string, unservedKinds: readonly UnservedKind[]): readonly UnservedKind[] =>
  unservedKinds.filter((one) => one.queue === queue)
