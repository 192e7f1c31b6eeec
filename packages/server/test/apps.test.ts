/** Mounted applications and passthrough routes, over a real socket. */
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http'
import { createConnection } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Passthrough, type HttpApps, httpApi } from '../src/index.ts'
import { jobmill } from '../../jobmill/src/index.ts'
import { sqlite } from '../../jobmill/src/sqlite.ts'
import { testPlatform } from '../../jobmill/src/testing/index.ts'
import { request } from './calls.ts'
import { bench, TOKENS, tokenOf } from './mills.ts'
import { exchange } from './raw.ts'

const memory = (): ReturnType<typeof sqlite> => sqlite(':memory:')
const bearer = (role: string): Record<string, string> => ({ authorization: `Bearer ${tokenOf(role)}` })

/** Answers with the request that it received, and the caller. */
const uploads = {
  title: 'Uploads',
  async fetch(asked: Request, who: unknown) {
    const { pathname, search } = new URL(asked.url)
    if (pathname === '/fails') throw new Error('the path of a disk')
    if (pathname === '/nothing') return undefined as never
    if (pathname === '/refuses') return Response.json({ no: true }, { status: 409 })
    // The headers of such a response are immutable.
    if (pathname === '/elsewhere') return fetch('data:text/plain,far')
    const body = ['GET', 'HEAD'].includes(asked.method) ? null : await asked.text()
    return Response.json({ method: asked.method, at: pathname + search, body, who }, { status: 201 })
  },
}
const apps: HttpApps = { uploads, 'telegram-bots': { title: 'Bots', fetch: () => new Response('bots') } }

