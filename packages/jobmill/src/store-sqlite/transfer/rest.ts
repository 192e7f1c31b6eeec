/** Exports and imports queues, limits, schedules, versions, alerts, views and counters. */
import type { TransferredQueue, TransferredRest } from '../../store/admin/transfer.ts'
import { alerts as allAlerts, saveAlert } from '../alerts/alerts.ts'
import { latest } from '../connection/counter.ts'
import { groupIn, groupsOut } from '../groups/transfer.ts'
import { versionsIn, versionsOut } from '../inspect/versions.ts'
import { allLimits, dropKeys, findLimit, saveBudget } from '../limits/limit-row.ts'
import { declareLimits, limitSources, saveLimit } from '../limits/limits.ts'
import { allQueues, saveQueue } from '../queues/queues.ts'
import { settingsOf } from '../queues/setting-columns.ts'
import { sourcesOf } from '../queues/sources.ts'
import { allStored, saveSchedule } from '../schedules/schedules.ts'
import { saveView, views as allViews } from '../views/views.ts'
import type { Look, Work } from '../work.ts'

// Uses the primary key.
const DROP_PLACES = `DELETE FROM jobmill_limit_waiter WHERE limit_id = ?`

export function restOut(look: Look): TransferredRest {
  const { sql } = look
  return {
    queues: allQueues(look).map((row) => ({
      name: row.name,
      settings: settingsOf(row),
      sources: sourcesOf(row),
      coolUntil: row.cool_until,
      throttles: row.throttles,
    })),
    limits: allLimits(sql).map((limit) => ({
      name: limit.name,
      settings: limit.settings,
      sources: limitSources(look, limit.id),
      paidAt: limit.budget.paidAt,
      drainedUntil: limit.budget.drainedUntil,
    })),
    groups: groupsOut(look),
    schedules: allStored(sql),
    versions: versionsOut(sql),
    alerts: allAlerts(look),
    views: allViews(look),
    lastPlace: latest(sql, 'seq'),
    lastToken: latest(sql, 'token'),
  }
}

export function restIn(
  work: Work,
  { queues, limits, groups, schedules, versions, alerts, views, lastPlace, lastToken }: TransferredRest,
): void {
  const { sql, counters } = work
  // Before the queues that use them.
  declareLimits(work, limits)
  for (const { name, settings, sources, paidAt, drainedUntil } of limits) {
    const id = findLimit(sql, name)?.id ?? 0
    saveLimit(work, id, settings, sources)
    dropKeys(work, name)
    sql(DROP_PLACES).run(id)
    saveBudget(work, id, { paidAt, reservedUntil: 0, drainedUntil })
  }
  for (const queue of queues) queueIn(work, queue)
  for (const group of groups) groupIn(work, group)
  for (const schedule of schedules) saveSchedule(sql, schedule)
  versionsIn(sql, versions)
  for (const alert of alerts) saveAlert(work, alert)
  for (const view of views) saveView(work, view)
  counters.raise('seq', lastPlace)
  counters.raise('token', lastToken)
  counters.take('settings')
}

function queueIn(work: Work, { name, settings, sources, coolUntil, throttles }: TransferredQueue): void {
  const id = work.names.needQueue(name)
  saveQueue(work, { id, cool_until: coolUntil, throttles }, { settings, sources })
}
