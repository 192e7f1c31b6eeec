/** Samples the resources of this process after garbage collection. */
import { readdirSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import type { ProcessSample } from './verdict/figures.ts'

export async function takeSample(): Promise<ProcessSample> {
  if (globalThis.gc === undefined) throw new Error('run this with --expose-gc')
  // The second pass collects what finalizers released in the first.
  globalThis.gc()
  await nextTurn()
  globalThis.gc()
  const { external, rss } = process.memoryUsage()
  return {
    heap: heapOfObjects(),
    native: external,
    rss,
    resources: process.getActiveResourcesInfo().length,
    files: readdirSync('/proc/self/fd').length,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
  }
}

/** Without compiled code, which grows as long as the engine finds functions to compile. */
function heapOfObjects(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name: name }) => !/code|trusted|read_only/.test(name))
    .reduce((sum, { space_used_size: used }) => sum + used, 0)
}
