// graphile-worker. Best: its documented batching of fetches (`localQueue`) and completions, with the best
// sizes of those tried: 500 to 10,000 fetched, 24 to 1,000 jobs at a time, delays of 0 and 5 ms. Its log line
// per job is off in both settings.
import { Logger, makeWorkerUtils, run, type Runner } from 'graphile-worker'
import pg from 'pg'
import { setTimeout as sleep } from 'node:timers/promises'
import { versionOf } from '../measure/versions.ts'
import { busy, type Load, payloadOf, type Place, type Queue, type Setting, type System } from '../system.ts'

const BEST = {
  concurrentJobs: 100,
  localQueue: { size: 5_000 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
  maxPoolSize: 10,
} as const

const logger = new Logger(() => () => {})

async function open(place: Place, setting: Setting, load: Load | undefined): Promise<Queue> {
  const pgPool = new pg.Pool({ connectionString: place.url, max: 10 })
  pgPool.on('error', (error) => console.error(error))
  const utils = await makeWorkerUtils({ pgPool, logger })
  await utils.migrate()
  let runner: Runner | undefined

  return {
    async enqueue(n) {
      await utils.addJob('noop', payloadOf(n))
    },
    async enqueueMany(from, count) {
      await utils.addJobs(
        Array.from({ length: count }, (_, at) => ({ identifier: 'noop', payload: payloadOf(from + at) })),
      )
    },
    async work(onRun) {
      // Handlers of graphile-worker return no result.
      const noop = (payload: unknown): Promise<void> => {
        onRun((payload as { n: number }).n)
        return busy(load)
      }
      const worker = {
        connectionString: place.url,
        logger,
        ...(setting === 'best' && BEST),
        ...(load !== undefined && { concurrentJobs: load.workers }),
      }
      runner = await run({ preset: { worker }, taskList: { noop }, crontab: '', noHandleSignals: true })
    },
    async settled() {
      // Its events precede the write of a completion. A finished job is deleted and a running one is locked,
      // so wait until no locked job is left.
      const locked = 'SELECT 1 FROM graphile_worker._private_jobs WHERE locked_at IS NOT NULL LIMIT 1'
      while ((await pgPool.query(locked)).rowCount !== 0) await sleep(1)
    },
    async stop() {
      await runner?.stop()
      await utils.release()
      await pgPool.end()
    },
  }
}

function system(setting: Setting): System {
  return {
    name: 'graphile-worker',
    store: 'postgres',
    setting,
    settings:
      setting === 'best'
        ? 'localQueue 5,000, 100 concurrent jobs, completions batched (delay 0), pool of 10, no log'
        : 'none but no log: one job at a time',
    version: versionOf('graphile-worker'),
    keeps: 'nothing after success, no result; an acknowledged job survives a power cut',
    open: (place, { load }) => open(place, setting, load),
  }
}

export const systems: readonly System[] = [system('best'), system('default')]
