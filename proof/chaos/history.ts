/**
 * Builds the history for the checker from the answers to callers, the runs of handlers and the attempts in
 * the store, on one clock. Store times are whole milliseconds; entries of the same millisecond are put in
 * their only possible order.
 */
import type { JobState, Mill } from 'jobmill'
import type { Stored } from '../cluster/verdict/judge.ts'
import type { Run } from '../cluster/ledger.ts'
import { AWAKENING_MS, type Stillness } from '../cluster/verdict/repeats.ts'
import type { Sent } from '../cluster/stream.ts'
import type { Entry } from '../history/entry.ts'
import { beatJobs, ticks } from './beats.ts'

export interface Observations {
  readonly mill: Mill
  readonly sent: readonly Sent[]
  readonly runs: readonly Run[]
  readonly stored: ReadonlyMap<string, Stored>
  readonly stillnesses: readonly Stillness[]
  /** Converts a process time to a store time. */
  readonly offsetMs: number
  /** Until when ticks are due, by the store clock. */
  readonly plannedUntil: number
}

/** An entry and its rank within its millisecond. */
interface Placed {
  readonly entry: Entry
  readonly token: number
  readonly rank: number
}

const AT_ONCE = 200

const HOUR_MS = 3_600_000

/** On SQLite, the store clock shifts with that of the processes, by an hour. */
function corrected(ms: number, firstAt: number): number {
  const byMs = ms - firstAt
  return byMs < -HOUR_MS / 2 ? ms + HOUR_MS : ms
}

export async function historyOf(observations: Observations): Promise<Entry[]> {
  const { sent, runs, offsetMs } = observations
  const at = (ms: number): number => Math.floor(ms + offsetMs)
  const placed: Placed[] = []
  for (const { id, answer, answeredAt } of sent)
    if (id !== null && answer === 'acknowledged')
      placed.push({ entry: { what: 'acknowledged', job: id, at: at(answeredAt ?? 0) }, token: 0, rank: 0 })
  const startOf = new Map<string, number>()
  for (const { id: job, token, worker, startedAt, endedAt, how } of runs) {
    const by = { job, token, instance: `worker ${worker}` }
    startOf.set(`${job} ${token}`, at(startedAt))
    placed.push({
      entry: {
        what: 'started',
        ...by,
        heldUpMs: heldUpFor(observations.stillnesses, worker, startedAt),
        at: at(startedAt),
      },
      token,
      rank: 2,
    })
    // An interrupted run did nothing more.
    if (endedAt === null || how === 'stopped') continue
    const awakeMs = awakeFor(observations.stillnesses, worker, endedAt)
    placed.push({ entry: { what: 'effect', ...by, awakeMs, at: at(endedAt) }, token, rank: 3 })
  }
  placed.push(...(await attempts(observations, startOf)))
  const inOrder = placed
    .toSorted((a, b) => a.entry.at - b.entry.at || a.token - b.token || a.rank - b.rank)
    .map(({ entry }) => entry)
  const endAt = inOrder.at(-1)?.at ?? 0
  const jobs = new Map<string, JobState>([
    ...[...observations.stored].map(([id, { state }]) => [id, state] as const),
    ...(await beatJobs(observations.mill)),
  ])
  return [
    ...inOrder,
    ...(await ticks(observations.mill, observations.plannedUntil, endAt)),
    { what: 'look', jobs, isLast: true, at: endAt },
  ]
}

/** How long a worker may have been frozen when it started a job, after it checked its lease. */
function heldUpFor(stillnesses: readonly Stillness[], worker: number, at: number): number {
  const isWaking = (one: Stillness): boolean =>
    one.worker === worker && one.from <= at && at <= one.to + AWAKENING_MS
  return stillnesses.some(isWaking) ? Number.POSITIVE_INFINITY : AWAKENING_MS
}

/** How long a worker had been awake. */
function awakeFor(stillnesses: readonly Stillness[], worker: number, at: number): number {
  const ends = stillnesses.flatMap((one) =>
    one.worker === worker && one.from <= at ? [one.to + AWAKENING_MS] : [],
  )
  return Math.max(0, at - Math.max(0, ...ends))
}

async function attempts(
  { mill, stored, sent, offsetMs }: Observations,
  startOf: ReadonlyMap<string, number>,
): Promise<Placed[]> {
  const placed: Placed[] = []
  const firstAt = (sent[0]?.sentAt ?? 0) + offsetMs
  const ids = [...stored.keys()]
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = ids.slice(from, from + AT_ONCE)
    const histories = await Promise.all(some.map((id) => mill.history(id)))
    for (const [n, history] of histories.entries())
      for (const { token, instance, outcome, ...times } of history) {
        const job = some[n] ?? ''
        if (times.startedAt === null || instance === null) continue
        const startedAt = corrected(times.startedAt, firstAt)
        const endedAt = corrected(times.endedAt, firstAt)
        // The store records the start of the handler, after the claim; the process may know an earlier time.
        const claimedAt = Math.min(startedAt, startOf.get(`${job} ${token}`) ?? startedAt)
        placed.push({ entry: { what: 'claimed', job, token, instance, at: claimedAt }, token, rank: 1 })
        const ended =
          outcome === 'interrupted'
            ? ({ what: 'taken back', job, state: 'ready', instance, at: endedAt } as const)
            : ({
                what: 'finished',
                job,
                token,
                accepted: true,
                state: stateAfter(outcome),
                at: endedAt,
              } as const)
        placed.push({ entry: ended, token, rank: 4 })
      }
  }
  return placed
}

function stateAfter(outcome: string): JobState {
  return outcome === 'returned' ? 'done' : 'scheduled'
}
