/** The steps of a job: lists them, and runs a job again from a step. */
import { BOUNDS } from '../../job/defaults.ts'
import { invalidValue, type JobmillError, quote } from '../../job/errors.ts'
import type { JobHandle } from '../../job/enqueue/handle.ts'
import type { NewJob } from '../../job/enqueue/new-job.ts'
import { storedKind } from '../../job/kind/kind-name.ts'
import { checkId, checkKey } from '../../job/names.ts'
import { checkObjectKeys, nearest } from '../../job/options/known-keys.ts'
import { withoutEntries } from '../../job/payload/indexed.ts'
import type { EndedState } from '../../job/state.ts'
import { MAY_LAG } from '../../store/types/job-list.ts'
import type { JobRecord } from '../../store/types/job-record.ts'
import type { Verdict } from '../../store/types/replies.ts'
import type { ChildRecord, ParentRecord, StepKind, StepRecord } from '../../store/types/step.ts'
import type { PrepareJobs } from '../../work/steps/child-steps.ts'
import type { MillTools } from '../tools.ts'
import { one, type OperateAnswer } from './operate.ts'
import { type SendEventApi, sendEventApi } from './send-event.ts'

interface StepView extends Omit<StepRecord, 'result' | 'checkpoint'> {
  readonly kind: StepKind
  /** What the step returned, or the event that it received. Undefined if it has no result. */
  readonly result: unknown
  /** Undefined if the step saved none. */
  readonly checkpoint: unknown
  /** The jobs that the step enqueued and waits for. */
  readonly children: readonly ChildView[]
}

interface ChildView {
  readonly id: string
  /** Null while the child is waiting or running. */
  readonly endedAs: EndedState | null
  readonly error: string | null
}

interface RewindOptions {
  /** The name of the first step that runs again. */
  readonly from: string
}

interface ForkOptions extends RewindOptions {
  /** The payload of the new job. Default: that of the job. */
  readonly payload?: unknown
}

export interface StepsApi extends SendEventApi {
  /**
   * The durable steps of a job, with their results and what the job waits for. Includes at most 1,000
   * children in total. Null if the job is unknown.
   */
  steps(id: string): Promise<StepView[] | null>
  /** The job whose step enqueued this one and waits for it. Null if the job is not a child. */
  parentOf(id: string): Promise<ParentRecord | null>
  /**
   * Runs an ended job again from one of its steps. Earlier steps keep their results. Later steps can receive
   * their events again, and their children that have not ended are cancelled. Fails with STEP_UNKNOWN.
   */
  rewind(id: string, options: RewindOptions): Promise<OperateAnswer>
  /**
   * Enqueues a new job of the same kind, with the recorded steps of this one before `from`. Fails with
   * JOB_UNKNOWN, and with STEP_UNKNOWN.
   */
  fork(id: string, options: ForkOptions): Promise<JobHandle>
}

const MOST_CHILDREN = 1_000

export function stepsApi(
  tools: MillTools,
  { prepareJobs, handle }: { readonly prepareJobs: PrepareJobs; readonly handle: (id: string) => JobHandle },
): StepsApi {
  const { opened, store, lifecycle } = tools
  /** The place of a step of a job. */
  async function placeOf(id: string, name: unknown): Promise<number> {
    const from = checkKey(name, 'options.from', BOUNDS.stepNameChars)
    const records = await (await opened()).steps.list(id)
    if (records === null) throw unknownJob(id)
    const step = records.find((record) => record.name === from)
    if (step !== undefined) return step.place
    const names = records.map((record) => record.name)
    throw stepUnknown(from, names)
  }

  /** With the options of the job, but without its dedupe key, which the job may still hold. */
  async function copyOf(record: JobRecord, { payload }: ForkOptions): Promise<NewJob> {
    const { kind, minVersion, queue, priority, maxAttempts, timeoutMs, metadata, orderKey } = record
    const item = {
      payload: payload === undefined ? (JSON.parse(record.payload) as unknown) : payload,
      queue,
      priority,
      maxAttempts,
      tags: withoutEntries(record.tags),
      ...(timeoutMs !== null && { timeout: timeoutMs }),
      ...(metadata !== null && { metadata: JSON.parse(metadata) as Record<string, unknown> }),
      ...(orderKey !== null && { orderKey }),
    }
    const job = one(await prepareJobs(kind, [item], false))
    // The steps that it copies need the same versions.
    return { ...job, kind: storedKind({ kind, minVersion }), dedupe: null }
  }

  return {
    ...sendEventApi(tools),
    async steps(id) {
      const { steps } = await opened()
      const records = await steps.list(checkId(id, 'id'), MAY_LAG)
      if (records === null) return null
      const hasChildren = records.some(({ kind }) => kind === 'child')
      const children = hasChildren ? await steps.children(id, { limit: MOST_CHILDREN }) : []
      return records.map((record) => viewOf(record, children))
    },
    async parentOf(id) {
      return one(await (await opened()).steps.parents([checkId(id, 'id')]))
    },
    async rewind(id, options) {
      checkObjectKeys(options, 'options', ['from'])
      const place = await placeOf(checkId(id, 'id'), options.from)
      const answer = await store.steps.rewind(id, place)
      if (answer.state === 'ready') lifecycle.engine?.stageSoon()
      return rewindHint(answer)
    },
    async fork(id, options) {
      checkObjectKeys(options, 'options', ['from', 'payload'])
      const place = await placeOf(checkId(id, 'id'), options.from)
      const [record] = await store.get([id])
      if (record === undefined || record === null) throw unknownJob(id)
      const job = await copyOf(record, options)
      if (!(await store.steps.fork(id, place, job))) throw unknownJob(id)
      return handle(job.id)
    },
  }
}

function viewOf({ result, checkpoint, ...record }: StepRecord, children: readonly ChildRecord[]): StepView {
  const own = children.filter(({ step }) => step === record.name)
  return {
    ...record,
    result: parsed(result),
    checkpoint: parsed(checkpoint),
    children: own.map(({ id, endedAs, error }) => ({ id, endedAs, error })),
  }
}

function unknownJob(id: string): JobmillError {
  return invalidValue('id', id, 'no job has this id', 'Check the id', 'JOB_UNKNOWN')
}

function stepUnknown(name: string, names: readonly string[]): JobmillError {
  const close = nearest(name, names)
  const fix =
    names.length === 0
      ? 'Retry the job, or enqueue a copy: it has no steps'
      : close === undefined
        ? `Pass one of its steps: ${names.slice(0, 5).map(quote).join(', ')}`
        : `Did you mean ${quote(close)}?`
  return invalidValue('options.from', name, 'the job has no step with this name', fix, 'STEP_UNKNOWN')
}

function rewindHint(answer: Verdict): OperateAnswer {
  if (answer.verdict !== 'refused') return answer
  if (answer.holder !== undefined)
    return { ...answer, hint: `Job ${answer.holder} holds the dedupe key: wait for it, or cancel it` }
  return { ...answer, hint: `The job is ${answer.state ?? 'deleted'}: cancel it first, or fork it` }
}

function parsed(text: string | null): unknown {
  return text === null ? undefined : JSON.parse(text)
}
