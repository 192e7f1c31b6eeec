// The cases of a run: which systems take part, with how many jobs and rounds, in a full and in a quick run.

/** A number for a full run and one for a quick run. */
export type Both = readonly [full: number, quick: number]

export interface CasePlan {
  readonly case: string
  /** The systems that a target compares, as system/store/setting. */
  readonly compared?: string
  /** Further systems that a target compares. A quick run gives them one round. */
  readonly against?: string
  /** Systems that are shown for information; they get fewer rounds. */
  readonly others?: string
  /** Systems that a quick run leaves out. */
  readonly unhurried?: string
  /** Slow systems get fewer jobs; see pace.ts. */
  readonly jobs?: Both
  readonly seconds?: Both
  /** Overrides the usual number of rounds. */
  readonly rounds?: Both
  /** A quick run leaves the whole case out, unless it is named. */
  readonly isOnlyFull?: boolean
}

const PEERS =
  'graphile-worker/postgres/best pg-boss/postgres/best bullmq-redis/redis/best plainjob/sqlite/best'
const OURS = 'jobmill/postgres/default jobmill/sqlite/default'
const BARE = 'bare/postgres/best bare/sqlite/best'
const REST = 'bullmq-postgres/postgres/best bee-queue/redis/best'
const SERVERS_BEST =
  'jobmill/postgres/default bare/postgres/best graphile-worker/postgres/best pg-boss/postgres/best ' +
  'bullmq-postgres/postgres/best bullmq-redis/redis/best bee-queue/redis/best'

