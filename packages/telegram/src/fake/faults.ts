/** Queues the faults that a test injects into the next calls. */
import type { Fault } from './types.ts'

export interface Faults {
  readonly add: (method: string, faults: readonly Fault[]) => void
  readonly take: (method: string) => Fault | undefined
}

export function faults(): Faults {
  const queues = new Map<string, Fault[]>()
  return {
    add: (method, more) => {
      const name = method.toLowerCase()
      queues.set(name, [...(queues.get(name) ?? []), ...more])
    },
    take: (method) => queues.get(method.toLowerCase())?.shift() ?? queues.get('*')?.shift(),
  }
}
