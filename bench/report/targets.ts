// The targets: how Jobmill should compare with the peers of the same run, as ratios of medians.
import type { Setting, StoreName } from '../system.ts'
import type { Summary } from './figures.ts'

export interface Target {
  readonly case: string
  readonly store: StoreName
  /** The other side of the comparison, in words. */
  readonly against: string
  /** Jobmill's figure divided by the other one. When the target is a plain number, the figure itself. */
  readonly ratio: number
  readonly target: number
  /** A more ambitious value than the target. */
  readonly goal: number | null
  readonly way: 'at least' | 'at most'
  readonly met: boolean
}

interface Other {
  readonly system: string
  readonly store?: StoreName
  /** When omitted, the better of the measured settings. */
  readonly setting?: Setting
  /** When omitted, the same case. */
  readonly case?: string
}

interface Rule {
  readonly case: string
  readonly store: StoreName
  readonly against: string
  /** With several, the best of them counts. With none, the target is for the figure itself. */
  readonly others: readonly Other[]
  readonly way: Target['way']
  readonly target: number
  readonly goal?: number
}

const bullmq: Other = { system: 'bullmq-redis', store: 'redis' }
const graphile: Other = { system: 'graphile-worker' }
const graphileBest: Other = { ...graphile, setting: 'best' }
const boss: Other = { system: 'pg-boss' }
const plainjob: Other = { system: 'plainjob' }
const bare: Other = { system: 'bare' }
const dbos: Other = { system: 'dbos' }
const openworkflow: Other = { system: 'openworkflow' }
const own = (name: string): Other => ({ system: 'jobmill', setting: 'default', case: name })

type Shape = Pick<Rule, 'case' | 'store' | 'way'>
const pgAtLeast = (name: string): Shape => ({ case: name, store: 'postgres', way: 'at least' })
const pgAtMost = (name: string): Shape => ({ case: name, store: 'postgres', way: 'at most' })
const liteAtLeast = (name: string): Shape => ({ case: name, store: 'sqlite', way: 'at least' })
const liteAtMost = (name: string): Shape => ({ case: name, store: 'sqlite', way: 'at most' })

const EMPTY_CLAIMS = ['h', 'h-stage', 'h-foreign', 'h-paused']

/** CPU of the server per job: on a managed database, users pay for it. */
const SERVER_COSTS = ['d', 'd-nothing-kept', 'scale-2', 'scale-4'].map((name): Rule => ({
  ...pgAtMost(`${name}-cpu-server`),
  against: 'graphile-worker, best',
  others: [graphileBest],
  target: 0.9,
  goal: 0.75,
}))

