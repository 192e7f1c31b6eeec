// liteque: one job per statement, through drizzle. With the current better-sqlite3 its runner stops at its
// first poll, because it passes an async function as a transaction. So only enqueuing can be measured, and
// `work` fails with the reason.
import { buildDBClient, Runner, SqliteQueue } from 'liteque'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { versionOf } from '../measure/versions.ts'
import { payloadOf, type Queue, type Setting, type System } from '../system.ts'

type Payload = ReturnType<typeof payloadOf>

// liteque has no defaults; these are the values of its README.
const SETTINGS = {
  best: { concurrency: 20, pollIntervalMs: 10, timeoutSecs: 60 },
  default: { concurrency: 1, pollIntervalMs: 1_000, timeoutSecs: 60 },
} as const

export const systems: readonly System[] = [
  liteque('best', 'concurrency 20, poll 10 ms'),
  liteque('default', 'concurrency 1, poll 1 s, as in its README'),
]

function liteque(setting: Setting, settings: string): System {
  return {
    name: 'liteque',
    store: 'sqlite',
    setting,
    settings,
    version: versionOf('liteque'),
    keeps: 'nothing; synchronous=NORMAL: a power cut may lose the last acknowledged jobs',
    open: async ({ url }) => openLiteque(url, SETTINGS[setting]),
  }
}

function openLiteque(file: string, options: (typeof SETTINGS)[Setting]): Queue {
  const database = buildDBClient(file, { runMigrations: true })
  const queue = new SqliteQueue<Payload>('noop', database, {
    defaultJobArgs: { numRetries: 5 },
    keepFailedJobs: false,
  })
  let runner: Runner<Payload, { ok: true }> | undefined
  let running: Promise<void> | undefined

  async function countUnfinished(): Promise<number> {
    const { pending, pending_retry: again, running } = await queue.stats()
    return pending + again + running
  }

  return {
    async enqueue(n) {
      await queue.enqueue(payloadOf(n))
    },
    // liteque has no bulk call.
    async enqueueMany(from, count) {
      for (let n = from; n < from + count; n += 1) await queue.enqueue(payloadOf(n))
    },
    async work(onRun) {
      const run = async ({ data }: { readonly data: Payload }): Promise<{ ok: true }> => {
        onRun(data.n)
        return { ok: true }
      }
      runner = new Runner(queue, { run }, options)
      running = runner.run()
      // A runner that fails does so at its first poll, before the next turn; then `work` fails with its
      // reason.
      await Promise.race([running, nextTurn()])
    },
    async settled() {
      while ((await countUnfinished()) > 0) await nextTurn()
    },
    async stop() {
      runner?.stop()
      await running?.catch(() => {})
    },
  }
}
