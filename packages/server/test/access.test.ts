/** Access control over a real socket: the role of every route, and everything else that it refuses. */
import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { apiFor } from '../src/api.ts'
import { httpApi, readTokens, serve } from '../src/index.ts'
import { jobmill, type Mill } from '../../jobmill/src/index.ts'
import { systemPlatform } from '../../jobmill/src/store.ts'
import { sqlite } from '../../jobmill/src/sqlite.ts'
import { faultyStore } from '../../jobmill/src/testing/index.ts'
import { rejection } from '../../jobmill/test/unit/support.ts'
import { type Document, documentOf, operationsOf, request } from './calls.ts'
import { bench, TOKENS, tokenOf } from './mills.ts'

const bearer = (role: string): Record<string, string> => ({ authorization: `Bearer ${tokenOf(role)}` })
/** The roles that each role includes. */
const ROLES: Readonly<Record<string, readonly string[]>> = {
  producer: ['producer'],
  viewer: ['viewer'],
  operator: ['producer', 'viewer', 'operator'],
  admin: ['producer', 'viewer', 'operator', 'admin'],
}
const ID = '00000000-0000-7000-8000-000000000000'

/** A stopped clock, so that no rate limit refills on a slow machine. */
const STOPPED = { ...systemPlatform, monotonic: () => 0 }

const memory = (): ReturnType<typeof sqlite> => sqlite(':memory:')

