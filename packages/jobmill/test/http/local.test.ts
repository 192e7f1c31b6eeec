/** Without authentication only this machine is answered, and no proxy on it: requests as they come, over a real socket. */
import { once } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serve, servePublic } from '../../src/http.ts'
import { refuseOutsiders } from '../../src/http/door/local.ts'
import { listenOn } from '../../src/http/socket.ts'
import { jobmill, systemPlatform } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import { rejection } from '../unit/support.ts'
import { bench, TOKENS, tokenOf } from './mills.ts'
import { connected, exchange } from './raw.ts'

const memory = (): ReturnType<typeof sqlite> => sqlite(':memory:')
const FORWARDED = ['X-Forwarded-For: 203.0.113.7', 'X-Forwarded-Proto: https']

/** PORT stands for the port of the server. */
const DIRECT: readonly (readonly [string, string, readonly string[]])[] = [
  ['a browser at the address', '1.1', ['Host: 127.0.0.1:PORT']],
  ['curl at localhost', '1.1', ['Host: localhost:PORT', 'User-Agent: curl/8.5.0']],
  ['ssh -L with the same port', '1.1', ['Host: localhost:PORT']],
]

const PROXIED: readonly (readonly [string, string, readonly string[]])[] = [
  ['nginx as it comes', '1.0', ['Host: 127.0.0.1:PORT', 'Connection: close']],
  ['nginx as it comes, a named upstream', '1.0', ['Host: jobmill_api', 'Connection: close']],
  ['nginx with HTTP/1.1 and a named upstream', '1.1', ['Host: jobmill_api']],
  ['nginx with Host $host, asked for its name', '1.1', ['Host: jobs.example.com']],
  ['nginx with Host $host, asked for localhost', '1.1', ['Host: localhost']],
  ['nginx with X-Real-IP', '1.1', ['Host: localhost:PORT', 'X-Real-IP: 203.0.113.7']],
  [
    'Caddy',
    '1.1',
    ['Host: localhost:PORT', ...FORWARDED, 'X-Forwarded-Host: jobs.example.com', 'Via: 1.1 Caddy'],
  ],
  [
    'Traefik',
    '1.1',
    ['Host: localhost:PORT', ...FORWARDED, 'X-Forwarded-Server: edge', 'X-Real-Ip: 203.0.113.7'],
  ],
  ['Apache', '1.1', ['Host: 127.0.0.1:PORT', ...FORWARDED, 'X-Forwarded-Server: www.example.com']],
  ['haproxy, asked for localhost', '1.1', ['Host: localhost']],
  ['haproxy with option forwardfor', '1.1', ['Host: localhost:PORT', 'X-Forwarded-For: 203.0.113.7']],
  [
    'cloudflared',
    '1.1',
    ['Host: localhost:PORT', 'Cf-Ray: 8f1', 'Cf-Connecting-Ip: 203.0.113.7', 'Cdn-Loop: cloudflare'],
  ],
  ['a proxy that keeps to RFC 7239', '1.1', ['Host: localhost:PORT', 'Forwarded: for=203.0.113.7']],
  ['a proxy that signs people in', '1.1', ['Host: localhost:PORT', 'Remote-User: ada']],
  ['ssh -L with another port', '1.1', ['Host: localhost:1']],
  ['a name that was pointed at this machine', '1.1', ['Host: evil.example:PORT']],
  ['a name that begins like ours', '1.1', ['Host: 127.0.0.1.evil.example:PORT']],
  ['another loopback address', '1.1', ['Host: 127.0.0.2:PORT']],
]

/** Of proxies that leave no trace: docs/operate/security.md says so. */
const UNTOLD: typeof DIRECT = [
  ['nginx 1.29.7 or later as it comes', '1.1', ['Host: 127.0.0.1:PORT']],
  ['haproxy, asked for localhost and our port', '1.1', ['Host: localhost:PORT']],
]

