// plainjob: one worker that takes one job per transaction, over a synchronous driver. Enqueuing is also
// synchronous.
import Database from 'better-sqlite3'
import { better, defineQueue, defineWorker, type Logger } from 'plainjob'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { versionOf } from '../measure/versions.ts'
import { busy, type Load, payloadOf, type Queue, type Setting, type System } from '../system.ts'

const KIND = 'noop'

/**
 * The default logger writes several lines per job to the console, which no production setup would do under
 * load.
 */
const silent: Logger = { error: console.error, warn: console.error, info() {}, debug() {} }

const POLL_MS = { best: 10, default: undefined } as const

export const systems: readonly System[] = [
  plainjob('best', 'poll 10 ms, logger silenced'),
  plainjob('default', 'poll 1 s, logger silenced'),
]

function plainjob(setting: Setting, settings: string): System {
  return {
    name: 'plainjob',
    store: 'sqlite',
    setting,
    settings,
    version: versionOf('plainjob'),
    keeps:
      'the job with its payload for 7 days, no result and no attempts; synchronous=NORMAL: a power cut may lose the last acknowledged jobs',
    open: async ({ url }, { load }) => openPlainjob(url, POLL_MS[setting], load),
  }
}

function openPlainjob(file: string, pollMs: number | undefined, load: Load | undefined): Queue {
  const queue = defineQueue({ connection: better(new Database(file)), logger: silent })
  let stopWorker: (() => Promise<void>) | undefined
  const jobs = { started: 0, completed: 0 }
  const onCompleted = (): void => void (jobs.completed += 1)
  return {
    async enqueue(n) {
      queue.add(KIND, payloadOf(n))
    },
    async enqueueMany(from, count) {
      queue.addMany(
        KIND,
        Array.from({ length: count }, (_, at) => payloadOf(from + at)),
      )
    },
    async work(onRun) {
      const run = async ({ data }: { readonly data: string }): Promise<void> => {
        jobs.started += 1
        onRun((JSON.parse(data) as { n: number }).n)
        await busy(load)
      }
      const options = { queue, logger: silent, onCompleted, ...(pollMs && { pollIntervall: pollMs }) }
      // A worker runs one job at a time.
      const workers = Array.from({ length: load?.workers ?? 1 }, () => defineWorker(KIND, run, options))
      const running = workers.map((worker) => worker.start())
      stopWorker = async () => {
        await Promise.all(workers.map((worker) => worker.stop()))
        await Promise.all(running)
      }
    },
    async settled() {
      while (jobs.completed < jobs.started) await nextTurn()
    },
    async stop() {
      await stopWorker?.()
      queue.close()
    },
  }
}
