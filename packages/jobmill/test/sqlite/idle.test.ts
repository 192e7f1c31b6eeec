// The statements of an idle process.
import Database from 'better-sqlite3'
import { afterEach, assert, describe, expect, test, vi } from 'vitest'
import { aClaim, aJob, anInstance, aHeartbeat, someJobs } from '../../../conformance/src/factories.ts'
import { freshFile, openStore } from './support.ts'

/** Records every statement that runs from now on, in order. */
function everyRun(): string[] {
  const texts: string[] = []
  const prepare = Object.getOwnPropertyDescriptor(Database.prototype, 'prepare')?.value as (
    text: string,
  ) => Database.Statement
  vi.spyOn(Database.prototype, 'prepare').mockImplementation(function (this: unknown, text: string) {
    const statement = prepare.call(this, text)
    for (const way of ['run', 'get', 'all'] as const) {
      const call = statement[way].bind(statement)
      Object.assign(statement, {
        [way]: (...values: unknown[]) => (texts.push(text.trim()), call(...values)),
      })
    }
    return statement
  })
  return texts
}

afterEach(() => void vi.restoreAllMocks())

const duties = ['schedule', 'retain'].map((name) => ({ name, succeededAgoMs: null, failures: 0 }))

describe('sqlite, idle', () => {
  test('P15 an idle heartbeat only reads, in one transaction, for any number of queues and kinds', async () => {
    const texts = everyRun()
    const store = await openStore()
    const instance = anInstance()
    await store.instances.register(instance)
    const names = Array.from({ length: 50 }, (_, at) => `name-${at}`)
    await store.enqueue(someJobs(names.map((queue) => ({ queue, delay: '1h' }))))
    await store.instances.renew(aHeartbeat(instance.id, { duties }))
    const costs = []
    for (const [queues, kinds] of [
      [['name-1'], ['name-1']],
      [names, names],
    ] as const) {
      texts.length = 0
      await store.instances.renew(aHeartbeat(instance.id, { queues, kinds, duties }))
      costs.push([...texts])
    }
    assert.deepEqual(costs[0], costs[1])
    const [first, ...rest] = costs[0] ?? []
    assert.deepEqual([first, rest.at(-1)], ['BEGIN', 'COMMIT'])
    for (const text of rest.slice(0, -1)) assert.match(text, /^(?:SELECT |PRAGMA schema_version$)/)
    assert.isAtMost(rest.length - 1, 13)
    if (process.env['JOBMILL_SHOW_PLANS'] !== undefined) console.log(costs[0])
  })

  test('P15 a job that never had a permit ends without a query for permits', async () => {
    const texts = everyRun()
    const path = freshFile()
    const store = await openStore(path)
    const instance = anInstance()
    await store.instances.register(instance)
    await store.enqueue(someJobs([{}, {}, {}]))
    const leases = await store.claim(aClaim(instance.id))
    const to = [
      { to: 'done', result: null },
      { to: 'ready' },
      { to: 'scheduled', delayMs: 1, refund: false },
    ] as const
    await store.finish(
      leases.map(({ id, token }, at) => ({ id, token, outcome: 'returned', transition: to[at] ?? to[0] })),
    )
    expect(await store.counts()).toMatchObject([{ done: 1, ready: 1, scheduled: 1 }])
    assert.isEmpty(texts.filter((text) => text.includes('jobmill_permit')))
    await store.enqueue([aJob()])
    await store.instances.deregister(instance.id)
    // The instance itself is read once, whatever it ran.
    assert.lengthOf(
      texts.filter((text) => text.includes('jobmill_permit')),
      1,
    )
  })
})
