/**
 * The audit log: one timeline row for each manual change. Concurrent changes share a statement, and each row
 * is committed before the call that made it returns.
 */
import { isJobmillError } from '../../job/errors.ts'
import { DEFAULTS } from '../../job/defaults.ts'
import { checkId, checkSoughtName, checkString } from '../../job/names.ts'
import { checkJsonText } from '../../job/text/json-text.ts'
import { errorText, storableText } from '../../job/text/error-text.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import { AUDIT } from '../../observe/timeline.ts'
import { MAY_LAG } from '../../store/types/job-list.ts'
import type { NewTimelineEvent, TimelineEvent } from '../../store/types/metrics.ts'
import { nextPosition, timelineQuery } from '../report/observation.ts'
import type { MillTools } from '../tools.ts'

interface AuditEntry {
  readonly who: string
  readonly role: string
  /** The action: `jobs.retry`. */
  readonly what: string
  /** The target: a job id, a queue name. */
  readonly target: string
  readonly queue?: string
  readonly job?: string
  /**
   * `before` and `after` are stored as `{ shortened: TEXT }` if their JSON has more than 4,096 characters.
   * TEXT is the start of the JSON.
   */
  readonly before: unknown
  readonly after: unknown
}

interface AuditRecord extends Omit<AuditEntry, 'queue' | 'job'> {
  readonly at: number
  readonly queue: string | null
  readonly job: string | null
}

export interface AuditPage {
  /** Newest first. */
  readonly entries: readonly AuditRecord[]
  readonly next: string | null
}

export interface AuditQuery {
  readonly queue?: string
  readonly job?: string
  readonly from?: Date | number | string
  readonly to?: Date | number | string
  readonly limit?: number
  readonly cursor?: string
}

export interface Audit {
  write(entry: AuditEntry): Promise<void>
  list(query?: AuditQuery): Promise<AuditPage>
}

const ENTRY_KEYS = ['who', 'role', 'what', 'target', 'queue', 'job', 'before', 'after']
const QUERY_KEYS = ['queue', 'job', 'from', 'to', 'limit', 'cursor']

export function audit({ opened, platform }: MillTools): { readonly audit: Audit } {
  const source = platform.id()
  let seq = 0
  let waiting: NewTimelineEvent[] = []
  let next: Promise<void> | null = null
  let writing: Promise<void> = Promise.resolve()

  /** Runs one statement at a time. Entries that arrive during a statement go into the next one. */
  function writeSoon(): Promise<void> {
    next ??= writing.then(async () => {
      const events = waiting
      waiting = []
      next = null
      seq += 1
      const recording = { source, seq, deltas: [], own: [], events }
      const store = await opened()
      await store.metrics.record(recording).catch((error: unknown) => {
        // The recording has a sequence number, so a resend after a lost reply is not written twice.
        if (isJobmillError(error) && error.retryable) return store.metrics.record(recording)
        throw error
      })
    })
    const mine = next
    writing = mine.catch(() => {})
    return mine
  }

  return {
    audit: {
      async write(given) {
        checkObjectKeys(given, 'entry', ENTRY_KEYS)
        const { queue = null, job = null, ...whole } = given
        for (const key of ['who', 'role', 'what', 'target'] as const) checkString(whole[key], `entry.${key}`)
        const entry = { ...whole, before: shortened(whole.before), after: shortened(whole.after) }
        const data = JSON.stringify(entry, storable)
        checkJsonText(data, 'entry', DEFAULTS.payloadLimitBytes)
        waiting.push({
          type: AUDIT,
          agoMs: 0,
          queue: queue === null ? null : checkSoughtName(queue, 'entry.queue'),
          job: job === null ? null : checkId(job, 'entry.job'),
          data,
        })
        return writeSoon()
      },
      async list(query = {}) {
        checkObjectKeys(query, 'query', QUERY_KEYS)
        const asked = timelineQuery({ ...query, types: [AUDIT] })
        const events = await (await opened()).metrics.timeline(asked, MAY_LAG)
        return { entries: events.map(recordOf), next: nextPosition(events, asked) }
      },
    },
  }
}

/** Every event stream and the timeline read entries, and a payload in one can have a megabyte. */
function shortened(value: unknown): unknown {
  try {
    // Undefined for undefined and functions, which JSON omits.
    const text = JSON.stringify(value, storable) as string | undefined
    const stored = text === undefined ? undefined : storableText(text)
    return stored === text ? value : { shortened: stored }
  } catch (error) {
    // A change is recorded whatever its values are.
    return { shortened: `not JSON: ${errorText(error)}` }
  }
}

/** One text that a database refuses would lose the entries of all changes in the same statement. */
function storable(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value)
  if (entries.every(([key]) => cleanText(key) === key)) return value
  return Object.fromEntries(entries.map(([key, one]) => [cleanText(key), one]))
}

function cleanText(text: string): string {
  return storableText(text, Number.POSITIVE_INFINITY)
}

function recordOf({ at, queue, job, data }: TimelineEvent): AuditRecord {
  const entry = JSON.parse(data) as Omit<AuditEntry, 'queue' | 'job'>
  return { at, ...entry, queue, job }
}
