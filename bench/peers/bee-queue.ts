// bee-queue. Best: 50 jobs at a time, no events, finished jobs are removed.
import BeeQueue from 'bee-queue'
import { versionOf } from '../measure/versions.ts'
import {
  busy,
  type Opening,
  payloadOf,
  type Place,
  type Queue,
  type Setting,
  type System,
} from '../system.ts'
import { until } from '../cell/until.ts'

const CONCURRENCY = 50
const BEST = { removeOnSuccess: true, getEvents: false, sendEvents: false, storeJobs: false } as const

type Payload = ReturnType<typeof payloadOf>

async function open(place: Place, setting: Setting, { keep, load }: Opening): Promise<Queue> {
  const isBest = setting === 'best'
  const redis = { host: '127.0.0.1', port: Number(new URL(place.url).port) }
  const queue = new BeeQueue<Payload>('noop', { redis, ...(isBest ? BEST : { removeOnSuccess: !keep }) })
  await queue.ready()
  let runs = 0
  let succeeded = 0

  return {
    async enqueue(n) {
      await queue.createJob(payloadOf(n)).save()
    },
    async enqueueMany(from, count) {
      const jobs = Array.from({ length: count }, (_, at) => queue.createJob(payloadOf(from + at)))
      const errors = await queue.saveAll(jobs)
      if (errors.size > 0) throw new Error(`${errors.size} jobs were not saved`)
    },
    async work(onRun) {
      // bee-queue emits this after it has written the outcome.
      queue.on('succeeded', () => void (succeeded += 1))
      const run = async ({ data }: { readonly data: Payload }): Promise<{ ok: boolean }> => {
        runs += 1
        onRun(data.n)
        await busy(load)
        return { ok: true }
      }
      if (isBest) queue.process(load?.workers ?? CONCURRENCY, run)
      else queue.process(run)
      await queue.ready()
    },
    settled: () => until(() => succeeded >= runs),
    async stop() {
      await queue.close()
    },
  }
}

function system(setting: Setting): System {
  const isBest = setting === 'best'
  return {
    name: 'bee-queue',
    store: 'redis',
    setting,
    settings: isBest ? `concurrency ${CONCURRENCY}, no events, removeOnSuccess` : 'none: one job at a time',
    version: versionOf('bee-queue'),
    keeps:
      `${isBest ? 'nothing after success' : 'job and payload, forever, no result'}; ` +
      'a power cut may lose jobs acknowledged in the last second',
    open: (place, how) => open(place, setting, how),
  }
}

export const systems: readonly System[] = [system('best'), system('default')]
