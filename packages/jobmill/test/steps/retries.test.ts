/** Retries and backoff of jobs that also sleep and wait. */
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob } from '../../src/index.ts'
import { attempts, subjects } from '../runtime/stores.ts'

describe.each(subjects)('retries of jobs with steps on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)

  test('attempts that failed before a sleep do not count after it', async () => {
    let failures = 0
    const fail = (until: number): void => {
      if (failures >= until) return
      failures += 1
      throw new Error('no')
    }
    const job = defineJob({
      kind: 'a',
      maxAttempts: 3,
      backoff: { fixed: '1s' },
      async run({ step }) {
        fail(2)
        await step.sleep('nap', '5s')
        await step.run('x', () => fail(4))
      },
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain({ scheduled: true })
    const outcomes = (await attempts(mill, id)).map(([outcome]) => outcome)
    expect(outcomes).toEqual(['failed', 'failed', 'parked', 'failed', 'failed', 'returned'])
  })

  test('P18 an event ends neither the delay of a job nor its backoff, and is received afterwards', async () => {
    let runs = 0
    const job = defineJob({
      kind: 'a',
      maxAttempts: 5,
      backoff: { fixed: '5s' },
      async run({ step }) {
        runs += 1
        const event = step.waitForEvent('e')
        await step.run('x', () => {
          if (runs === 1) throw new Error('no')
        })
        return event
      },
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null, { delay: '5s' })
    await mill.sendEvent(id, 'other')
    await mill.drain()
    expect([runs, (await mill.get(id))?.state]).toEqual([0, 'scheduled'])
    await mill.clock.advance('5s')
    await mill.drain()
    await mill.sendEvent(id, 'e', 'received')
    await mill.drain()
    expect([runs, (await mill.get(id))?.state]).toEqual([1, 'scheduled'])
    await mill.clock.advance('5s')
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 'received' })
    expect(runs).toBe(2)
  })
})
