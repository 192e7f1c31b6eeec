/**
 * A crash is counted only if a process really died. Two checks: right after an outage, no instance that was
 * alive at its start counts as crashed, because all of them reconnect. And at the end, no job has more
 * crashes than processes died under it.
 */
import type { Entry } from '../entry.ts'
import type { Violation } from '../violation.ts'

/** How long instances have to reconnect after an outage: one lease. */
const LEASE_MS = 10_000

export function onlyRealCrashes(history: readonly Entry[]): Violation[] {
  const gone = new Set(history.flatMap((one) => (one.what === 'gone' ? [one.instance] : [])))
  return [...countedAfterOutage(history, gone), ...countedAtTheEnd(history, gone)]
}

function countedAfterOutage(history: readonly Entry[], gone: ReadonlySet<string>): Violation[] {
  const until = new Map<string, number>()
  const outage = { from: 0, until: Number.NEGATIVE_INFINITY }
  return history.flatMap((one, entry) => {
    if (one.what === 'alive') until.set(one.instance, one.until)
    // An outage that begins before all instances have reconnected continues the last one.
    if (one.what === 'outage' && !one.isOver && one.at > outage.until + LEASE_MS) outage.from = one.at
    if (one.what === 'outage') outage.until = one.isOver ? one.at : Number.POSITIVE_INFINITY
    if (one.what !== 'taken back' || one.isCrash !== true || gone.has(one.instance)) return []
    const wasAlive = (until.get(one.instance) ?? 0) >= outage.from
    if (!wasAlive || one.at >= outage.until + LEASE_MS) return []
    const message = `a crash of ${one.instance} was counted for ${one.job}, ${(one.at - outage.until).toFixed(0)} ms after an outage, and its process lived`
    return [{ rule: 'crash counted', message, entry } satisfies Violation]
  })
}

function countedAtTheEnd(history: readonly Entry[], gone: ReadonlySet<string>): Violation[] {
  const real = new Map<string, number>()
  for (const one of history) {
    if (one.what === 'retried') real.set(one.job, 0)
    if (one.what !== 'taken back' || one.isCrash !== true) continue
    // A job that was cancelled when its lease was taken has ended: its crashes no longer matter.
    if (gone.has(one.instance) || one.state === 'cancelled') real.set(one.job, (real.get(one.job) ?? 0) + 1)
  }
  const entry = history.findLastIndex((one) => one.what === 'look' && one.isLast)
  const look = history[entry]
  if (look?.what !== 'look') return []
  return [...(look.crashes ?? [])].flatMap(([job, crashes]) => {
    const died = real.get(job) ?? 0
    if (crashes <= died) return []
    const message = `${job} has ${crashes} crashes, and ${died} of its processes died`
    return [{ rule: 'crash counted', message, entry } satisfies Violation]
  })
}
