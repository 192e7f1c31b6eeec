// Case steps-long: a job with 1,000 durable steps, one after the other. `ratio` compares the time of its last
// 100 steps with that of its first 100: the cost of a step should not grow with the number of steps. `resume`
// is the time from an event that wakes such a job until its handler, which runs again from its start, has
// passed the 1,000 recorded steps and received the event.
import type { Case, Figure } from '../case.ts'
import { deliveries } from '../cell/deliveries.ts'
import { percentile } from '../measure/percentile.ts'
import type { StepRunner } from '../system.ts'

const STEPS = 1_000
const PART = 100

export const stepsLongCase: Case = {
  names: ['steps-long'],
  warmsUp: true,
  async run(cell) {
    const runner = await cell.openSteps()
    for (let n = 0; n < cell.warmUp; n += 1) await longJob(runner)
    const jobs: readonly number[][] = await inTurn(cell.jobs, () => longJob(runner))
    const resumed = await inTurn(cell.jobs, () => runner.resume?.(STEPS))
    await runner.stop()
    const spent = (from: number, to: number): number =>
      jobs.reduce((sum, startedAt) => sum + ((startedAt[to] ?? 0) - (startedAt[from] ?? 0)), 0)
    const first = spent(0, PART)
    const last = spent(STEPS - 1 - PART, STEPS - 1)
    const perStep = (ms: number): number => (ms * 1_000) / PART / cell.jobs
    const figure = (part: string, unit: string, value: number): Figure => ({
      case: `${cell.case}-${part}`,
      unit,
      value,
    })
    const resumes = resumed.filter((ms) => ms !== undefined)
    return [
      {
        case: cell.case,
        unit: 'steps/s',
        value: ((STEPS - 1) * cell.jobs * 1_000) / spent(0, STEPS - 1),
      },
      figure('ratio', 'ratio', last / first),
      figure('first', 'µs/step', perStep(first)),
      figure('last', 'µs/step', perStep(last)),
      ...(resumes.length === 0 ? [] : [figure('resume', 'ms', percentile(resumes, 0.5))]),
    ]
  },
}

/** Returns when each step started. */
async function longJob(runner: StepRunner): Promise<number[]> {
  const delivered = deliveries(STEPS)
  const startedAt: number[] = []
  await runner.run({
    jobs: 1,
    steps: STEPS,
    started: () => Promise.resolve(),
    ran(_job, step) {
      startedAt.push(performance.now())
      delivered.ran(step)
    },
  })
  delivered.check()
  return startedAt
}

async function inTurn<Result>(
  count: number,
  run: () => Promise<Result> | Result,
): Promise<Awaited<Result>[]> {
  const results: Awaited<Result>[] = []
  for (let n = 0; n < count; n += 1) results.push(await run())
  return results
}
