// Approximate jobs per second of each system in each case. Slow systems get fewer jobs, so that a cell takes
// seconds. No result is compared with these numbers.

type Paces = Readonly<Record<string, number>>

export const PACE: Readonly<Record<string, Paces>> = {
  'jobmill/postgres/default': { a: 1_200, b: 30_000, c: 75_000, d: 28_000, e: 18_000, j: 35_000 },
  'jobmill/postgres/best': { d: 28_000, e: 18_000 },
  'jobmill/sqlite/default': { a: 3_000, b: 65_000, c: 140_000, d: 45_000, e: 32_000, j: 35_000 },
  'jobmill/sqlite/best': { d: 45_000, e: 32_000 },
  'bare/postgres/best': { a: 2_500, b: 3_700, c: 100_000, d: 55_000, e: 3_000 },
  'bare/sqlite/best': { a: 6_000, b: 125_000, c: 220_000, d: 110_000, e: 52_000 },
  'graphile-worker/postgres/best': { a: 800, b: 1_000, c: 44_000, d: 27_000, e: 650, j: 28_000 },
  'graphile-worker/postgres/default': { d: 1_200, e: 400 },
  'pg-boss/postgres/best': { a: 650, b: 900, c: 23_000, d: 18_000, e: 700, j: 18_000 },
  'pg-boss/postgres/default': { b: 1_300, d: 0.5 },
  'bullmq-postgres/postgres/best': { a: 500, b: 1_000, c: 8_000, d: 1_000, e: 500, j: 1_000 },
  'bullmq-postgres/postgres/default': { d: 400 },
  'bullmq-redis/redis/best': { a: 3_000, b: 20_000, c: 12_000, d: 10_000, e: 7_000, j: 10_000 },
  'bullmq-redis/redis/default': { d: 3_000 },
  'bee-queue/redis/best': { a: 4_000, b: 30_000, c: 45_000, d: 9_500, e: 8_000, j: 9_500 },
  'bee-queue/redis/default': { d: 3_000 },
  'plainjob/sqlite/best': { a: 13_000, b: 25_000, c: 180_000, d: 7_500, e: 6_000, j: 4_000 },
  'plainjob/sqlite/default': { d: 7_000 },
  'liteque/sqlite/best': { a: 2_500, b: 2_500 },
}
