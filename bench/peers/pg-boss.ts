// pg-boss. Best: two workers with batches of 500 that fetch again while batches are full, woken by LISTEN and
// NOTIFY. Maintenance is left to another process, as its documentation allows.
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { setTimeout as sleep } from 'node:timers/promises'
import { versionOf } from '../measure/versions.ts'
import {
  busy,
  GROUP_LIMIT,
  groupOf,
  type Opening,
  payloadOf,
  type Place,
  type Queue,
  type Setting,
  type System,
} from '../system.ts'

const NAME = 'noop'
const BEST = { batchSize: 500, localConcurrency: 2, burstWhenBatchFull: true } as const

type Payload = ReturnType<typeof payloadOf>

async function open(place: Place, setting: Setting, { load, groups }: Opening): Promise<Queue> {
  const isBest = setting === 'best'
  const upkeep = { supervise: false, schedule: false, useListenNotify: true, max: 10 }
  const boss = new PgBoss({ connectionString: place.url, ...(isBest && upkeep) })
  boss.on('error', (error) => console.error(error))
  await boss.start()
  await boss.createQueue(NAME, isBest ? { notify: true } : {})

  return {
    async enqueue(n) {
      await boss.send(NAME, payloadOf(n))
    },
    async enqueueMany(from, count) {
      await boss.insert(
        NAME,
        Array.from({ length: count }, (_, at) => ({
          data: payloadOf(from + at),
          ...(groups !== undefined && { group: { id: groupOf(from + at, groups) } }),
        })),
      )
    },
    async work(onRun) {
      const handler = async (jobs: readonly { data: Payload }[]): Promise<{ ok: boolean }> => {
        for (const { data } of jobs) onRun(data.n)
        await busy(load)
        return { ok: true }
      }
      // Its workers get batches; the jobs of a batch run at the same time.
      const size = load === undefined ? {} : { batchSize: load.workers / BEST.localConcurrency }
      const limit = groups === undefined ? {} : { groupConcurrency: GROUP_LIMIT }
      const best = { ...BEST, ...size, ...limit }
      await (isBest ? boss.work<Payload>(NAME, best, handler) : boss.work<Payload>(NAME, handler))
    },
    async settled() {
      // pg-boss does not report when it has written a completion, so read its table.
      const watcher = new pg.Client({ connectionString: place.url })
      await watcher.connect()
      const active = `SELECT 1 FROM pgboss.job WHERE state = 'active' LIMIT 1`
      while ((await watcher.query(active)).rowCount !== 0) await sleep(1)
      await watcher.end()
    },
    async stop() {
      await boss.stop({ graceful: false })
    },
  }
}

function system(setting: Setting): System {
  return {
    name: 'pg-boss',
    store: 'postgres',
    setting,
    settings:
      setting === 'best'
        ? '2 workers with batches of 500, burst while full, LISTEN/NOTIFY, no maintenance here, pool of 10'
        : 'none: one job every 2 s',
    version: versionOf('pg-boss'),
    keeps: 'job, payload and result for 7 days, no attempts; an acknowledged job survives a power cut',
    open: (place, how) => open(place, setting, how),
  }
}

export const systems: readonly System[] = [system('best'), system('default')]
