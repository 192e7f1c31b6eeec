/** Runs jobs until none is left, and optionally moves the clock to the next due time. */
import { BOUNDS } from '../../../job/defaults.ts'
import { checkObjectKeys } from '../../../job/options/known-keys.ts'
import { checkWhole } from '../../../job/numbers.ts'
import type { Store } from '../../../store/store.ts'
import type { AtWork } from './at-work.ts'
import type { TestPlatform } from '../test-platform.ts'

export interface DrainOptions {
  /**
   * Also runs jobs that are due later, including retries, cooling queues and used-up limits, by moving the
   * clock (default false). Does not wait for schedules.
   */
  readonly scheduled?: boolean
  /** The maximum number of rounds: clock moves, and jobs that did not exist at first (default 10,000). */
  readonly rounds?: number
}

interface DrainTools {
  readonly store: Pick<Store, 'instances' | 'counts' | 'queues'>
  readonly platform: TestPlatform
  readonly atWork: AtWork
  /** False while outcomes of this mill are not written yet. */
  readonly areOutcomesWritten: () => boolean
  /** The queues that this mill would claim from. */
  readonly queues: () => Promise<readonly string[]>
  readonly kinds: readonly string[]
  /** Looks for work at once. */
  readonly wake: () => void
  readonly advance: (ms: number) => Promise<void>
}

/** `drain` did not finish within its rounds. */
export class DrainError extends Error {
  /** How many jobs of each kind were started during the drain. */
  readonly kinds: Readonly<Record<string, number>>
  readonly fix: string

  constructor(rounds: number, kinds: Readonly<Record<string, number>>) {
    const names = Object.entries(kinds).toSorted(([, a], [, b]) => b - a)
    const list = names.slice(0, 5).map(([kind, times]) => `${kind} (${times} times)`)
    const who =
      list.length === 0 ? 'nothing was started' : `jobs of these kinds keep starting: ${list.join(', ')}`
    const fix = 'Make the jobs end, drain without { scheduled: true }, or pass more rounds'
    super(`drain: work is left after ${rounds} rounds; ${who}. ${fix}.`)
    this.name = 'DrainError'
    this.kinds = kinds
    this.fix = fix
  }
}

/** The work that is left for this mill. */
export async function outlook({
  store,
  platform,
  queues,
  kinds,
}: Pick<DrainTools, 'store' | 'platform' | 'queues' | 'kinds'>) {
  const [counts, known, mine] = await Promise.all([store.counts(), store.queues.list(), queues()])
  const served = mine.filter((name) => known.find((queue) => queue.name === name)?.workers !== 0)
  // The instance is unknown, so that the heartbeat reports the state and writes nothing.
  const never = { leaseMs: 0, renewEveryMs: BOUNDS.durationMs, duties: [] }
  const heartbeat = await store.instances.renew({ ...never, instance: platform.id(), queues: served, kinds })
  const waiting = new Map(counts.map(({ queue, ready }) => [queue, ready]))
  const cooling = known.filter(
    ({ name, coolingMs, paused }) =>
      served.includes(name) && !paused && coolingMs > 0 && (waiting.get(name) ?? 0) > 0,
  )
  const times = [
    ...cooling.map(({ coolingMs }) => coolingMs),
    ...(heartbeat.stageInMs === null ? [] : [heartbeat.stageInMs]),
    ...(heartbeat.budgetInMs === null ? [] : [heartbeat.budgetInMs]),
  ]
  const running = counts.reduce((sum, count) => sum + count.running, 0)
  return {
    idle:
      !heartbeat.ready &&
      !heartbeat.quarantined &&
      !heartbeat.expired &&
      heartbeat.stageInMs !== 0 &&
      running === 0,
    /** The number of waiting or running jobs, in all queues. */
    jobs: counts.reduce((sum, { ready, scheduled }) => sum + ready + scheduled, running),
    /** When a schedule is due. */
    scheduleInMs: heartbeat.scheduleInMs,
    /** When the next job becomes due. Null when there is none. */
    nextMs: times.length === 0 ? null : Math.min(...times),
  }
}

const ROUNDS = 10_000

/** Stops early, at the end of a round, when `isOver` returns true. */
export async function drain(
  tools: DrainTools,
  options: DrainOptions = {},
  isOver: () => boolean = () => false,
): Promise<void> {
  checkObjectKeys(options, 'options', ['scheduled', 'rounds'])
  const { scheduled = false, rounds = ROUNDS } = options
  checkWhole(rounds, 'options.rounds', { least: 1, most: Number.MAX_SAFE_INTEGER })
  const { jobs } = await outlook(tools)
  const limit = budget(tools.atWork, { rounds, jobs })
  try {
    while (!isOver() && (await oneRound(tools, scheduled, limit)));
  } finally {
    limit.end()
  }
}

/** False when nothing is left to do. */
async function oneRound(tools: DrainTools, scheduled: boolean, limit: Budget): Promise<boolean> {
  const { platform, atWork } = tools
  await limit.race(platform.settled())
  if (atWork.size > 0) {
    if (atWork.waiting < atWork.size) await limit.race(atWork.oneMoves())
    else {
      // All running jobs wait for a limit or a chunk, which only the clock can end.
      limit.spend()
      await limit.race(platform.advanceToNextTimer())
    }
    return true
  }
  const { idle, nextMs } = await outlook(tools)
  if (!idle || !tools.areOutcomesWritten()) {
    await limit.race(nudge(tools, limit))
    return true
  }
  if (!scheduled || nextMs === null) return false
  limit.spend()
  await limit.race(tools.advance(nextMs))
  return true
}

/** Work exists but does not run: it waits for the next heartbeat, or for the pause after an error. */
async function nudge({ wake, platform, atWork }: DrainTools, limit: Budget): Promise<void> {
  const before = total(atWork.started)
  limit.spend()
  wake()
  await platform.settled()
  if (total(atWork.started) === before) await platform.advanceToNextTimer()
}

type Budget = ReturnType<typeof budget>

/**
 * Job starts also use up the budget, because a chain of jobs that are ready at once never settles. `jobs` is
 * the number of existing jobs, whose starts are allowed in addition to the rounds.
 */
function budget(atWork: AtWork, { rounds, jobs }: { rounds: number; jobs: number }) {
  const before = new Map(atWork.started)
  const over = Promise.withResolvers<never>()
  over.promise.catch(() => {})
  let left = rounds + jobs
  /** Counts one more round. */
  const spend = (): void => {
    left -= 1
    if (left >= 0) return
    const kinds = [...atWork.started].map(([kind, times]) => [kind, times - (before.get(kind) ?? 0)] as const)
    over.reject(new DrainError(rounds, Object.fromEntries(kinds.filter(([, times]) => times > 0))))
  }
  /** Returns the result of the work, or throws DrainError if the budget is spent first. */
  const race = <T>(work: Promise<T>): Promise<T> => Promise.race([work, over.promise])
  return { spend, race, end: atWork.onStart(spend) }
}

function total(started: ReadonlyMap<string, number>): number {
  return [...started.values()].reduce((sum, times) => sum + times, 0)
}