const RULES: readonly Rule[] = [
  { ...pgAtLeast('b'), against: 'graphile-worker', others: [graphile], target: 30, goal: 40 },
  { ...pgAtLeast('b'), against: 'pg-boss', others: [boss], target: 30, goal: 40 },
  { ...pgAtLeast('b'), against: 'bullmq-redis', others: [bullmq], target: 1.7, goal: 2.5 },
  { ...liteAtLeast('b'), against: 'plainjob', others: [plainjob], target: 2, goal: 3 },
  {
    ...pgAtLeast('c'),
    against: 'the best peer on Postgres',
    others: [graphile, boss, { system: 'bullmq-postgres' }],
    target: 1.9,
    goal: 2.2,
  },
  { ...liteAtLeast('c'), against: 'bare', others: [bare], target: 0.5, goal: 0.7 },
  { ...pgAtLeast('d'), against: 'graphile-worker, best', others: [graphileBest], target: 1.35, goal: 1.5 },
  {
    ...pgAtLeast('d'),
    against: 'graphile-worker, default',
    others: [{ ...graphile, setting: 'default' }],
    target: 25,
  },
  { ...liteAtLeast('d'), against: 'plainjob', others: [plainjob], target: 7, goal: 12 },
  {
    ...pgAtLeast('d-nothing-kept'),
    against: 'graphile-worker, best',
    others: [graphileBest],
    target: 1.6,
    goal: 2,
  },
  { ...pgAtMost('d-cpu'), against: 'graphile-worker, best', others: [graphileBest], target: 0.8, goal: 0.5 },
  ...SERVER_COSTS,
  ...['d-wal', 'scale-2-wal', 'scale-4-wal'].map((name): Rule => ({
    ...pgAtMost(name),
    against: 'bytes',
    others: [],
    target: 652,
    goal: 448,
  })),
  { ...pgAtLeast('scale-2'), against: 'its own scale-1', others: [own('scale-1')], target: 1.3, goal: 1.6 },
  {
    ...pgAtLeast('scale-1'),
    against: 'graphile-worker, best',
    others: [graphileBest],
    target: 1.35,
    goal: 1.5,
  },
  ...['scale-2', 'scale-4', 'j-2', 'j-4'].map((name): Rule => ({
    ...pgAtLeast(name),
    against: 'graphile-worker, best',
    others: [graphileBest],
    target: 1,
    goal: 1.2,
  })),
  { ...pgAtMost('l'), against: 'statements per second', others: [], target: 1, goal: 0.5 },
  { ...liteAtMost('d-cpu'), against: 'plainjob', others: [plainjob], target: 0.25 },
  { ...pgAtLeast('e'), against: 'graphile-worker', others: [graphile], target: 20, goal: 40 },
  { ...pgAtLeast('e'), against: 'pg-boss', others: [boss], target: 20, goal: 40 },
  { ...pgAtLeast('e'), against: 'bullmq-redis', others: [bullmq], target: 2, goal: 4 },
  { ...liteAtLeast('e'), against: 'plainjob', others: [plainjob], target: 6, goal: 10 },
  { ...pgAtMost('f-same'), against: 'one bare INSERT', others: [bare], target: 2.5 },
  { ...liteAtMost('f-same'), against: 'milliseconds', others: [], target: 0.5 },
  { ...pgAtMost('f-other'), against: 'graphile-worker', others: [graphile], target: 0.6 },
  { ...pgAtMost('f-other'), against: 'bullmq-redis', others: [bullmq], target: 1.3 },
  { ...pgAtMost('f-tx'), against: 'milliseconds', others: [], target: 100 },
  { ...pgAtMost('f-other-p99'), against: 'graphile-worker', others: [graphile], target: 1 },
  { ...liteAtMost('f-other'), against: 'milliseconds', others: [], target: 5 },
  ...['open-1000', 'open-4000'].flatMap((name): Rule[] => [
    { ...pgAtMost(name), against: 'graphile-worker', others: [graphile], target: 1 },
    { ...pgAtMost(name), against: 'bullmq-redis', others: [bullmq], target: 1.3 },
  ]),
  { ...pgAtLeast('slow-commits'), against: 'graphile-worker', others: [graphile], target: 1 },
  { ...pgAtMost('slow-commits-p99'), against: 'graphile-worker', others: [graphile], target: 1 },
  ...(['postgres', 'sqlite'] as const).flatMap((store): Rule[] => [
    {
      case: 'groups-fair',
      store,
      way: 'at least',
      against: 'plain',
      others: [own('groups-plain')],
      target: 0.9,
    },
    {
      case: 'groups-limited',
      store,
      way: 'at least',
      against: 'plain',
      others: [own('groups-plain')],
      target: 0.6,
    },
    { case: 'groups-pickup', store, way: 'at most', against: 'milliseconds, p99', others: [], target: 300 },
    {
      case: 'groups-claim',
      store,
      way: 'at most',
      against: 'the same with 1,000 jobs',
      others: [own('groups-claim-few')],
      target: 1.5,
    },
  ]),
  { ...pgAtLeast('groups-drain'), against: 'pg-boss groups', others: [boss], target: 5 },
  { ...pgAtLeast('g'), against: 'its own d', others: [own('d')], target: 0.9 },
  { ...liteAtLeast('g'), against: 'its own d', others: [own('d')], target: 0.9 },
  ...EMPTY_CLAIMS.flatMap((name) => {
    const few = { against: 'the same with 1,000 jobs', others: [own(`${name}-few`)], target: 1.5 }
    return [
      { ...pgAtMost(name), ...few },
      { ...liteAtMost(name), ...few },
    ]
  }),
  { ...pgAtLeast('i'), against: 'the same unpinned', others: [own('i-unpinned')], target: 0.9 },
  { ...liteAtLeast('i'), against: 'the same without a reader', others: [own('i-unpinned')], target: 0.9 },
  { ...pgAtLeast('steps'), against: 'dbos', others: [dbos], target: 10 },
  { ...pgAtLeast('steps'), against: 'openworkflow', others: [openworkflow], target: 8 },
  { ...liteAtLeast('steps'), against: 'openworkflow', others: [openworkflow], target: 10 },
  ...[pgAtMost, liteAtMost].flatMap((atMost): Rule[] => [
    { ...atMost('steps-long-ratio'), against: 'the first 100 of 1,000 steps', others: [], target: 1.2 },
    { ...atMost('steps-long-resume'), against: 'milliseconds', others: [], target: 50 },
  ]),
  { ...liteAtMost('i-wal'), against: 'megabytes, 10 s after the reader', others: [], target: 64 },
]

/** How many targets a complete run has. */
export const TARGETS = RULES.length

/** The targets whose figures were measured. Jobmill is judged by its default setting. */
export function targetsOf(figures: readonly Summary[]): Target[] {
  return RULES.flatMap((rule) => {
    const mine = medianOf(figures, rule, own(rule.case))
    const theirs = rule.others.flatMap((other) => medianOf(figures, rule, other) ?? [])
    if (mine === undefined || (rule.others.length > 0 && theirs.length === 0)) return []
    const pick = rule.way === 'at least' ? Math.max : Math.min
    const ratio = rule.others.length === 0 ? mine : mine / pick(...theirs)
    const { case: name, store, against, way, target, goal = null } = rule
    const met = way === 'at least' ? ratio >= target : ratio <= target
    return [{ case: name, store, against, ratio: Number(ratio.toPrecision(4)), target, goal, way, met }]
  })
}

/** The better one when several settings were measured. */
function medianOf(figures: readonly Summary[], rule: Rule, other: Other): number | undefined {
  const candidates = figures.filter(
    (one) =>
      one.case === (other.case ?? rule.case) &&
      one.system === other.system &&
      one.store === (other.store ?? rule.store) &&
      one.setting === (other.setting ?? one.setting),
  )
  if (candidates.length === 0) return undefined
  const medians = candidates.map((one) => one.median)
  return rule.way === 'at least' ? Math.max(...medians) : Math.min(...medians)
}
