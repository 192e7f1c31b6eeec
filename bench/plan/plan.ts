// Plans the cells of a run from plan-cases.ts and the options: case × system × setting × round, in execution
// order.
import { PACE } from './pace.ts'
import { type Both, type CasePlan, PLAN } from './plan-cases.ts'
import type { Setting, StoreName } from '../system.ts'

export interface PlannedCell {
  readonly case: string
  readonly system: string
  readonly store: StoreName
  readonly setting: Setting
  readonly round: number
  readonly jobs: number
  /** How much to run before measuring: a number of jobs, or a time. */
  readonly warmUp: number
  readonly warmUpSeconds: number
  readonly seconds: number
}

export interface PlanOptions {
  readonly quick: boolean
  /** Cases to run; all when omitted. A letter selects all cases that start with it. */
  readonly only?: readonly string[] | undefined
  readonly systems?: readonly string[] | undefined
  readonly rounds?: number | undefined
}

const ROUNDS: Both = [3, 3]
const OTHER_ROUNDS: Both = [1, 1]
/** A cell of a slow system gets as many jobs as the system runs in this time, in seconds. */
const LONGEST: Both = [3, 0.6]
const LONGEST_CHECK: Both = [4, 0.9]
/**
 * Start and end of a drain must not dominate it. A system that drains all jobs within this time, in seconds,
 * gets all of them.
 */
const WHOLE_DRAIN: Both = [6, 4]
const FEWEST = 3
/**
 * Cases whose result does not depend on the number of jobs, and those of them that enqueue first and check
 * delivery afterwards.
 */
const PACED = 'abcdej'
const ENQUEUED = 'abc'
/** Cases that drain a full queue. */
const DRAINED = 'dj'
/**
 * Warm-up time in seconds, the same for every system, in the cases that measure steady operation. A process
 * that enqueues and works needs 20,000 jobs to reach its speed. A drain ends by count, so there the warm-up
 * is the number of jobs of about that time.
 */
const WARM_UP: Readonly<Record<string, number>> = {
  a: 0.5,
  b: 0.5,
  c: 0.2,
  d: 0.6,
  e: 1,
  g: 0.6,
  i: 0.6,
  j: 0.5,
}
/** Several processes, and the vacuum of what they leave, take longer to reach their speed. */
const SCALE_WARM_UP = 6
/** Jobs with durable steps: jobs of the long case, seconds of the other. */
const STEPS_WARM_UP = { warmUp: 1, warmUpSeconds: 1 }
const CLOCKED = 'abce'
const WARM_UP_PICKUPS = 0.2

export const CASE_NAMES: readonly string[] = PLAN.map((one) => one.case)

/** In execution order: the systems of a case take turns, and each round starts with another of them. */
export function planCells(options: PlanOptions): PlannedCell[] {
  const wanted = PLAN.filter(
    ({ case: name, isOnlyFull = false }) =>
      (options.only?.includes(name) ?? !(options.quick && isOnlyFull)) ||
      (!(options.quick && isOnlyFull) &&
        (options.only?.some((asked) => name.startsWith(`${asked}-`)) ?? false)),
  )
  return wanted.flatMap((one) => roundsOf(one, options))
}

function roundsOf(plan: CasePlan, options: PlanOptions): PlannedCell[] {
  const of = (both: Both): number => both[options.quick ? 1 : 0]
  const rounds = options.rounds ?? of(plan.rounds ?? ROUNDS)
  const fewer = Math.min(rounds, options.rounds ?? of(OTHER_ROUNDS))
  const entries = [
    ...entriesOf(plan.compared, rounds),
    ...entriesOf(plan.against, options.rounds ?? (options.quick ? 1 : rounds)),
    ...entriesOf(plan.others, fewer),
    ...(options.quick ? [] : entriesOf(plan.unhurried, fewer)),
  ].filter(({ system }) => options.systems?.includes(system) ?? true)
  const most = Math.max(0, ...entries.map(({ rounds }) => rounds))
  return Array.from({ length: most }, (_, round) =>
    rotate(entries, round)
      .filter(({ rounds }) => round < rounds)
      .map(({ system, store, setting, key }) => ({
        case: plan.case,
        system,
        store,
        setting,
        round,
        ...sizesOf(plan, key, options.quick),
        seconds: of(plan.seconds ?? [0, 0]),
      })),
  ).flat()
}

interface Entry {
  readonly key: string
  readonly system: string
  readonly store: StoreName
  readonly setting: Setting
  readonly rounds: number
}

function entriesOf(list: string | undefined, rounds: number): Entry[] {
  return (list ?? '')
    .split(' ')
    .filter((key) => key !== '')
    .map((key) => {
      const [system, store, setting] = key.split('/') as [string, StoreName, Setting]
      return { key, system, store, setting, rounds }
    })
}

type Sizes = Pick<PlannedCell, 'jobs' | 'warmUp' | 'warmUpSeconds'>

function sizesOf(plan: CasePlan, key: string, quick: boolean): Sizes {
  const jobs = jobsOf(plan, key, quick)
  const letter = plan.case.charAt(0)
  if (plan.case.startsWith('scale-')) return { jobs, warmUp: 0, warmUpSeconds: SCALE_WARM_UP }
  if (plan.case.startsWith('steps')) return { jobs, ...STEPS_WARM_UP }
  const seconds = WARM_UP[letter] ?? 0
  if (CLOCKED.includes(letter)) return { jobs, warmUp: 0, warmUpSeconds: seconds }
  // A statement count is the same from the first job on.
  if (plan.case === 'd-statements') return { jobs, warmUp: 0, warmUpSeconds: 0 }
  if (plan.case.startsWith('j-cold')) return { jobs, warmUp: 0, warmUpSeconds: 0 }
  const pace = PACE[key]?.[letter === 'j' ? 'j' : 'd'] ?? 0
  const warmUp = letter === 'f' ? jobs * WARM_UP_PICKUPS : pace * seconds
  return { jobs, warmUp: Math.floor(warmUp), warmUpSeconds: 0 }
}

/**
 * As many jobs as the case asks for, or as the system runs in a few seconds. Enqueued jobs are drained too,
 * for the delivery check.
 */
function jobsOf({ case: name, jobs }: CasePlan, key: string, quick: boolean): number {
  const at = quick ? 1 : 0
  const standard = jobs?.[at] ?? 0
  const letter = name.charAt(0)
  const paces = PACE[key]
  if (!PACED.includes(letter) || paces === undefined) return standard
  const pace = paces[letter] ?? Infinity
  if (DRAINED.includes(letter) && pace * WHOLE_DRAIN[at] >= standard) return standard
  const measured = pace * LONGEST[at] * (letter === 'd' ? 2 : 1)
  const drained = PACE[key.replace('/default', '/best')]?.['d'] ?? Infinity
  const checked = ENQUEUED.includes(letter) ? drained * LONGEST_CHECK[at] : Infinity
  return Math.max(Math.min(standard, FEWEST), Math.round(Math.min(standard, measured, checked)))
}

function rotate<One>(list: readonly One[], by: number): One[] {
  const at = list.length === 0 ? 0 : by % list.length
  return [...list.slice(at), ...list.slice(0, at)]
}