describe('roles by route', () => {
  test('a route is open to the roles that include its role, and closed to others and to callers without a token', async () => {
    const { url } = await bench(memory(), { tokens: TOKENS, anonymousPerSecond: 1_000 })
    const operations = operationsOf(await documentOf(url, bearer('viewer')))
    const wrong: string[] = []
    for (const { method, path, name, role } of operations) {
      const at = path.replace('{id}', ID).replace('{name}', 'nobody').replace('{group}', 'none')
      // A missing body is reported only to callers with the role.
      const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} }
      const call = async (headers: Record<string, string>): Promise<number> => {
        if (name !== 'events.listen') return (await request(url, method, at, { ...body, headers })).status
        const stop = new AbortController()
        const { status } = await fetch(`${url}${at}`, { headers, signal: stop.signal })
        stop.abort()
        return status
      }
      const nobody = [await call({}), await call({ authorization: 'Bearer guessed-token-0123456789' })]
      if (nobody.some((status) => status !== 401))
        wrong.push(`${name} answers nobody with ${nobody.join(', ')}`)
      for (const [one, included] of Object.entries(ROLES)) {
        const status = await call(bearer(one))
        const isRight = included.includes(role) ? ![401, 403, 500].includes(status) : status === 403
        if (!isRight) wrong.push(`${name} answers a ${one} with ${status}`)
      }
    }
    expect(wrong).toEqual([])
    const table = Object.fromEntries(operations.map(({ name, role }) => [name, role]))
    expect(table).toMatchInlineSnapshot(`
      {
        "alerts.delete": "admin",
        "alerts.list": "viewer",
        "alerts.set": "admin",
        "alerts.test": "admin",
        "apps.list": "viewer",
        "audit.read": "operator",
        "bulk.preview": "operator",
        "bulk.run": "operator",
        "charts.read": "viewer",
        "diagnostics.list": "viewer",
        "duties.run": "admin",
        "errors.list": "viewer",
        "events.listen": "viewer",
        "groups.change": "operator",
        "groups.list": "viewer",
        "jobs.cancel": "operator",
        "jobs.count": "viewer",
        "jobs.delete": "admin",
        "jobs.enqueue": "producer",
        "jobs.enqueue-many": "producer",
        "jobs.fork": "operator",
        "jobs.inspect": "viewer",
        "jobs.list": "viewer",
        "jobs.retry": "operator",
        "jobs.rewind": "operator",
        "jobs.run-now": "operator",
        "jobs.send-event": "producer",
        "jobs.send-event-by-key": "producer",
        "jobs.steps": "viewer",
        "kinds.list": "viewer",
        "limits.change": "admin",
        "limits.create": "admin",
        "limits.delete": "admin",
        "limits.drain": "operator",
        "limits.list": "viewer",
        "metrics.read": "viewer",
        "overrides.list": "viewer",
        "overrides.reset": "admin",
        "overrides.reset-all": "admin",
        "overrides.reset-option": "admin",
        "overview.read": "viewer",
        "queues.capacity": "viewer",
        "queues.change": "admin",
        "queues.list": "viewer",
        "queues.pause": "operator",
        "queues.resume": "operator",
        "resources.read": "viewer",
        "schedules.change": "admin",
        "schedules.create": "admin",
        "schedules.delete": "admin",
        "schedules.inspect": "viewer",
        "schedules.list": "viewer",
        "schedules.next": "viewer",
        "schedules.pause": "operator",
        "schedules.resume": "operator",
        "schedules.trigger": "operator",
        "series.read": "viewer",
        "system.read": "viewer",
        "timeline.read": "viewer",
        "versions.list": "viewer",
        "views.add": "operator",
        "views.delete": "operator",
        "views.list": "viewer",
        "workers.list": "viewer",
        "workers.quiet": "operator",
        "workers.resume": "operator",
        "workers.runs": "viewer",
        "workers.stop": "operator",
      }
    `)
  })

  test('every route has a role, except the three that reveal nothing', async () => {
    const mill = jobmill({ store: memory(), log: 'silent' })
    onTestFinished(async () => void (await mill.stop()))
    const { root } = apiFor(mill, {}, { identity: { by: 'host', authenticate: () => null }, callers: 'any' })
    const there = root.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path}`)
    const document = (await (await root.request('/api/openapi.json')).json()) as Document
    const declared = operationsOf(document).map(
      ({ method, path }) => `${method} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
    )
    const open = [...new Set(there)].filter((route) => !declared.includes(route))
    expect(open.toSorted()).toEqual(['GET /api/openapi.json', 'GET /healthz', 'GET /readyz'])
  })

  test('only operators see statements of other sessions', async () => {
    const plain = memory()
    const pinned = [{ pid: 7, ageMs: 400_000, user: 'ada', state: 'active', query: 'SELECT secret' }]
    const health = async () => ({ server: 'x', sizeBytes: 1, logBytes: null, tables: [], pinned })
    const store = Object.assign(Object.create(plain) as typeof plain, { tools: { ...plain.tools, health } })
    const { url } = await bench(store, { tokens: TOKENS, work: false })
    const systemAs = async (role: string): Promise<unknown> =>
      (await request(url, 'GET', '/api/system', { headers: bearer(role) })).body
    expect(await systemAs('operator')).toMatchObject({ database: { pinned } })
    expect(await systemAs('viewer')).toMatchObject({ database: { pinned: [{ pid: 7, query: null }] } })
  })

  test('viewers cannot call a route that changes anything, and producers only those that write', async () => {
    const { url } = await bench(memory())
    const changing = operationsOf(await documentOf(url)).filter(({ method }) => method !== 'GET')
    expect(changing.length).toBeGreaterThan(15)
    const byOthers = changing.filter(({ role }) => !['operator', 'admin'].includes(role))
    expect(byOthers.map(({ name, role }) => [name, role])).toEqual(
      ['jobs.enqueue', 'jobs.enqueue-many', 'jobs.send-event', 'jobs.send-event-by-key'].map((name) => [
        name,
        'producer',
      ]),
    )
  })

  test('a bulk action cannot be enqueued as a job', async () => {
    const { url } = await bench(memory(), { tokens: TOKENS })
    const payload = { act: 'delete', filter: {} }
    const one = { body: { kind: 'jobmill.bulk', queue: 'jobmill', payload }, headers: bearer('admin') }
    expect((await request(url, 'POST', '/api/jobs', one)).status).toBe(403)
    const many = { body: { kind: 'jobmill.bulk', jobs: [{ payload }] }, headers: bearer('admin') }
    expect((await request(url, 'POST', '/api/jobs/many', many)).status).toBe(403)
  })

  test('only an admin can retry a bulk action', async () => {
    const { url, mill } = await bench(memory(), { tokens: TOKENS })
    const body = { act: 'delete', filter: { kind: 'nothing' } }
    const bulk = await request(url, 'POST', '/api/bulk', { body, headers: bearer('admin') })
    const { id } = bulk.body as { id: string }
    await mill.job(id).result()
    const again = (role: string): Promise<{ status: number }> =>
      request(url, 'POST', `/api/jobs/${id}/retry`, { headers: bearer(role) })
    expect([(await again('operator')).status, (await again('admin')).status]).toEqual([403, 409])
    const many = { act: 'retry', filter: { kind: 'jobmill.bulk' } }
    expect(
      await request(url, 'POST', '/api/bulk', { body: many, headers: bearer('operator') }),
    ).toMatchObject({
      status: 403,
      body: { field: 'filter', detail: expect.stringContaining('bulk actions') as string },
    })
  })

  test('a bulk delete needs an admin, and payload searches need an operator', async () => {
    const { url } = await bench(memory(), { tokens: TOKENS })
    const body = { act: 'delete', filter: {} }
    expect(await request(url, 'POST', '/api/bulk', { body, headers: bearer('operator') })).toMatchObject({
      status: 403,
      body: { field: 'act', detail: 'delete requires the admin role' },
    })
    expect((await request(url, 'POST', '/api/bulk', { body, headers: bearer('admin') })).status).toBe(202)
    for (const field of ['payloadText', 'payloadAt', 'indexedPayload']) {
      const search = `/api/jobs?${field}=password:hunter2`
      expect(await request(url, 'GET', search, { headers: bearer('viewer') })).toMatchObject({
        status: 403,
        body: { field },
      })
      expect((await request(url, 'GET', search, { headers: bearer('operator') })).status).toBe(200)
    }
    // The index entries are tags, and viewers may search tags.
    const entry = encodeURIComponent('\u0001password:hunter2')
    expect(await request(url, 'GET', `/api/jobs?tag=${entry}`, { headers: bearer('viewer') })).toMatchObject({
      status: 400,
      body: { field: 'tag.0' },
    })
    const errors = '/api/jobs?errorText=hunter2'
    expect((await request(url, 'GET', errors, { headers: bearer('viewer') })).status).toBe(200)
  })

  test('payload searches are hidden from viewers, and in the audit log', async () => {
    const { url, mill } = await bench(memory(), { tokens: TOKENS })
    const sought = ['password:hunter2']
    const filter = {
      payloadAt: sought,
      indexedPayload: sought,
      payloadText: 'hunter2',
      errorText: 'shown',
    }
    const body = { act: 'retry', filter }
    const { body: bulk } = await request(url, 'POST', '/api/bulk', { body, headers: bearer('operator') })
    const { id } = bulk as { id: string }
    const { body: job } = await request(url, 'GET', `/api/jobs/${id}`, { headers: bearer('viewer') })
    expect(job).toMatchObject({
      job: {
        payload: {
          filter: {
            payloadAt: '(hidden)',
            indexedPayload: '(hidden)',
            payloadText: '(hidden)',
            errorText: 'shown',
          },
        },
      },
    })
    expect(JSON.stringify(await mill.audit.list())).not.toContain('hunter2')
  })

  test('payload searches in saved views are hidden from viewers, and in the audit log', async () => {
    const { url, mill } = await bench(memory(), { tokens: TOKENS, work: false })
    for (const parameter of ['payloadText', 'payloadAt', 'indexedPayload']) {
      const search = `queue=mail&${parameter}=user.id%3Ahunter2&errorText=shown`
      const body = { name: parameter, search }
      const view = await request(url, 'POST', '/api/views', { body, headers: bearer('operator') })
      expect(view.status).toBe(201)
    }
    await request(url, 'POST', '/api/views', {
      body: { name: 'first', search: 'payloadText=hunter2&state=dead' },
      headers: bearer('operator'),
    })
    const read = async (role: string): Promise<string> =>
      JSON.stringify((await request(url, 'GET', '/api/views', { headers: bearer(role) })).body)
    expect(await read('viewer')).not.toContain('hunter2')
    expect(await read('viewer')).toContain('errorText=shown')
    expect(await read('operator')).toContain('hunter2')
    expect(JSON.stringify(await mill.audit.list())).not.toContain('hunter2')
  })
})

