/**
 * Applies one action to every job that matches a filter: counts first, then works in batches, and stops on
 * request.
 */
import { invalidValue } from '../../../job/errors.ts'
import { checkObjectKeys } from '../../../job/options/known-keys.ts'
import { checkKey, checkString } from '../../../job/names.ts'
import { checkOneOf, checkSignal } from '../../../job/numbers.ts'
import { checkPatch, type MergePatch } from '../../../job/payload/merge-patch.ts'
import { storableText } from '../../../job/text/error-text.ts'
import type { JobState } from '../../../job/state.ts'
import { namesOf } from '../../../store/types/job-list.ts'
import type { JobSummary } from '../../../store/types/job-record.ts'
import type { Verdict } from '../../../store/types/replies.ts'
import type { FullStore } from '../../../store/store.ts'
import { BULK_QUEUE, type BulkFilter, checkBulkFilter, findJobs } from './bulk-filter.ts'
import { FAILED_STATES } from '../errors/scan-failures.ts'
import { type ListedState, splitFilter, storedState } from '../list-filter.ts'
import { countedBy, isCounted } from '../list-jobs.ts'
import type { MillTools } from '../../tools.ts'
import { type TimelineWriter, timelineWriter } from '../timeline-writer.ts'
import { type InvalidPayloads, type PatchedJob, payloadPatcher } from './patch-payloads.ts'

export { BULK_KIND, BULK_QUEUE, type BulkFilter, isAboutActs } from './bulk-filter.ts'

export const BULK_ACTS = ['retry', 'run-now', 'cancel', 'delete'] as const
export type BulkAct = (typeof BULK_ACTS)[number]

interface Act {
  /** The states it applies to, in the order in which they are processed. */
  readonly states: readonly JobState[]
  readonly on: (store: FullStore, ids: readonly string[], reason: string) => Promise<Verdict[]>
}

const ACTS: Readonly<Record<BulkAct, Act>> = {
  retry: { states: ['dead', 'cancelled'], on: (store, ids) => store.retry(ids) },
  'run-now': { states: ['scheduled'], on: (store, ids) => store.runNow(ids) },
  cancel: {
    states: ['scheduled', 'ready', 'running'],
    on: (store, ids, reason) => store.cancel(ids, reason),
  },
  delete: {
    states: ['done', 'dead', 'cancelled', 'scheduled', 'ready'],
    on: (store, ids) => store.delete(ids),
  },
}

const OPTION_KEYS = ['signal', 'progress']

interface BulkOptions {
  /** Stops the action after the current batch. */
  readonly signal?: AbortSignal
  /** Receives the number of jobs scanned so far. */
  readonly progress?: (looked: number) => void
}

interface BulkRun extends BulkOptions {
  /** Used by cancel. */
  readonly reason?: string
  /**
   * Used by retry: a JSON merge patch (RFC 7396) of the payload of each job. Jobs whose patched payload is
   * invalid for the schema of their kind, if this process defines the kind, are skipped.
   */
  readonly patch?: Readonly<Record<string, unknown>>
  /** Who patches, for the timeline of each job (default: the label of this process). */
  readonly by?: string
}

interface BulkPreviewOptions extends BulkOptions, Pick<BulkRun, 'patch'> {}

/** What the action would change. */
export interface BulkPreview {
  readonly jobs: number
  readonly byState: Readonly<Partial<Record<JobState, number>>>
  /** Only with a patch: its effect on the first job. Null without a job. */
  readonly first?: PatchedJob | null
}

export interface BulkReport {
  readonly looked: number
  readonly changed: number
  /** Jobs whose state changed in the meantime, or whose dedupe key another job holds. */
  readonly refused: number
  /** Only with a patch: the number of jobs that were left as they were, because their payload is invalid. */
  readonly skipped?: number
  /** Only with a patch: where the payloads of skipped jobs are invalid. The 20 most frequent. */
  readonly invalid?: readonly InvalidPayloads[]
}

export interface Bulk {
  preview(act: BulkAct, filter: BulkFilter, options?: BulkPreviewOptions): Promise<BulkPreview>
  /**
   * Returns the filter restricted to jobs enqueued until now, by the database clock. Use it for an action
   * that runs later.
   */
  upToNow(filter: BulkFilter): Promise<BulkFilter>
  /** Processes every job that was enqueued before now, once each. Jobs enqueued later are not changed. */
  run(act: BulkAct, filter: BulkFilter, options?: BulkRun): Promise<BulkReport>
}

