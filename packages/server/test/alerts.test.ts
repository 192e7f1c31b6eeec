/** Alert rules over HTTP: the roles, the audit log, and that no answer has a secret. */
import { describe, expect, test } from 'vitest'
import { request } from './calls.ts'
import { bench, subjects, TOKENS, tokenOf } from './mills.ts'

const SECRET = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`
const URL_WITH_SECRETS = 'https://user:pass@example.com/services/T0/path-secret?token=query-secret'
const HIDDEN = [SECRET.slice(6, 40), 'user', 'pass', 'query-secret']

describe.each(subjects)('alerts over HTTP on $name', ({ store }) => {
  async function scene() {
    const { url } = await bench(store(), { tokens: TOKENS })
    return (role: string, method: string, path: string, body?: unknown) =>
      request(url, method, `/api${path}`, {
        headers: { authorization: `Bearer ${tokenOf(role)}` },
        ...(body !== undefined && { body }),
      })
  }

  test('admins change rules, everyone else only reads them, and no answer contains a secret', async () => {
    const call = await scene()
    const answers = []
    const rule = {
      check: ['dead', 'waiting'],
      queue: 'default',
      url: URL_WITH_SECRETS,
      secret: SECRET,
      for: '5m',
    }
    expect((await call('operator', 'PUT', '/alerts/ops', rule)).status).toBe(403)
    answers.push(await call('admin', 'PUT', '/alerts/ops', rule))
    answers.push(await call('admin', 'PUT', '/alerts/ops', { paused: true }))
    for (const role of ['viewer', 'operator', 'admin']) answers.push(await call(role, 'GET', '/alerts'))
    const shown = answers.map(({ body }) => JSON.stringify(body)).join('\n')
    for (const hidden of HIDDEN) expect(shown).not.toContain(hidden)
    const [, changed, viewer, operator, admin] = answers
    expect(changed?.body).toMatchObject({
      name: 'ops',
      checks: ['dead', 'waiting'],
      queue: 'default',
      forMs: 300_000,
      coolDownMs: 3_600_000,
      paused: true,
      secretHints: [`whsec_…${SECRET.slice(-4)}`],
    })
    expect(admin?.body).toMatchObject({ alerts: [{ url: 'https://example.com/services/T0/path-secret?…' }] })
    // A path may be a secret too.
    for (const one of [viewer, operator])
      expect(one?.body).toMatchObject({ alerts: [{ url: 'https://example.com/…' }] })
    for (const role of ['viewer', 'operator']) {
      expect((await call(role, 'POST', '/alerts/ops/test')).status).toBe(403)
      expect((await call(role, 'DELETE', '/alerts/ops')).status).toBe(403)
    }
  })

  test('each change is on record without secrets', async () => {
    const call = await scene()
    await call('admin', 'PUT', '/alerts/ops', { url: URL_WITH_SECRETS, secret: SECRET })
    await call('admin', 'PUT', '/alerts/ops', { secret: [SECRET, SECRET], coolFor: '2h' })
    const { job } = (await call('admin', 'POST', '/alerts/ops/test')).body as { job: string }
    await call('admin', 'DELETE', '/alerts/ops')
    const { body } = await call('admin', 'GET', '/audit')
    const { entries } = body as { entries: readonly Record<string, unknown>[] }
    expect(entries.map(({ what, target }) => [what, target])).toEqual([
      ['alerts.delete', 'ops'],
      ['alerts.test', 'ops'],
      ['alerts.set', 'ops'],
      ['alerts.set', 'ops'],
    ])
    expect(entries[1]).toMatchObject({ job })
    expect(entries[2]).toMatchObject({
      before: { coolDownMs: 3_600_000 },
      after: { coolDownMs: 7_200_000, secretChanged: true },
    })
    for (const hidden of HIDDEN.slice(1)) expect(JSON.stringify(body)).not.toContain(`${hidden}:`)
    expect(JSON.stringify(body)).not.toContain(SECRET.slice(6, 40))
    expect(JSON.stringify(body)).not.toContain('query-secret')
  })

  test('wrong options are named as they were sent, and no error repeats a URL or a secret', async () => {
    const call = await scene()
    const set = async (body: object) => (await call('admin', 'PUT', '/alerts/ops', body)).body
    const hook = { url: 'https://example.com', secret: SECRET }
    expect(await set({ paused: true })).toMatchObject({ code: 'OPTION_INVALID', field: 'url' })
    expect(await set({ ...hook, url: 'ftp://token-in-url' })).toMatchObject({ field: 'url' })
    expect(await set({ ...hook, secret: 'whsec_short-secret' })).toMatchObject({ field: 'secret' })
    expect(await set({ ...hook, secret: [SECRET, 'other-secret'] })).toMatchObject({ field: 'secret.1' })
    expect(await set({ ...hook, coolFor: '1s' })).toMatchObject({
      code: 'DURATION_INVALID',
      field: 'coolFor',
    })
    expect(await set({ ...hook, check: 'deaad' })).toMatchObject({ code: 'OPTION_INVALID', field: 'check' })
    expect(await set({ ...hook, check: 'dead', kind: 'echo' })).toMatchObject({
      code: 'OPTION_CONFLICT',
      detail:
        'check: does not apply to a kind (got "dead"). Use one of failing, served, steps, or omit kind.',
    })
    const refused = JSON.stringify([
      await set({ ...hook, url: 'ftp://token-in-url' }),
      await set({ ...hook, secret: 'whsec_short-secret' }),
    ])
    for (const hidden of ['token-in-url', 'short-secret']) expect(refused).not.toContain(hidden)
    expect((await call('viewer', 'GET', '/alerts')).body).toEqual({ alerts: [] })
  })

  test('a message cannot be forged: no role enqueues or schedules jobs of the kind', async () => {
    const call = await scene()
    const forged = { kind: 'jobmill.alert', payload: { rule: 'ops' } }
    for (const [path, body] of [
      ['/jobs', forged],
      ['/jobs/many', { kind: forged.kind, jobs: [{ payload: forged.payload }] }],
      ['/schedules', { name: 'forged', job: forged.kind, when: '@daily' }],
    ] as const)
      expect(await call('admin', 'POST', path, body)).toMatchObject({
        status: 403,
        body: { fix: 'Use POST /api/alerts/{name}/test' },
      })
  })
})
