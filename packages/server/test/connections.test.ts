/** Connections: how many requests of one are in progress, and how long a client may hold one. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
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
import { boundedServer, type ServerBounds } from '../../jobmill/src/internal.ts'

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

test('S1 of the requests that a client pipelines, Node parses one at a time, also if it refuses them', async () => {
  const { url } = await slowServer()
  let parsed = 0
  const count = (): void => void (parsed += 1)
  subscribe('http.server.request.start', count)
  onTestFinished(() => void unsubscribe('http.server.request.start', count))
  const waits = await connected(url)
  waits.write(slow(1_500))
  await expect.poll(() => parsed).toBe(1)
  // Node refuses a request without a host, and closes the connection.
  const refused = await connected(url)
  const answered = statusOn(refused)
  const closed = once(refused, 'close')
  refused.write(head(['GET / HTTP/1.1']).repeat(3_500))
  expect(await answered).toBe(400)
  await closed
  expect(parsed).toBe(2)
})

test('S1 a client that pipelines many requests gets all responses, in order', async () => {
  const { url } = await slowServer()
  const socket = await connected(url)
  let text = ''
  socket.setEncoding('latin1').on('data', (data: string) => (text += data))
  const all = Array.from({ length: 1_200 }, (_, at) => `/now?${at}`)
  const asked = all.map((path) => head([`GET ${path} HTTP/1.1`, 'host: localhost'])).join('')
  socket.write(asked.slice(0, 1_001))
  await request(url, 'GET', '/now')
  socket.write(asked.slice(1_001))
  await expect.poll(() => text.split('x-call').length).toBe(1_201)
  expect([...text.matchAll(/x-call: (\S+)/g)].map(([, path]) => path)).toEqual(all)
})

/** Requests that follow one another in every way, and what a server must see of them. */
const MIXED = [
  ['GET', '', head(['GET /now HTTP/1.1', 'host: a'])],
  ['POST', 'abc', `${head(['POST /now HTTP/1.1', 'host: a', 'content-length: 3'])}abc`],
  ['POST', '\r\n\r\n', `${head(['POST /now HTTP/1.1', 'host: a', 'content-length: 4'])}\r\n\r\n`],
  ['GET', '', `\r\n\r\n\r\n${head(['GET /now HTTP/1.1', 'host: a', 'upgrade: x', 'connection: upgrade'])}`],
  [
    'PUT',
    'a\r\n\r\nb',
    `${head(['PUT /now HTTP/1.1', 'host: a', 'transfer-encoding: chunked'])}1\r\na\r\n5\r\n\r\n\r\nb\r\n0\r\n\r\n`,
  ],
  [
    'PUT',
    'ab',
    `${head(['PUT /now HTTP/1.1', 'host: a', 'transfer-encoding: chunked'])}2;x=y\r\nab\r\n0\r\nt: u\r\n\r\n`,
  ],
  ['DELETE', '', head(['DELETE /now HTTP/1.1', 'host: a', 'content-length: 0'])],
  ['POST', 'x', `${head(['POST /now HTTP/1.1', 'host: a', 'content-length: 1'])}x`],
] as const

