/** Connections: how many requests of one are in progress, and how long a client may hold one. */
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { httpApi, servePublic, type ServePublicOptions } from '../src/index.ts'
import { jobmill } from '../../jobmill/src/index.ts'
import { systemPlatform } from '../../jobmill/src/store.ts'
import { sqlite } from '../../jobmill/src/sqlite.ts'
import { listenOn } from '../src/server/socket.ts'
import { request } from './calls.ts'
import { bench } from './mills.ts'
import { connected, head, statusOn } from './raw.ts'
import { boundedServer } from '../../jobmill/src/internal.ts'

/** More than the buffers of the system hold. */
const BODY = new Uint8Array(8 * 1_024 * 1_024)

async function publicPort(options: Partial<ServePublicOptions>): Promise<string> {
  const mill = jobmill({ store: sqlite(':memory:'), log: 'silent' })
  const served = await servePublic(mill, { routes: () => null, port: 0, ...options })
  onTestFinished(async () => {
    await served.close()
    await mill.stop()
  })
  return served.url
}

/** Answers /big with a large body and counts the calls. */
function counted(): { readonly routes: ServePublicOptions['routes']; readonly calls: string[] } {
  const calls: string[] = []
  return {
    calls,
    routes(asked) {
      const { pathname, search } = new URL(asked.url)
      if (pathname !== '/big') return null
      calls.push(search)
      const body = new ReadableStream({
        start: (controller) => (controller.enqueue(BODY), controller.close()),
      })
      return new Response(body, { headers: { 'content-length': String(BODY.length), 'x-call': search } })
    },
  }
}

const ahead = (n: number): string =>
  Array.from({ length: n }, (_, at) => head([`GET /big?${at} HTTP/1.1`, 'host: localhost'])).join('')

/** Reads until the server has sent this many bytes of bodies and their headers. */
async function callsAnswered(socket: Socket, n: number): Promise<string[]> {
  const found: string[] = []
  for await (const data of socket as AsyncIterable<Buffer>) {
    for (const [, call = ''] of data.toString('latin1').matchAll(/x-call: (\S+)/g)) found.push(call)
    if (found.length === n) break
  }
  return found
}

test('S1 few of the requests that a client pipelines are started while it reads nothing', async () => {
  const { routes, calls } = counted()
  const url = await publicPort({ routes })
  const socket = await connected(url)
  socket.pause()
  socket.write(ahead(20))
  await expect.poll(() => calls.length).toBeGreaterThan(0)
  // The server reads connections in order, and requests of one chunk at once.
  for (let round = 0; round < 20; round += 1) await request(url, 'GET', '/healthz')
  expect(calls.length).toBeLessThanOrEqual(4)
  const expected = Array.from({ length: 20 }, (_, at) => `?${at}`)
  expect(await callsAnswered(socket, 20)).toEqual(expected)
  expect(calls).toEqual(expected)
})

test('S1 a client that pipelines more than 100 requests is disconnected', async () => {
  const { routes, calls } = counted()
  const url = await publicPort({ routes })
  const socket = await connected(url)
  const closed = once(socket, 'close')
  socket.write(ahead(1_200))
  socket.resume()
  await closed
  expect(calls.length).toBeLessThanOrEqual(4)
})

const BOUNDS = { headersMs: 30_000, requestMs: 30_000 }

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that answers only /now at once. Counts the requests that Node has parsed. */
async function slowServer(): Promise<{
  readonly server: Server
  readonly url: string
  readonly parsed: string[]
  readonly started: ServerResponse[]
}> {
  const parsed: string[] = []
  const started: ServerResponse[] = []
  const server = boundedServer(({ url }, response) => {
    if (url === '/now') response.end()
    else started.push(response.setHeader('x-call', url ?? ''))
  }, BOUNDS)
  server.on('request', ({ url }) => void (url === '/now' || parsed.push(url ?? '')))
  return { server, url: await listening(server), parsed, started }
}

