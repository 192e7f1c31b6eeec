/**
 * The jobs of simulated deploys: a kind with durable steps, whose releases have different versions, and a
 * kind without steps. In most releases both have `onCancelled`.
 */
import { type AnyJob, type CancelledContext, Dead, defineJob, type JobContext, Snooze } from 'jobmill'
import type { Chance } from '../chance.ts'
import { pause } from '../process/pause.ts'
import type { SimulatedProcess } from '../process/process.ts'
import type { Recorder } from '../recorder.ts'

export const DEPLOYED = 'deployed'
export const PLAIN = 'undoable'
const FAILS = 0.15
const LONGEST_STEP_MS = 60

export interface Release {
  /** Of the kind with steps. */
  readonly version: number | undefined
  readonly hasOnCancelled: boolean
}

export interface DeployPayload {
  /** How long the plain kind takes, and the sleep of the other one. */
  readonly ms: number
  /** The kind with steps waits for an event that no caller sends. */
  readonly timeoutMs: number
  /** The plain handler ignores its signal. */
  readonly isDeaf: boolean
}

type Context = Pick<JobContext<DeployPayload>, 'job' | 'signal'>

export function deployJobs(
  { owner, platform }: Pick<SimulatedProcess, 'owner' | 'platform'>,
  recorder: Recorder,
  chance: Chance,
  { version, hasOnCancelled }: Release,
): readonly AnyJob[] {
  const attemptOf = ({ job }: Context) => ({ job: job.id, token: job.token, instance: owner.name })

  async function noted(context: Context, work: () => Promise<void>, ran?: number): Promise<void> {
    const attempt = attemptOf(context)
    recorder.note({
      what: 'started',
      ...attempt,
      heldUpMs: 0,
      ...(ran !== undefined && { version: ran }),
    })
    try {
      await work()
    } finally {
      if (!context.signal.aborted) recorder.note({ what: 'ended', ...attempt })
    }
  }

  async function steps(context: JobContext<DeployPayload>): Promise<void> {
    const { job, payload, step, signal } = context
    const attempt = { job: job.id, token: job.token }
    const work = async (name: string): Promise<void> => {
      const value = await step.run(name, async () => {
        recorder.note({ what: 'step ran', ...attempt, step: name })
        await pause(platform, chance.between(0, LONGEST_STEP_MS), signal)
        if (chance.isIt(FAILS)) throw new Error('as planned')
        return `${name} under ${job.token}`
      })
      recorder.note({ what: 'step returned', ...attempt, step: name, value: JSON.stringify(value) })
    }
    // The first thing that is recorded may be a wait.
    if (payload.isDeaf) await step.sleep('first', payload.ms)
    await work('begin')
    await step.sleep('nap', payload.ms)
    await work('middle')
    await step.waitForEvent('never', { timeout: payload.timeoutMs })
    await work('end')
  }

  async function plain({ payload, signal }: JobContext<DeployPayload>): Promise<void> {
    await pause(platform, payload.ms, payload.isDeaf ? new AbortController().signal : signal)
    const drawn = chance.next()
    if (drawn < FAILS) throw new Error('as planned')
    if (drawn < 0.2) throw new Snooze('300ms')
    if (drawn < 0.25) throw new Dead('as planned')
  }

  async function onCancelled(context: CancelledContext): Promise<void> {
    const { job, cancelled, steps: recorded } = context
    await noted(context, async () => {
      for (const { name, result } of recorded)
        if (typeof result === 'string')
          recorder.note({
            what: 'step returned',
            job: cancelled.id,
            token: job.token,
            step: name,
            value: JSON.stringify(result),
          })
      await pause(platform, chance.between(0, LONGEST_STEP_MS), context.signal)
      if (chance.isIt(FAILS)) throw new Error('as planned')
    })
  }

  return [
    defineJob({
      kind: DEPLOYED,
      ...(version !== undefined && { version }),
      run: (context: JobContext<DeployPayload>) => noted(context, () => steps(context), version ?? 0),
      ...(hasOnCancelled && { onCancelled }),
    }),
    defineJob({
      kind: PLAIN,
      run: (context: JobContext<DeployPayload>) => noted(context, () => plain(context)),
      ...(hasOnCancelled && { onCancelled }),
    }),
  ]
}
