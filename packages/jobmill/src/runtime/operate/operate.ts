/** What operators can see and do, from any process. */
import { isJobmillError, type JobmillError, rephrase } from '../../job/errors.ts'
import { storableText } from '../../job/text/error-text.ts'
import { kindsOf } from '../../job/kind/kind-name.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import { checkId, checkKey, checkSoughtName, checkString } from '../../job/names.ts'
import { scopedKey } from '../../job/enqueue/new-job.ts'
import { noReply } from '../../job/no-reply.ts'
import { prepareQueueChange, type QueueChange } from '../../job/queue/queue-settings.ts'
import { MAY_LAG } from '../../store/types/job-list.ts'
import type { InstanceRecord, VersionRecord } from '../../store/types/instance.ts'
import {
  type QueueCounts,
  type QueueRecord,
  queueUnknown,
  type UnservedKind,
} from '../../store/types/queue-record.ts'
import type { Verdict } from '../../store/types/replies.ts'
import { limitOfQueueUnknown } from '../declare.ts'
import type { MillTools } from '../tools.ts'
import { byOf, type ByOption } from './overrides.ts'
import { type AttemptView, attemptView, type JobView, jobView } from './job-view.ts'
import { checkPolicyJob, type PolicyJob, policyOf, type PolicyView } from './policy.ts'

interface CancelOptions {
  /** Stored with the job, and the message of the `Interruption` that its signal carries. */
  readonly reason?: string
}

/**
 * The result of an operation on a job. An unknown id has the verdict `unknown`. If the operation was refused,
 * or had no effect because of an order key, `hint` says why or what to do instead.
 */
export interface OperateAnswer extends Verdict {
  readonly hint?: string
}

export interface Operate {
  get(id: string): Promise<JobView | null>
  /**
   * The timeout, max attempts and backoff that apply to a job, and where each comes from. Only a process that
   * defines the kind knows the options of the kind.
   */
  policy(job: PolicyJob & Pick<JobView, 'kind' | 'queue'>): Promise<PolicyView>
  /**
   * The id of the job that holds this dedupe key in the scope `global`, or null: what `enqueue` would report.
   * The job itself may be deleted already.
   */
  holder(dedupeKey: string): Promise<string | null>
  /** Its attempts, oldest first. */
  history(id: string): Promise<AttemptView[]>
  /**
   * The answer for a running job says `running`: its signal fires within a second (in this process, before
   * the call returns). A string is short for `{ reason }`, and so is an error, whose message is the reason.
   */
  cancel(id: string, options?: CancelOptions | string | Error): Promise<OperateAnswer>
  /** Queues a dead or cancelled job again with a full set of attempts. Its history is kept. */
  retry(id: string): Promise<OperateAnswer>
  /**
   * Makes a scheduled job ready now. A job that waits for its order key stays scheduled: `holder` is the job
   * that must end first.
   */
  runNow(id: string): Promise<OperateAnswer>
  /** Deletes a job with its history. Refused while it is running: cancel it first. */
  delete(id: string): Promise<OperateAnswer>
  queues(): Promise<QueueRecord[]>
  counts(): Promise<QueueCounts[]>
  instances(): Promise<InstanceRecord[]>
  /**
   * The versions that processes declared with `instance.version`, latest first, at most 100: when the first
   * process of each started, when the last one was alive, and how many there were and are. Covers the
   * processes of the last 90 days.
   */
  versions(): Promise<VersionRecord[]>
  /** Kinds with waiting jobs that no running process handles in their queue. */
  unservedKinds(): Promise<UnservedKind[]>
  /**
   * Stops claims from the queue; running jobs continue. A deploy does not resume it. Fails with QUEUE_UNKNOWN
   * if no queue has this name.
   */
  pause(queue: string, how?: ByOption): Promise<QueueRecord>
  resume(queue: string, how?: ByOption): Promise<QueueRecord>
  /**
   * Overrides the given options, in every process within a second. A deploy does not undo it;
   * `mill.resetOverrides` does.
   */
  changeQueue(queue: string, change: QueueChange, how?: ByOption): Promise<QueueRecord>
}

const NAME_A_QUEUE = "Pass the name of a queue such as 'default'"
const CANCELLED = 'cancelled by the application'

