/**
 * The config of `npm start`: jobs that succeed, fail, are throttled or use a rate limit, enqueued by
 * schedules. It uses the SQLite file jobs.db, or PostgreSQL if DATABASE_URL is set.
 */
import { defineJob, demoEcho, type JobContext, type MillOptions, Throttled } from 'jobmill'
import * as z from 'zod'

/** Some of these jobs fail in their first attempts, and some become dead. */
const flaky = defineJob({
  kind: 'demo.flaky',
  maxAttempts: 3,
  backoff: { fixed: '2s' },
  payload: z.object({ failTimes: z.int().min(0).max(10) }),
  run({ payload, attempt, log }) {
    log('trying', { attempt })
    if (attempt <= payload.failTimes) throw new Error(`the upstream said 503 to attempt ${attempt}`)
    return { attempt }
  },
})

/** Its upstream sometimes asks for a pause, which throttles the queue. */
const throttled = defineJob({
  kind: 'demo.throttled',
  queue: 'upstream',
  run({ job, now }: JobContext) {
    if (now() % 10_000 < 2_000 && job.crashes === 0) throw new Throttled({ retryAfter: '3s' })
    return { at: now() }
  },
})

/** Uses a rate limit that all processes share. */
const limited = defineJob({
  kind: 'demo.limited',
  async run({ limit, progress }: JobContext) {
    await limit.acquire('demo.mail')
    progress(100)
    return 'sent'
  },
})

const every = (name: string, job: { kind: string }, when: string, payload: unknown = null) => ({
  name: `demo-${name}`,
  job: job.kind,
  when,
  payload,
})

// A config may omit the store: the default is DATABASE_URL, or the file jobs.db.
export default {
  jobs: [demoEcho, flaky, throttled, limited],
  queues: { upstream: { workers: 2 } },
  limits: { 'demo.mail': { rate: 6, per: '1m' } },
  schedules: [
    every('echo', demoEcho, 'every 2s', { sleep: '300ms', value: 'hello' }),
    every('recovers', flaky, 'every 10s', { failTimes: 1 }),
    every('dies', flaky, 'every 30s', { failTimes: 9 }),
    every('throttled', throttled, 'every 3s'),
    every('limited', limited, 'every 12s'),
  ],
} satisfies Omit<MillOptions, 'store'>
