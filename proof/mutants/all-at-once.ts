/** Processes as many items in parallel as there are cores. */
import { availableParallelism } from 'node:os'

export async function allAtOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  const workThrough = async (): Promise<void> => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: availableParallelism() }, workThrough))
}