test.each([1, 2, 3, 4, 5, 7, 50, 10_000])(
  'S1 pipelined requests with bodies arrive complete in pieces of %d bytes',
  async (size) => {
    const seen: string[][] = []
    let open = 0
    const server = boundedServer((incoming, outgoing) => {
      open += 1
      expect(open).toBe(1)
      outgoing.once('close', () => (open -= 1))
      void incoming.toArray().then((body) => {
        seen.push([incoming.method ?? '', String(Buffer.concat(body as Buffer[]))])
        outgoing.end()
      })
    }, BOUNDS)
    const parts = Buffer.from(MIXED.map(([, , bytes]) => bytes).join(''))
    const url = await listening(server)
    // The server reads each piece on its own.
    server.on('connection', (socket: Socket) => {
      const [read] = socket.listeners('data') as ((data: Buffer) => void)[]
      socket.removeAllListeners('data').on('data', (data: Buffer) => {
        if (data.length <= size) return read?.(data)
        socket.pause()
        socket.unshift(data.subarray(size))
        socket.unshift(data.subarray(0, size))
        socket.resume()
      })
    })
    const socket = await connected(url)
    socket.write(parts)
    await expect.poll(() => seen.length).toBe(MIXED.length)
    expect(seen).toEqual(MIXED.map(([method, body]) => [method, body]))
  },
)

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
async function slowServer(bounds: Partial<ServerBounds> = {}): Promise<{
  readonly server: Server
  readonly url: string
  readonly parsed: string[]
  readonly started: ServerResponse[]
}> {
  const parsed: string[] = []
  const started: ServerResponse[] = []
  const server = boundedServer(
    ({ url = '' }, response) => {
      response.setHeader('x-call', url)
      if (url.startsWith('/now')) response.end()
      else started.push(response)
    },
    { ...BOUNDS, ...bounds },
  )
  server.on('request', ({ url = '' }) => void (url.startsWith('/now') || parsed.push(url)))
  return { server, url: await listening(server), parsed, started }
}

const slow = (n: number, from = 0): string =>
  Array.from({ length: n }, (_, at) => head([`GET /${from + at} HTTP/1.1`, 'host: localhost'])).join('')

test('S1 the server reads nothing from a connection while its requests wait, and answers in order', async () => {
  const { url, parsed, started } = await slowServer()
  const socket = await connected(url)
  socket.write(slow(2))
  await expect.poll(() => parsed.length).toBe(1)
  socket.write(slow(3, 2))
  // The server reads connections in order.
  for (let round = 0; round < 20; round += 1) await request(url, 'GET', '/now')
  expect(parsed).toEqual(['/0'])
  const answered = callsAnswered(socket, 5)
  for (let at = 0; at < 5; at += 1) {
    await expect.poll(() => started.length).toBe(at + 1)
    started[at]?.end()
  }
  expect(await answered).toEqual(['/0', '/1', '/2', '/3', '/4'])
})