describe('a mounted application', () => {
  test('is listed with its title, and receives the path after its name and the caller', async () => {
    const { url } = await bench(memory(), { tokens: TOKENS, apps, work: false })
    const viewer = { headers: bearer('viewer') }
    expect((await request(url, 'GET', '/api/apps', viewer)).body).toEqual({
      apps: [
        { name: 'uploads', title: 'Uploads' },
        { name: 'telegram-bots', title: 'Bots' },
      ],
    })
    const who = { name: 'vera', role: 'viewer' }
    for (const [path, at] of [
      ['', '/'],
      ['/', '/'],
      ['/files/a%2Fb?x=1&y=%20', '/files/a%2Fb?x=1&y=%20'],
    ])
      expect(await request(url, 'GET', `/api/apps/uploads${path}`, viewer)).toMatchObject({
        status: 201,
        body: { method: 'GET', at, body: null, who },
      })
    const answer = await request(url, 'GET', '/api/apps/telegram-bots/any', viewer)
    expect([answer.body, answer.headers.get('cache-control')]).toEqual(['bots', 'no-store'])
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect((await request(url, 'GET', '/api/apps/uploads/elsewhere', viewer)).body).toBe('far')
  })

  test('is read by viewers, changed by operators, and closed without a token', async () => {
    const { url } = await bench(memory(), { tokens: TOKENS, apps, work: false })
    const status = async (method: string, role?: string): Promise<number> => {
      const headers = role === undefined ? {} : bearer(role)
      return (await fetch(`${url}/api/apps/uploads/x`, { method, headers })).status
    }
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      const isRead = method === 'GET' || method === 'HEAD'
      expect([method, await status(method)]).toEqual([method, 401])
      expect([method, await status(method, 'viewer')]).toEqual([method, isRead ? 201 : 403])
      expect([method, await status(method, 'operator')]).toEqual([method, 201])
    }
    const foreign = { headers: { ...bearer('admin'), origin: 'https://evil.example' } }
    expect((await request(url, 'POST', '/api/apps/uploads/x', foreign)).status).toBe(403)
  })

  test('adds an audit entry for what it changed, and none for refused requests and reads', async () => {
    const { url, mill } = await bench(memory(), { tokens: TOKENS, apps, work: false })
    const headers = bearer('operator')
    await request(url, 'GET', '/api/apps/uploads/look', { headers })
    await request(url, 'POST', '/api/apps/uploads/refuses', { headers })
    const answer = await request(url, 'POST', '/api/apps/uploads/files/1', {
      headers,
      body: { password: 'p' },
    })
    expect(answer.body).toMatchObject({ method: 'POST', at: '/files/1', body: '{"password":"p"}' })
    await request(url, 'DELETE', `/api/apps/uploads/${'x'.repeat(900)}`, { headers })
    const { entries } = await mill.audit.list()
    expect(entries).toHaveLength(2)
    expect(entries[1]).toMatchObject({
      who: 'olga',
      role: 'operator',
      what: 'apps.uploads',
      target: 'POST /files/1',
      before: null,
      after: null,
    })
    expect(entries[0]?.target).toHaveLength(200)
  })

  test('has the limits of the API, and its errors are only logged', async () => {
    const faults: unknown[] = []
    const { url } = await bench(memory(), {
      apps,
      work: false,
      maxBodyBytes: 10,
      onError: (error, what) => faults.push([what, String(error)]),
    })
    expect((await request(url, 'POST', '/api/apps/uploads/x', { body: 'x'.repeat(20) })).status).toBe(413)
    for (const path of ['/fails', '/nothing']) {
      const { status, body } = await request(url, 'GET', `/api/apps/uploads${path}`)
      expect([status, body]).toMatchObject([500, { code: 'INTERNAL' }])
      expect(JSON.stringify(body)).not.toMatch(/disk|answer/)
    }
    expect(faults).toEqual([
      ['GET /api/apps/uploads/fails', 'Error: the path of a disk'],
      [
        'GET /api/apps/uploads/nothing',
        'Error: the application uploads did not return a Response. Return one, or throw an Error',
      ],
    ])
  })

  test('that does not exist is an unknown route, with and without a token, and no path leads out of one', async () => {
    const { url } = await bench(memory(), { tokens: TOKENS, apps, work: false })
    const none = await bench(memory(), { tokens: TOKENS, work: false })
    const headers = bearer('viewer')
    for (const [at, path] of [
      [url, '/api/apps/nobody/x'],
      [url, '/api/apps/%75ploads/x'],
      [none.url, '/api/apps/uploads/x'],
    ] as const)
      for (const how of [{ headers }, {}])
        expect((await request(at, 'POST', path, how)).body).toMatchObject({
          code: 'ROUTE_UNKNOWN',
          status: 404,
        })
    expect((await request(none.url, 'GET', '/api/apps', { headers })).body).toEqual({ apps: [] })
    const sent = plainRequest({
      host: '127.0.0.1',
      port: new URL(url).port,
      path: '/api/apps/uploads/../../jobs',
      headers,
    }).end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.resume()
    expect([200, 404]).toContain(answer.statusCode)
  })

  test('is served below the base path', async () => {
    const { url } = await bench(memory(), { apps, work: false, basePath: '/ops/mill' })
    const { body } = await request(url, 'PUT', '/api/apps/uploads/a', { body: [1] })
    expect(body).toMatchObject({ at: '/a', body: '[1]', who: { name: 'local' } })
  })

  test.each<[string, object, string]>([
    ['a name that an address cannot have', { 'A b': uploads }, 'apps'],
    ['no title', { a: { ...uploads, title: ' ' } }, 'apps.a.title'],
    ['no function', { a: { title: 'A', fetch: 1 } }, 'apps.a.fetch'],
    ['something unknown', { a: { ...uploads, tittle: 'A' } }, 'apps.a.tittle'],
  ])('is refused with %s', async (_, options, field) => {
    const mill = jobmill({ store: memory(), log: 'silent' })
    onTestFinished(async () => void (await mill.stop()))
    expect(() => httpApi(mill, { insecure: true, apps: options as HttpApps })).toThrow(
      expect.objectContaining({ field, fix: expect.any(String) as string }),
    )
  })
})

/** Answers everything below /hooks/. */
const hook =
  (answer: Passthrough): Passthrough =>
  (asked, caller) =>
    new URL(asked.url).pathname.startsWith('/hooks/') ? answer(asked, caller) : null

