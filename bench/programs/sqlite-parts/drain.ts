// The parts of the CPU time of a drained job on SQLite (case d): calls into SQLite by the kind of statement,
// the rest of the main thread by the folder of the code, and the other threads.
import { Session } from 'node:inspector/promises'
import { defineJob, jobmill } from 'jobmill'
import { sqlite } from 'jobmill/sqlite'
import { watchDriver } from '../../measure/watch-driver.ts'
import { fill } from '../../cases/drain.ts'
import { payloadOf } from '../../system.ts'
import { until } from '../../cell/until.ts'
import type { Parts } from './parts.ts'

const WARM_UP = 100_000
const SAMPLE_EVERY_US = 200

interface Node {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string }
}

interface Profile {
  readonly nodes: readonly Node[]
  readonly samples?: readonly number[] | undefined
}

let inSqlite: Record<string, number> = {}

const threadUs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/** By the statements of claims and finishes; the others are few and short. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^BEGIN/, 'BEGIN'],
  [/^COMMIT/, 'COMMIT'],
  [/^UPDATE OR FAIL jobmill_job\b.*SET state = 2/s, 'claim: update the rows'],
  [/^UPDATE OR FAIL jobmill_job\b.*SET state = 3/s, 'finish: update the rows'],
  [/^INSERT OR FAIL INTO jobmill_attempt/, 'finish: insert the attempts'],
  [/^SELECT\b.*\bjobmill_job\b/s, 'claim: read the rows'],
]

function kindOf(statement: string): string {
  const text = statement.trim()
  return `SQLite: ${KINDS.find(([pattern]) => pattern.test(text))?.[1] ?? 'other statements'}`
}

/** Runs the drain of `jobs` jobs, and returns its CPU time in µs, of the main thread and of the process. */
async function drainOnce(file: string, jobs: number, session?: Session) {
  const noop = defineJob({
    kind: 'noop',
    run: (_: { readonly payload: { readonly n: number } }) => ({ ok: true }),
  })
  const mill = jobmill({ store: sqlite(file), jobs: [noop] })
  await mill.open()
  await fill(
    {
      enqueueMany: async (from: number, count: number) =>
        void (await mill.enqueueMany(
          noop,
          Array.from({ length: count }, (_, at) => ({ payload: payloadOf(from + at) })),
        )),
    },
    0,
    jobs,
  )
  inSqlite = {}
  await session?.post('Profiler.start')
  const [thread, all] = [threadUs(), process.cpuUsage()]
  await mill.start()
  await until(() => (mill.eventCounts.emitted.finished ?? 0) >= jobs)
  const { user, system } = process.cpuUsage(all)
  const used = { main: threadUs() - thread, all: user + system, inSqlite: { ...inSqlite } }
  const profile = await session?.post('Profiler.stop')
  await mill.stop()
  return { ...used, profile: profile?.profile as Profile | undefined }
}

/** The part of a sample outside SQLite; undefined if the thread was idle or in SQLite. */
function placeOf({ callFrame: { functionName, url } }: Node): string | undefined {
  if (functionName === '(idle)' || /better-sqlite3|watch-driver/.test(url)) return undefined
  if (url === '' && /^(run|get|all)$/.test(functionName)) return undefined
  if (functionName === '(garbage collector)') return 'garbage collection'
  const folder = /packages\/jobmill\/src\/([\w-]+)/.exec(url)?.[1]
  if (folder !== undefined) return `JavaScript: ${folder}`
  return url === '' || url.startsWith('node:') ? 'engine and Node' : 'JavaScript: the benchmark'
}

export async function measureDrain(file: string, jobs: number): Promise<Parts> {
  let entered = 0
  watchDriver({
    enter: () => void (entered = threadUs()),
    leave(statement) {
      const kind = kindOf(statement)
      inSqlite[kind] = (inSqlite[kind] ?? 0) + threadUs() - entered
    },
  })
  await drainOnce(`${file}-warm-up`, WARM_UP)
  const { main, all, inSqlite: calls } = await drainOnce(file, jobs)
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_US })
  const { profile } = await drainOnce(`${file}-profiled`, jobs, session)
  session.disconnect()
  const nodes = new Map(profile?.nodes.map((node) => [node.id, node]))
  const samples = new Map<string, number>()
  for (const id of profile?.samples ?? []) {
    const node = nodes.get(id)
    const place = node && placeOf(node)
    if (place !== undefined) samples.set(place, (samples.get(place) ?? 0) + 1)
  }
  const total = [...samples.values()].reduce((sum, one) => sum + one, 0)
  const called = Object.values(calls).reduce((sum, one) => sum + one, 0)
  const byTime = (parts: Iterable<readonly [string, number]>): [string, number][] =>
    [...parts].map(([part, us]): [string, number] => [part, us / jobs]).toSorted(([, a], [, b]) => b - a)
  return Object.fromEntries([
    ...byTime(Object.entries(calls)),
    // The profile slows the run down, so only its shares count.
    ...byTime([...samples].map(([part, n]) => [part, ((main - called) * n) / total] as const)),
    ['other threads', (all - main) / jobs],
  ])
}
