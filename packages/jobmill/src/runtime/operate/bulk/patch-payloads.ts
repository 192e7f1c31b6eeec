/**
 * Retries jobs with a patched payload. Each patched payload is checked before its job changes; a job whose
 * payload would be invalid is skipped and counted.
 */
import { ALERT_KIND } from '../../../job/alert/rule.ts'
import { isJobmillError } from '../../../job/errors.ts'
import type { JobDeclaration } from '../../../job/kind/declaration.ts'
import { entriesOf, pathsOfEntries } from '../../../job/payload/indexed.ts'
import { mergePatch, type MergePatch, partsNamedBy } from '../../../job/payload/merge-patch.ts'
import { firstIssue } from '../../../job/payload/schema.ts'
import { errorText, storableText } from '../../../job/text/error-text.ts'
import { jsonText } from '../../../job/text/json-text.ts'
import { PATCHED } from '../../../observe/timeline.ts'
import type { JobRecord } from '../../../store/types/job-record.ts'
import type { NewPayload } from '../../../store/types/new-payload.ts'
import type { Verdict } from '../../../store/types/replies.ts'
import type { FullStore } from '../../../store/store.ts'
import { shortened, storable, type TimelineWriter } from '../timeline-writer.ts'
import { BULK_KIND } from './bulk-filter.ts'

/** Why a patched payload is invalid. */
export interface PayloadProblem {
  /** A JSON pointer such as `/amount`. Empty for the payload as a whole. */
  readonly at: string
  readonly message: string
}

/** Skipped jobs whose payload is invalid at the same place. The message is that of the first. */
export interface InvalidPayloads extends PayloadProblem {
  readonly jobs: number
  /** The first of these jobs. */
  readonly id: string
}

/** What a patch does to a job. */
export interface PatchedJob {
  readonly id: string
  readonly kind: string
  readonly before: unknown
  readonly after: unknown
  /** Null if a retry accepts the patched payload. */
  readonly problem: PayloadProblem | null
}

interface PatchTools {
  readonly payloadLimitBytes: number
  readonly definition: (kind: string) => JobDeclaration | undefined
}

interface Change extends PatchedJob {
  readonly job: JobRecord
  /** The new payload as JSON text. Empty if it is invalid. */
  readonly text: string
}

/** Payloads may be large, so few are in memory at once. One transaction changes one batch. */
const BATCH = 50
/** How many different places are counted: a payload may have any keys. */
const MOST_COUNTED = 1_000
const MOST_REPORTED = 20

/** Payloads that must not be patched: a bulk action may delete jobs, and an alert is signed. */
const BUILT_IN: readonly string[] = [BULK_KIND, ALERT_KIND]

export function payloadPatcher(patch: MergePatch, { payloadLimitBytes, definition }: PatchTools) {
  async function changeOf(job: JobRecord): Promise<Change> {
    const { id, kind } = job
    const before: unknown = JSON.parse(job.payload)
    const after = mergePatch(before, patch)
    const change = { id, kind, before, after, job, text: '' }
    if (BUILT_IN.includes(kind))
      return { ...change, problem: { at: '', message: `payloads of ${kind} cannot be patched` } }
    try {
      const text = jsonText(after, 'payload', payloadLimitBytes)
      const schema = definition(kind)?.payload
      // As the handler will read it.
      const problem = schema === undefined ? null : await firstIssue(schema, JSON.parse(text))
      return { ...change, text, problem: problem && { ...problem, message: storableText(problem.message) } }
    } catch (error) {
      const message = isJobmillError(error) ? error.message.replace(/^payload: /, '') : errorText(error)
      return { ...change, problem: { at: '', message } }
    }
  }

  /** A process that does not define the kind knows only the paths that the job has entries for. */
  function newPayload({ job, text }: Change): NewPayload {
    const known = definition(job.kind)
    const paths = known === undefined ? pathsOfEntries(job.tags) : (known.indexedPayload ?? [])
    return { payload: text, entries: entriesOf(paths, text), endedAt: job.endedAt ?? 0 }
  }

  return {
    async preview(store: FullStore, id: string): Promise<PatchedJob | null> {
      const [job] = await store.get([id])
      if (job === undefined || job === null) return null
      const { job: _job, text: _text, ...shown } = await changeOf(job)
      return shown
    },

    retrying(store: FullStore, by: string, write: TimelineWriter) {
      const invalid = new Map<string, InvalidPayloads>()
      let skipped = 0

      function skip({ id, problem }: Change): void {
        if (problem === null) return
        skipped += 1
        const known = invalid.get(problem.at) ?? { ...problem, jobs: 0, id }
        if (known.jobs > 0 || invalid.size < MOST_COUNTED)
          invalid.set(problem.at, { ...known, jobs: known.jobs + 1 })
      }

      async function retryBatch(ids: readonly string[]): Promise<Verdict[]> {
        const jobs = (await store.get(ids)).filter((job) => job !== null)
        const changes = await Promise.all(jobs.filter(({ endedAt }) => endedAt !== null).map(changeOf))
        for (const change of changes) skip(change)
        const valid = changes.filter(({ problem }) => problem === null)
        const answers = await store.retry(
          valid.map(({ id }) => id),
          valid.map(newPayload),
        )
        const changed = new Set(answers.flatMap(({ id, verdict }) => (verdict === 'changed' ? id : [])))
        await write(valid.filter(({ id }) => changed.has(id)).map((change) => rowOf(change, patch, by)))
        const again = jobs.filter(({ endedAt }) => endedAt === null)
        return [...answers, ...again.map(({ id, state }): Verdict => ({ id, verdict: 'refused', state }))]
      }

      return {
        /** No verdict for skipped jobs. */
        async retry(ids: readonly string[], signal?: AbortSignal): Promise<Verdict[]> {
          const verdicts: Verdict[] = []
          for (let from = 0; from < ids.length; from += BATCH) {
            signal?.throwIfAborted()
            verdicts.push(...(await retryBatch(ids.slice(from, from + BATCH))))
          }
          return verdicts
        },
        report: () => ({
          skipped,
          invalid: [...invalid.values()].toSorted((a, b) => b.jobs - a.jobs).slice(0, MOST_REPORTED),
        }),
      }
    },
  }
}

/** A row in the timeline of the job: who patched it, and the patched parts before and after. */
function rowOf({ job, before, after }: Change, patch: MergePatch, by: string) {
  const { id, kind } = job
  const parts = [before, after].map((payload) => shortened(partsNamedBy(patch, payload)))
  const data = JSON.stringify({ kind, by, before: parts[0], after: parts[1] }, storable)
  // No queue: the timeline of a queue shows changes of the queue, not of its jobs.
  return { type: PATCHED, queue: null, job: id, data }
}
