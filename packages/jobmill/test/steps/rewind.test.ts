/** Rewind and fork through a mill, on both stores: P17. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineJob } from '../../src/index.ts'
import { subjects } from '../runtime/stores.ts'

const counted = () => {
  const ran: string[] = []
  const job = defineJob({
    kind: 'report',
    payload: z.object({ to: z.string() }),
    async run({ payload, step }) {
      const data = await step.run('fetch', () => (ran.push('fetch'), ran.length))
      const text = await step.run('render', () => (ran.push('render'), `${data} for ${payload.to}`))
      return step.run('send', () => (ran.push('send'), text))
    },
  })
  return { ran, job }
}

describe.each(subjects)('rewind and fork on $name', ({ mill: create }) => {
  test('P17 an ended job runs again from a step, with the results of those before it', async () => {
    const { ran, job } = counted()
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, { to: 'ada' })
    await mill.drain()
    expect(await mill.rewind(id, { from: 'render' })).toMatchObject({ verdict: 'changed', state: 'ready' })
    await mill.drain()
    expect(ran).toEqual(['fetch', 'render', 'send', 'render', 'send'])
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: '1 for ada' })
  })

  test('result() of a job that is rewound waits for its new end, in every process', async () => {
    let fails = false
    const job = defineJob({
      kind: 'report',
      maxAttempts: 1,
      run: ({ step }) =>
        step.run('render', () => {
          if (fails) throw new Error('no paper')
          return 'first'
        }),
    })
    const mill = await create({ jobs: [job] })
    const handle = await mill.enqueue(job, null)
    await mill.drain()
    expect(await handle.result()).toBe('first')
    const again = await mill.enqueue(job, null)
    const ended = again.result()
    await mill.drain()
    expect(await ended).toBe('first')
    fails = true
    for (const { id } of [handle, again]) {
      await mill.rewind(id, { from: 'render' })
      const result = mill.job(job, id).result()
      await Promise.all([expect(result).rejects.toMatchObject({ code: 'JOB_DEAD' }), mill.drain()])
    }
  })

  test('P17 a fork runs with another payload, and leaves the job as it is', async () => {
    const { ran, job } = counted()
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, { to: 'ada' }, { tags: ['weekly'], dedupeKey: 'k', priority: 4 })
    await mill.drain()
    const forked = await mill.fork(id, { from: 'render', payload: { to: 'bob' } })
    const same = await mill.fork(id, { from: 'send' })
    await mill.drain()
    expect(ran).toEqual(['fetch', 'render', 'send', 'render', 'send', 'send'])
    expect(await mill.get(forked.id)).toMatchObject({
      result: '1 for bob',
      payload: { to: 'bob' },
      tags: ['weekly'],
      priority: 4,
      dedupeKey: null,
    })
    expect(await mill.get(same.id)).toMatchObject({ result: '1 for ada' })
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: '1 for ada' })
  })

  test('unknown jobs and steps, jobs that have not ended, and invalid payloads are refused', async () => {
    const { job } = counted()
    const naps = defineJob({ kind: 'naps', run: ({ step }) => step.sleep('nap', '1d') })
    const mill = await create({ jobs: [job, naps] })
    const { id } = await mill.enqueue(job, { to: 'ada' })
    await mill.drain()
    const waiting = await mill.enqueue(job, { to: 'ada' }, { delay: '1h' })
    const unknown = '00000000-0000-7000-8000-000000000000'
    await expect(mill.rewind(id, { from: 'rendr' })).rejects.toMatchObject({
      code: 'STEP_UNKNOWN',
      field: 'options.from',
      fix: 'Did you mean "render"?',
    })
    await expect(mill.rewind(waiting.id, { from: 'render' })).rejects.toMatchObject({ code: 'STEP_UNKNOWN' })
    await expect(mill.fork(unknown, { from: 'a' })).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
    await expect(mill.fork(id, { from: 'send', payload: { to: 1 } })).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
    })
    const parked = await mill.enqueue(naps, null)
    await mill.drain()
    expect(await mill.rewind(parked.id, { from: 'nap' })).toMatchObject({
      verdict: 'refused',
      hint: 'The job is scheduled: cancel it first, or fork it',
    })
  })
})