test('S1 while too many bytes of requests wait, a client that pipelines is disconnected', async () => {
  const { server, url, parsed, started } = await slowServer({ waitingBytes: 1_000 })
  const few = await connected(url)
  few.write(slow(20))
  await expect.poll(() => parsed.length).toBe(1)
  const one = await connected(url)
  one.write(slow(1))
  await expect.poll(() => parsed.length).toBe(2)
  const more = await connected(url)
  const closed = once(more, 'close')
  more.write(slow(20))
  more.resume()
  await closed
  expect(few.closed || one.closed).toBe(false)
  // A connection that closes gives its bytes back.
  const gone = started.map(async (response) => response.closed || once(response, 'close'))
  server.closeAllConnections()
  await Promise.all(gone)
  const again = await connected(url)
  again.write(slow(20))
  await expect.poll(() => parsed.length).toBe(4)
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

/** A body in chunks of one byte, and a second request behind it. */
const CRUMBS = `${head(['POST /now HTTP/1.1', 'host: a', 'transfer-encoding: chunked'])}${'1\r\na\r\n'.repeat(30_000)}0\r\n\r\n${head(['GET /now HTTP/1.1', 'host: a'])}`

test('S1 small chunks of a body are joined, and are parsed in several turns', async () => {
  const bodies: Buffer[][] = []
  let turns = 0
  const server = boundedServer((incoming, outgoing) => {
    const count = (): void => {
      turns += 1
      if (!incoming.complete) setImmediate(count)
    }
    count()
    const body: Buffer[] = []
    incoming.on('data', (data: Buffer) => void body.push(data))
    incoming.once('end', () => {
      bodies.push(body)
      outgoing.end()
    })
  }, BOUNDS)
  const socket = await connected(await listening(server))
  socket.write(CRUMBS)
  await expect.poll(() => bodies.length).toBe(2)
  expect(String(Buffer.concat(bodies[0] ?? []))).toBe('a'.repeat(30_000))
  expect(bodies[0]?.length).toBeLessThan(300)
  // 180 KB, of which each turn parses 1 KiB.
  expect(turns).toBeGreaterThan(100)
  expect(bodies[1]).toEqual([])
})

test('S1 empty lines before a request are skipped, not parsed', async () => {
  const server = boundedServer((_, outgoing) => void outgoing.end(), BOUNDS)
  let parses = 0
  // Before the listener of Node, so that its parser can be counted.
  server.prependListener('connection', (socket: Socket) => {
    const on = socket.on.bind(socket)
    socket.on = ((event: string, listener: (data: Buffer) => void) => {
      if (event !== 'data') return on(event, listener)
      socket.on = on
      return on('data', (data: Buffer) => {
        parses += 1
        listener(data)
      })
    }) as typeof socket.on
  })
  const socket = await connected(await listening(server))
  const answered = statusOn(socket)
  socket.write(`${'\r\n'.repeat(50_000)}${head(['GET / HTTP/1.1', 'host: a'])}`)
  expect(await answered).toBe(200)
  expect(parses).toBeGreaterThan(0)
  // A chunk may end in the middle of the request.
  expect(parses).toBeLessThanOrEqual(3)
})

test.each([
  ['never read', async () => 'a'.repeat(30_000)],
  ['read late', async (incoming: IncomingMessage) => (await incoming.toArray()).join('')],
] as const)('S1 small chunks of a body that is %s', async (_, read) => {
  const started: [IncomingMessage, ServerResponse][] = []
  const server = boundedServer((...given) => void started.push(given), BOUNDS)
  const url = await listening(server)
  const socket = await connected(url)
  const answered = statusOn(socket)
  socket.write(CRUMBS)
  await expect.poll(() => started.length).toBe(1)
  const [incoming, outgoing] = started[0] as [IncomingMessage, ServerResponse]
  await expect.poll(() => incoming.readableLength).toBeGreaterThan(15_000)
  expect(incoming.readableLength).toBeLessThan(20_000)
  expect(await read(incoming)).toBe('a'.repeat(30_000))
  outgoing.end()
  expect(await answered).toBe(200)
  await expect.poll(() => started.length).toBe(2)
})

test('S1 responses that slow clients do not read share a bound in bytes: the one without progress is closed', async () => {
  const open: ServerResponse[] = []
  const server = boundedServer(
    ({ url }, response) => {
      open.push(response)
      if (url === '/parts') response.write(BODY.subarray(0, 100_000))
      else response.end(BODY)
    },
    { ...BOUNDS, unreadMs: 600_000, unsentBytes: 2.5 * BODY.length },
  )
  const url = await listening(server)
  const asks = async (path: string): Promise<Socket> => {
    const before = open.length
    const client = await connected(url)
    client.pause()
    client.write(head([`GET ${path} HTTP/1.1`, 'host: localhost']))
    await expect.poll(() => open.length).toBe(before + 1)
    return client
  }
  const left = await asks('/')
  left.destroy()
  await once(open[0] as ServerResponse, 'close')
  const parts = await asks('/parts')
  await asks('/')
  await asks('/')
  const closed = (): readonly boolean[] => open.map(({ destroyed }) => destroyed)
  expect(closed()).toEqual([true, false, false, false])
  // Its client reads, so the next part can be written.
  const [, response] = open as [unknown, ServerResponse]
  parts.resume()
  await expect.poll(() => response.writableLength).toBe(0)
  parts.pause()
  response.write(BODY)
  await expect.poll(closed).toEqual([true, false, true, false])
  await asks('/')
  await expect.poll(closed).toEqual([true, false, true, true, false])
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
