// Case steps: 64 jobs in flight with 10 durable no-op steps each, in waves: all jobs of a wave start at once,
// and the next wave starts when every outcome of the last one is written. A wave is measured from its first
// step, so that the figure contains the steps and the outcomes, and not the pickup: some peers poll once a
// second. The costs contain all.
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

/** Runs waves until they have taken so many seconds together. */
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
  let beganAt: number | undefined
  await runner.run({
    jobs,
    steps: STEPS,
    ran(job, step) {
      beganAt ??= performance.now()
      delivered.ran(job * STEPS + step)
    },
  })
  const endedAt = performance.now()
  delivered.check()
  return endedAt - (beganAt ?? Number.NaN)
}
