/** One act on every job that a filter finds: counted first, then done in batches, and stopped when somebody asks for it. */
import { JobmillError, shown } from '../job/errors.ts'
import { checkOneOf } from '../job/numbers.ts'
import type { JobState } from '../job/state.ts'
import type { JobFilter } from '../store/job-list.ts'
import type { JobSummary } from '../store/job-record.ts'
import type { Verdict } from '../store/replies.ts'
import type { Store } from '../store/store.ts'
import type { OperateTools } from './operate.ts'

/** Acts are jobs too, where somebody asks for them over HTTP; in a queue of their own, so that they do not wait behind the jobs that they are about. */
export const BULK_KIND = 'jobmill.bulk'
export const BULK_QUEUE = 'jobmill'

export const BULK_ACTS = ['retry', 'run-now', 'cancel', 'delete'] as const
export type BulkAct = (typeof BULK_ACTS)[number]

/** On jobs of which states an act does something, in the order in which they are gone through. */
const STATES: Readonly<Record<BulkAct, readonly JobState[]>> = {
  retry: ['dead', 'cancelled'],
  'run-now': ['scheduled'],
  cancel: ['scheduled', 'ready', 'running'],
  delete: ['done', 'dead', 'cancelled', 'scheduled', 'ready'],
}

export interface BulkOptions {
  /** Ends it after the batch that is under way. */
  readonly signal?: AbortSignal
  /** Hears how many were looked at. */
  readonly progress?: (looked: number) => void
}

export interface BulkRun extends BulkOptions {
  /** For a cancel. */
  readonly reason?: string
}

/** What an act would change. */
export interface BulkPreview {
  readonly jobs: number
  readonly byState: Readonly<Partial<Record<JobState, number>>>
}

export interface BulkReport {
  readonly looked: number
  readonly changed: number
  /** Their state had changed meanwhile, or another job has their dedupe key. */
  readonly refused: number
}

export interface Bulk {
  preview(act: BulkAct, filter: JobFilter, options?: BulkOptions): Promise<BulkPreview>
  /** The filter, and of what it finds only what was enqueued up to now by the database's clock: for an act that begins later. */
  upToNow(filter: JobFilter): Promise<JobFilter>
  /** Every job that was enqueued before now, once each. Jobs that come meanwhile are left alone. */
  run(act: BulkAct, filter: JobFilter, options?: BulkRun): Promise<BulkReport>
}

const BATCH = 500

export function bulk(tools: OperateTools): { readonly bulk: Bulk } {
  const { opened } = tools

  async function upToNow(filter: JobFilter): Promise<JobFilter> {
    const now = await (await opened()).now()
    return { ...filter, enqueuedBefore: Math.min(filter.enqueuedBefore ?? Number.MAX_SAFE_INTEGER, now + 1) }
  }

  return {
    bulk: {
      upToNow,
      async preview(act, filter, options = {}) {
        const store = await opened()
        const states = statesOf(act, filter)
        const byState = isCounted(filter) ? await counted(store, filter, states) : {}
        if (!isCounted(filter)) {
          let looked = 0
          for (const state of states)
            for await (const jobs of pages(store, { ...filter, state }, options.signal)) {
              looked += jobs.length
              byState[state] = (byState[state] ?? 0) + jobs.length
              options.progress?.(looked)
            }
        }
        return { jobs: Object.values(byState).reduce((sum, n) => sum + n, 0), byState }
      },
      async run(act, filter, options = {}) {
        const store = await opened()
        const { signal, progress, reason = 'cancelled by an operator' } = options
        const bounded = await upToNow(filter)
        const report = { looked: 0, changed: 0, refused: 0 }
        for (const state of statesOf(act, filter))
          for await (const jobs of pages(store, { ...bounded, state }, signal)) {
            const verdicts = await acted(act, store, jobs, reason)
            tell(act, jobs, verdicts, reason)
            report.looked += jobs.length
            report.changed += verdicts.filter(({ verdict }) => verdict === 'changed').length
            report.refused += verdicts.filter(({ verdict }) => verdict === 'refused').length
            progress?.(report.looked)
          }
        return report
      },
    },
  }

  /** What the same act on a single job does here beside the write. */
  function tell(
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
      if (state === 'running') tools.cancelledHere(id, reason)
      else if (verdict === 'changed')
        tools.emit('cancelled', { id, kind, queue, attempt, maxAttempts, reason })
    }
  }
}

/** Of which states the jobs are that an act changes; refused when the filter names one of which none is. */
export function statesOf(act: BulkAct, { state }: JobFilter): readonly JobState[] {
  const states = STATES[checkOneOf(act, 'act', BULK_ACTS)]
  if (state === undefined) return states
  if (states.includes(state)) return [state]
  throw new JobmillError('OPTION_INVALID', `a job that is ${state} cannot be acted on by ${act}`, {
    field: 'filter.state',
    value: shown(state),
    fix: `Use ${states.join(', ')}, or leave it out`,
  })
}

/** Whether the counts of queues tell it, so that no job has to be looked at. */
function isCounted(filter: JobFilter): boolean {
  return Object.entries(filter).every(
    ([key, value]) => value === undefined || key === 'queue' || key === 'state',
  )
}

async function counted(
  store: Store,
  { queue }: JobFilter,
  states: readonly JobState[],
): Promise<Partial<Record<JobState, number>>> {
  const isMeant = (one: string): boolean => (queue === undefined ? one !== BULK_QUEUE : one === queue)
  const counts = (await store.counts()).filter((one) => isMeant(one.queue))
  return Object.fromEntries(states.map((state) => [state, counts.reduce((sum, one) => sum + one[state], 0)]))
}

/** An act on everything does not mean itself, and those that were before it: to cancel all jobs would end it half-way. */
export function isAboutActs({ kind, queue }: JobFilter): boolean {
  return kind === BULK_KIND || queue === BULK_QUEUE
}

/** A page at a time, however many rows have to be looked at for one. What an act takes out of its list is behind the cursor by then. */
async function* pages(
  store: Store,
  filter: JobFilter,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly JobSummary[]> {
  let cursor: string | null = null
  do {
    signal?.throwIfAborted()
    const page = await store.list(filter, { limit: BATCH, ...(cursor !== null && { cursor }) })
    const jobs = isAboutActs(filter) ? page.jobs : page.jobs.filter(({ kind }) => kind !== BULK_KIND)
    if (jobs.length > 0) yield jobs
    cursor = page.next
  } while (cursor !== null)
}

function acted(act: BulkAct, store: Store, jobs: readonly JobSummary[], reason: string): Promise<Verdict[]> {
  const ids = jobs.map(({ id }) => id)
  switch (act) {
    case 'retry':
      return store.retry(ids)
    case 'run-now':
      return store.runNow(ids)
    case 'cancel':
      return store.cancel(ids, reason)
    case 'delete':
      return store.delete(ids)
  }
}