const slow = (n: number, from = 0): string =>
  Array.from({ length: n }, (_, at) => head([`GET /${from + at} HTTP/1.1`, 'host: localhost'])).join('')

test('S1 the server reads nothing from a connection while its requests wait, and answers in order', async () => {
  const { url, parsed, started } = await slowServer()
  const socket = await connected(url)
  socket.write(slow(2))
  await expect.poll(() => parsed.length).toBe(2)
  socket.write(slow(3, 2))
  // The server reads connections in order.
  for (let round = 0; round < 20; round += 1) await request(url, 'GET', '/now')
  expect(parsed).toEqual(['/0', '/1'])
  const answered = callsAnswered(socket, 5)
  for (let at = 0; at < 5; at += 1) {
    await expect.poll(() => started.length).toBe(at + 1)
    started[at]?.end()
  }
  expect(await answered).toEqual(['/0', '/1', '/2', '/3', '/4'])
})

/** Requests with so many headers that they weigh more than their bytes. */
const heavy = (n: number, headers: number): string =>
  Array.from({ length: n }, (_, at) =>
    head([`GET /${at} HTTP/1.1`, 'host: localhost', ...Array.from({ length: headers - 2 }, () => 'a:b')]),
  ).join('')

test('S1 a client whose waiting requests have more than 4,000 headers is disconnected', async () => {
  const { url, parsed } = await slowServer()
  const few = await connected(url)
  few.write(heavy(3, 2_000))
  await expect.poll(() => parsed.length).toBe(3)
  const more = await connected(url)
  const closed = once(more, 'close')
  more.write(heavy(4, 2_000))
  more.resume()
  await closed
  expect(few.closed).toBe(false)
})

test('S1 while waiting requests have 200,000 headers, a client that pipelines is disconnected', async () => {
  const { server, url, parsed, started } = await slowServer()
  const many = await Promise.all(Array.from({ length: 50 }, () => connected(url)))
  for (const socket of many) socket.write(heavy(3, 2_000))
  await expect.poll(() => parsed.length).toBe(150)
  const one = await connected(url)
  one.write(slow(1))
  await expect.poll(() => parsed.length).toBe(151)
  const more = await connected(url)
  const closed = once(more, 'close')
  more.write(slow(2))
  more.resume()
  await closed
  expect(one.closed).toBe(false)
  // A connection that closes gives the places of its requests back.
  const gone = started.slice(0, 50).map(async (response) => response.closed || once(response, 'close'))
  server.closeAllConnections()
  await Promise.all(gone)
  const again = await connected(url)
  again.write(slow(10))
  await expect.poll(() => parsed.length).toBe(151 + 2 + 10)
  expect(started.at(-1)?.socket?.destroyed).toBe(false)
})

test('S1 a connection is closed when its client reads nothing of a response for a time', async () => {
  const sent = Promise.withResolvers<ServerResponse>()
  const server = boundedServer((_, outgoing) => sent.resolve(outgoing.end(BODY)), { ...BOUNDS, unreadMs: 50 })
  const client = await connected(await listening(server))
  client.pause()
  client.write(slow(1))
  const response = await sent.promise
  if (!response.closed) await once(response, 'close')
  expect(response.writableFinished).toBe(false)
})

test('S1 a connection stays open while its handler has nothing to send', async () => {
  const server = boundedServer(
    ({ socket }, outgoing) => void socket.once('timeout', () => outgoing.end('done')),
    { ...BOUNDS, unreadMs: 50 },
  )
  const client = await connected(await listening(server))
  const answered = statusOn(client)
  client.write(slow(1))
  expect(await answered).toBe(200)
})