describe('passthrough routes', () => {
  test('are called first, without a token and without our limits; other requests reach the API and the dashboard', async () => {
    const passthrough = hook(async (asked) => Response.json({ bytes: (await asked.bytes()).byteLength }))
    const { url } = await bench(memory(), {
      tokens: TOKENS,
      passthrough,
      work: false,
      maxBodyBytes: 10,
      anonymousPerSecond: 1,
    })
    for (let n = 0; n < 5; n += 1) {
      const answer = await fetch(`${url}/hooks/a`, { method: 'POST', body: 'x'.repeat(3_000_000) })
      expect(await answer.json()).toEqual({ bytes: 3_000_000 })
      // Caching, framing and reading are up to the application.
      expect(answer.headers.get('cache-control')).toBeNull()
    }
    const { status } = await request(url, 'POST', '/api/jobs', {
      headers: bearer('admin'),
      body: { kind: 'echo' },
    })
    expect(status).toBe(413)
    expect((await request(url, 'GET', '/api/overview', { headers: bearer('viewer') })).status).toBe(200)
    expect((await request(url, 'GET', '/jobs')).headers.get('content-type')).toContain('text/html')
    expect((await request(url, 'GET', '/healthz')).status).toBe(200)
  })

  test('S low: a method that no Request can have gets 404', async () => {
    const { url } = await bench(memory(), {
      tokens: TOKENS,
      passthrough: hook(() => Response.json({})),
      work: false,
    })
    const { status, text } = await exchange(url, [
      'TRACE /hooks/a HTTP/1.1',
      'Host: 127.0.0.1',
      'Connection: close',
    ])
    expect([status, text.includes('problem+json')]).toEqual([404, true])
  })

  test('get the body as a stream, and the original URL', async () => {
    const { promise: first, resolve } = Promise.withResolvers<string>()
    const passthrough = hook(async (asked) => {
      const reader = asked.body?.pipeThrough(new TextDecoderStream()).getReader()
      resolve(`${new URL(asked.url).pathname} ${(await reader?.read())?.value ?? ''}`)
      return new Response((await reader?.read())?.value)
    })
    const { url } = await bench(memory(), { tokens: TOKENS, passthrough, work: false, basePath: '/ops' })
    const sent: ClientRequest = plainRequest(new URL('/hooks/in', url), { method: 'PUT' })
    sent.write('one')
    // The second half is sent only after the first was read.
    expect(await first).toBe('/hooks/in one')
    sent.end('two')
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    expect(String((await answer.toArray())[0])).toBe('two')
  })

  test.each<[string, Passthrough]>([
    ['throw', () => fail()],
    ['reject', async () => fail()],
    ['return no response', () => 'yes' as never],
  ])(
    'that %s return a problem without details, and the error is logged without the URL',
    async (_, answer) => {
      const faults: string[] = []
      const onError = (_error: unknown, what: string): void => void faults.push(what)
      const { url } = await bench(memory(), {
        tokens: TOKENS,
        passthrough: hook(answer),
        work: false,
        onError,
      })
      const { status, body } = await request(url, 'POST', '/hooks/secret-7')
      expect([status, body]).toEqual([
        500,
        {
          type: 'urn:jobmill:INTERNAL',
          title: 'Internal error; see the log of this process',
          status: 500,
          code: 'INTERNAL',
        },
      ])
      expect(faults).toEqual(['POST passthrough'])
    },
  )

  test('do not let callers hold a connection to the API with a body that never ends', async () => {
    const platform = testPlatform()
    const { url } = await bench(memory(), {
      tokens: TOKENS,
      passthrough: () => null,
      work: false,
      platform,
      onError: () => {},
    })
    const socket = createConnection(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', () => {})
    const closed = once(socket.resume(), 'close')
    socket.write(
      `POST /api/jobs HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${tokenOf('operator')}\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{`,
    )
    // The test cannot know when the server has read it, so the clock advances until it has.
    while (!socket.closed) {
      await platform.advance(10_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await closed).toBeDefined()
  })

  test('must be a function', async () => {
    const mill = jobmill({ store: memory(), log: 'silent' })
    onTestFinished(async () => void (await mill.stop()))
    expect(() => httpApi(mill, { insecure: true, passthrough: 1 as never })).toThrow('passthrough')
  })
})

function fail(): never {
  throw new Error('no')
}