describe('tokens', () => {
  test('several are valid at once, and a wrong one is distinguished from none', async () => {
    const { url } = await bench(memory(), { tokens: `${TOKENS}; adam admin the-next-token-0123456789` })
    const overview = async (token: string): Promise<unknown> =>
      (await request(url, 'GET', '/api/overview', { headers: { authorization: token } })).body
    expect(await overview(`Bearer ${tokenOf('admin')}`)).toMatchObject({
      you: { name: 'adam', role: 'admin' },
    })
    expect(await overview('bearer the-next-token-0123456789')).toMatchObject({ you: { name: 'adam' } })
    expect(await overview('Bearer wrong')).toMatchObject({
      code: 'TOKEN_UNKNOWN',
      status: 401,
      detail: 'unknown token',
    })
    const none = await request(url, 'GET', '/api/overview')
    expect(none).toMatchObject({
      status: 401,
      body: { code: 'TOKEN_MISSING', detail: 'no token sent' },
    })
    expect(none.headers.get('www-authenticate')).toBe('Bearer')
    for (const open of ['/healthz', '/readyz']) expect((await request(url, 'GET', open)).status).toBe(200)
    expect((await request(url, 'GET', '/metrics')).status).toBe(401)
  })

  test.each([
    ['adam admin', 'tokens, line 1'],
    ['\nadam boss 0123456789abcdef', 'tokens, line 2'],
    ['adam admin tiny', 'tokens, line 1'],
    ['# nobody yet', 'tokens'],
    ['adam admin 0123456789abcdef\n\nvera viewer 0123456789abcdef', 'tokens, line 3'],
    ['adam admin 0123456789abcdef; eve admin 0123456789abcdef', 'tokens, line 2'],
  ])('invalid token lines are refused without showing them: %j', async (tokens, field) => {
    const mill = jobmill({ store: memory(), log: 'silent' })
    const error = await rejection(async () => serve(mill, { port: 0, tokens }))
    expect(error).toMatchObject({ code: 'OPTION_INVALID', field })
    expect(String(error)).not.toMatch(/0123456789abcdef|tiny/)
  })

  test('a token that is used twice is refused with both places', () => {
    const text = '# two roles\nadam admin 0123456789abcdef\nvera viewer 0123456789abcdef'
    expect(() => readTokens(text, 'tokens')).toThrow(
      'tokens, line 3: has the same token as line 2. Use another token, such as the output of openssl rand -hex 32, or remove one of the lines.',
    )
  })
})

