/** The workload: a kind for every way that a job can end. Both processes run all kinds. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type AnyJob, defineJob, type JobContext, type MillOptions, type FullStore } from 'jobmill'
import type { Leak } from './planted.ts'

export interface Work {
  readonly n: number
}
type Context = JobContext<Work>

/** Runs until it is interrupted. */
async function untilInterrupted(signal: AbortSignal): Promise<never> {
  await sleep(20_000, undefined, { signal })
  throw new Error('the job was not interrupted')
}

const quick = defineJob({
  kind: 'quick',
  run: ({ payload }: Context) => ({ n: payload.n, text: 'x'.repeat(200) }),
})
const steady = defineJob({
  kind: 'steady',
  async run({ progress, log, signal }: Context) {
    log('begins', { at: 'once' })
    progress(50)
    await sleep(50, undefined, { signal })
  },
})
const flaky = defineJob({
  kind: 'flaky',
  backoff: { fixed: '300ms' },
  run({ attempt, payload }: Context) {
    if (attempt === 1) throw new Error(`it fails in its first attempt (${payload.n})`)
  },
})
const doomed = defineJob({
  kind: 'doomed',
  maxAttempts: 2,
  backoff: { fixed: '300ms' },
  run: ({ payload }: Context) => Promise.reject(new Error(`it always fails (${payload.n})`)),
  onDead() {},
})
const late = defineJob({
  kind: 'late',
  maxAttempts: 1,
  timeout: '200ms',
  run: ({ signal }: Context) => untilInterrupted(signal),
})
const endless = defineJob({
  kind: 'endless',
  maxAttempts: 1,
  run: ({ signal }: Context) => untilInterrupted(signal),
})
const drawing = defineJob({
  kind: 'drawing',
  async run({ limit }: Context) {
    await limit.acquire('calls')
    const permit = await limit.acquire('seats')
    await sleep(5)
    await permit.release()
  },
})
const narrow = defineJob({ kind: 'narrow', queue: 'narrow', run: () => sleep(5) })
const following = defineJob({
  kind: 'following',
  async run({ enqueue, payload }: Context) {
    await enqueue(quick, payload, { withCompletion: true })
  },
})
const snoozing = defineJob({
  kind: 'snoozing',
  run({ snooze, job, now }: Context) {
    if (now() - job.enqueuedAt < 1_000) snooze('500ms')
  },
})
const ticking = defineJob({ kind: 'ticking', run: () => {} })

export const JOBS = { quick, steady, flaky, doomed, late, endless, drawing, narrow, following, snoozing }

/** Long enough to query an ended job (see open-jobs.ts), and short compared with the run. */
const KEPT = '60s'

export function optionsFor(store: FullStore<never>, leaks: readonly Leak[]): MillOptions {
  const kept = leaks.includes('rows') ? 'forever' : KEPT
  const retain = { done: kept, cancelled: kept, dead: kept } as const
  const jobs: readonly AnyJob[] = [...Object.values(JOBS), ticking]
  return {
    store,
    jobs,
    limits: { calls: { rate: 50 }, seats: { concurrency: 4 }, doors: { rate: 20 } },
    queues: { default: { retain, workers: 40 }, narrow: { retain, limit: 'doors' } },
    schedules: [
      { name: 'each-second', job: ticking, when: 'every 1s', missed: 'skip' },
      { name: 'each-minute', job: ticking, when: '* * * * *', overlap: 'skip' },
    ],
    retain: { every: '5s', events: '1m', ticks: '1m', metrics: '10m' },
    log: 'silent',
  }
}
