/** Works until there is nothing left to do, and moves the clock to what comes next if that is asked for. */
import { BOUNDS } from '../../job/defaults.ts'
import { checkObjectKeys } from '../../job/known-keys.ts'
import { checkWhole } from '../../job/numbers.ts'
import type { Store } from '../../store/store.ts'
import type { AtWork } from './at-work.ts'
import type { TestPlatform } from './test-platform.ts'

export interface DrainOptions {
  /** Also what is due later, retries, cooling queues and used up limits included: the clock moves there (default false). Not what schedules would add. */
  readonly scheduled?: boolean
  /** After so many rounds it is given up: moves of the clock, and jobs that were not there at first (default 10,000). */
  readonly rounds?: number
}

export interface DrainTools {
  readonly store: Pick<Store, 'renew' | 'counts' | 'queues'>
  readonly platform: TestPlatform
  readonly atWork: AtWork
  /** False while outcomes of this mill are still to be written. */
  readonly isTold: () => boolean
  /** What this mill would claim. */
  readonly queues: () => readonly string[]
  readonly kinds: readonly string[]
  /** Looks for work at once. */
  readonly wake: () => void
  readonly advance: (ms: number) => Promise<void>
}

/** `drain` found no end. */
export class DrainError extends Error {
  /** How often jobs of each kind were started meanwhile. */
  readonly kinds: Readonly<Record<string, number>>
  readonly fix: string

  constructor(rounds: number, kinds: Readonly<Record<string, number>>) {
    const names = Object.entries(kinds).toSorted(([, a], [, b]) => b - a)
    const told = names.slice(0, 5).map(([kind, times]) => `${kind} (started ${times} times)`)
    const who = told.length === 0 ? 'nothing was started' : `these kinds keep coming back: ${told.join(', ')}`
    const fix = 'Let them come to an end, drain without { scheduled: true }, or give more rounds'
    super(`drain: there is still work after ${rounds} rounds; ${who}. ${fix}.`)
    this.name = 'DrainError'
    this.kinds = kinds
    this.fix = fix
  }
}

/** What there is to do, for this mill. */
interface Outlook {
  readonly idle: boolean
  /** How many jobs wait or run, anywhere. */
  readonly jobs: number
  /** When something that waits for its time can go on; null when nothing does. */
  readonly nextMs: number | null
}

async function outlook({ store, platform, queues, kinds }: DrainTools): Promise<Outlook> {
  const [counts, known] = await Promise.all([store.counts(), store.queues()])
  const served = queues().filter((name) => known.find((queue) => queue.name === name)?.workers !== 0)
  // As somebody whom nobody knows: the heartbeat tells what there is, and writes nothing.
  const never = { leaseMs: 0, renewEveryMs: BOUNDS.durationMs, duties: [] }
  const heartbeat = await store.renew({ ...never, instance: platform.id(), queues: served, kinds })
  const waiting = new Map(counts.map(({ queue, ready }) => [queue, ready]))
  const cooling = known.filter(
    ({ name, coolingMs, paused }) =>
      served.includes(name) && !paused && coolingMs > 0 && (waiting.get(name) ?? 0) > 0,
  )
  const times = [
    ...cooling.map(({ coolingMs }) => coolingMs),
    ...(heartbeat.stageInMs === null ? [] : [heartbeat.stageInMs]),
    ...(heartbeat.budgetInMs === null ? [] : [heartbeat.budgetInMs]),
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
    jobs: counts.reduce((sum, { ready, scheduled }) => sum + ready + scheduled, running),
    nextMs: times.length === 0 ? null : Math.min(...times),
  }
}

const ROUNDS = 10_000

/** Stops early, at the end of a round, when `isOver` says so. */
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

/** False when there is nothing left to do. */
async function oneRound(tools: DrainTools, scheduled: boolean, limit: Budget): Promise<boolean> {
  const { platform, atWork } = tools
  await limit.race(platform.settled())
  if (atWork.size > 0) {
    if (atWork.waiting < atWork.size) await limit.race(atWork.oneMoves())
    else {
      // Nothing real is to be waited for: all of them wait for budget.
      limit.spend()
      await limit.race(platform.advanceToNextTimer())
    }
    return true
  }
  const { idle, nextMs } = await outlook(tools)
  if (!idle || !tools.isTold()) {
    await limit.race(nudge(tools, limit))
    return true
  }
  if (!scheduled || nextMs === null) return false
  limit.spend()
  await limit.race(tools.advance(nextMs))
  return true
}

/** There is work and nobody does it: it waits for the next heartbeat, or for the pause after an error. */
async function nudge({ wake, platform, atWork }: DrainTools, limit: Budget): Promise<void> {
  const before = total(atWork.started)
  limit.spend()
  wake()
  await platform.settled()
  if (total(atWork.started) === before) await platform.advanceToNextTimer()
}

interface Budget {
  /** One more round. */
  spend(): void
  /** As the work, unless the budget is spent first: then DrainError. */
  race<T>(work: Promise<T>): Promise<T>
  end(): void
}

/** A chain of jobs that are ready at once never lets anything settle, so starts count too; those that were there at first are free. */
function budget(atWork: AtWork, { rounds, jobs }: { rounds: number; jobs: number }): Budget {
  const before = new Map(atWork.started)
  const over = Promise.withResolvers<never>()
  over.promise.catch(() => {})
  let left = rounds + jobs
  const spend = (): void => {
    left -= 1
    if (left >= 0) return
    const kinds = [...atWork.started].map(([kind, times]) => [kind, times - (before.get(kind) ?? 0)] as const)
    over.reject(new DrainError(rounds, Object.fromEntries(kinds.filter(([, times]) => times > 0))))
  }
  return { spend, end: atWork.onStart(spend), race: (work) => Promise.race([work, over.promise]) }
}

function total(started: ReadonlyMap<string, number>): number {
  return [...started.values()].reduce((sum, times) => sum + times, 0)
}
