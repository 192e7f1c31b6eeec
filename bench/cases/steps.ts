// Case steps: 64 jobs in flight with 10 durable no-op steps each, in waves. A wave is measured from the
// moment when all its jobs run until every outcome is written: the rate contains the steps and the outcomes,
// but neither enqueue nor pickup, because some peers poll once a second. The costs contain all.
import type { Case, Figure } from '../case.ts'
import { deliveries } from '../cell/deliveries.ts'
import { measureUsage, usageFigures } from '../measure/usage.ts'
import type { StepRunner } from '../system.ts'

const STEPS = 10

export const stepsCase: Case = {
  names: ['steps'],
  warmsUp: true,
  async run(cell) {
    const { case: name, jobs } = cell
    const runner = await cell.openSteps()
    await waves(runner, jobs, cell.warmUpSeconds)
    const end = await measureUsage(cell)
    const { steps, ms } = await waves(runner, jobs, cell.seconds)
    const usage = await end()
    await runner.stop()
    const figures: Figure[] = [
      { case: name, unit: 'steps/s', value: (steps / ms) * 1_000 },
      ...usageFigures(name, steps, usage, 'step'),
      { case: `${name}-noise`, unit: 'cores', value: usage.noise },
    ]
    return figures
  },
}

/** Runs waves until they have taken this many seconds in total. */
async function waves(
  runner: StepRunner,
  jobs: number,
  seconds: number,
): Promise<{ readonly steps: number; readonly ms: number }> {
  let steps = 0
  let ms = 0
  while (ms < seconds * 1_000) {
    ms += await wave(runner, jobs)
    steps += jobs * STEPS
  }
  return { steps, ms }
}

async function wave(runner: StepRunner, jobs: number): Promise<number> {
  const delivered = deliveries(jobs * STEPS)
  const { promise: allRun, resolve: begin } = Promise.withResolvers<void>()
  let started = 0
  let beganAt = Number.NaN
  await runner.run({
    jobs,
    steps: STEPS,
    started() {
      started += 1
      if (started === jobs) {
        beganAt = performance.now()
        begin()
      }
      return allRun
    },
    ran: (job, step) => delivered.ran(job * STEPS + step),
  })
  const endedAt = performance.now()
  delivered.check()
  return endedAt - beganAt
}