export const PLAN: readonly CasePlan[] = [
  {
    case: 'a',
    others: `${OURS} ${BARE} ${PEERS}`,
    unhurried: `${REST} liteque/sqlite/best`,
    jobs: [10_000, 2_000],
  },
  {
    case: 'b',
    // The notifications of pg-boss's best setting make enqueuing slower, so compare its default too.
    compared: OURS,
    against: `${PEERS} pg-boss/postgres/default`,
    unhurried: `${BARE} ${REST} liteque/sqlite/best`,
    rounds: [3, 2],
    jobs: [100_000, 30_000],
  },
  {
    case: 'c',
    compared: OURS,
    against: 'bare/sqlite/best graphile-worker/postgres/best pg-boss/postgres/best',
    others: 'bullmq-redis/redis/best',
    unhurried: `bare/postgres/best plainjob/sqlite/best ${REST}`,
    rounds: [3, 2],
    jobs: [200_000, 50_000],
  },
  {
    case: 'd',
    compared: `${OURS} graphile-worker/postgres/best`,
    against: 'graphile-worker/postgres/default plainjob/sqlite/best',
    others: 'pg-boss/postgres/best bullmq-redis/redis/best',
    unhurried:
      `${BARE} ${REST} pg-boss/postgres/default bullmq-redis/redis/default jobmill/postgres/best jobmill/sqlite/best ` +
      'bullmq-postgres/postgres/default bee-queue/redis/default plainjob/sqlite/default',
    rounds: [3, 2],
    jobs: [100_000, 60_000],
  },
  {
    case: 'd-nothing-kept',
    compared: 'jobmill/postgres/default graphile-worker/postgres/best',
    unhurried: 'jobmill/sqlite/default',
    rounds: [3, 2],
    jobs: [100_000, 60_000],
  },
  { case: 'd-statements', others: SERVERS_BEST, jobs: [10_000, 3_000], rounds: [1, 1] },
  {
    case: 'e',
    compared: OURS,
    against: PEERS,
    unhurried: `${BARE} ${REST} jobmill/postgres/best jobmill/sqlite/best graphile-worker/postgres/default`,
    rounds: [3, 2],
    jobs: [100_000, 30_000],
  },
  {
    case: 'e-1000',
    others: `${OURS} bullmq-redis/redis/best`,
    unhurried: 'graphile-worker/postgres/best pg-boss/postgres/best plainjob/sqlite/best',
    jobs: [200_000, 50_000],
  },
  { case: 'e-nothing-kept', others: OURS, jobs: [100_000, 30_000], isOnlyFull: true },
  {
    case: 'f-same',
    compared: `${OURS} bare/postgres/best`,
    others: 'bare/sqlite/best',
    rounds: [3, 2],
    unhurried: `${PEERS} ${REST} graphile-worker/postgres/default`,
    jobs: [500, 80],
  },
  {
    case: 'f-other',
    compared: `${OURS} graphile-worker/postgres/default bullmq-redis/redis/default`,
    rounds: [3, 2],
    unhurried: `graphile-worker/postgres/best bullmq-redis/redis/best plainjob/sqlite/best pg-boss/postgres/best ${REST}`,
    jobs: [500, 80],
  },
  { case: 'f-tx', compared: 'jobmill/postgres/default', rounds: [3, 1], jobs: [500, 80] },
  {
    case: 'g',
    compared: OURS,
    unhurried: 'graphile-worker/postgres/best pg-boss/postgres/best plainjob/sqlite/best',
    jobs: [1_000_000, 60_000],
    rounds: [3, 1],
  },
  { case: 'h', compared: OURS, jobs: [1_000_000, 100_000], rounds: [3, 1] },
  {
    case: 'i',
    compared: OURS,
    unhurried: 'graphile-worker/postgres/best',
    jobs: [500_000, 100_000],
    rounds: [3, 1],
  },
  {
    case: 'i-unpinned',
    compared: OURS,
    unhurried: 'graphile-worker/postgres/best',
    jobs: [500_000, 100_000],
    rounds: [3, 1],
  },
  {
    case: 'j-2',
    compared: 'jobmill/postgres/default graphile-worker/postgres/best',
    unhurried: `jobmill/sqlite/default bullmq-redis/redis/best pg-boss/postgres/best plainjob/sqlite/best ${REST}`,
    jobs: [100_000, 60_000],
  },
  {
    case: 'j-4',
    compared: 'jobmill/postgres/default graphile-worker/postgres/best',
    unhurried: `jobmill/sqlite/default pg-boss/postgres/best bullmq-redis/redis/best plainjob/sqlite/best ${REST}`,
    jobs: [100_000, 60_000],
  },
  ...[2, 4].map((processes) => ({
    case: `j-cold-${processes}`,
    others: 'jobmill/postgres/default graphile-worker/postgres/best',
    jobs: [100_000, 20_000] as const,
    isOnlyFull: true,
  })),
  ...[1, 2, 4].map((processes) => ({
    case: `scale-${processes}`,
    compared: 'jobmill/postgres/default graphile-worker/postgres/best',
    jobs: [1_000_000, 300_000] as const,
    seconds: [6, 6] as const,
    rounds: [3, 1] as const,
  })),
  ...[1_000, 4_000].map((rate) => ({
    case: `open-${rate}`,
    compared: `${OURS} ${PEERS}`,
    unhurried: REST,
    seconds: [8, 8] as const,
    rounds: [3, 1] as const,
  })),
  {
    case: 'slow-commits',
    compared: 'jobmill/postgres/default graphile-worker/postgres/best graphile-worker/postgres/default',
    jobs: [4_000, 4_000],
    seconds: [8, 8],
    isOnlyFull: true,
  },
  {
    case: 'steps',
    compared: OURS,
    against: 'dbos/postgres/default openworkflow/postgres/default openworkflow/sqlite/default',
    others: 'restate/restate/default',
    jobs: [64, 64],
    seconds: [5, 5],
    isOnlyFull: true,
  },
  {
    case: 'steps-long',
    compared: OURS,
    others:
      'dbos/postgres/default openworkflow/postgres/default openworkflow/sqlite/default restate/restate/default',
    jobs: [5, 5],
    isOnlyFull: true,
  },
  {
    case: 'groups-drain',
    compared: OURS,
    others: 'pg-boss/postgres/best',
    jobs: [100_000, 30_000],
    rounds: [3, 1],
    isOnlyFull: true,
  },
  { case: 'groups-pickup', compared: OURS, jobs: [1_000_000, 200_000], rounds: [1, 1], isOnlyFull: true },
  { case: 'groups-claim', compared: OURS, jobs: [1_000_000, 200_000], rounds: [1, 1], isOnlyFull: true },
  { case: 'k', others: `${OURS} graphile-worker/postgres/best`, seconds: [600, 2], rounds: [1, 1] },
  { case: 'k-kept', others: OURS, seconds: [120, 2], rounds: [1, 1], isOnlyFull: true },
  {
    case: 'l',
    others: `${OURS} graphile-worker/postgres/best`,
    unhurried: `pg-boss/postgres/best bullmq-redis/redis/best plainjob/sqlite/best ${REST}`,
    seconds: [10, 2],
    rounds: [3, 1],
  },
  {
    case: 'memory',
    others: OURS,
    unhurried: `${PEERS} ${REST}`,
    jobs: [100_000, 30_000],
    rounds: [3, 1],
  },
]
