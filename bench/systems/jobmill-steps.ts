// Jobs with durable steps on Jobmill, through its public API alone: a mill without options, except for as
// many workers as jobs are in flight.
import { defineJob, jobmill, type JobContext } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import { sqlite } from 'jobmill/sqlite'
import type { Place, StepRunner, StepWork } from '../system.ts'

/** As many as jobs are in flight. */
const WORKERS = 64

interface Payload {
  readonly n: number
  readonly steps: number
  readonly waits: boolean
}

const nothing = (): void => {}

export async function openSteps(place: Place): Promise<StepRunner> {
  let work: StepWork | undefined
  let resumed = nothing
  let allWritten = nothing
  let left = 0
  const stepping = defineJob({
    kind: 'stepping',
    async run({ payload, step }: JobContext<Payload>) {
      await work?.started()
      for (let at = 0; at < payload.steps; at += 1) {
        await step.run(`step ${at}`, () => {
          work?.ran(payload.n, at)
          return { ok: true }
        })
      }
      if (payload.waits) await step.waitForEvent('continue')
      resumed()
      return { ok: true }
    },
  })
  const mill = jobmill({
    store: place.store === 'sqlite' ? sqlite(place.url) : postgres(place.url),
    jobs: [stepping],
    queues: { default: { workers: WORKERS } },
  })
  await mill.start()
  // Emitted once the outcome is in the database.
  mill.on('finished', () => {
    left -= 1
    if (left === 0) allWritten()
  })
  const written = (jobs: number): Promise<void> => {
    left = jobs
    return new Promise((resolve) => void (allWritten = resolve))
  }
  return {
    async run(given) {
      const { jobs, steps } = given
      const all = written(jobs)
      work = given
      const items = Array.from({ length: jobs }, (_, n) => ({ payload: { n, steps, waits: false } }))
      await mill.enqueueMany(stepping, items)
      await all
    },
    async resume(steps) {
      work = undefined
      const ended = written(1)
      const parked = new Promise<void>((resolve) => {
        const off = mill.on('parked', () => {
          off()
          resolve()
        })
      })
      const job = await mill.enqueue(stepping, { n: 0, steps, waits: true })
      await parked
      const continued = new Promise<void>((resolve) => void (resumed = resolve))
      const beganAt = performance.now()
      await mill.sendEvent(job.id, 'continue')
      await continued
      const ms = performance.now() - beganAt
      await ended
      return ms
    },
    async stop() {
      await mill.stop()
    },
  }
}
