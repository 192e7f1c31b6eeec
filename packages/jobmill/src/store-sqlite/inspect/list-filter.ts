/** Translates the filters of a list into one SQL expression over a job row, with its values. */
import { STATE_CODE } from '../../job/state.ts'
import { type JobFilter, namesOf } from '../../store/types/job-list.ts'
import { FAILED_OUTCOMES, LAST_ERROR } from './jobs.ts'
import type { Value } from '../connection/handle.ts'
import { DEAD, DONE, RUNNING } from '../job-row.ts'
import { unscopeKeyInSql } from '../../store/dedupe-key.ts'
import { INSTANCES_OF } from './versions.ts'
import { PAYLOAD_HAS } from './payload-has.ts'
import type { Look } from '../work.ts'

// The newest attempt of a job, and the newest that failed, by primary key.
const last = (column: string, where = ''): string =>
  `(SELECT a.${column} FROM jobmill_attempt AS a WHERE a.job_pk = j.pk${where} ORDER BY a.token DESC LIMIT 1)`
const LAST_OUTCOME = last('outcome')
const STARTED = `iif(j.state = ${RUNNING}, j.started_at, ${last('started_at')})`
const INSTANCE = `iif(j.state = ${RUNNING}, (SELECT i.id FROM jobmill_instance AS i WHERE i.pk = j.instance_pk), ${last('instance')})`
const FAILED = `iif(j.state = ${DEAD}, j.ended_at, ${last('ended_at', ` AND a.outcome IN (${FAILED_OUTCOMES})`)})`

export interface Hit {
  /** 1 or 0. */
  readonly sql: string
  readonly values: readonly Value[]
}

/** Null when the filter names a queue or kind that does not exist: nothing can match. */
export function hitOf({ names }: Look, filter: JobFilter): Hit | null {
  const terms: string[] = []
  const values: Value[] = []
  const need = (term: string, value: Value): void => {
    terms.push(term)
    values.push(value)
  }
  const oneOf = (column: string, ids: readonly number[]): void => {
    // One text for any number of ids, so that not every count becomes a separate prepared statement.
    if (ids.length === 1) need(`${column} = ?`, ids[0] ?? 0)
    else need(`${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(ids))
  }
  const queues = namesOf(filter.queue)?.flatMap((name) => names.findQueue(name) ?? [])
  const kinds = namesOf(filter.kind)?.flatMap((name) => names.findVersions(name))
  if (queues?.length === 0 || kinds?.length === 0) return null
  if (queues !== undefined) oneOf('j.queue_id', [...new Set(queues)])
  if (kinds !== undefined) oneOf('j.kind_id', [...new Set(kinds)])
  // Every other order reads only jobs in this state.
  if (filter.byTag === true && filter.state !== undefined) need('j.state = ?', STATE_CODE[filter.state])
  if (filter.retrying === true) terms.push(`${LAST_OUTCOME} IN (${FAILED_OUTCOMES})`)
  if (filter.endedFrom !== undefined) need(`(j.state >= ${DONE} AND j.ended_at >= ?)`, filter.endedFrom)
  if (filter.endedBefore !== undefined) need(`(j.state >= ${DONE} AND j.ended_at < ?)`, filter.endedBefore)
  if (filter.startedFrom !== undefined) need(`${STARTED} >= ?`, filter.startedFrom)
  if (filter.startedBefore !== undefined) need(`${STARTED} < ?`, filter.startedBefore)
  if (filter.failedFrom !== undefined) need(`${FAILED} >= ?`, filter.failedFrom)
  if (filter.failedBefore !== undefined) need(`${FAILED} < ?`, filter.failedBefore)
  if (filter.version !== undefined) {
    const versions = JSON.stringify(namesOf(filter.version))
    terms.push(`${INSTANCE} IN (${INSTANCES_OF})`)
    values.push(versions, versions)
  }
  if (filter.orderKey !== undefined) need('j.order_key = ?', filter.orderKey)
  if (filter.group !== undefined) need('j.group_name = ?', filter.group)
  if (filter.dedupeKey !== undefined)
    need(`? IN (j.dedupe_key, ${unscopeKeyInSql('j.dedupe_key', 'instr')})`, filter.dedupeKey)
  if (filter.enqueuedFrom !== undefined) need('j.enqueued_at >= ?', filter.enqueuedFrom)
  if (filter.enqueuedBefore !== undefined) need('j.enqueued_at < ?', filter.enqueuedBefore)
  // Uses the primary key of the tags.
  for (const tag of filter.tags ?? [])
    need('EXISTS (SELECT 1 FROM jobmill_tag AS t WHERE t.tag = ? AND t.id = j.id)', tag)
  if (filter.payloadText !== undefined) need('instr(j.payload, ?) > 0', filter.payloadText)
  if (filter.errorText !== undefined)
    need(`(j.state <> ${DONE} AND instr(${LAST_ERROR}, ?) > 0)`, filter.errorText)
  // Last, because it parses the payload: only rows that match everything else pay for it.
  if (filter.payloadAt !== undefined && filter.payloadAt.length > 0)
    need(`${PAYLOAD_HAS}(j.payload, ?)`, JSON.stringify(filter.payloadAt))
  return { sql: terms.length === 0 ? '1' : `coalesce(${terms.join(' AND ')}, 0)`, values }
}

/** The ids of the names that exist; undefined when the filter has no names. */
export function idsOf(
  names: string | readonly string[] | undefined,
  find: (name: string) => number | undefined,
): number[] | undefined {
  const ids = namesOf(names)?.map((name) => find(name))
  return ids === undefined ? undefined : [...new Set(ids)].filter((id) => id !== undefined)
}
