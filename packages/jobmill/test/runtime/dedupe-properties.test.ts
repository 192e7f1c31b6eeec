// Property test of dedupe keys: many callers in two processes share a few keys while a mill runs their jobs.
// The guarantees must hold for every interleaving.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { defineJob, type EnqueuedJob, type JobContext, type JobView } from '../../src/index.ts'
import { isEnded } from '../../src/store.ts'
import type { TestMill } from '../../src/testing/index.ts'
import { type Place, places } from './places.ts'

interface Call {
  readonly key: number
  readonly mode: 'keep' | 'replace'
  readonly scope: 'global' | 'queue' | 'kind'
  readonly delayMs: number
  readonly holdMs: number
  /** How the job with this payload ends. */
  readonly act: 'return' | 'throw' | 'cancel'
  readonly from: 'mill' | 'other'
}

/** Calls to make in parallel, and how far to advance the clock afterwards. */
interface Step {
  readonly calls: readonly Call[]
  readonly advanceMs: number
}

const call: fc.Arbitrary<Call> = fc.record({
  key: fc.nat({ max: 1 }),
  mode: fc.constantFrom('keep', 'replace'),
  scope: fc.constantFrom('global', 'global', 'queue', 'kind'),
  delayMs: fc.constantFrom(0, 0, 0, 300),
  holdMs: fc.constantFrom(0, 0, 500),
  act: fc.constantFrom('return', 'return', 'throw', 'cancel'),
  from: fc.constantFrom('mill', 'other'),
})
const step: fc.Arbitrary<Step> = fc.record({
  calls: fc.array(call, { minLength: 1, maxLength: 8 }),
  advanceMs: fc.constantFrom(0, 0, 200, 700),
})
const history = fc.array(step, { minLength: 2, maxLength: 6 })

type JobSummary = Pick<JobView, 'id' | 'state' | 'dedupeKey' | 'endedAt'>

interface Asked extends Call {
  readonly n: number
  readonly at: number
  readonly answer: Pick<EnqueuedJob, 'id' | 'outcome'>
}

interface PlayLog {
  readonly asked: Asked[]
  /** The payloads that ran. */
  readonly ran: { readonly id: string; readonly n: number }[]
}

let histories = 0

/** Replays a history on its own queue and kind. Returns the answers, the runs, and all jobs at the end. */
async function play(
  at: Place,
  steps: readonly Step[],
): Promise<PlayLog & { readonly jobs: readonly JobSummary[] }> {
  histories += 1
  const name = `h${histories}`
  const log: PlayLog = { asked: [], ran: [] }
  let payloads = 0
  const job = defineJob({
    kind: name,
    backoff: { fixed: 400 },
    async run({ payload, job: { id }, attempt }: JobContext<{ n: number; act: Call['act'] }>) {
      log.ran.push({ id, n: payload.n })
      // Yield a few times, so that callers meet the job while it runs.
      for (let turn = 0; turn < payload.n % 4; turn += 1) await new Promise((next) => setImmediate(next))
      if (payload.act === 'throw' && attempt < 3) throw new Error('once more')
      if (payload.act === 'cancel') await mill.cancel(id, 'by itself')
      if (payload.act === 'cancel') throw new Error('cancelled')
    },
  })
  const options = { jobs: [job], route: () => name }
  const mill = await at.mill(options)
  const other = await at.mill({ ...options, platform: mill.platform, start: false })
  const ask = async (one: Call): Promise<void> => {
    payloads += 1
    const n = payloads
    const askedAt = mill.clock.now()
    const { key, mode: onConflict, scope, holdMs: holdFor, delayMs: delay, act } = one
    const dedupe = { key: `${name} ${key}`, scope, holdFor, onConflict }
    const { id, outcome } = await (one.from === 'mill' ? mill : other).enqueue(
      job,
      { n, act },
      { delay, dedupe },
    )
    log.asked.push({ ...one, n, at: askedAt, answer: { id, outcome } })
  }
  for (const { calls, advanceMs } of steps) {
    // A reader that lists jobs during the calls sees at most one live job per key.
    const looks = [1, 2].map(() => jobsOf(mill, name))
    await Promise.all(calls.map(ask))
    for (const look of looks) expectOneLiveEach(await look)
    await mill.platform.advance(advanceMs)
    expectOneLiveEach(await jobsOf(mill, name))
  }
  await mill.drain({ scheduled: true })
  const jobs = await jobsOf(mill, name)
  await Promise.all([mill.stop(), other.stop()])
  return { ...log, jobs }
}

async function jobsOf({ store }: TestMill, queue: string): Promise<JobSummary[]> {
  const { jobs } = await store.list({ queue }, { limit: 500 })
  const records = await store.get(jobs.map(({ id }) => id))
  return records.flatMap((record) => (record === null ? [] : [record]))
}

function expectOneLiveEach(jobs: readonly JobSummary[]): void {
  const live = jobs.filter(({ state }) => !isEnded(state)).map(({ dedupeKey }) => dedupeKey)
  expect(live.length).toBe(new Set(live).size)
}

const keyOf = ({ key, scope }: Call): string => `${scope} ${key}`

function expectWords({ asked, ran, jobs }: PlayLog & { readonly jobs: readonly JobSummary[] }): void {
  const news = new Map(
    asked.flatMap((one) => (one.answer.outcome === 'enqueued' ? [[one.answer.id, one] as const] : [])),
  )
  // There are as many jobs as answers of "enqueued", and all of them ended.
  expect(asked.filter(({ answer }) => answer.outcome === 'enqueued')).toHaveLength(jobs.length)
  expect(new Set(jobs.map(({ id }) => id))).toEqual(new Set(news.keys()))
  expect(jobs.filter(({ state }) => !isEnded(state))).toEqual([])
  // Every answer names a job that was enqueued under the same key and held it at the time of the call or
  // later.
  const ended = new Map(jobs.map((job) => [job.id, job]))
  for (const one of asked) {
    const first = news.get(one.answer.id)
    expect(first === undefined ? undefined : keyOf(first)).toBe(keyOf(one))
    const { state, endedAt } = ended.get(one.answer.id) ?? {}
    const isHeld = state === 'done' && one.answer.outcome === 'duplicate'
    expect((endedAt ?? 0) + (isHeld ? (first?.holdMs ?? 0) : 0)).toBeGreaterThanOrEqual(one.at)
  }
  // A run sees the payload that its job was enqueued with or that replaced it, never one of a duplicate.
  const answers = new Map(asked.map((one) => [one.n, one.answer]))
  for (const { id, n } of ran) {
    expect(answers.get(n)?.id).toBe(id)
    expect(answers.get(n)?.outcome).not.toBe('duplicate')
  }
  expect(new Set(ran.map(({ id }) => id))).toEqual(new Set(news.keys()))
}

describe.each(places)('target 9 on $name: few keys and many callers', ({ name, create }) => {
  const at = create()
  const numRuns = Number(process.env['JOBMILL_RUNS'] ?? inFull(20, name === 'sqlite' ? 4 : 2))

  test(
    'target 9: each key has one live job, replies name its holder, each enqueued job exists, and only stored payloads run',
    async () => {
      await fc.assert(
        fc.asyncProperty(history, async (steps) => expectWords(await play(at, steps))),
        { numRuns },
      )
    },
    numRuns * 2_000,
  )
})
