/**
 * An operator empties single tables with SQL. Locks, keys and permits of the removed jobs are reported and
 * released, so that later jobs run.
 */
import { describe, expect, onTestFinished, test } from 'vitest'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import type { Diagnostic } from '../../src/store/admin/admin.ts'
import type { ToolStore } from '../../src/store/store.ts'
import { aClaim, aJob, anAcquire, anInstance, aRetain } from '../../../conformance/src/factories.ts'
import { ALL, migrated, type TestSite, type TestSites } from './sites.ts'

interface Scene extends TestSite {
  readonly instance: string
  /** A running job that holds the order lock of `o` and a permit of `few`. */
  readonly lease: Lease
}

/** Also a job behind the running one, and a job that holds the dedupe key `daily`. */
async function scene(sites: TestSites): Promise<Scene> {
  const site = await migrated(sites)
  const { store } = site
  await store.open()
  await store.limits.declare([{ name: 'few', settings: { type: 'concurrency', most: 1 } }])
  const instance = anInstance({ leaseMs: 3_600_000 })
  await store.instances.register(instance)
  await store.enqueue([aJob({ orderKey: 'o' }), aJob({ orderKey: 'o' })])
  await store.enqueue([aJob({ dedupe: { key: 'daily' }, delay: '1h' })])
  await store.stage(100)
  const [lease] = await store.claim(aClaim(instance.id))
  if (lease === undefined) throw new Error('the first job is ready')
  const { id: holder, token } = lease
  const [permit] = await store.limits.acquire([anAcquire('few', { holder, token, instance: instance.id })])
  expect(permit?.outcome).toBe('granted')
  return { ...site, instance: instance.id, lease }
}

async function keys(store: ToolStore<never>): Promise<Diagnostic | undefined> {
  return (await store.tools.diagnose()).find(({ check }) => check === 'keys')
}

/** New jobs with the same keys are enqueued, and those with the order key run one after the other. */
async function expectFree({ store, instance }: Scene, isKeyed: boolean): Promise<void> {
  const again = await store.enqueue([aJob({ dedupe: { key: 'daily' }, delay: '1h' })])
  expect(again.map(({ outcome }) => outcome)).toEqual([isKeyed ? 'enqueued' : 'duplicate'])
  const last = aJob({ orderKey: 'o' })
  await store.enqueue([last])
  for (let id: string | undefined; id !== last.id;) {
    await store.stage(100)
    const [next] = await store.claim(aClaim(instance))
    expect(next).toBeDefined()
    id = next?.id
    const transition = { to: 'done', result: null } as const
    await store.finish([{ id: id ?? '', token: next?.token ?? 0, outcome: 'returned', transition }])
  }
  // A new holder gets the only permit.
  const [permit] = await store.limits.acquire([anAcquire('few', { instance })])
  expect(permit?.outcome).toBe('granted')
}

const EMPTIED: readonly [tables: string, stores: readonly string[]][] = [
  ['job', ['sqlite', 'postgres']],
  ['running', ['postgres']],
  ['job ready running later attempt', ['postgres']],
  ['job ready running later attempt order_queue', ['postgres']],
]

describe.each(ALL)('emptied tables of $name', (sites) => {
  const ways = EMPTIED.filter(([, stores]) => stores.includes(sites.name)).map(([tables]) => tables)

  test.each(ways.slice(0, inFull(ways.length, 1)))(
    'D3 P1 %s: the doctor reports keys without a job, and retention releases them',
    async (tables) => {
      const all = await scene(sites)
      const { store, run, lease } = all
      onTestFinished(() => store.close())
      expect(await keys(store)).toMatchObject({ level: 'ok' })
      await store.retain(aRetain())
      expect(await keys(store)).toMatchObject({ level: 'ok' })
      for (const table of tables.split(' ')) await run(`DELETE FROM TABLE:${table}`)
      const found = await keys(store)
      expect(found).toMatchObject({ level: 'warning', fix: expect.stringContaining('retention') as string })
      expect(found?.message).toMatch(/1 order locks|entries/)
      // The handler of the removed job ends.
      const { id, token } = lease
      await store.finish([{ id, token, outcome: 'returned', transition: { to: 'done', result: null } }])
      while ((await store.retain(aRetain())).more);
      expect(await keys(store)).toMatchObject({ level: 'ok' })
      // The job with the dedupe key waits in another table than the running one.
      await expectFree(all, tables !== 'running')
    },
  )

  test('D3 P2 retention keeps the locks and keys of jobs that wait, run, or are held', async () => {
    const { store, lease } = await scene(sites)
    onTestFinished(() => store.close())
    const held = aJob({ dedupe: { key: 'held' }, queue: 'other' })
    await store.enqueue([held])
    await store.retain(aRetain())
    expect(await store.inspect.holders([held.dedupe?.key ?? ''])).toEqual([held.id])
    await store.stage(100)
    // The second job of the order key still waits for the first.
    expect(await store.claim(aClaim(anInstance().id)).catch(() => [])).toEqual([])
    expect((await store.get([lease.id]))[0]?.state).toBe('running')
  })
})
