// Pages: each is written once however often it is sent, large jobs come in smaller pages, and an interrupted
// transfer resumes.
import { expect, test, describe } from 'vitest'
import { findPlace, transferAll } from '../../src/cli/transfer/transfer-parts.ts'
import { pagesOf } from '../../src/cli/transfer/walk.ts'
import { aClaim, aFinish, aJob, anInstance, FORGET, someJobs } from '../../../conformance/src/factories.ts'
import { furnish } from './furnish.ts'
import { inOrder, keyed } from './furnish-keys.ts'
import { lookAt } from './look.ts'
import { transferredTo, transferTo, freshPlace, type Place, type Sort, WAY } from './places.ts'

const SORTS = ['sqlite', 'postgres'] as const
const OTHER = { sqlite: 'postgres', postgres: 'sqlite' } as const

async function withJobs(sort: Sort, jobs: number): Promise<Place> {
  const place = await freshPlace(sort)
  await place.store.enqueue(someJobs(Array.from({ length: jobs }, (_, n) => ({ payload: n }))))
  return place
}

describe.each(SORTS)('pages into %s', (sort) => {
  test('a page that is sent again changes nothing', async () => {
    const source = await freshPlace(OTHER[sort])
    await furnish(source, [keyed, inOrder])
    const target = await transferredTo(sort, source)
    const contents = await lookAt(target.store)
    for (const part of ['jobs', 'keys', 'ticks'] as const)
      for await (const page of pagesOf(source.store.tools, part, { after: null, limit: 5 }))
        expect(await target.store.tools.importItems(part, page)).toBe(0)
    await target.store.tools.importRest(await source.store.tools.exportRest())
    expect(await lookAt(target.store)).toEqual(contents)
  })

  test('the missing jobs of a page that is partly stored are written', async () => {
    const { store } = await withJobs(OTHER[sort], 9)
    const target = await freshPlace(sort)
    const page = await store.tools.exportItems('jobs', { after: null, limit: 100 })
    expect(await target.store.tools.importItems('jobs', page.slice(3, 6))).toBe(3)
    expect(await target.store.tools.importItems('jobs', page)).toBe(6)
    expect(await target.store.counts()).toMatchObject([{ queue: 'default', ready: 9 }])
    expect(await target.store.tools.importItems('jobs', [])).toBe(0)
  })

  test('jobs with large payloads, results and logs are exported a few at a time, and all of them', async () => {
    const { store } = await freshPlace(sort)
    const instance = anInstance()
    await store.instances.register(instance)
    const large = 'x'.repeat(900_000)
    await store.enqueue(someJobs([1, 2, 3].map(() => ({ payload: large }))))
    const leases = await store.claim(aClaim(instance.id))
    const result = JSON.stringify(large)
    await store.finish(
      leases.map((lease) => aFinish(lease, { to: 'done', result }, { log: 'l'.repeat(60_000) })),
    )
    await store.enqueue(someJobs([4, 5, 6, 7, 8, 9].map(() => ({ payload: large }))))
    await store.instances.deregister(instance.id)
    const sizes: number[] = []
    for await (const page of pagesOf(store.tools, 'jobs', { after: null, limit: 500 }))
      sizes.push(page.length)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(4)
    expect(sizes.reduce((sum, size) => sum + size)).toBe(9)
  })

  test('running jobs are not exported', async () => {
    const { store } = await withJobs(sort, 2)
    const instance = anInstance()
    await store.instances.register(instance)
    const [lease] = await store.claim(aClaim(instance.id, { limit: 1 }))
    const ids = (await store.tools.exportItems('jobs', { after: null, limit: 10 })).map(({ id }) => id)
    expect(ids).toHaveLength(1)
    expect(ids).not.toContain(lease?.id)
    expect(await store.tools.exportIds({ after: null, limit: 10 })).toEqual(ids)
    await store.instances.deregister(instance.id)
  })
})

describe('a transfer resumes', () => {
  test('at the first missing job, even if later ones exist', async () => {
    const source = await withJobs('sqlite', 20)
    const target = await freshPlace('postgres')
    const both = { source: source.store, target: target.store }
    expect(await findPlace(both)).toEqual({ after: null, total: 20, there: 0 })
    const jobs = await source.store.tools.exportItems('jobs', { after: null, limit: 20 })
    await target.store.tools.importItems('jobs', [...jobs.slice(0, 5), ...jobs.slice(9, 12)])
    expect(await findPlace(both)).toEqual({ after: { id: jobs[4]?.id }, total: 20, there: 8 })
    expect((await transferTo(source.store, target.store)).differences).toEqual([])
    expect(await findPlace(both)).toEqual({ after: { id: jobs[19]?.id }, total: 20, there: 20 })
  })

  test('not in a database with jobs of its own', async () => {
    const source = await withJobs('sqlite', 3)
    const target = await freshPlace('sqlite')
    const foreign = aJob({ delay: '1h' })
    await source.store.enqueue(someJobs([{}, {}, {}]))
    await target.store.enqueue([foreign])
    await expect(transferTo(source.store, target.store)).rejects.toThrow(`has job ${foreign.id}, which`)
    expect(await target.store.counts()).toMatchObject([{ ready: 0, scheduled: 1 }])
  })

  test('not in a database that has run jobs since, or deleted jobs would be restored', async () => {
    const source = await withJobs('sqlite', 3)
    const { store } = await transferredTo('sqlite', source)
    const instance = anInstance()
    await store.instances.register(instance)
    const leases = await store.claim(aClaim(instance.id))
    await store.finish(leases.map((lease) => aFinish(lease, FORGET)))
    await store.instances.deregister(instance.id)
    await expect(transferTo(source.store, store)).rejects.toThrow('has run jobs independently of')
    expect(await store.counts()).toMatchObject([{ ready: 0 }])
  })

  test('and starts no further page after it was stopped', async () => {
    const source = await withJobs('sqlite', 20)
    const target = await freshPlace('sqlite')
    const stop = new AbortController()
    const passed = (): void => stop.abort()
    const places = { source: source.store, target: target.store }
    await expect(transferAll(places, null, { ...WAY, signal: stop.signal, passed })).rejects.toThrow(
      'aborted',
    )
    expect(await target.store.counts()).toMatchObject([{ ready: WAY.limit }])
  })
})
