/** Groups: fairness, limits per group, changes at run time, and refused options. On both stores. */
import { describe, expect, test as once } from 'vitest'
import { z } from 'zod'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { declareJob, defineJob, type JobContext, jobmill } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import { subjects } from './stores.ts'

interface Page {
  readonly tenant: string
  readonly page: number
}

/** Records the order of its jobs, and the largest number of jobs of a group that ran at once. */
function rendering() {
  const order: string[] = []
  const running = new Map<string, number>()
  let most = 0
  const job = defineJob({
    kind: 'page.render',
    queue: 'render',
    group: 'tenant',
    async run({ payload, now, job }: JobContext<Page>) {
      expect(job.group).toBe(payload.tenant)
      order.push(payload.tenant)
      const here = (running.get(payload.tenant) ?? 0) + 1
      most = Math.max(most, here)
      running.set(payload.tenant, here)
      await Promise.resolve(now())
      running.set(payload.tenant, (running.get(payload.tenant) ?? 0) - 1)
    },
  })
  return { job, order, most: () => most }
}

const pages = (tenant: string, count: number) =>
  Array.from({ length: count }, (_, page) => ({ payload: { tenant, page } }))

describe.each(subjects)('groups on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)

  once('P20 a tenant with many jobs does not delay the others', async () => {
    const { job, order } = rendering()
    const mill = await create({
      jobs: [job],
      queues: { render: { workers: 2, paused: true, groups: { fair: true } } },
    })
    await mill.enqueueMany(job, pages('flood', 60))
    await mill.enqueueMany(job, pages('small', 5))
    await mill.enqueueMany(job, pages('other', 5))
    await mill.resume('render')
    await mill.drain()
    expect(order).toHaveLength(70)
    const last = Math.max(order.lastIndexOf('small'), order.lastIndexOf('other'))
    expect(last).toBeLessThan(24)
  })

  once('P20 a group runs at most as many jobs at once as its concurrency', async () => {
    const { job, order, most } = rendering()
    const mill = await create({
      jobs: [job],
      queues: { render: { workers: 8, groups: { concurrency: 2 } } },
    })
    await mill.enqueueMany(job, [...pages('a', 20), ...pages('b', 3)])
    await mill.drain()
    expect(order).toHaveLength(23)
    expect(most()).toBe(2)
  })

  test('P20 a rate spreads the jobs of a group over time', async () => {
    const { job, order } = rendering()
    const mill = await create({
      jobs: [job],
      queues: { render: { groups: { rate: 2, per: '1m' } } },
    })
    await mill.enqueueMany(job, [...pages('a', 5), ...pages('b', 1)])
    await mill.platform.settled()
    expect(order.toSorted()).toEqual(['a', 'a', 'b'])
    const waiting = await mill.list({ group: 'a', state: 'scheduled' })
    const reasons = (await mill.why(waiting.jobs[0]?.id ?? ''))?.reasons
    expect(reasons).toMatchObject([{ why: 'group' }])
    expect(reasons?.[0]?.message).toMatch(
      /^Group a starts 2 per 1 min: its next token comes in \d+ s, 3 jobs of it wait$/,
    )
    await mill.clock.advance('31s')
    await mill.platform.settled()
    expect(order).toHaveLength(4)
    await mill.clock.advance('2m')
    await mill.drain()
    expect(order).toHaveLength(6)
  })

  test('an operator lists groups, pauses one, and gives another more', async () => {
    const { job, order } = rendering()
    const mill = await create({
      jobs: [job],
      queues: { render: { groups: { fair: true, concurrency: 1 } } },
    })
    await mill.groups.pause('render', 'a', { by: 'ada' })
    await mill.enqueueMany(job, pages('a', 2))
    await mill.platform.settled()
    expect(order).toEqual([])
    const [{ id } = { id: '' }] = (await mill.list({ group: 'a' })).jobs
    expect((await mill.why(id))?.reasons).toEqual([
      { why: 'group', message: 'Group a is paused: 2 jobs of it wait', until: null, job: null },
    ])
    expect(await mill.groups.list('render')).toMatchObject([
      { name: 'a', waiting: 2, running: 0, paused: true, overrides: { by: 'ada' } },
    ])
    expect(await mill.groups.update('render', 'b', { weight: 4, concurrency: 8 })).toMatchObject({
      weight: 4,
      concurrency: 8,
    })
    expect((await mill.groups.list('render', { sort: 'name' })).map((one) => one.name)).toEqual(['a', 'b'])
    expect(await mill.groups.update('render', 'b', { weight: null, concurrency: null })).toMatchObject({
      weight: 1,
      concurrency: 1,
      overrides: null,
    })
    await mill.groups.resume('render', 'a')
    await mill.drain()
    expect(order).toEqual(['a', 'a'])
    expect(await mill.groups.get('render', 'a')).toMatchObject({ waiting: 0, running: 0, paused: false })
  })

  test('the group comes from the call, a path, or a function of the payload', async () => {
    const byFunction = defineJob({
      kind: 'by.function',
      group: ({ shop }: { shop: number }) => (shop === 0 ? undefined : `shop-${shop}`),
      run: ({ payload }: JobContext<{ shop: number }>) => payload.shop,
    })
    const byPath = declareJob({
      kind: 'by.path',
      payload: z.object({ shop: z.object({ id: z.number() }).optional() }),
      group: 'shop.id',
    })
    const mill = await create({ jobs: [byFunction], start: false })
    const groupOf = async ({ id }: { id: string }) => (await mill.get(id))?.group
    expect(await groupOf(await mill.enqueue(byFunction, { shop: 7 }))).toBe('shop-7')
    expect(await groupOf(await mill.enqueue(byFunction, { shop: 0 }))).toBeNull()
    expect(await groupOf(await mill.enqueue(byFunction, { shop: 7 }, { group: 'vip' }))).toBe('vip')
    expect(await groupOf(await mill.enqueue(byPath, { shop: { id: 12 } }))).toBe('12')
    expect(await groupOf(await mill.enqueue(byPath, {}))).toBeNull()
    await expect(mill.enqueue(byFunction, { shop: 7 }, { group: 'x'.repeat(600) })).rejects.toMatchObject({
      code: 'NAME_INVALID',
      field: 'job.group',
    })
  })

  test('a change of a group that would have no effect is refused, with the fix', async () => {
    const mill = await create({
      jobs: [],
      start: false,
      queues: { render: { groups: { fair: true } }, plain: {} },
    })
    await mill.open()
    await mill.store.queues.declare(
      ['render', 'plain'].map((queue) => ({ name: queue, settings: { groupFair: queue === 'render' } })),
    )
    const update = (change: object, queue = 'render') => mill.groups.update(queue, 'a', change)
    await expect(update({ weight: 0 })).rejects.toThrow(/Pause the group instead/)
    await expect(update({ weight: -1 })).rejects.toMatchObject({ field: 'group.weight' })
    await expect(update({ concurrency: 0 })).rejects.toThrow(/Pause the group or the queue/)
    await expect(update({ per: '1s' })).rejects.toMatchObject({ code: 'OPTION_CONFLICT', field: 'group.per' })
    await expect(update({})).rejects.toMatchObject({ field: 'group' })
    await expect(update({ weigth: 2 })).rejects.toMatchObject({ code: 'OPTION_UNKNOWN' })
    await expect(update({ weight: 2 }, 'plain')).rejects.toMatchObject({ code: 'OPTION_CONFLICT' })
    await expect(update({ weight: 2 }, 'rendr')).rejects.toThrow(/Did you mean "render"/)
  })
})

const start = (groups: object) => () =>
  jobmill({ store: sqlite(':memory:'), queues: { render: { groups } }, log: 'silent' })

once('groups of a queue are checked at the start', () => {
  expect(start({ concurrency: 0 })).toThrow(/queues\.render\.groups\.concurrency: would never run a job/)
  expect(start({ rate: 0.5 })).toThrow(/queues\.render\.groups\.rate/)
  expect(start({ per: '1s' })).toThrow(/queues\.render\.groups\.per: needs a rate/)
  expect(start({ rate: 1, per: '5ms' })).toThrow(/must be at least 100 ms/)
  expect(start({ fairness: true })).toThrow(/fair/)
})
