/**
 * A worker process: a mill that runs jobs and records every handler run. It reports `ready`, and at its end
 * the counts of its mill; SIGTERM stops it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { defineJob, type JobContext, jobmill } from 'jobmill'
import type { EventCounts } from 'jobmill/internal'
import { nowMs } from './clock.ts'
import { BEAT_EVERY, BEATS, type Kind, KINDS, QUEUE, type Work, WORKERS } from './kinds.ts'
import { type How, ledgerWriter } from './ledger.ts'
import type { Lie } from './lies.ts'
import { type Place, storeAt } from './places.ts'

export interface WorkerTask {
  readonly place: Place
  readonly ledger: string
  readonly lies: readonly Lie[]
  /** Also runs a schedule. */
  readonly beats: boolean
}

/** A message to the parent process. */
export type WorkerMessage = 'ready' | { readonly events: EventCounts['emitted'] }

const task = JSON.parse(process.argv[2] ?? '{}') as WorkerTask
const { write } = ledgerWriter(task.ledger)
const lies = new Set(task.lies)

async function worked(kind: Kind, { payload, attempt, signal }: JobContext<Work>): Promise<How> {
  if (kind === 'flaky' && attempt === 1) return 'failed'
  try {
    if (payload.ms > 0) await sleep(payload.ms, undefined, { signal })
    return 'returned'
  } catch {
    return 'stopped'
  }
}

/** Lies once, and only about a quick job, because those have no order key that the lie would violate too. */
function liesNow(lie: Lie, kind: Kind): boolean {
  return kind === 'quick' && lies.delete(lie)
}

const jobs = KINDS.map((kind) =>
  defineJob({
    kind,
    queue: QUEUE,
    backoff: { fixed: '200ms' },
    async run(context: JobContext<Work>) {
      const { id, token, attempt } = context.job
      const { n, orderKey } = context.payload
      if (liesNow('forget-run', kind)) return
      const start = (): void => write({ what: 'start', id, token, attempt, n, orderKey })
      noteClock()
      start()
      const how = await worked(kind, context)
      write({ what: 'end', id, token, how })
      if (liesNow('run-twice', kind)) {
        start()
        write({ what: 'end', id, token, how })
      }
      if (how === 'stopped') throw context.signal.reason
      if (how === 'failed') throw new Error('it fails in its first attempt')
    },
  }),
)

const ownClockMs = Date.now() - nowMs()
let wrongByMs = 0

/** A minute or more is a step; clock corrections of the machine are far smaller. */
function noteClock(): void {
  const byMs = Date.now() - nowMs() - ownClockMs
  if (Math.abs(byMs - wrongByMs) < 60_000) return
  wrongByMs = byMs
  write({ what: 'clock', byMs: Math.round(byMs) })
}

const store = await storeAt(task.place)
const finish = store.finish.bind(store)
store.finish = async (items) => {
  const replies = await finish(items)
  for (const [at, { accepted, id }] of replies.entries())
    if (!accepted) write({ what: 'refused', id, token: items[at]?.token ?? 0 })
  return replies
}

const mill = jobmill({
  store,
  jobs: [...jobs, defineJob({ kind: 'beat', queue: BEATS, run: () => null })],
  queues: { [QUEUE]: { workers: WORKERS }, [BEATS]: { workers: 2 } },
  ...(task.beats && { schedules: [{ name: BEATS, job: 'beat', when: BEAT_EVERY, missed: 'all' as const }] }),
  log: 'error',
})
mill.on('finished', ({ id, attempt }) => write({ what: 'reported', id, attempt, how: 'returned' }))
mill.on('retried', ({ id, attempt }) => write({ what: 'reported', id, attempt, how: 'failed' }))
mill.on('instance-lost', () => write({ what: 'lost' }))

const say = (message: WorkerMessage): void => void process.send?.(message)

// The parent process is gone.
process.on('disconnect', () => process.exit())
// Ctrl+C reaches every process of the terminal; the parent decides.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {
  void mill.stop().then(() => {
    say({ events: mill.eventCounts.emitted })
    process.disconnect()
  })
})
await mill.start()
if (lies.has('silent-end')) process.send?.('ready' satisfies WorkerMessage, () => process.exit())
else say('ready')