export function operate(tools: MillTools): Operate {
  const { opened, lifecycle, emit, forget, definition, by: us } = tools
  const changeQueue: Operate['changeQueue'] = async (queue, change, how) => {
    const by = byOf(how, us)
    const patch = prepareQueueChange(change)
    const name = checkSoughtName(checkString(queue, 'queue', NAME_A_QUEUE), 'queue')
    const store = await opened()
    return store.queues.change(name, patch, by).catch(async (error: unknown) => {
      if (!isJobmillError(error)) throw error
      if (error.code === 'LIMIT_UNKNOWN' && typeof change.limit === 'string')
        throw await limitOfQueueUnknown(store, change.limit, 'queue.limit')
      if (error.code !== 'QUEUE_UNKNOWN') throw asOptionOfQueue(error)
      // Without the names the error of the store is still correct.
      const known = (await store.queues.list().catch(() => [])).map((one) => one.name)
      throw queueUnknown(name, known)
    })
  }
  /** No worker will report the cancel of a waiting job, so emit the event here. */
  async function emitCancelled(id: string, reason: string): Promise<void> {
    const [record] = await (await opened()).get([id]).catch(() => [])
    if (record === undefined || record === null) return
    const { kind, queue, attempt, maxAttempts } = record
    emit('cancelled', { id: record.id, kind, queue, attempt, maxAttempts, reason })
  }

  return {
    async get(id) {
      const [record] = await (await opened()).get([checkId(id, 'id')])
      if (record === undefined || record === null) return null
      return jobView(record)
    },
    async policy(job) {
      checkPolicyJob(job)
      const queues = await (await opened()).queues.list()
      return policyOf(
        job,
        definition(job.kind),
        queues.find(({ name }) => name === job.queue),
      )
    },
    async holder(dedupeKey) {
      const key = scopedKey('global', checkKey(dedupeKey, 'dedupeKey'), { queue: '', kind: '' })
      return (await (await opened()).inspect.holders([key]))[0] ?? null
    },
    async history(id) {
      return (await (await opened()).history(checkId(id, 'id'))).map(attemptView)
    },
    async cancel(id, options = {}) {
      const reason = storableText(cancelReason(options))
      const answer = one(await (await opened()).cancel([checkId(id, 'id')], reason))
      if (answer.state === 'running') lifecycle.engine?.cancelled(answer.id, reason)
      else if (answer.verdict === 'changed') await emitCancelled(id, reason)
      return hinted('cancel', answer)
    },
    retry: async (id) => hinted('retry', one(await (await opened()).retry([checkId(id, 'id')]))),
    async runNow(id) {
      const store = await opened()
      const answer = one(await store.runNow([checkId(id, 'id')]))
      if (answer.state !== 'scheduled') return hinted('runNow', answer)
      const holder = await store.inspect.blocker(answer.id)
      if (holder === null) return answer
      return { ...answer, holder, hint: `The job waits for its order key: job ${holder} must end first` }
    },
    async delete(id) {
      const answer = one(await (await opened()).delete([checkId(id, 'id')]))
      forget([answer.id])
      return hinted('delete', answer)
    },
    queues: async () => (await opened()).queues.list(),
    counts: async () => (await opened()).counts(MAY_LAG),
    instances: async () =>
      (await (await opened()).instances.list()).map((one) => ({ ...one, kinds: kindsOf(one.kinds) })),
    versions: async () => (await opened()).inspect.versions(MAY_LAG),
    unservedKinds: async () => (await opened()).inspect.unservedKinds(MAY_LAG),
    pause: (queue, how) => changeQueue(queue, { paused: true }, how),
    resume: (queue, how) => changeQueue(queue, { paused: false }, how),
    changeQueue,
  }
}

/** Errors of a store name the field `limit`. In a change of a queue, that is an option of the queue. */
function asOptionOfQueue(error: JobmillError): JobmillError {
  if (error.field !== 'limit') return error
  return rephrase(error, { field: () => 'queue.limit' })
}

function cancelReason(options: CancelOptions | string | Error): string {
  if (typeof options === 'string') return options
  if (options instanceof Error) return checkString(options.message || CANCELLED, 'options.message')
  checkObjectKeys(options, 'options', ['reason'])
  return checkString(options.reason ?? CANCELLED, 'options.reason', 'Pass a string, or omit it')
}

export function one<T>([answer]: readonly T[]): T {
  if (answer === undefined) throw noReply()
  return answer
}

function hinted(verb: 'cancel' | 'retry' | 'runNow' | 'delete', answer: Verdict): OperateAnswer {
  if (answer.verdict !== 'refused') return answer
  if (answer.holder !== undefined)
    return { ...answer, hint: `Job ${answer.holder} holds the dedupe key: wait for it, or cancel it` }
  if (verb === 'cancel') return { ...answer, hint: 'The job has ended: delete it if it is no longer needed' }
  if (verb === 'delete') return { ...answer, hint: 'The job is running: cancel it first' }
  if (answer.state === 'done') return { ...answer, hint: 'The job is done: enqueue a copy to run it again' }
  if (verb === 'runNow' && answer.state !== 'running')
    return { ...answer, hint: 'The job has ended: retry it' }
  return { ...answer, hint: `The job is already ${answer.state ?? 'deleted'}` }
}
