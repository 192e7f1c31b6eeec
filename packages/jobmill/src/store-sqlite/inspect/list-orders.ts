/**
 * The orders of lists, each served by an index:
 * - scheduled, by due time: jobmill_job_due, in two lanes.
 * - ready, in claim order: a lane per queue and kind.
 * - running, by start: a lane per instance.
 * - ended, newest first: a lane per queue.
 * - all states, newest id first: jobmill_job_id, or the order of the tag.
 */
import { IN_GROUP, IN_ORDER_QUEUE } from '../job-row.ts'
import { STATE_CODE } from '../../job/state.ts'
import { endedRange, type JobFilter, orderOf, type Position } from '../../store/types/job-list.ts'
import type { Value } from '../connection/handle.ts'
import { type Hit, idsOf } from './list-filter.ts'
import type { Lane } from '../claim/lanes.ts'
import { readyKinds, readyLaneReader } from '../claim/ready-lanes.ts'
import type { Look } from '../work.ts'

/** `first` and `second` are the numbers of its position; an order with fewer numbers leaves them 0. */
export interface Entry {
  readonly pk: number
  readonly id: string
  readonly first: number
  readonly second: number
  readonly hit: number
}

export interface Order {
  /** Before every job. */
  readonly start: Entry
  readonly compare: (a: Entry, b: Entry) => number
  lanes(look: Look, filter: JobFilter, hit: Hit, after: Entry): Lane<Entry>[]
  positionOf(entry: Entry): Position
  /** Undefined when the position does not belong to this order. */
  entryAt(position: Position): Entry | undefined
}

const LAST_ID = '~'
const LOW: Entry = { pk: 0, id: '', first: Number.MIN_SAFE_INTEGER, second: 0, hit: 0 }
const HIGH: Entry = { pk: 0, id: LAST_ID, first: Number.MAX_SAFE_INTEGER, second: 0, hit: 0 }

export function listOrder(filter: JobFilter): Order {
  const state = orderOf(filter)
  if (state === undefined) return allStates
  if (state === 'scheduled' || state === 'ready' || state === 'running')
    return { scheduled, ready, running }[state]
  return ended
}

/** An index range that continues after (first, id); `where` holds the values of its conditions. */
function lane(look: Look, text: string, hit: Hit, where: readonly Value[], start: Entry): Lane<Entry> {
  const statement = look.sql(text)
  return {
    fetch(after = start, rows) {
      return statement.all(...hit.values, ...where, after.first, after.id, rows) as Entry[]
    },
  }
}

function rising(a: Entry, b: Entry): number {
  return a.first - b.first || a.second - b.second || (a.id < b.id ? -1 : 1)
}

/** Orders by one number and the id. */
const byNumber = {
  positionOf: ({ first, id }: Entry): Position => [first, id],
  entryAt([first, id, ...rest]: Position): Entry | undefined {
    if (typeof first !== 'number' || typeof id !== 'string' || rest.length > 0) return undefined
    return { pk: 0, id, first, second: 0, hit: 0 }
  },
}

const scheduled: Order = {
  start: LOW,
  compare: rising,
  ...byNumber,
  lanes(look, _filter, hit, start) {
    const text = `
      SELECT j.pk, j.id, j.due_at AS first, 0 AS second, ${hit.sql} AS hit
      FROM jobmill_job AS j INDEXED BY jobmill_job_due
      WHERE j.state = 0 AND j.in_order_queue = ? AND (j.due_at, j.id) > (?, ?) ORDER BY j.due_at, j.id LIMIT ?`
    return [0, IN_ORDER_QUEUE, IN_GROUP].map((inOrderQueue) => lane(look, text, hit, [inOrderQueue], start))
  },
}

