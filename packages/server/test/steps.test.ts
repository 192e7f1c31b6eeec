/** The durable steps of a job over HTTP: who sees what, and events for jobs that wait. */
import { describe, expect, test } from 'vitest'
import { defineJob } from '../../jobmill/src/index.ts'
import { request } from './calls.ts'
import { bench, subjects } from './mills.ts'

const TOKENS = 'eve viewer the-viewer-token-0123456789; otto operator the-operator-token-0123456789'
const as = (who: 'viewer' | 'operator') => ({
  headers: { authorization: `Bearer the-${who}-token-0123456789` },
})

const order = defineJob({
  kind: 'order',
  async run({ step }) {
    await step.run('account', () => ({ id: 7, password: 'hunter2' }))
    return step.waitForEvent(['paid', 'refused'], { timeout: '1h' })
  },
})

describe.each(subjects)('durable steps over HTTP on $name', ({ store }) => {
  test('steps are listed without secrets, an event continues the job, and the audit log has it', async () => {
    const { url, mill } = await bench(store(), { tokens: TOKENS, mill: { jobs: [order] as never } })
    const job = await mill.enqueue('order', null, { dedupeKey: 'order 7' })
    const outcomes = async () => (await mill.history(job.id)).map(({ outcome }) => outcome)
    await expect.poll(outcomes, { timeout: 10_000 }).toEqual(['parked'])
    const steps = `/api/jobs/${job.id}/steps`
    const seen = async (path: string, who: 'viewer' | 'operator') =>
      (await request(url, 'GET', path, as(who))).body
    const account = { name: 'account', kind: 'run', place: 0, events: [], dueAt: null, checkpoint: null }
    const either = { name: 'paid or refused', kind: 'event', place: 1, endedAt: null, result: null }
    expect(await seen(steps, 'operator')).toMatchObject({
      steps: [{ ...account, result: { id: 7, password: 'hunter2' } }, either],
    })
    expect(JSON.stringify(await seen(steps, 'viewer'))).not.toContain('hunter2')
    expect(await seen(`${steps}?largest=10`, 'operator')).toMatchObject({
      steps: [{ ...account, result: null, bytes: 29 }, either],
    })
    expect(await seen(`/api/jobs/${job.id}`, 'operator')).toMatchObject({
      why: {
        reasons: [
          {
            why: 'step',
            message: expect.stringMatching(
              /^Step "paid or refused" waits for the event "paid" or "refused", for at most another /,
            ) as unknown,
            until: expect.any(Number) as unknown,
          },
        ],
      },
    })

    const send = (path: string, body: object, who: 'viewer' | 'operator' = 'operator') =>
      request(url, 'POST', path, { body, ...as(who) })
    expect((await send(`/api/jobs/${job.id}/events`, { event: 'paid' }, 'viewer')).status).toBe(403)
    expect(await send('/api/jobs/events', { dedupeKey: 'none', event: 'paid' })).toMatchObject({
      status: 404,
    })
    expect(await send('/api/jobs/events', { dedupeKey: 'order 7', event: '' })).toMatchObject({ status: 400 })
    const sent = await send('/api/jobs/events', {
      dedupeKey: 'order 7',
      event: 'paid',
      payload: { amount: 5 },
    })
    expect(sent).toMatchObject({ status: 200, body: { id: job.id } })
    expect(await job.result()).toEqual({ event: 'paid', payload: { amount: 5 } })
    expect(await send(`/api/jobs/${job.id}/events`, { event: 'paid' })).toMatchObject({ status: 409 })
    const { entries } = await mill.audit.list()
    expect(entries).toMatchObject([
      { who: 'otto', what: 'jobs.send-event-by-key', job: job.id, after: { event: 'paid' } },
    ])
    expect((await request(url, 'GET', `/api/jobs/${crypto.randomUUID()}/steps`, as('viewer'))).status).toBe(
      404,
    )
  })
})

describe.each(subjects)('S6 steps whose name is that of a secret, on $name', ({ store }) => {
  const mint = defineJob({
    kind: 'mint',
    async run({ step }) {
      await step.run('api-key', () => 'tr0ub4dor')
      await step.run('tokens', () => 12)
      await step.run('report', () => ({ name: 'api-key', total: 7 }))
    },
  })

  test('S6 the result of a step is hidden from viewers if the name of the step is a secret key', async () => {
    const { url, mill } = await bench(store(), { tokens: TOKENS, mill: { jobs: [mint] as never } })
    const job = await mill.enqueue('mint', null)
    await job.result({ timeout: '10s' })
    const resultsFor = async (who: 'viewer' | 'operator') => {
      const { body } = await request(url, 'GET', `/api/jobs/${job.id}/steps`, as(who))
      return (body as { steps: { name: string; result: unknown }[] }).steps.map(({ result }) => result)
    }
    const report = { name: 'api-key', total: 7 }
    expect(await resultsFor('operator')).toEqual(['tr0ub4dor', 12, report])
    expect(await resultsFor('viewer')).toEqual(['(hidden)', 12, report])
  })
})
