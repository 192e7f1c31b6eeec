/** The capacity of queues: whether each meets the latency target that its code or an operator declares. */
import { expect, test } from 'vitest'
import { defineJob } from '../../src/index.ts'
import { subjects } from './stores.ts'

test.each(subjects)(
  'a queue with a latency target misses it once a job is ready for longer: $name',
  async ({ mill: create }) => {
    const job = defineJob({ kind: 'mail.send', queue: 'mail', run: () => null })
    const mill = await create({ jobs: [job], queues: { mail: { targetLatency: '30s', paused: true } } })
    const target = async () => (await mill.capacity()).find(({ queue }) => queue === 'mail')?.target
    expect(await target()).toEqual({ latencyMs: 30_000, met: true })
    await mill.enqueue(job, null)
    await mill.clock.advance('31s')
    expect(await target()).toEqual({ latencyMs: 30_000, met: false })
    await mill.changeQueue('mail', { targetLatency: null })
    expect(await target()).toBeNull()
  },
)
