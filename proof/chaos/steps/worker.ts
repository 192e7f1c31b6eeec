/**
 * A worker process of the scene `steps`. It writes every run of a step, and every result that a handler gets,
 * to its ledger. It reports `ready`, and ends with SIGKILL.
 */
import { openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineJob, type JobContext, jobmill } from 'jobmill'
import { nowMs } from '../../cluster/clock.ts'
import { storeAt } from '../../cluster/places.ts'
import { EVENT, EVENTS_KIND, type StepLine, STEPS_KIND, type StepsPayload, type StepTask } from './kinds.ts'

/** Longer than a wait that is not parked. */
const PARKED_MS = 1_100
const LONGEST_STEP_MS = 80

const { place, ledger } = JSON.parse(process.argv[2] ?? '{}') as StepTask
const ledgerFile = openSync(ledger, 'a')
let runs = 0

function write({ job }: JobContext<StepsPayload>, line: Omit<StepLine, 'job' | 'token' | 'at'>): void {
  writeSync(ledgerFile, `${JSON.stringify({ ...line, job: job.id, token: job.token, at: nowMs() })}\n`)
}

const stepping = defineJob({
  ...STEPS_KIND,
  async run(context: JobContext<StepsPayload>) {
    const { payload, step, job, signal } = context
    for (let n = 1; n <= payload.count; n += 1) {
      const name = `step ${n}`
      const value = await step.run(name, async () => {
        write(context, { what: 'ran', step: name })
        await sleep(Math.random() * LONGEST_STEP_MS, undefined, { signal })
        runs += 1
        // A second run would have another result.
        return `${job.token} ${runs}`
      })
      write(context, { what: 'saw', step: name, value })
      if (n === Math.floor(payload.count / 2)) await step.sleep('pause', PARKED_MS)
    }
  },
})

const listening = defineJob({
  ...EVENTS_KIND,
  async run(context: JobContext<StepsPayload>) {
    for (let n = 1; n <= context.payload.count; n += 1) {
      const name = `wait ${n}`
      write(context, { what: 'waits', step: name })
      const value = (await context.step.waitForEvent(EVENT, { name })) as number
      write(context, { what: 'saw', step: name, value })
    }
  },
})

const mill = jobmill({
  store: await storeAt(place),
  jobs: [stepping, listening],
  queues: { [STEPS_KIND.queue]: { workers: 4 }, [EVENTS_KIND.queue]: { workers: 64 } },
  lease: '3s',
  renewEvery: '1s',
  // Every job must end, however often its process is killed.
  crashesUntilDead: 1_000,
  log: 'error',
})
// The parent is gone, or Ctrl+C reached all processes; the parent decides.
process.on('disconnect', () => process.exit())
process.on('SIGINT', () => {})
await mill.start()
process.send?.('ready')
