// The parts of a pickup in the same process on SQLite (case f-same): from the enqueue call to the handler.
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { defineJob, jobmill } from 'jobmill'
import { sqlite } from 'jobmill/sqlite'
import { watchDriver } from '../../measure/watch-driver.ts'
import { payloadOf } from '../../system.ts'
import { until } from '../../cell/until.ts'
import { middleOf, type Parts, stopwatch } from './parts.ts'

const SETTLE_MS = 300
const WARM_UP_APART = 100
const WARM_UP_AT_ONCE = 6_000

const watch = stopwatch()

/** What one committed row costs under the same conditions. */
export async function measureInsert(file: string, jobs: number, apartMs: number): Promise<Parts> {
  const database = new Database(file)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  database.exec('CREATE TABLE line (id INTEGER PRIMARY KEY, payload TEXT NOT NULL)')
  const insert = database.prepare('INSERT INTO line VALUES (?, ?)')
  const all: Parts[] = []
  await sleep(SETTLE_MS)
  for (let n = 0; n < warmUpOf(apartMs) + jobs; n += 1) {
    watch.start()
    insert.run(n, JSON.stringify(payloadOf(n)))
    all.push(watch.stop('INSERT and its commit'))
    if (apartMs > 0) await sleep(apartMs)
  }
  database.close()
  return middleOf(all.slice(-jobs))
}

const warmUpOf = (apartMs: number): number => (apartMs > 0 ? WARM_UP_APART : WARM_UP_AT_ONCE)

/** Marks the turns of the event loop that the runtime asks for. */
function watchTurns(): void {
  const next = globalThis.setImmediate
  const watched = (task: () => void): NodeJS.Immediate => {
    watch.reach(isCommitted ? 'schedule the start' : 'queue the write')
    return next(() => {
      watch.reach(isCommitted ? 'turn of the event loop, start' : 'turn of the event loop, write')
      task()
    })
  }
  globalThis.setImmediate = Object.assign(watched, next)
}

let isCommitted = false

/** BEGIN and COMMIT on their own, because they lock and sync. */
function partOf(statement: string): string {
  const [verb = ''] = statement.trim().split(/\s/)
  if (verb === 'BEGIN') return 'BEGIN'
  if (verb !== 'COMMIT') return 'statements, inside SQLite'
  isCommitted = true
  return 'COMMIT'
}

export async function measurePickup(file: string, jobs: number, apartMs: number): Promise<Parts> {
  watchDriver({
    enter: () => watch.reach('statements, code around them'),
    leave: (statement) => watch.reach(partOf(statement)),
  })
  watchTurns()
  const store = sqlite(file)
  const all: Parts[] = []
  const noop = defineJob({
    kind: 'noop',
    run(_: { readonly payload: { readonly n: number } }) {
      all.push(watch.stop('start the handler'))
      return { ok: true }
    },
  })
  const mill = jobmill({
    store: {
      ...store,
      enqueue(jobs, options) {
        watch.reach('prepare the job')
        const replies = store.enqueue(jobs, options)
        void replies.then(() => watch.reach('settle the write'))
        return replies
      },
    },
    jobs: [noop],
  })
  await mill.start()
  await sleep(SETTLE_MS)
  for (let n = 0; n < warmUpOf(apartMs) + jobs; n += 1) {
    isCommitted = false
    watch.start()
    await mill.enqueue(noop, payloadOf(n))
    watch.reach('reply to the caller')
    if (apartMs > 0) await sleep(apartMs)
    else await until(() => (mill.eventCounts.emitted.finished ?? 0) > n)
  }
  await until(() => (mill.eventCounts.emitted.finished ?? 0) === all.length)
  await mill.stop()
  return middleOf(all.slice(-jobs))
}
