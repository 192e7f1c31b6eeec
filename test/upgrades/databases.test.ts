// Opens a stored database of every release with the current code and with the release after it: no data is
// lost, and every job continues.
import type { JobState, Mill, FullStore } from 'jobmill'
import { beforeAll, describe, expect, test } from 'vitest'
import { atFileEnd } from '../support/suite/file-end.ts'
import { inFull } from '../support/suite/in-full.ts'
import { KEYS, PAUSED } from './databases/fill.ts'
import { LIMITED, QUICK, SCHEDULES } from './databases/fill-cluster.ts'
import { buildNextRelease } from './releases/next-release.ts'
import { STORES } from './databases/places.ts'
import { loadBundle, loadRelease, listReleases, type Release, loadCurrent } from './releases/release.ts'
import { KIND, QUEUE, type Roles } from './databases/scene.ts'
import { snapshot } from './databases/snapshot.ts'

const TIMEOUT_MS = 60_000

let next = ''
beforeAll(async () => {
  next = await buildNextRelease(atFileEnd)
})

interface Runs {
  /** Runs by job id. */
  readonly times: Map<string, number>
  /** Resolves with the id of the first job of the schedule. */
  readonly firstTick: Promise<string>
}

function recordingMill(
  { entry }: Release,
  store: FullStore<never>,
): { readonly mill: Mill<never>; readonly runs: Runs } {
  const times = new Map<string, number>()
  const tick = Promise.withResolvers<string>()
  const work = entry.defineJob({
    kind: KIND,
    queue: QUEUE,
    run({ job, payload }) {
      times.set(job.id, (times.get(job.id) ?? 0) + 1)
      if (payload === 'tick') tick.resolve(job.id)
      return job.attempt
    },
  })
  const serve = [QUEUE, PAUSED, LIMITED, QUICK]
  const mill = entry.jobmill({ store, jobs: [work], serve, log: 'silent' })
  return { mill, runs: { times, firstTick: tick.promise } }
}

/** Computes from the jobs what `counts` returns. */
async function countJobs(
  store: FullStore<never>,
): Promise<Record<string, Partial<Record<JobState, number>>>> {
  const counted: Record<string, Partial<Record<JobState, number>>> = {}
  for (const { name } of await store.queues.list()) {
    const { jobs } = await store.list({ queue: name }, { limit: 500 })
    const ofQueue = (counted[name] ??= {})
    for (const { state } of jobs) ofQueue[state] = (ofQueue[state] ?? 0) + 1
  }
  return counted
}

async function expectExactCounts(store: FullStore<never>): Promise<void> {
  const counts = (await store.counts()).map(({ queue, oldestReadyMs: _, ...states }) => {
    return [queue, Object.fromEntries(Object.entries(states).filter(([, jobs]) => jobs > 0))]
  })
  expect(Object.fromEntries(counts)).toEqual(await countJobs(store))
}

