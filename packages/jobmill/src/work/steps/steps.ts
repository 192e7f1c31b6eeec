/** Durable steps of all attempts of this process: reads what is recorded, and writes in batches. */
import { trouble } from '../../job/attempt/trouble.ts'
import type { Emit } from '../../job/events.ts'
import type { Step } from '../../job/step/step.ts'
import { pauses } from '../../platform/pauses.ts'
import type { Platform } from '../../platform/platform.ts'
import { isDataError } from '../../job/errors.ts'
import type { FullStore } from '../../store/store.ts'
import type { Memo, StepWait, StepWrite, Waited } from '../../store/types/step.ts'
import type { Attempt } from '../attempt.ts'
import { attemptSteps, type StepTools } from './attempt-steps.ts'
import { coalesce } from './coalesce.ts'

interface StepsOptions {
  readonly store: FullStore
  readonly platform: Platform
  readonly emit: Emit
  readonly holdsPermit: StepTools['holdsPermit']
}

export function steps({ store, platform, emit, holdsPermit }: StepsOptions) {
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
  const tools: StepTools = {
    platform,
    record,
    wait,
    holdsPermit,
    recordInTx: async (item, tx) => (await store.steps.record([item], { tx }))[0] === true,
  }

  async function read(attempt: Attempt): Promise<readonly Memo[]> {
    const pause = pauses(platform, { firstMs: 50, longestMs: 2_000 })
    for (;;) {
      try {
        const [memos = []] = await store.steps.read([attempt.lease.id])
        return memos
      } catch (error) {
        if (isDataError(error) || attempt.interruption !== null) throw error
        recording.failing(error)
        await pause.wait()
      }
    }
  }

  return {
    /** `step` of an attempt. `memos` are what earlier attempts recorded. */
    of: (attempt: Attempt, memos: readonly Memo[]): Step => attemptSteps(attempt, memos, tools),
    /** Read before the handler runs, and only for jobs that may have some. */
    read,
  }
}
