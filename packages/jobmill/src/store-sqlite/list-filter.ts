/** The filters of a listing as one SQL expression over a job row, with the values it needs. */
import type { JobFilter } from '../store/job-list.ts'
import { LAST_ERROR } from './get.ts'
import type { Value } from './handle.ts'
import { DONE } from './job-row.ts'
import { PAYLOAD_HAS } from './payload-has.ts'
import type { Look } from './work.ts'

export interface Hit {
  /** 1 or 0. */
  readonly sql: string
  readonly values: readonly Value[]
}

/** Null when the filter names a queue or kind that does not exist: then nothing can match. */
export function hitOf({ names }: Look, filter: JobFilter): Hit | null {
  const terms: string[] = []
  const values: Value[] = []
  const need = (term: string, value: Value): void => {
    terms.push(term)
    values.push(value)
  }
  if (filter.queue !== undefined) {
    const id = names.findQueue(filter.queue)
    if (id === undefined) return null
    need('j.queue_id = ?', id)
  }
  if (filter.kind !== undefined) {
    const id = names.findKind(filter.kind)
    if (id === undefined) return null
    need('j.kind_id = ?', id)
  }
  if (filter.enqueuedFrom !== undefined) need('j.enqueued_at >= ?', filter.enqueuedFrom)
  if (filter.enqueuedBefore !== undefined) need('j.enqueued_at < ?', filter.enqueuedBefore)
  // By the primary key of the tags.
  for (const tag of filter.tags ?? [])
    need('EXISTS (SELECT 1 FROM jobmill_tag AS t WHERE t.tag = ? AND t.id = j.id)', tag)
  if (filter.payloadText !== undefined) need('instr(j.payload, ?) > 0', filter.payloadText)
  if (filter.errorText !== undefined)
    need(`(j.state <> ${DONE} AND instr(${LAST_ERROR}, ?) > 0)`, filter.errorText)
  // The last: it reads the whole payload, so only of what all else fits.
  if (filter.payloadAt !== undefined && filter.payloadAt.length > 0)
    need(`${PAYLOAD_HAS}(j.payload, ?)`, JSON.stringify(filter.payloadAt))
  return { sql: terms.length === 0 ? '1' : `coalesce(${terms.join(' AND ')}, 0)`, values }
}