describe('S2 local mode', () => {
  test('S2 requests that came through a proxy are refused, for the API, its metrics and Mission Control', async () => {
    const { url } = await bench(memory(), { work: false })
    const { port } = new URL(url)
    const ask = async (line: string, version: string, headers: readonly string[]): Promise<number> => {
      const lines = [`${line} HTTP/${version}`, ...headers, 'Connection: close']
      return (
        await exchange(
          url,
          lines.map((one) => one.replace('PORT', port)),
        )
      ).status
    }
    const rows = [
      ...[...DIRECT, ...UNTOLD].map((row) => [...row, 200] as const),
      ...PROXIED.map((row) => [...row, 403] as const),
    ]
    const asked = rows.flatMap(([name, version, headers, expected]) =>
      ['GET /api/overview', 'GET /metrics', 'GET /', 'POST /api/queues/default/pause'].map(async (line) => {
        const status = await ask(line, version, headers)
        return status === expected ? [] : [`${line} through ${name}: ${status}`]
      }),
    )
    const wrong = (await Promise.all(asked)).flat()
    expect(wrong).toEqual([])
    const { text } = await exchange(url, [
      'GET /api/overview HTTP/1.1',
      `Host: localhost:${port}`,
      'Via: 1.1 x',
      'Connection: close',
    ])
    expect(text).toContain('"code":"NOT_LOCAL"')
    expect(text).toContain('JOBMILL_TOKENS')
  })

  test('S2 a peer that is not loopback is refused, whatever it says, and so is a request without a known peer', () => {
    const asked = new Request('http://localhost:8787/', { headers: { host: 'localhost:8787' } })
    const from = (remoteAddress: string): number =>
      refuseOutsiders('this-machine', asked, {
        socket: { remoteAddress, localAddress: '127.0.0.1', localPort: 8_787 },
      })?.status ?? 200
    expect(['127.0.0.1', '::ffff:127.0.0.1', '::1'].map(from)).toEqual([200, 200, 200])
    expect(['10.0.0.5', '::ffff:10.0.0.5', '2001:db8::1', ''].map(from)).toEqual([403, 403, 403, 403])
    expect(refuseOutsiders('this-machine', asked, undefined)?.status).toBe(403)
  })

  test('S2 with tokens every proxy may stand in front', async () => {
    const { url } = await bench(memory(), { work: false, tokens: TOKENS })
    for (const [, version, headers] of PROXIED) {
      const lines = [`GET /api/overview HTTP/${version}`, ...headers, 'Connection: close']
      const sent = lines.map((line) => line.replace('PORT', '80'))
      expect((await exchange(url, sent)).status).toBe(401)
    }
  })

  test('S2 --insecure on a loopback address still answers to loopback names only', async () => {
    const { url } = await bench(memory(), { work: false, insecure: true })
    const status = async (host: string): Promise<number> =>
      (await exchange(url, ['GET /api/overview HTTP/1.1', `Host: ${host}`, 'Connection: close'])).status
    expect(await status('evil.example')).toBe(403)
    expect(await status('127.0.0.1.evil.example')).toBe(403)
    expect(await status('localhost')).toBe(200)
    expect(await status('127.0.0.1:9')).toBe(200)
  })

  test('S2 starting without authentication is a warning that names proxies; with tokens there is none', async () => {
    const local = await bench(memory(), { work: false })
    expect(local.warnings).toEqual([expect.stringMatching(/no authentication.*proxy.*JOBMILL_TOKENS/)])
    expect((await bench(memory(), { work: false, insecure: true })).warnings).toHaveLength(1)
    expect((await bench(memory(), { work: false, tokens: TOKENS })).warnings).toEqual([])
  })

  test('S2 public routes do not share a port with a dashboard without authentication', async () => {
    const mill = jobmill({ store: memory(), log: 'silent' })
    onTestFinished(async () => void (await mill.stop()))
    const error = await rejection(async () => serve(mill, { port: 0, beside: () => null }))
    expect(error).toMatchObject({ code: 'OPTION_CONFLICT', field: 'beside' })
    expect(String(error)).toContain('servePublic')
  })

  test('S2 the port of public routes has them and the probes, and nothing of the API or Mission Control', async () => {
    const mill = jobmill({ store: memory(), log: 'silent' })
    await mill.open()
    const callers: string[] = []
    const served = await servePublic(mill, {
      port: 0,
      routes: (asked, { address }) => {
        if (!new URL(asked.url).pathname.startsWith('/hooks/')) return null
        callers.push(address)
        return new Response('hook')
      },
    })
    onTestFinished(async () => {
      await served.close()
      await mill.stop()
    })
    const status = async (path: string): Promise<number> => (await fetch(`${served.url}${path}`)).status
    const hidden = [
      '/',
      '/jobs',
      '/metrics',
      '/api/overview',
      '/api/openapi.json',
      '/assets/x.js',
      '/mark.svg',
    ]
    for (const path of hidden) expect([path, await status(path)]).toEqual([path, 404])
    for (const path of ['/healthz', '/readyz', '/hooks/a'])
      expect([path, await status(path)]).toEqual([path, 200])
    expect(callers).toEqual(['127.0.0.1'])
  })
})

test('S headers that never end are cut off soon after their time', { timeout: 20_000 }, async () => {
  const server = await listenOn({
    port: 0,
    bind: '127.0.0.1',
    fetch: () => new Response('late'),
    slowBodies: true,
    platform: systemPlatform,
    headersMs: 100,
  })
  onTestFinished(() => server.close())
  const socket = await connected(server.url)
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nx-slow: ')
  await once(socket.resume(), 'close')
  expect(socket.closed).toBe(true)
})

describe('S event streams', () => {
  test('S one caller may have so many, and all together so many; a place that is left is free', async () => {
    const { url } = await bench(memory(), { tokens: TOKENS, work: false, streamsPerCaller: 2, maxStreams: 3 })
    const leave: AbortController[] = []
    const open = async (role: string): Promise<Response> => {
      const stop = new AbortController()
      leave.push(stop)
      onTestFinished(() => stop.abort())
      const headers = { authorization: `Bearer ${tokenOf(role)}` }
      return fetch(`${url}/api/events`, { headers, signal: stop.signal })
    }
    const statuses: number[] = []
    for (const role of ['viewer', 'viewer', 'viewer', 'operator', 'operator', 'admin'])
      statuses.push((await open(role)).status)
    expect(statuses).toEqual([200, 200, 429, 200, 503, 503])
    expect(await (await open('viewer')).json()).toMatchObject({
      code: 'TOO_MANY',
      detail: expect.stringContaining('vera has 2') as string,
    })
    leave[0]?.abort()
    await expect.poll(async () => (await open('admin')).status).toBe(200)
  })
})
