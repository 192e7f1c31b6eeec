/** Durable steps of all attempts of this process: reads what is recorded, and writes in batches. */
import { trouble } from '../../job/attempt/trouble.ts'
import type { Emit } from '../../job/events.ts'
import type { Step } from '../../job/step/step.ts'
import { pauses } from '../../platform/pauses.ts'
import type { Platform } from '../../platform/platform.ts'
import { isDataError } from '../../job/errors.ts'
import type { FullStore } from '../../store/store.ts'
import type { ChildrenStart, Memo, StepWait, StepWrite, Waited } from '../../store/types/step.ts'
import type { Attempt } from '../attempt.ts'
import { attemptSteps, type StepJob, type StepTools } from './attempt-steps.ts'
import { coalesce } from './coalesce.ts'

interface StepsOptions {
  readonly store: FullStore
  readonly platform: Platform
  readonly emit: Emit
  readonly holdsPermit: StepTools['holdsPermit']
  readonly prepareJobs: StepTools['prepareJobs']
}

export function steps({ store, platform, emit, holdsPermit, prepareJobs }: StepsOptions) {
  const recording = { platform, ...trouble('steps', emit) }
  const record = coalesce<StepWrite, boolean>({
    ...recording,
    send: (items) => store.steps.record(items),
    charsOf: ({ result, checkpoint }) => (result?.length ?? 0) + (checkpoint?.length ?? 0),
  })
  const wait = coalesce<StepWait, Waited>({
    ...recording,
    send: (items) => store.steps.wait(items),
    charsOf: () => 0,
  })
  const start = coalesce<ChildrenStart, boolean>({
    ...recording,
    send: (items) => store.steps.start(items),
    charsOf: ({ jobs }) => jobs.reduce((sum, { payload }) => sum + payload.length, 0),
  })
  const tools: StepTools = {
    platform,
    emit,
    record,
    start,
    wait,
    children: (step, attempt) => untilRead(attempt, () => store.steps.children(attempt.lease.id, { step })),
    prepareJobs,
    holdsPermit,
    recordInTx: async (item, tx) => (await store.steps.record([item], { tx }))[0] === true,
  }

  async function untilRead<T>(attempt: Attempt, read: () => Promise<T>): Promise<T> {
    const pause = pauses(platform, { firstMs: 50, longestMs: 2_000 })
    for (;;) {
      try {
        return await read()
      } catch (error) {
        if (isDataError(error) || attempt.interruption !== null) throw error
        recording.failing(error)
        await pause.wait()
      }
    }
  }

  return {
    /** `step` of an attempt. */
    of: (attempt: Attempt, job: StepJob): Step => attemptSteps(attempt, job, tools),
    /** Called before the handler runs, and only for jobs that may have recorded steps. */
    read: (attempt: Attempt): Promise<readonly Memo[]> =>
      untilRead(attempt, async () => (await store.steps.read([attempt.lease.id]))[0] ?? []),
  }
}
