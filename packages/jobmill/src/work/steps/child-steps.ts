/** `step.child` and `step.children`: enqueue jobs once, and wait for their results. */
import { ChildFailed } from '../../job/step/child-failed.ts'
import { BOUNDS } from '../../job/defaults.ts'
import { checkArray } from '../../job/numbers.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import { ENQUEUE_OPTIONS } from '../../job/enqueue/prepare-jobs.ts'
import type { NewJob } from '../../job/enqueue/new-job.ts'
import type { EnqueueItem } from '../../job/enqueue/handle.ts'
import type { JobKind } from '../../job/kind/job-kind.ts'
import type { ChildOptions, Step } from '../../job/step/step.ts'
import type { ChildRecord, ChildrenStart, StepWait } from '../../store/types/step.ts'
import type { CalledStep } from './memos.ts'
import { childWithKey, resultsTooLarge } from './step-errors.ts'

type Target = string | JobKind

/** Validates jobs and completes them from their definition, without writing them. */
export type PrepareJobs = (
  target: Target,
  items: readonly EnqueueItem<unknown>[],
  many: boolean,
) => readonly NewJob[] | Promise<readonly NewJob[]>

interface ChildTools {
  /** Undefined for an abandoned handler. */
  readonly call: (name: unknown) => CalledStep | undefined
  readonly prepareJobs: PrepareJobs
  readonly start: (step: CalledStep, jobs: ChildrenStart['jobs']) => Promise<void>
  /** Resolves when all children of the step have ended. */
  readonly wait: (
    step: CalledStep,
    wait: Pick<StepWait, 'events' | 'waitMs' | 'until' | 'forChildren'>,
  ) => Promise<unknown>
  readonly read: (step: CalledStep) => Promise<readonly ChildRecord[]>
  /** Records the result, as JSON text, and returns what is stored. */
  readonly record: (step: CalledStep, result: string | null) => Promise<unknown>
  readonly stored: (step: CalledStep) => unknown
  readonly never: () => Promise<never>
}

const OPTIONS = ENQUEUE_OPTIONS.filter(
  (name) => !['id', 'dedupe', 'dedupeKey', 'debounce', 'tx'].includes(name),
)
const FOR_CHILDREN = { events: [], waitMs: null, until: null, forChildren: true }

export function childSteps(tools: ChildTools): Pick<Step, 'child' | 'children'> {
  async function results(
    step: CalledStep,
    target: Target,
    items: readonly EnqueueItem<unknown>[],
    many: boolean,
  ): Promise<readonly (string | null)[]> {
    // If the step has a row, an earlier attempt has enqueued its jobs.
    if (step.memo === undefined) {
      const jobs = await tools.prepareJobs(target, items, many)
      if (jobs.some(({ dedupe }) => dedupe !== null)) throw childWithKey(step.name)
      await tools.start(step, jobs)
    }
    await tools.wait(step, FOR_CHILDREN)
    const children = await tools.read(step)
    const failed = children.filter(({ endedAs }) => endedAs !== 'done')
    if (failed.length > 0) throw new ChildFailed(step.name, failed, children.length)
    const chars = children.reduce((sum, { result }) => sum + (result?.length ?? 0), 0)
    if (chars > BOUNDS.stepBytes) throw resultsTooLarge(step.name, children.length)
    return children.map(({ result }) => result)
  }

  return {
    async child(given: string, target: Target, ...[payload = null, options = {}]: [unknown?, ChildOptions?]) {
      const step = tools.call(given)
      if (step === undefined) return tools.never()
      if (step.memo?.isDone === true) return tools.stored(step) as never
      checkObjectKeys(options, 'options', OPTIONS)
      const [result = null] = await results(step, target, [{ ...options, payload }], false)
      return tools.record(step, result) as never
    },
    async children(given: string, target: Target, payloads: readonly unknown[], options: ChildOptions = {}) {
      const step = tools.call(given)
      if (step === undefined) return tools.never()
      if (step.memo?.isDone === true) return tools.stored(step) as never
      checkObjectKeys(options, 'options', OPTIONS)
      checkArray(payloads, 'payloads', 'Pass an array with the payload of each child')
      const items = Array.from(payloads, (payload) => ({ ...options, payload }))
      const all = items.length === 0 ? [] : await results(step, target, items, true)
      return tools.record(step, `[${all.map((result) => result ?? 'null').join(',')}]`) as never
    },
  }
}