describe.each(STORES)('databases of releases, on %s', (on, stores) => {
  // On PostgreSQL, side-by-side.test.ts migrates a live database to the release after the current one.
  const codes = [
    ["today's code", loadCurrent],
    ['the release after it', () => loadBundle(next)],
  ] as const
  const loaders = codes.slice(0, inFull(2, on === 'sqlite' ? 2 : 1))
  test.concurrent.for(
    listReleases().flatMap((version) => loaders.map(([name, load]) => [version, name, load] as const)),
  )(
    'P2 P3 P4 P12 of %s, opened by %s: all data is unchanged, and each waiting or running job runs to its end once',
    { timeout: TIMEOUT_MS },
    async ([version, , load], { onTestFinished }) => {
      const release = await load()
      const { place, expected } = await stores.restore(version)
      const openStore = async (): Promise<FullStore<never>> => {
        const store = await release.storeAt(place)
        onTestFinished(() => store.close())
        await store.open()
        return store
      }
      // SCHEMA_CHANGED here means that the schema was edited since the last `npm run keep-release`.
      const first = await openStore()
      expect(await snapshot(first, expected.roles)).toMatchObject(expected)
      await expectExactCounts(first)
      const migrated = await stores.dump(place)
      const second = await openStore()
      expect(await stores.dump(place)).toBe(migrated)

      const { mill, runs } = recordingMill(release, await release.storeAt(place))
      onTestFinished(async () => void (await mill.stop()))
      const { keyed = '', 'done-with-key': doneWithKey = '' } = expected.roles
      expect(await keyHolders(mill)).toEqual([keyed, doneWithKey])
      await mill.start()
      // The earlier instances are gone, so do not wait until their leases expire.
      await mill.recover()
      await expectRunOnce(mill, runs, expected.roles)
      await expectTicked(mill, runs)
      await mill.stop()
      await expectExactCounts(second)
      expect((await second.limits.list()).map(({ held }) => held)).toEqual([0, 0])
    },
  )

  test('the code of every release refuses to start on a later database, and says what to do', async () => {
    const place = stores.empty()
    const newer = await (await loadBundle(next)).storeAt(place)
    await newer.open()
    await newer.close()
    for (const version of listReleases()) {
      const { storeAt } = await loadRelease(version)
      await expect((await storeAt(place)).open()).rejects.toMatchObject({
        code: 'SCHEMA_NEWER',
        fix: expect.stringContaining('Install the release') as string,
      })
    }
  })
})

async function expectRunOnce(mill: Mill<never>, runs: Runs, roles: Roles): Promise<void> {
  const id = (role: string): string => roles[role] ?? ''
  const { now, held, never } = groupRoles(roles)
  await Promise.all(now.map((one) => mill.job(one).result()))
  const states = await Promise.all(held.map(async (one) => (await mill.get(one))?.state))
  expect(states).toEqual(['ready', 'scheduled', 'scheduled'])
  await mill.resume(PAUSED)
  await mill.runNow(id('far'))
  await mill.runNow(id('retrying'))
  await Promise.all(held.map((one) => mill.job(one).result()))
  // The jobs of a process that stopped sending heartbeats have crashed, which spends no attempt.
  expect(await mill.get(id('running'))).toMatchObject({ state: 'done', result: 1, crashes: 1 })
  expect(await mill.get(id('retrying'))).toMatchObject({ state: 'done', result: 2, crashes: 0 })
  expect(await mill.get(id('asked-to-stop'))).toMatchObject({ state: 'cancelled' })
  expect([...now, ...held].filter((one) => runs.times.get(one) !== 1)).toEqual([])
  expect(never.filter((one) => runs.times.has(one))).toEqual([])
}

/** Finds the holders of the two keys by enqueuing under them. */
function keyHolders(mill: Mill<never>): Promise<string[]> {
  const ask = async (dedupeKey: string): Promise<string> =>
    (await mill.enqueue(KIND, null, { queue: QUEUE, dedupeKey })).id
  return Promise.all([ask(KEYS.waiting), ask(KEYS.done)])
}

/** Jobs that run as soon as a worker starts, that wait for an operator, and that never run. */
function groupRoles(roles: Roles): {
  readonly now: string[]
  readonly held: string[]
  readonly never: string[]
} {
  const held = ['held', 'far', 'retrying']
  const never = ['done', 'done-with-key', 'dead', 'cancelled', 'cancelled-while-waiting', 'asked-to-stop']
  const ids = (some: readonly string[]): string[] => some.map((role) => roles[role] ?? '')
  const now = Object.keys(roles).filter((role) => !held.includes(role) && !never.includes(role))
  return { now: ids(now), held: ids(held), never: ids(never) }
}

/**
 * The schedule that ran once enqueues a job for the last tick that it missed, and its next tick is in the
 * future.
 */
async function expectTicked(mill: Mill<never>, runs: Runs): Promise<void> {
  const job = await runs.firstTick
  const schedules = await mill.schedules.list()
  const nightly = schedules.find(({ name }) => name === SCHEDULES.code)
  expect(nightly).toMatchObject({ lastJob: job })
  expect(Number(nightly?.nextAt)).toBeGreaterThan(Number(nightly?.lastAt))
}
