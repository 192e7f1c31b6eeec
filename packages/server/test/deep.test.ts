/** Deeply nested JSON in requests: it breaks no response, and leaves no change without its audit entry. */
import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { auditChanges } from '../src/audited.ts'
import type { Env } from '../src/env.ts'
import { request } from './calls.ts'
import { bench, subjects, TOKENS, tokenOf } from './mills.ts'

const DEEP = `${'['.repeat(20_000)}${']'.repeat(20_000)}`

const as = (role: string): { headers: { authorization: string } } => ({
  headers: { authorization: `Bearer ${tokenOf(role)}` },
})

describe.each(subjects)('$name', ({ store }) => {
  test('S3 a text with deeply nested JSON is shown to viewers, and its changes are audited', async () => {
    const { url } = await bench(store(), { tokens: TOKENS, work: false })
    const payload = { text: DEEP }
    const job = await request(url, 'POST', '/api/jobs', {
      body: { kind: 'echo', payload },
      ...as('operator'),
    })
    expect(job.status).toBe(201)
    const { id } = job.body as { id: string }
    const body = { name: 'deep', job: 'echo', when: 'every 1h', payload }
    expect((await request(url, 'POST', '/api/schedules', { body, ...as('admin') })).status).toBe(201)
    for (const path of [
      `/api/jobs/${id}`,
      '/api/jobs?include=payload',
      '/api/schedules',
      '/api/schedules/deep',
    ])
      expect([path, (await request(url, 'GET', path, as('viewer'))).status]).toEqual([path, 200])
    const { entries } = (await request(url, 'GET', '/api/audit', as('admin'))).body as {
      entries: { what: string; target: string }[]
    }
    expect(entries.map(({ what, target }) => `${what} ${target}`)).toContain('schedules.create deep')
  })

  test('S3 a request body with deeply nested JSON is refused', async () => {
    const { url } = await bench(store(), { tokens: TOKENS, work: false })
    for (const [path, text] of [
      ['/api/jobs', `{"kind":"echo","payload":${DEEP}}`],
      ['/api/jobs', `{"kind":"echo","metadata":{"a":${DEEP}}}`],
      ['/api/schedules', `{"name":"d","job":"echo","when":"every 1h","payload":${DEEP}}`],
      ['/api/queues/default/pause', `{"x":${DEEP}}`],
      ['/api/jobs', DEEP],
    ] as const) {
      const headers = { ...as('admin').headers, 'content-type': 'application/json' }
      const { status } = await fetch(`${url}${path}`, { method: 'POST', headers, body: text })
      expect([path, status]).toEqual([path, 400])
    }
  })
})

const redacted = (): never => {
  throw new RangeError('too deep')
}

test('S3 the audit entry of a change is written, also if its values cannot be redacted', async () => {
  const rows: object[] = []
  const faults: string[] = []
  const app = new Hono<Env>()
  app.use(async (c, next) => {
    c.set('who', { name: 'ada', role: 'admin' })
    await next()
  })
  const audit = { write: async (row: object) => void rows.push(row), list: () => Promise.reject(new Error()) }
  app.use(auditChanges({ audit }, redacted, (error) => faults.push(String(error))))
  app.post('/x', (c) => {
    c.set('what', 'x.change')
    c.set('note', { target: 'x', before: 1, after: 2 })
    return c.body(null, 204)
  })
  expect((await app.request('/x', { method: 'POST' })).status).toBe(204)
  const entry = { who: 'ada', role: 'admin', what: 'x.change', target: 'x' }
  expect(rows).toEqual([{ ...entry, before: '(hidden)', after: '(hidden)' }])
  expect(faults).toEqual(['RangeError: too deep', 'RangeError: too deep'])
})