describe('the listening address', () => {
  test('an address other than loopback requires authentication', async () => {
    const mill = jobmill({ store: memory(), log: 'silent' })
    expect(await rejection(async () => serve(mill, { port: 0, bind: '0.0.0.0' }))).toMatchObject({
      code: 'OPTION_INVALID',
      field: 'bind',
    })
    for (const options of [{ tokens: TOKENS }, { insecure: true }]) {
      const served = await serve(mill, { port: 0, bind: '0.0.0.0', ...options })
      await served.close()
    }
    expect(await rejection(async () => httpApi(mill, {}))).toMatchObject({ field: 'tokens' })
    await mill.stop()
  })

  test('close ends connections that clients hold open with no request or half of one', async () => {
    const mill = jobmill({ store: memory(), log: 'silent' })
    onTestFinished(async () => void (await mill.stop()))
    const served = await serve(mill, { port: 0 })
    const open = async (text: string): Promise<Socket> => {
      const socket = createConnection(Number(new URL(served.url).port), '127.0.0.1')
      socket.on('error', () => {})
      await once(socket, 'connect')
      socket.resume().write(text)
      return socket
    }
    const sockets = [
      await open(''),
      await open('GET /api/over'),
      await open('POST /api/jobs HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{'),
    ]
    const ended = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)))
    await served.close()
    await served.close()
    await Promise.all(ended)
    await expect(fetch(`${served.url}/healthz`)).rejects.toThrow('fetch failed')
  })

  test('a port in use is reported', async () => {
    const { url, mill } = await bench(memory())
    const port = Number(new URL(url).port)
    expect(await rejection(async () => serve(mill, { port }))).toMatchObject({
      field: 'port',
      message: expect.stringContaining('Use another port') as string,
    })
  })
})

