/**
 * A job with durable steps: short and parked sleeps, waits for events one after another and at once, and
 * steps that fail. It records what runs, and what its handler sees.
 */
import { type AnyJob, defineJob, type JobContext, type StepContext } from 'jobmill'
import type { Chance } from '../chance.ts'
import { pause } from '../process/pause.ts'
import type { SimulatedProcess } from '../process/process.ts'
import type { Recorder } from '../recorder.ts'

export const STEP_KIND = 'stepping'
/** The step that runs while another wait of its job is pending. */
export const REMINDER = 'reminder'
const FAILS = 0.12
const LONGEST_STEP_MS = 40

/** Drawn by the caller. A wait of up to a second is not parked. */
export interface StepPayload {
  readonly napMs: number
  readonly remindMs: number
  readonly timeoutMs: number
}

export function stepJob(
  { owner, platform }: Pick<SimulatedProcess, 'owner' | 'platform'>,
  recorder: Recorder,
  chance: Chance,
): AnyJob {
  return defineJob({
    kind: STEP_KIND,
    async run(context: JobContext<StepPayload>) {
      const { job, signal } = context
      const attempt = { job: job.id, token: job.token, instance: owner.name }
      recorder.note({ what: 'started', ...attempt, heldUpMs: 0 })
      try {
        await workflow(context, stepsOf(context))
      } finally {
        if (!signal.aborted) recorder.note({ what: 'ended', ...attempt })
      }
    },
  })

  function stepsOf({ job, step, signal }: JobContext<StepPayload>) {
    const attempt = { job: job.id, token: job.token }
    const saw = (name: string, value: unknown): void => {
      const text = value === undefined || value === null ? null : JSON.stringify(value)
      recorder.note({ what: 'step returned', ...attempt, step: name, value: text })
    }
    return {
      async work(name: string) {
        const run = async (_: StepContext): Promise<string> => {
          recorder.note({ what: 'step ran', ...attempt, step: name })
          await pause(platform, chance.between(0, LONGEST_STEP_MS), signal)
          if (chance.isIt(FAILS)) throw new Error('as planned')
          // A second run would have another result.
          return `${name} under ${job.token}`
        }
        saw(name, await step.run(name, run))
      },
      async sleep(name: string, ms: number) {
        await step.sleep(name, ms)
        recorder.note({ what: 'step returned', ...attempt, step: name, value: null, isSleep: true })
      },
      async wait(name: string, event: string, timeout?: number) {
        saw(name, await step.waitForEvent([event], { name, ...(timeout !== undefined && { timeout }) }))
      },
    }
  }
}

type Steps = {
  readonly work: (name: string) => Promise<void>
  readonly sleep: (name: string, ms: number) => Promise<void>
  readonly wait: (name: string, event: string, timeout?: number) => Promise<void>
}

async function workflow({ payload }: JobContext<StepPayload>, { work, sleep, wait }: Steps): Promise<void> {
  await work('begin')
  await sleep('nap', payload.napMs)
  // The event may be sent only after the reminder.
  const remind = async (): Promise<void> => {
    await sleep('before reminder', payload.remindMs)
    await work(REMINDER)
  }
  await Promise.all([remind(), wait('answer', 'answer')])
  await Promise.all([wait('first note', 'note'), wait('second note', 'note')])
  await wait('bonus', 'bonus', payload.timeoutMs)
  await work('end')
}
