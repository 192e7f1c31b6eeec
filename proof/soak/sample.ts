/** What this process uses now, without what garbage it has. */
import { readdirSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import type { ProcessSample } from './figures.ts'

export async function takeSample(): Promise<ProcessSample> {
  if (globalThis.gc === undefined) throw new Error('run this with --expose-gc')
  // What finalizers let go of in the first is collected in the second.
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

/** Without compiled code and its tables: those grow for as long as the engine finds something to compile, whatever the program keeps. */
function heapOfObjects(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name: name }) => !/code|trusted|read_only/.test(name))
    .reduce((sum, { space_used_size: used }) => sum + used, 0)
}
