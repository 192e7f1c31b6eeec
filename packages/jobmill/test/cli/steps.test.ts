/** `jobmill jobs steps`, `jobs rewind`, `jobs fork` and `events send`. */
import { describe, expect, test } from 'vitest'
import { places } from './run.ts'
import { defineJob } from '../../src/index.ts'

const order = defineJob({
  kind: 'order',
  async run({ step }) {
    await step.run('account', () => ({ id: 7 }))
    return step.waitForEvent('paid', { timeout: '1h' })
  },
})

describe.each(places)('durable steps on $name', { timeout: 60_000 }, ({ create }) => {
  test('the steps of a job are shown, and an event continues it', async () => {
    const place = create()
    const mill = place.mill([order])
    await mill.start()
    const job = await mill.enqueue(order, null, { dedupeKey: 'order 7' })
    await expect.poll(async () => (await mill.history(job.id)).length, { timeout: 10_000 }).toBe(1)
    const { out } = await place.run(['jobs', 'steps', job.id])
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => line.replaceAll(/ {2,}/g, ' | ').trim())
    expect(lines[0]).toBe('step | status | duration | result')
    expect(lines[1]).toMatch(/^account \| recorded \| .* \| \{"id":7\}$/)
    expect(lines[2]).toMatch(/^paid \| waiting for paid, (?:1 h|59 min .*) left \| /)
    const { steps } = await place.json<{ steps: unknown[] }>(['jobs', 'steps', job.id])
    expect(steps).toMatchObject([
      { name: 'account', result: { id: 7 } },
      { name: 'paid', events: ['paid'] },
    ])

    expect(await place.run(['events', 'send', job.id])).toMatchObject({
      code: 2,
      err: expect.stringContaining('EVENT: is missing') as unknown,
    })
    expect(await place.run(['events', 'send', '--dedupe-key', 'order 8', 'paid'])).toMatchObject({
      code: 3,
      err: expect.stringContaining('no job holds the dedupe key "order 8"') as unknown,
    })
    expect(
      await place.run(['events', 'send', '--dedupe-key', 'order 7', 'paid', '{"amount":5}']),
    ).toMatchObject({
      code: 0,
      out: `sent paid to ${job.id}\n`,
    })
    expect(await job.result()).toEqual({ amount: 5 })
    const late = await place.run(['events', 'send', job.id, 'paid'])
    expect(late.err).toContain('is done, so it receives no events')

    expect(await place.run(['jobs', 'rewind', job.id])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--from: is missing') as unknown,
    })
    const unknown = await place.run(['jobs', 'rewind', job.id, '--from', 'acount'])
    expect(unknown.err).toContain(
      '--from: the job has no step with this name (got "acount"). Did you mean "account"?',
    )
    const { id } = await place.json<{ id: string }>(['jobs', 'fork', job.id, '--from', 'paid', '{"n":2}'])
    expect(await mill.get(id)).toMatchObject({ kind: 'order', payload: { n: 2 } })
    expect(await place.run(['jobs', 'rewind', job.id, '--from', 'paid'])).toMatchObject({
      code: 0,
      out: expect.stringContaining(`rewound ${job.id}`) as unknown,
    })
    // The event is received again.
    await expect.poll(async () => (await mill.get(job.id))?.state, { timeout: 10_000 }).toBe('done')
  })
})
