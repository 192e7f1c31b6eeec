// BullMQ on Redis and on its PostgreSQL backend. Best: 100 jobs at a time, finished jobs are removed.
import { createPostgresBackend, Queue as BullQueue, Worker } from 'bullmq'
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

const NAME = 'noop'
const CONCURRENCY = 100

type Payload = ReturnType<typeof payloadOf>
type Processor = (job: { data: Payload }) => Promise<{ ok: boolean }>

/** The part of its two classes that is used here, on either store. */
interface Backend {
  readonly queue: Pick<BullQueue<Payload>, 'add' | 'addBulk' | 'close' | 'waitUntilReady'>
  readonly worker: (run: Processor, concurrency: number | undefined) => BullWorker
}
interface BullWorker {
  on(event: 'completed', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  waitUntilReady(): Promise<unknown>
  close(): Promise<void>
}

function onRedis(place: Place, removeOnComplete: boolean): Backend {
  const connection = { host: '127.0.0.1', port: Number(new URL(place.url).port), maxRetriesPerRequest: null }
  const options = { connection, ...(removeOnComplete && { defaultJobOptions: { removeOnComplete } }) }
  return {
    queue: new BullQueue<Payload>(NAME, options),
    worker: (run, concurrency) => new Worker(NAME, run, { connection, ...(concurrency && { concurrency }) }),
  }
}

function onPostgres(place: Place, removeOnComplete: boolean): Backend {
  const connection = { connectionString: place.url, max: 10, migrate: true }
  const options = { connection, ...(removeOnComplete && { defaultJobOptions: { removeOnComplete } }) }
  return {
    queue: new BullQueue(NAME, options, createPostgresBackend),
    worker: (run, concurrency) =>
      new Worker(NAME, run, { connection, ...(concurrency && { concurrency }) }, createPostgresBackend),
  }
}

async function open(place: Place, setting: Setting, { keep, load }: Opening): Promise<Queue> {
  const isBest = setting === 'best'
  const { queue, worker: start } = (place.store === 'redis' ? onRedis : onPostgres)(place, isBest || !keep)
  await queue.waitUntilReady()
  let worker: BullWorker | undefined
  let runs = 0
  let completed = 0

  return {
    async enqueue(n) {
      await queue.add(NAME, payloadOf(n))
    },
    async enqueueMany(from, count) {
      await queue.addBulk(
        Array.from({ length: count }, (_, at) => ({ name: NAME, data: payloadOf(from + at) })),
      )
    },
    async work(onRun) {
      const run: Processor = async ({ data }) => {
        runs += 1
        onRun(data.n)
        await busy(load)
        return { ok: true }
      }
      worker = start(run, load?.workers ?? (isBest ? CONCURRENCY : undefined))
      // BullMQ emits this after it has written the completion.
      worker.on('completed', () => void (completed += 1))
      worker.on('error', (error) => console.error(error))
      await worker.waitUntilReady()
    },
    settled: () => until(() => completed >= runs),
    async stop() {
      await worker?.close()
      await queue.close()
    },
  }
}

const GUARANTEES = {
  redis: 'a power cut may lose jobs acknowledged in the last second',
  postgres: 'an acknowledged job survives a power cut',
} as const

function system(store: 'redis' | 'postgres', setting: Setting): System {
  const isBest = setting === 'best'
  return {
    name: `bullmq-${store}`,
    store,
    setting,
    settings: isBest ? `concurrency ${CONCURRENCY}, removeOnComplete` : 'none: one job at a time',
    version: versionOf('bullmq'),
    keeps: `${isBest ? 'nothing after success' : 'job, payload and result, forever'}; ${GUARANTEES[store]}`,
    open: (place, how) => open(place, setting, how),
  }
}

export const systems: readonly System[] = (['redis', 'postgres'] as const).flatMap((store) =>
  (['best', 'default'] as const).map((setting) => system(store, setting)),
)
