/** Works on as many items at once as there are cores: each waits for its copy of the sources and its processes half of the time. */
import { availableParallelism } from 'node:os'

export async function allAtOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  const workThrough = async (): Promise<void> => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: availableParallelism() }, workThrough))
}