export function bulk(tools: MillTools): { readonly bulk: Bulk } {
  const { opened } = tools
  const { payloadLimitBytes } = tools.options
  const patcher = (patch: MergePatch) =>
    payloadPatcher(patch, { payloadLimitBytes, definition: tools.definition })
  let writer: TimelineWriter | undefined
  const write: TimelineWriter = (rows) => (writer ??= timelineWriter(tools))(rows)

  function patchOf(act: BulkAct, options: Pick<BulkRun, 'patch'>): MergePatch | undefined {
    if ('patch' in options && options.patch === undefined) {
      const fix = 'Pass a patch, or omit it to retry the jobs unchanged'
      throw invalidValue('options.patch', undefined, 'is undefined', fix)
    }
    return checkBulkPatch(act, options.patch, 'options.patch', payloadLimitBytes)
  }

  async function upToNow(given: BulkFilter): Promise<BulkFilter> {
    const filter = checkBulkFilter(given)
    // Jobs given by id already exist.
    if (filter.ids !== undefined) return filter
    const now = await (await opened()).now()
    return { ...filter, enqueuedBefore: Math.min(filter.enqueuedBefore ?? Number.MAX_SAFE_INTEGER, now + 1) }
  }

  return {
    bulk: {
      upToNow,
      async preview(act, given, options = {}) {
        const filter = checkBulkFilter(given)
        const states = statesOf(act, filter)
        checkObjectKeys(options, 'options', [...OPTION_KEYS, 'patch'])
        checkSignal(options.signal, 'options.signal')
        const patch = patchOf(act, options)
        const store = await opened()
        let byState: Partial<Record<JobState, number>> = {}
        let looked = 0
        if (isCounted(filter, states)) {
          const queues = namesOf(filter.queue)
          const isMeant = (queue: string): boolean => queues?.includes(queue) ?? queue !== BULK_QUEUE
          byState = countedBy(await store.counts(), isMeant, states)
        } else
          for await (const jobs of findJobs(store, filter, states, options.signal)) {
            looked += jobs.length
            for (const { state } of jobs) byState[state] = (byState[state] ?? 0) + 1
            options.progress?.(looked)
          }
        const jobs = Object.values(byState).reduce((sum, n) => sum + n, 0)
        if (patch === undefined) return { jobs, byState }
        for await (const [job] of findJobs(store, filter, states, options.signal))
          if (job !== undefined) return { jobs, byState, first: await patcher(patch).preview(store, job.id) }
        return { jobs, byState, first: null }
      },
      async run(act, given, options = {}) {
        const states = statesOf(act, checkBulkFilter(given))
        checkObjectKeys(options, 'options', [...OPTION_KEYS, 'reason', 'patch', 'by'])
        checkSignal(options.signal, 'options.signal')
        const { signal, progress, reason = 'cancelled by an operator' } = options
        const storedReason = storableText(checkString(reason, 'options.reason', 'Pass a string, or omit it'))
        const patch = patchOf(act, options)
        const by = options.by === undefined ? tools.by() : checkKey(options.by, 'options.by')
        const filter = await upToNow(given)
        const store = await opened()
        const report = { looked: 0, changed: 0, refused: 0 }
        const patched = patch === undefined ? null : patcher(patch).retrying(store, by, write)
        for await (const jobs of findJobs(store, filter, states, signal)) {
          const ids = jobs.map(({ id }) => id)
          const verdicts = await (patched?.retry(ids, signal) ?? ACTS[act].on(store, ids, storedReason))
          if (patched === null) applySideEffects(act, jobs, verdicts, storedReason)
          report.looked += jobs.length
          report.changed += verdicts.filter(({ verdict }) => verdict === 'changed').length
          report.refused += verdicts.filter(({ verdict }) => verdict === 'refused').length
          progress?.(report.looked)
        }
        return patched === null ? report : { ...report, ...patched.report() }
      },
    },
  }

  /**
   * Applies the side effects that the same action on one job has in this process, such as aborting a running
   * handler.
   */
  function applySideEffects(
    act: BulkAct,
    jobs: readonly JobSummary[],
    verdicts: readonly Verdict[],
    reason: string,
  ): void {
    if (act === 'delete') tools.forget(verdicts.map(({ id }) => id))
    if (act !== 'cancel') return
    for (const [at, { verdict, state }] of verdicts.entries()) {
      const job = jobs[at]
      if (job === undefined) continue
      const { id, kind, queue, attempt, maxAttempts } = job
      if (state === 'running') tools.lifecycle.engine?.cancelled(id, reason)
      else if (verdict === 'changed')
        tools.emit('cancelled', { id, kind, queue, attempt, maxAttempts, reason })
    }
  }
}

/** The patch of the action, as JSON. Only a retry may have one. */
export function checkBulkPatch(
  act: BulkAct,
  patch: unknown,
  field: string,
  limitBytes: number,
): MergePatch | undefined {
  if (patch === undefined) return undefined
  if (act === 'retry') return checkPatch(patch, field, limitBytes)
  throw invalidValue(field, patch, `does not apply to ${act}`, 'Omit it, or use retry')
}

/** The states that the action changes. Throws if the filter names a state that it cannot change. */
export function statesOf(act: BulkAct, { state, fingerprint }: BulkFilter): readonly ListedState[] {
  const all = ACTS[checkOneOf(act, 'act', BULK_ACTS)].states
  const states =
    fingerprint === undefined ? all : all.filter((one) => FAILED_STATES.some((state) => state === one))
  const asked = splitFilter(state === undefined ? {} : { state }).states
  if (asked === undefined) return states
  const wrong = asked.find((one) => !states.includes(storedState(one)))
  if (wrong === undefined) return asked
  const what =
    fingerprint === undefined
      ? `${act} does not apply to jobs in this state`
      : `${act} with a fingerprint does not apply to jobs in this state`
  const fix = `Pass ${states.join(' or ')}, or omit state to include every state that the action applies to`
  throw invalidValue('filter.state', wrong, what, fix)
}