describe('cross-origin pages', () => {
  test('cannot change anything, unless they are of our own origin', async () => {
    const { url } = await bench(memory())
    const pause = async (headers: Record<string, string>): Promise<number> =>
      (await request(url, 'POST', '/api/queues/default/pause', { headers })).status
    expect(await pause({ origin: 'https://evil.example' })).toBe(403)
    expect(await pause({ origin: 'null' })).toBe(403)
    expect(await pause({ 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await pause({ 'sec-fetch-site': 'same-site' })).toBe(403)
    expect(await pause({ origin: url, 'sec-fetch-site': 'same-origin' })).toBe(200)
    expect(await pause({})).toBe(200)
  })

  test('responses have strict headers and are not cached', async () => {
    const { url } = await bench(memory())
    const { headers } = await request(url, 'GET', '/api/overview')
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })
})

const WRONG_VALUES: readonly (readonly [string, string, unknown, string | undefined, string, string])[] = [
  [
    'GET',
    '/api/jobs?limit=abc',
    undefined,
    'limit',
    'must be a whole number (got "abc")',
    'Pass a whole number',
  ],
  [
    'GET',
    '/api/jobs?limit=1&limit=2',
    undefined,
    'limit',
    'must appear once (got 2 values)',
    'Pass limit once',
  ],
  [
    'GET',
    '/api/jobs?limit=1.5',
    undefined,
    'limit',
    'must be a whole number (got "1.5")',
    'Pass a whole number',
  ],
  ['GET', '/api/jobs?limit=0', undefined, 'limit', 'must be at least 1 (got "0")', 'Pass at least 1'],
  ['GET', '/api/jobs?limit=501', undefined, 'limit', 'must be at most 500 (got "501")', 'Pass at most 500'],
  ['GET', '/api/jobs?limit=', undefined, 'limit', 'must be a whole number (got "")', 'Pass a whole number'],
  ['GET', '/api/jobs?state=odd', undefined, 'state.0', 'must be one of', 'Pass one of'],
  ['GET', '/api/jobs?state=completed', undefined, 'state.0', 'must be one of', 'Use done'],
  [
    'GET',
    '/api/jobs?cursor=a&cursor=b',
    undefined,
    'cursor',
    'must appear once (got 2 values)',
    'Pass cursor once',
  ],
  ['GET', '/api/next-runs', undefined, 'when', 'is missing', 'Pass when'],
  ['POST', '/api/jobs', { kind: 7 }, 'kind', 'must be text (got 7)', 'Pass text'],
  ['POST', '/api/jobs', {}, 'kind', 'is missing', 'Pass kind'],
  ['POST', '/api/jobs', { kind: 'echo', tags: 'a' }, 'tags', 'must be a list (got "a")', 'Pass a list'],
  [
    'POST',
    '/api/jobs/many',
    { kind: 'echo', jobs: [] },
    'jobs',
    'must have at least 1 item (got an array of 0 items)',
    'Pass at least 1 item',
  ],
  ['POST', '/api/jobs', ['a'], undefined, 'must be an object (got an array of 1 item)', 'Pass an object'],
  [
    'POST',
    '/api/jobs/many',
    { kind: 'a', jobs: [{ tags: [7] }] },
    'jobs.0.tags.0',
    'must be text (got 7)',
    'Pass text',
  ],
  [
    'PATCH',
    '/api/queues/default',
    { paused: 'yes' },
    'paused',
    'must be true or false (got "yes")',
    'Pass true or false',
  ],
]

describe('limits on size and rate', () => {
  test('a body that is too large is refused, with and without a content-length, and nothing is written', async () => {
    const { url, mill } = await bench(memory(), { maxBodyBytes: 2_000, work: false })
    const body = { kind: 'echo', payload: 'x'.repeat(3_000) }
    expect(await request(url, 'POST', '/api/jobs', { body })).toMatchObject({
      status: 413,
      body: { code: 'TOO_LARGE' },
    })
    const stream = (text: string): Promise<Response> =>
      fetch(`${url}/api/jobs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: new Blob([text]).stream(),
        duplex: 'half',
      })
    expect((await stream(JSON.stringify(body))).status).toBe(413)
    expect((await stream('{"kind":"echo"}')).status).toBe(201)
    expect(await mill.counts()).toMatchObject([{ ready: 1 }])
  })

  test('a header of the wrong shape is shown, not called missing', async () => {
    const { url } = await bench(memory(), { work: false })
    const headers = { 'last-event-id': 'abc' }
    expect(await request(url, 'GET', '/api/events', { headers })).toMatchObject({
      status: 400,
      body: { field: 'last-event-id', detail: expect.stringContaining('(got "abc")') as string },
    })
  })

  test('undeclared parameters are refused, and a required body is asked for', async () => {
    const { url } = await bench(memory(), { work: false })
    const status = async (method: string, path: string, body?: unknown): Promise<number> =>
      (await request(url, method, path, body === undefined ? {} : { body })).status
    expect(await status('DELETE', '/api/schedules/nightly?dryRun=true')).toBe(400)
    expect(await status('DELETE', '/api/schedules/nightly', { dryRun: true })).toBe(400)
    expect(await status('POST', '/api/queues/default/pause', { hours: 5 })).toBe(400)
    expect(await status('POST', '/api/queues/default/pause', [])).toBe(400)
    expect(await status('POST', '/api/queues/default/pause', {})).toBe(200)
    expect(await status('PATCH', '/api/queues/default')).toBe(400)
    expect(await status('GET', '/api/overview?x=1')).toBe(400)
  })

  test.each([
    ['POST', '/api/jobs', { kind: 'echo', delay: 'x' }, 'delay', 'Pass milliseconds, or text with the units'],
    ['POST', '/api/jobs', { kind: 'echo', tags: ['a', ''] }, 'tags.1', ''],
    ['POST', '/api/jobs', { kind: 'echo', dealy: 1 }, 'dealy', 'Did you mean "delay"?'],
    ['POST', '/api/jobs', { kind: 'echo', dedupe: { kye: 'a' } }, 'dedupe.kye', 'Use one of key, scope,'],
    ['POST', '/api/jobs', { kind: 'echo', runAt: 'x' }, 'runAt', 'Pass milliseconds since 1970, or text'],
    [
      'POST',
      '/api/jobs/many',
      { kind: 'a', jobs: [{}, { delya: 1 }] },
      'jobs.1.delya',
      'Did you mean "delay"?',
    ],
    [
      'PATCH',
      '/api/queues/default',
      { retain: { dead: { mots: 1 } } },
      'retain.dead.mots',
      'Did you mean "most"?',
    ],
    ['PATCH', '/api/queues/default', { workers: -1 }, 'workers', 'Pass a whole number'],
    [
      'PATCH',
      '/api/limits/smtp',
      { zzzzzz: 1 },
      'zzzzzz',
      'Use one of rate, per, burst, perKey, concurrency',
    ],
    ['PATCH', '/api/limits/odd', { rate: 1 }, 'name', 'create it with POST /api/limits'],
    ['POST', '/api/limits/smtp/drain', { retryAfter: 'x' }, 'retryAfter', 'Pass milliseconds'],
    ['PATCH', '/api/schedules/nightly', { when: 'x' }, 'when', ''],
    ['GET', '/api/jobs?stat=dead', undefined, 'stat', 'Did you mean "state"?'],
    ['GET', '/api/bulk?act=retry&state=done', undefined, 'state', ''],
  ])(
    '%s %s with %j is refused with the path of the value and the fix',
    async (method, path, body, field, fix) => {
      const { url } = await bench(memory(), { work: false })
      const answer = (await request(url, method, path, { body })).body as Record<string, string>
      expect(answer['field']).toBe(field)
      expect(answer['fix']).toContain(fix)
      expect(answer['detail']).not.toMatch(/^(?:job|items|limit|queue|change|options)\b/)
    },
  )

  test('an unknown limit of a queue is refused with the field and the route that creates limits', async () => {
    const { url } = await bench(memory(), { work: false })
    const answer = await request(url, 'PATCH', '/api/queues/default', { body: { limit: 'smpt' } })
    expect(answer.body).toMatchObject({
      code: 'LIMIT_UNKNOWN',
      field: 'limit',
      fix: 'Did you mean "smtp"? Otherwise declare it under `limits` in the options of jobmill(), or create it with POST /api/limits',
    })
  })

  test('H5 a value of the wrong shape is refused with what was sent and what to pass', async () => {
    const { url } = await bench(memory(), { work: false })
    for (const [method, path, body, field, detail, fix] of WRONG_VALUES) {
      const answer = await request(url, method, path, { body })
      expect([path, answer.status, answer.body]).toMatchObject([
        path,
        400,
        { detail: expect.stringContaining(detail) as string, fix: expect.stringContaining(fix) as string },
      ])
      expect((answer.body as { field?: string }).field).toBe(field)
    }
  })

  test('a mounted API limits a body without a content-length too', async () => {
    const mill = jobmill({ store: memory(), log: 'silent' })
    onTestFinished(async () => void (await mill.stop()))
    const api = httpApi(mill, { insecure: true, maxBodyBytes: 1_000 })
    const send = async (body: string, type: string): Promise<number> =>
      (
        await api.fetch(
          new Request('http://x/api/jobs', { method: 'POST', body, headers: { 'content-type': type } }),
        )
      ).status
    const small = JSON.stringify({ kind: 'echo', payload: 'x' })
    const large = JSON.stringify({ kind: 'echo', payload: 'x'.repeat(2_000) })
    expect(await send(large, 'application/json')).toBe(413)
    expect(await send(small, 'text/plain')).toBe(415)
    expect(await send(small, 'application/json')).toBe(201)
  })

  test('a payload that the library refuses keeps its code', async () => {
    const { url } = await bench(memory(), { mill: { payloadLimitBytes: 100 } })
    const body = { kind: 'echo', payload: 'x'.repeat(200) }
    expect(await request(url, 'POST', '/api/jobs', { body })).toMatchObject({
      status: 413,
      body: { code: 'PAYLOAD_TOO_LARGE', field: 'payload' },
    })
  })

  test('a caller over its rate gets 429, and other callers do not', async () => {
    const { url } = await bench(memory(), { tokens: TOKENS, requestsPerSecond: 5, platform: STOPPED })
    const ask = (role: string): Promise<{ status: number; headers: Headers }> =>
      request(url, 'GET', '/api/queues', { headers: bearer(role) })
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask('viewer')))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused[0]?.headers.get('retry-after')).toBe('1')
    expect((await ask('operator')).status).toBe(200)
  })

  test('S low the files of Mission Control do not count against the rate of anonymous callers', async () => {
    const { url } = await bench(memory(), { tokens: TOKENS, anonymousPerSecond: 1, platform: STOPPED })
    const files = Array.from({ length: 100 }, () => request(url, 'GET', '/'))
    expect(new Set((await Promise.all(files)).map(({ status }) => status))).toEqual(new Set([200]))
    const ask = async (): Promise<number> => (await request(url, 'GET', '/api/queues')).status
    expect([await ask(), await ask(), await ask()]).toEqual([401, 401, 429])
    expect((await request(url, 'GET', '/')).status).toBe(200)
  })

  test('a caller that guesses tokens gets 429', async () => {
    const { url } = await bench(memory(), { tokens: TOKENS, platform: STOPPED })
    const guesses = Array.from({ length: 100 }, (_, n) =>
      request(url, 'GET', '/api/queues', { headers: { authorization: `Bearer guess-${n}` } }),
    )
    const statuses = (await Promise.all(guesses)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([401, 429]))
    expect((await request(url, 'GET', '/healthz')).status).toBe(200)
    const disguised = Array.from({ length: 100 }, () => request(url, 'GET', '/api/jobs/healthz'))
    expect((await Promise.all(disguised)).some(({ status }) => status === 429)).toBe(true)
  })
})

describe('confidential data', () => {
  test('viewers do not see values of secret keys; operators do', async () => {
    const { url, mill } = await bench(memory(), { tokens: TOKENS })
    const payload = { user: 'ada', password: 'hunter2', deep: [{ api_key: 'k', n: 1 }] }
    const job = await mill.enqueue('echo', payload, { metadata: { authorization: 'x' } })
    await job.result()
    const bodyAs = async (role: string): Promise<unknown> =>
      (await request(url, 'GET', `/api/jobs/${job.id}`, { headers: bearer(role) })).body
    const hidden = { user: 'ada', password: '(hidden)', deep: [{ api_key: '(hidden)', n: 1 }] }
    expect(await bodyAs('viewer')).toMatchObject({
      job: { payload: hidden, result: hidden, metadata: { authorization: '(hidden)' } },
      attempts: [{ log: [{ fields: { apiKey: '(hidden)' } }] }],
    })
    expect(await bodyAs('operator')).toMatchObject({ job: { payload, result: payload } })
    const schedules = await request(url, 'GET', '/api/schedules', { headers: bearer('viewer') })
    expect(schedules.body).toMatchObject({ schedules: [{ payload: { password: '(hidden)', who: 'ada' } }] })
  })

  test('viewers do not see payloads where code and the store differ in them', async () => {
    const { url, mill } = await bench(memory(), { tokens: TOKENS })
    await mill.schedules.change('nightly', { payload: { password: 'changed' } })
    const bodyAs = async (role: string): Promise<string> =>
      JSON.stringify((await request(url, 'GET', '/api/overview', { headers: bearer(role) })).body)
    expect(await bodyAs('operator')).toContain('changed')
    expect(await bodyAs('viewer')).not.toContain('changed')
  })

  test('viewers cannot read audit entries on any route', async () => {
    const { url, mill } = await bench(memory(), { tokens: TOKENS, work: false })
    await mill.audit.write({
      who: 'adam',
      role: 'admin',
      what: 'test',
      target: 'x',
      before: null,
      after: null,
    })
    const read = (path: string, role: string): Promise<{ status: number; body: unknown }> =>
      request(url, 'GET', path, { headers: bearer(role) })
    expect((await read('/api/timeline?type=audit', 'viewer')).status).toBe(403)
    expect(JSON.stringify((await read('/api/timeline', 'viewer')).body)).not.toContain('adam')
    expect(JSON.stringify((await read('/api/timeline', 'operator')).body)).toContain('adam')
    const listen = async (role: string, until: string): Promise<string> => {
      const headers = { ...bearer(role), 'last-event-id': '0' }
      const response = await fetch(`${url}/api/events`, { headers })
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      while (!text.includes(until)) text += (await reader?.read())?.value ?? ''
      await reader?.cancel()
      return text
    }
    expect(await listen('operator', 'event: counts')).toContain('adam')
    expect(await listen('viewer', 'event: counts')).not.toContain('adam')
  })

  test('an internal error reveals nothing to the caller, and is logged', async () => {
    const store = faultyStore(memory())
    const errors: string[] = []
    const { url } = await bench(store, { onError: (error, what) => errors.push(`${what}: ${String(error)}`) })
    const secret = 'SELECT * FROM /var/lib/secret'
    store.fail('queues.list', { times: 9, error: new Error(secret) })
    const answer = await request(url, 'GET', '/api/queues')
    expect(answer).toMatchObject({ status: 500, body: { code: 'INTERNAL' } })
    expect(JSON.stringify(answer.body)).not.toContain('SELECT')
    expect(errors).toEqual([expect.stringContaining(secret)])
    store.clear()
  })
})

describe('the audit log', () => {
  test('has an entry for every change: author, action, before and after, and no secrets', async () => {
    const { url, mill } = await bench(memory(), { tokens: TOKENS, work: false })
    const send = (method: string, path: string, body?: unknown): Promise<{ status: number }> =>
      request(url, method, path, { ...(body !== undefined && { body }), headers: bearer('admin') })
    const { body } = await request(url, 'POST', '/api/jobs', {
      body: { kind: 'echo', delay: '1h' },
      headers: bearer('operator'),
    })
    const { id } = body as { id: string }
    await send('PATCH', '/api/queues/default', { workers: 7 })
    await send('POST', `/api/jobs/${id}/run-now`)
    await send('POST', '/api/schedules', { name: 's', job: 'echo', when: '@daily', payload: { token: 't' } })
    await send('PATCH', '/api/queues/nowhere', { workers: 7 })
    await request(url, 'POST', '/api/queues/default/pause', { headers: bearer('viewer') })
    const { entries } = await mill.audit.list()
    expect(entries.map(({ who, what, target }) => [who, what, target])).toEqual([
      ['adam', 'schedules.create', 's'],
      ['adam', 'jobs.run-now', id],
      ['adam', 'queues.change', 'default'],
      ['olga', 'jobs.enqueue', id],
    ])
    expect(entries[0]).toMatchObject({ before: null, after: { payload: { token: '(hidden)' } } })
    expect(entries[1]).toMatchObject({ job: id, before: { state: 'scheduled' }, after: { state: 'ready' } })
    expect(entries[2]).toMatchObject({ queue: 'default', before: { workers: null }, after: { workers: 7 } })
    expect((await mill.audit.list({ queue: 'default' })).entries).toHaveLength(1)
    const first = await mill.audit.list({ limit: 3 })
    expect((await mill.audit.list({ cursor: first.next ?? '' })).entries).toEqual(entries.slice(3))
  })

  test('a change whose audit entry cannot be written is logged', async () => {
    const store = faultyStore(memory())
    const errors: string[] = []
    const { url } = await bench(store, { onError: (_, what) => errors.push(what), work: false })
    store.fail('metrics.record', { times: 9, error: new Error('full') })
    expect((await request(url, 'POST', '/api/queues/default/pause')).status).toBe(200)
    expect(errors).toEqual([expect.stringContaining('"what":"queues.pause"')])
    store.clear()
  })
})

test('mounted into a host server that authenticates callers', async () => {
  const mill: Mill<never> = jobmill({ store: memory(), log: 'silent' })
  onTestFinished(async () => void (await mill.stop()))
  const api = httpApi(mill, {
    authenticate: (asked) => (asked.headers.get('x-user') === null ? null : { name: 'ada', role: 'viewer' }),
  })
  const answer = await api.fetch(
    new Request('http://app.example/api/overview', { headers: { 'x-user': '1' } }),
  )
  expect(await answer.json()).toMatchObject({ you: { name: 'ada', role: 'viewer' } })
  expect((await api.fetch(new Request('http://app.example/api/overview'))).status).toBe(401)
})
