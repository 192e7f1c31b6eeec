/** The audit log: one timeline row for each manual change. */
import { DEFAULTS } from '../../job/defaults.ts'
import { checkId, checkSoughtName, checkString } from '../../job/names.ts'
import { checkJsonText } from '../../job/text/json-text.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import { AUDIT } from '../../observe/timeline.ts'
import { MAY_LAG } from '../../store/types/job-list.ts'
import type { TimelineEvent } from '../../store/types/metrics.ts'
import { nextPosition, timelineQuery } from '../report/observation.ts'
import type { MillTools } from '../tools.ts'
import { shortened, storable, timelineWriter } from './timeline-writer.ts'

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

export function audit(tools: Pick<MillTools, 'opened' | 'platform'>): { readonly audit: Audit } {
  const write = timelineWriter(tools)

  return {
    audit: {
      async write(given) {
        checkObjectKeys(given, 'entry', ENTRY_KEYS)
        const { queue = null, job = null, ...whole } = given
        for (const key of ['who', 'role', 'what', 'target'] as const) checkString(whole[key], `entry.${key}`)
        const entry = { ...whole, before: shortened(whole.before), after: shortened(whole.after) }
        const data = JSON.stringify(entry, storable)
        checkJsonText(data, 'entry', DEFAULTS.payloadLimitBytes)
        const about = {
          queue: queue === null ? null : checkSoughtName(queue, 'entry.queue'),
          job: job === null ? null : checkId(job, 'entry.job'),
        }
        return write([{ type: AUDIT, ...about, data }])
      },
      async list(query = {}) {
        checkObjectKeys(query, 'query', QUERY_KEYS)
        const asked = timelineQuery({ ...query, types: [AUDIT] })
        const events = await (await tools.opened()).metrics.timeline(asked, MAY_LAG)
        return { entries: events.map(recordOf), next: nextPosition(events, asked) }
      },
    },
  }
}

function recordOf({ at, queue, job, data }: TimelineEvent): AuditRecord {
  const entry = JSON.parse(data) as Omit<AuditEntry, 'queue' | 'job'>
  return { at, ...entry, queue, job }
}
