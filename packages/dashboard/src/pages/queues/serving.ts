/** Who takes the jobs of a queue, as far as processes have said. */
import type { Instance, UnservedKind, Workers } from '../../api/types/mill.ts'

export interface Server {
  readonly instance: Instance
  /** Its share of the workers of this queue; null when it takes as many as it has room for. */
  readonly workers: number | null
}

export const nameOf = ({ label, id }: Pick<Instance, 'label' | 'id'>): string => label ?? `…${id.slice(-8)}`

/** Living ones, by name. One that has a share of 0 does not serve it. */
export function serversOf(queue: string, isShared: boolean, workers: Workers | undefined): Server[] {
  const { instances = [], slots = [] } = workers ?? {}
  return instances
    .filter(({ state, queues }) => state === 'alive' && queues.includes(queue))
    .map((instance) => {
      const slot = slots.find((one) => one.instance === instance.id && one.queue === queue)
      return { instance, workers: isShared ? (slot?.workers ?? 0) : null }
    })
    .toSorted((a, b) => nameOf(a.instance).localeCompare(nameOf(b.instance)))
}

export const unservedIn = (queue: string, unservedKinds: readonly UnservedKind[]): readonly UnservedKind[] =>
  unservedKinds.filter((one) => one.queue === queue)
