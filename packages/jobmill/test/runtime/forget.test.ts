/**
 * A queue that retains no done jobs deletes the job and its attempts. Only a caller that already waits in
 * this process gets the result. Runs on both stores.
 */
import { describe, expect, test } from 'vitest'
import { defineJob } from '../../src/index.ts'
import { subjects } from './stores.ts'

const sum = defineJob({ kind: 'sum', run: ({ payload: [a, b] }: { payload: [number, number] }) => a + b })
const broken = defineJob({
  kind: 'broken',
  maxAttempts: 1,
  run() {
    throw new Error('no')
  },
})

describe.each([
  ['by age', { done: 0 }],
  ['by number', { done: { most: 0 } }],
])('a queue that retains nothing %s', (_, retain) => {
  test.each(subjects)('on $name deletes done jobs, and no others', async ({ mill: create }) => {
    const mill = await create({ jobs: [sum, broken], queues: { default: { retain } }, start: false })
    const good = await mill.enqueue(sum, [1, 2])
    const bad = await mill.enqueue(broken, null)
    // Ask for the result before the job runs, because the store deletes the job as soon as it is done.
    const result = good.result()
    await mill.start()
    await mill.platform.settled()
    expect(await result).toBe(3)
    expect(await mill.get(good.id)).toBeNull()
    expect(await mill.history(good.id)).toEqual([])
    expect(await mill.get(bad.id)).toMatchObject({ state: 'dead' })
    expect(await mill.counts()).toMatchObject([{ queue: 'default', running: 0, done: 0, dead: 1 }])
  })
})