test('S1 the files of Mission Control are shared by all responses, not copied', async () => {
  const mill = jobmill({ store: sqlite(':memory:'), log: 'silent' })
  onTestFinished(async () => void (await mill.stop()))
  const api = httpApi(mill, { insecure: true })
  onTestFinished(() => api.stop())
  for (const encoding of ['identity', 'gzip']) {
    const sent = { headers: { 'accept-encoding': encoding } }
    const chunks = await Promise.all(
      [1, 2].map(async () => {
        const { body } = await api.fetch(new Request('http://x/', sent))
        return (await body?.getReader().read())?.value as Uint8Array | undefined
      }),
    )
    expect(chunks[0]?.length).toBeGreaterThan(100)
    expect(chunks[0]?.buffer).toBe(chunks[1]?.buffer)
  }
})

test.each(['GET', 'HEAD', 'POST'])(
  'S1 %s with a body that never ends is closed after its response, although bodies have no time limit',
  async (method) => {
    const timers: (() => void)[] = []
    const platform = {
      ...systemPlatform,
      timer: (ms: number, task: () => void, options?: { readonly unref?: boolean }) => {
        if (options?.unref !== true) return systemPlatform.timer(ms, task, options)
        timers.push(task)
        return { cancel: () => {} }
      },
    }
    const url = await publicPort({ platform })
    const socket = await connected(url)
    const answered = statusOn(socket)
    const closed = once(socket, 'close')
    socket.write(head([`${method} /nowhere HTTP/1.1`, 'host: localhost', 'content-length: 1000000']))
    socket.write('a')
    expect(await answered).toBe(404)
    await expect.poll(() => timers.length).toBe(1)
    timers[0]?.()
    await closed
  },
)

/** Resolves when the client of this request has left. */
async function gone({ signal }: Request): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}

test('S1 the body of a response is cancelled if the client left before the response existed', async () => {
  const cancelled = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const url = await publicPort({
    async routes(given) {
      asked.resolve()
      await gone(given)
      return new Response(new ReadableStream({ cancel: () => cancelled.resolve() }))
    },
  })
  const socket = await connected(url)
  socket.write(head(['GET /slow HTTP/1.1', 'host: localhost']))
  await asked.promise
  socket.destroy()
  await expect(cancelled.promise).resolves.toBeUndefined()
})

test('S1 the body of a response is cancelled if the client leaves while the first bytes are read', async () => {
  const cancelled = Promise.withResolvers<void>()
  const { url, close } = await listenOn({
    port: 0,
    bind: '127.0.0.1',
    slowBodies: true,
    platform: systemPlatform,
    fetch(_, env) {
      const { socket } = (env as { readonly incoming: IncomingMessage }).incoming
      let pulls = 0
      const body = new ReadableStream(
        {
          async pull(controller) {
            pulls += 1
            if (pulls === 1) return controller.enqueue(new Uint8Array(1))
            socket.destroy()
            await once(socket, 'close')
            if (pulls === 2) controller.enqueue(new Uint8Array(1))
          },
          cancel: () => cancelled.resolve(),
        },
        { highWaterMark: 0 },
      )
      return new Response(body)
    },
  })
  onTestFinished(close)
  const socket = await connected(url)
  socket.write(head(['GET / HTTP/1.1', 'host: localhost']))
  await expect(cancelled.promise).resolves.toBeUndefined()
})

test('S1 an event stream whose reader left during a slow authenticate gives its place back', async () => {
  const asked = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  const { url } = await bench(sqlite(':memory:'), {
    work: false,
    streamsPerCaller: 1,
    async authenticate(given) {
      if (!given.headers.has('x-slow')) return { name: 'ada', role: 'viewer' }
      asked.resolve()
      await gone(given)
      left.resolve()
      return { name: 'ada', role: 'viewer' }
    },
  })
  const socket = await connected(url)
  socket.write(head(['GET /api/events HTTP/1.1', 'host: localhost', 'x-slow: 1']))
  await asked.promise
  socket.destroy()
  await left.promise
  await expect
    .poll(async () => {
      const next = await connected(url)
      next.write(head(['GET /api/events HTTP/1.1', 'host: localhost']))
      const status = await statusOn(next)
      next.destroy()
      return status
    })
    .toBe(200)
})
