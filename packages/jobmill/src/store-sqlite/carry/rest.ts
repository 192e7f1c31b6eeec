/** Queues, limits and schedules with all that is kept of them, and the counters. */
import type { CarriedQueue, CarriedRest } from '../../store/carried.ts'
import { latest } from '../counter.ts'
import { dropKeys } from '../limit-keys.ts'
import { allLimits, findLimit, perKeyColumn, saveBudget, settingsText } from '../limit-row.ts'
import { declareLimits, limitIdOf } from '../limits.ts'
import { settingValues } from '../names.ts'
import { ALL, type QueueRow, settingsOf } from '../queues.ts'
import { allStored, saveSchedule } from '../schedule-row.ts'
import type { Look, Work } from '../work.ts'

// Each by its primary key.
const QUEUE = `
  UPDATE jobmill_queue SET workers = ?, paused = ?, backoff_enabled = ?, backoff_base_ms = ?, backoff_max_ms = ?,
    retain_done_ms = ?, retain_cancelled_ms = ?, retain_dead_ms = ?, keep_done = ?, keep_cancelled = ?, keep_dead = ?,
    limit_id = ?, declared = ?, cool_until = ?, throttles = ? WHERE id = ?`
const LIMIT = `UPDATE jobmill_limit SET settings = ?, per_key = ? WHERE id = ?`
const DROP_PLACES = `DELETE FROM jobmill_place WHERE limit_id = ?`

export function restOut({ sql }: Look): CarriedRest {
  return {
    queues: (sql(ALL).all() as QueueRow[]).map((row) => ({
      name: row.name,
      settings: settingsOf(row),
      declared: row.declared === 1,
      coolUntil: row.cool_until,
      throttles: row.throttles,
    })),
    limits: allLimits(sql).map(({ name, settings, budget: { paidAt, drainedUntil } }) => ({
      name,
      settings,
      paidAt,
      drainedUntil,
    })),
    schedules: allStored(sql),
    lastPlace: latest(sql, 'seq'),
    lastToken: latest(sql, 'token'),
  }
}

export function restIn(work: Work, { queues, limits, schedules, lastPlace, lastToken }: CarriedRest): void {
  const { sql, counters } = work
  // Before the queues that name them.
  declareLimits(work, limits)
  for (const { name, settings, paidAt, drainedUntil } of limits) {
    const id = findLimit(sql, name)?.id ?? 0
    sql(LIMIT).run(settingsText(settings), perKeyColumn(settings), id)
    dropKeys(work, name)
    sql(DROP_PLACES).run(id)
    saveBudget(work, id, { paidAt, lineAt: 0, drainedUntil })
  }
  for (const queue of queues) queueIn(work, queue)
  for (const schedule of schedules) saveSchedule(sql, schedule)
  counters.raise('seq', lastPlace)
  counters.raise('token', lastToken)
  counters.take('settings')
}

function queueIn(work: Work, { name, settings, declared, coolUntil, throttles }: CarriedQueue): void {
  const id = work.names.needQueue(name)
  const values = settingValues(settings, limitIdOf(work, settings.limit))
  work.sql(QUEUE).run(...values, Number(declared), coolUntil, throttles, id)
}