const running: Order = {
  start: LOW,
  compare: rising,
  ...byNumber,
  lanes(look, _filter, hit, start) {
    const text = `
      SELECT j.pk, j.id, j.started_at AS first, 0 AS second, ${hit.sql} AS hit
      FROM jobmill_job AS j INDEXED BY jobmill_job_running
      WHERE j.state = 2 AND j.instance_pk = ? AND (j.started_at, j.id) > (?, ?) ORDER BY j.started_at, j.id LIMIT ?`
    const instances = look.sql(`SELECT pk FROM jobmill_instance`).all() as { pk: number }[]
    return instances.map(({ pk }) => lane(look, text, hit, [pk], start))
  },
}

const ended: Order = {
  start: HIGH,
  compare: (a, b) => rising(b, a),
  ...byNumber,
  lanes(look, filter, hit, start) {
    const text = `
      SELECT j.pk, j.id, j.ended_at AS first, 0 AS second, ${hit.sql} AS hit
      FROM jobmill_job AS j INDEXED BY jobmill_job_ended
      WHERE j.queue_id = ? AND j.state >= 3 AND j.state = ? AND j.ended_at >= ? AND (j.ended_at, j.id) < (?, ?)
      ORDER BY j.ended_at DESC, j.id DESC LIMIT ?`
    const state = STATE_CODE[filter.state ?? 'done']
    // Both ends of the time range bound the index scan, so that a range in the past is not reached row by
    // row.
    const { from = Number.MIN_SAFE_INTEGER, before = Number.MAX_SAFE_INTEGER } = endedRange(filter)
    const first = start.first < before ? start : { ...start, first: before, id: '' }
    return queueIds(look, filter).map((queueId) => lane(look, text, hit, [queueId, state, from], first))
  },
}

const allStates: Order = {
  start: HIGH,
  compare: (a, b) => (a.id > b.id ? -1 : 1),
  lanes(look, { tags = [] }, hit, start) {
    const [tag] = tags
    const text =
      tag === undefined
        ? `SELECT j.pk, j.id, 0 AS first, 0 AS second, ${hit.sql} AS hit FROM jobmill_job AS j INDEXED BY jobmill_job_id
           WHERE ? = 0 AND j.id < ? ORDER BY j.id DESC LIMIT ?`
        : `SELECT j.pk, j.id, 0 AS first, 0 AS second, ${hit.sql} AS hit
           FROM jobmill_tag AS tagged CROSS JOIN jobmill_job AS j INDEXED BY jobmill_job_id ON j.id = tagged.id
           WHERE tagged.tag = ? AND ? = 0 AND tagged.id < ? ORDER BY tagged.id DESC LIMIT ?`
    return [lane(look, text, hit, tag === undefined ? [] : [tag], { ...start, first: 0 })]
  },
  positionOf: ({ id }) => [id],
  entryAt: ([id, ...rest]) => (typeof id === 'string' && rest.length === 0 ? { ...HIGH, id } : undefined),
}

const ready: Order = {
  start: LOW,
  compare: rising,
  lanes(look, filter, hit, { first: priority, second: seq }) {
    const columns = `pk, id, priority, seq, priority AS first, seq AS second, ${hit.sql} AS hit`
    return (['ready', 'quarantined'] as const).flatMap((index) => {
      const reader = readyLaneReader(look.sql, index, columns, hit.values)
      return queueIds(look, filter).flatMap((queueId) =>
        [...readyKinds(look.sql, index, queueId)].map((kindId) =>
          reader<Entry & { priority: number; seq: number }>(queueId, kindId, { priority, seq }),
        ),
      )
    })
  },
  positionOf: ({ first, second, id }) => [first, second, id],
  entryAt([first, second, id, ...rest]) {
    if (typeof first !== 'number' || typeof second !== 'number' || typeof id !== 'string') return undefined
    return rest.length > 0 ? undefined : { pk: 0, id, first, second, hit: 0 }
  },
}

function queueIds(look: Look, { queue }: JobFilter): number[] {
  if (queue === undefined)
    return (look.sql(`SELECT id FROM jobmill_queue`).all() as { id: number }[]).map(({ id }) => id)
  return idsOf(queue, (name) => look.names.findQueue(name)) ?? []
}
