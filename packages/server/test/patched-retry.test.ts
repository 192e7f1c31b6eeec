/** POST /api/bulk with a patch: what it changes, what it skips, and who sees what. */
import { describe, expect } from 'vitest'
import { z } from 'zod'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import { bulkJob, Dead, defineJob } from '../../jobmill/src/index.ts'
import { type Answer, request } from './calls.ts'
import { bench, type Bench, subjects } from './mills.ts'

const TOKENS = 'eve viewer the-viewer-token-0123456789; otto operator the-operator-token-0123456789'
const as = (who: 'viewer' | 'operator') => ({
  headers: { authorization: `Bearer the-${who}-token-0123456789` },
})

const charge = defineJob({
  kind: 'charge',
  payload: z.object({ amount: z.number(), currency: z.string().optional(), password: z.string().optional() }),
  maxAttempts: 1,
  run({ payload }) {
    if (payload.currency === undefined) throw new Dead('no currency')
  },
})

const retry = (url: string, patch: unknown, more: object = {}): Promise<Answer> =>
  request(url, 'POST', '/api/bulk', {
    body: { act: 'retry', filter: { kind: 'charge' }, patch, ...more },
    ...as('operator'),
  })

describe.each(subjects)('retries with a patch on $name', ({ name, store }) => {
  const test = inTurns(name, subjects)

  async function scene(): Promise<Bench & { readonly id: string }> {
    const mills: Bench['mill'][] = []
    const acts = bulkJob(() => mills[0] as Bench['mill'])
    const made = await bench(store(), { tokens: TOKENS, mill: { jobs: [charge, acts] as never } })
    mills.push(made.mill)
    const job = await made.mill.enqueue('charge', { amount: 1 })
    await expect(job.result()).rejects.toMatchObject({ code: 'JOB_DEAD' })
    return { ...made, id: job.id }
  }

  test('a patched job runs, and the audit log and its timeline say who patched it, without secrets', async () => {
    const { url, mill, id } = await scene()
    const { status, body } = await retry(url, { currency: 'EUR', password: 'hunter2' })
    expect(status).toBe(202)
    const act = (body as { id: string }).id
    const report = { looked: 1, changed: 1, refused: 0, skipped: 0, invalid: [] }
    expect(await mill.job(act).result()).toEqual(report)
    await mill.job(id).result()
    const payload = { amount: 1, currency: 'EUR', password: 'hunter2' }
    expect(await mill.get(id)).toMatchObject({ state: 'done', payload })
    const hidden = { currency: 'EUR', password: '(hidden)' }
    expect((await mill.audit.list()).entries).toMatchObject([
      { who: 'otto', what: 'bulk.run', job: act, after: { act: 'retry', patch: hidden } },
    ])
    const read = async (path: string, who: 'viewer' | 'operator') =>
      (await request(url, 'GET', path, as(who))).body
    const timeline = `/api/timeline?job=${id}`
    const said = { type: 'payload-patched', data: { by: 'otto', before: {}, after: hidden } }
    expect(await read(timeline, 'viewer')).toMatchObject({ events: [said] })
    expect(JSON.stringify(await read(timeline, 'operator'))).toContain('hunter2')
    expect(JSON.stringify(await read(`/api/jobs/${act}`, 'viewer'))).not.toContain('hunter2')
  })

  test('jobs with an invalid payload are skipped, and the result says where', async () => {
    const { url, mill, id } = await scene()
    const { body } = await retry(url, { amount: '1' })
    const invalid = { at: '/amount', jobs: 1, id, message: expect.any(String) as string }
    expect(await mill.job((body as { id: string }).id).result()).toEqual({
      looked: 1,
      changed: 0,
      refused: 0,
      skipped: 1,
      invalid: [invalid],
    })
    expect(await mill.get(id)).toMatchObject({ state: 'dead', payload: { amount: 1 } })
  })

  test('a patch that changes nothing, or of another action, is refused before anything runs', async () => {
    const { url, mill } = await scene()
    for (const wrong of [{}, [], 'EUR', 5])
      expect(await retry(url, wrong)).toMatchObject({ status: 400, body: { field: 'patch' } })
    expect(await retry(url, { a: 1 }, { act: 'cancel' })).toMatchObject({
      status: 400,
      body: { field: 'patch', fix: 'Omit it, or use retry' },
    })
    expect(await request(url, 'POST', '/api/bulk', { body: {}, ...as('viewer') })).toMatchObject({
      status: 403,
    })
    expect((await mill.list({ kind: 'jobmill.bulk' })).jobs).toEqual([])
  })
})
