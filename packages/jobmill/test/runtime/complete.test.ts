// complete(tx) ends a job in the same transaction as the rows of the application. If the transaction rolls
// back, the job is retried.
import { describe, expect, test } from 'vitest'
import type { MillEvent } from '../../src/index.ts'
import type { TestMill } from '../../src/testing/index.ts'
import { rejection } from '../unit/support.ts'
import { completeScene as scene } from './complete-scene.ts'
import { places } from './places.ts'

const outcomes = async (mill: TestMill, id: string): Promise<string[]> =>
  (await mill.history(id)).map(({ outcome }) => outcome)

const types = (events: readonly MillEvent[], id: string): string[] =>
  events.flatMap((event) => ('id' in event && event.id === id ? [event.type] : []))

describe.each(places)('P10 on $name: complete in a transaction', ({ create }) => {
  const at = create()

  test('P10 committed: the job is done with its result, and the row of the user exists', async () => {
    const { mill, user, job } = await scene(at, async ({ complete }, { tx, ...client }) => {
      await client.begin()
      await client.insert('Ada')
      await complete(tx, { kept: true })
      await client.commit()
      return 'not this'
    })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({
      state: 'done',
      result: { kept: true },
      attempt: 1,
      error: null,
    })
    expect(await user.names()).toEqual(['Ada'])
    expect(await outcomes(mill, id)).toEqual(['returned'])
    expect(types(mill.events, id)).toEqual(expect.arrayContaining(['started', 'finished']))
    expect(await mill.job(job, id).result()).toEqual({ kept: true })
  })

  test('P10 rolled back: the attempt fails and is retried, and the row does not exist', async () => {
    const { mill, user, job } = await scene(at, async ({ complete, attempt }, { tx, ...client }) => {
      await client.begin()
      await client.insert(`attempt ${attempt}`)
      await complete(tx, attempt)
      await (attempt === 1 ? client.rollBack() : client.commit())
    })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'scheduled', attempt: 1 })
    expect((await mill.get(id))?.error).toContain('was not committed')
    expect(await user.names()).toEqual([])
    await mill.drain({ scheduled: true })
    expect(await mill.get(id)).toMatchObject({ state: 'done', attempt: 2, result: 2 })
    expect([await user.names(), await outcomes(mill, id)]).toEqual([['attempt 2'], ['failed', 'returned']])
  })

  test('P10 rolled back in the last attempt: the job is dead', async () => {
    const { mill, job } = await scene(at, async ({ complete }, { tx, ...client }) => {
      await client.begin()
      await complete(tx)
      await client.rollBack()
    })
    const { id } = await mill.enqueue(job, null, { maxAttempts: 1 })
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'dead', attempt: 1 })
  })

  test('P10 P2 without its lease it throws LEASE_LOST, and the attempt with the lease completes the job', async () => {
    const refused: string[] = []
    const { mill, user, job } = await scene(
      create(),
      async ({ complete, job: { id, token } }, { tx, ...client }) => {
        // End the lease, as if another process had taken the job; it runs again a second later.
        const later = { to: 'scheduled', delayMs: 1_000, refund: true } as const
        if (refused.length === 0) await mill.store.finish([{ id, token, outcome: null, transition: later }])
        await client.begin()
        await client.insert(`token ${token}`)
        try {
          await complete(tx)
        } catch (error) {
          refused.push((error as { code: string }).code)
          await client.rollBack()
          throw error
        }
        await client.commit()
      },
    )
    const { id } = await mill.enqueue(job, null)
    await mill.drain({ scheduled: true })
    expect(refused).toEqual(['LEASE_LOST'])
    expect(await mill.get(id)).toMatchObject({ state: 'done', attempt: 1 })
    const [attempt] = await mill.history(id)
    expect(await user.names()).toEqual([`token ${attempt?.token}`])
    expect(types(mill.events, id).filter((type) => type === 'lease-lost')).toHaveLength(1)
  })

  test.each(['commit', 'rollBack'] as const)(
    'P10 the handler can return before the %s, which decides the outcome',
    async (end) => {
      const returned = Promise.withResolvers<void>()
      const { mill, user, job } = await scene(at, async ({ complete, attempt }, { tx, ...client }) => {
        if (attempt > 1) return 'again'
        await client.begin()
        await client.insert('Ada')
        await complete(tx, 'in time')
        setImmediate(returned.resolve)
        return undefined
      })
      const { id } = await mill.enqueue(job, null)
      await returned.promise
      expect(await mill.get(id)).toMatchObject({ state: 'running' })
      await user[end]()
      await mill.drain({ scheduled: true })
      const result = end === 'commit' ? 'in time' : 'again'
      expect(await mill.get(id)).toMatchObject({ state: 'done', result })
      expect(await user.names()).toEqual(end === 'commit' ? ['Ada'] : [])
    },
  )

  test('P10 a handler that throws after the commit does not change the outcome', async () => {
    let runs = 0
    const { mill, job } = await scene(at, async ({ complete }, { tx, ...client }) => {
      runs += 1
      await client.begin()
      await complete(tx, 1)
      await client.commit()
      throw new Error('too late')
    })
    const { id } = await mill.enqueue(job, null, { maxAttempts: 1 })
    await mill.drain({ scheduled: true })
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 1, error: null })
    expect([runs, await outcomes(mill, id)]).toEqual([1, ['returned']])
  })

  test('P10 a repeated completion counts once, even in a second transaction after a rollback', async () => {
    const { mill, user, job } = await scene(at, async ({ complete }, { tx, ...client }) => {
      await client.begin()
      await complete(tx, 1)
      await client.rollBack()
      await client.begin()
      await client.insert('Ada')
      await complete(tx, 2)
      await complete(tx, 2)
      await client.commit()
    })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 2, attempt: 1 })
    expect([await user.names(), await outcomes(mill, id)]).toEqual([['Ada'], ['returned']])
  })

  test('P10 D low a second completion with another result is refused, and the first one counts', async () => {
    const { mill, job } = await scene(at, async ({ complete }, { tx, ...client }) => {
      await client.begin()
      await complete(tx, 'A')
      const error = await rejection(() => complete(tx, 'B'))
      expect([error.code, error.field]).toEqual(['HANDLER_INVALID', 'complete'])
      expect(error.message).toContain('Call complete once per attempt')
      await client.commit()
      await client.begin()
      expect((await rejection(() => complete(tx, 'C'))).code).toBe('HANDLER_INVALID')
      await client.rollBack()
    })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 'A', attempt: 1 })
  })

  test('P10 without a transaction it is refused, and the attempt continues as if it had not been called', async () => {
    const { mill, job } = await scene(at, async ({ complete }, { tx }) => {
      for (const none of [undefined, null, {}, tx])
        expect((await rejection(() => complete(none))).code).toBe('TX_INVALID')
      return 'returned'
    })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 'returned' })
  })
})
