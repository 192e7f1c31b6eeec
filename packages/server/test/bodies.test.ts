/** Request bodies: none is read before the role is checked, and all of them together are bounded. */
import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, onTestFinished, test } from 'vitest'
import { httpApi } from '../src/index.ts'
import { enqueueShape } from '../src/shapes/enqueue.ts'
import { jobmill } from '../../jobmill/src/index.ts'
import { systemPlatform } from '../../jobmill/src/store.ts'
import { sqlite } from '../../jobmill/src/sqlite.ts'
import { type Document, operationsOf, request } from './calls.ts'
import { bench, TOKENS, tokenOf } from './mills.ts'
import { connected, head, statusOn } from './raw.ts'

const memory = (): ReturnType<typeof sqlite> => sqlite(':memory:')
const MIB = 1_024 * 1_024

/** The bytes in live buffers, after garbage collection. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().arrayBuffers
}

describe('S1 bodies of anonymous callers', () => {
  test('S1 no route reads the body of an anonymous request, nor of one whose role is too low', async () => {
    const mill = jobmill({ store: memory(), log: 'silent' })
    onTestFinished(async () => void (await mill.stop()))
    const apps = { files: { title: 'Files', fetch: () => new Response('no') } }
    const api = httpApi(mill, { tokens: TOKENS, apps, anonymousPerSecond: 10_000 })
    onTestFinished(() => api.stop())
    const document = (await (await api.fetch(new Request('http://x/api/openapi.json'))).json()) as Document
    const declared = operationsOf(document).map(({ method, path, role }) => ({ method, path, role }))
    const others = ['/api/apps/files/x', '/api/nowhere', '/nowhere', '/jobs', '/healthz', '/api/openapi.json']
    const rows = [
      ...declared,
      ...others.flatMap((path) => ['POST', 'PUT', 'DELETE'].map((method) => ({ method, path, role: '' }))),
    ].filter(({ method }) => method !== 'GET')
    const wrong: string[] = []
    for (const { method, path, role } of rows)
      for (const caller of ['nobody', ...(role === 'operator' || role === 'admin' ? ['viewer'] : [])]) {
        let pulls = 0
        const body = new ReadableStream(
          {
            pull(controller) {
              pulls += 1
              controller.enqueue(new Uint8Array(1_000))
            },
          },
          { highWaterMark: 0 },
        )
        const headers = {
          'content-type': 'application/json',
          ...(caller === 'viewer' && { authorization: `Bearer ${tokenOf('viewer')}` }),
        }
        const at = path.replace(/\{\w+\}/, 'x')
        const sent = new Request(`http://x${at}`, { method, headers, body, duplex: 'half' })
        const { status } = await api.fetch(sent)
        const expected = caller === 'viewer' ? [403] : others.includes(path) ? [401, 404] : [401]
        if (pulls > 0 || !expected.includes(status))
          wrong.push(`${method} ${path} of ${caller}: ${status}, ${pulls} chunks read`)
      }
    expect(rows.length).toBeGreaterThan(30)
    expect(wrong).toEqual([])
  })

  test(
    'S1 100 slow chunked bodies without a token get a response and are closed, and memory does not grow',
    { timeout: 25_000 },
    async () => {
      const { url } = await bench(memory(), { tokens: TOKENS, anonymousPerSecond: 10_000, work: false })
      const chunk = Buffer.alloc(MIB, 'x')
      const before = heldBytes()
      const sockets = await Promise.all(Array.from({ length: 100 }, () => connected(url)))
      const answers = sockets.map(statusOn)
      const ends = sockets.map((socket) => once(socket, 'close'))
      for (const socket of sockets) {
        socket.write(
          head([
            'POST /api/jobs HTTP/1.1',
            'host: localhost',
            'content-type: application/json',
            'transfer-encoding: chunked',
          ]),
        )
        // The body never ends.
        socket.write(`${MIB.toString(16)}\r\n`)
        socket.write(chunk)
      }
      expect(new Set(await Promise.all(answers))).toEqual(new Set([401]))
      // Freed buffers are released asynchronously, a moment after garbage collection.
      await expect.poll(() => (heldBytes() - before) / MIB).toBeLessThan(10)
      await Promise.all(ends)
    },
  )

  test('S1 a caller that aborts a body causes no log line, authenticated or not', async () => {
    const faults: string[] = []
    const { url } = await bench(memory(), {
      tokens: TOKENS,
      work: false,
      onError: (_, what) => faults.push(what),
    })
    for (const authorization of ['', `authorization: Bearer ${tokenOf('operator')}`]) {
      const socket = await connected(url)
      const lines = ['POST /api/jobs HTTP/1.1', 'host: localhost', 'content-type: application/json']
      socket.write(
        head([...lines, 'transfer-encoding: chunked', ...(authorization === '' ? [] : [authorization])]),
      )
      socket.write('5\r\n{"kin\r\n')
      // The server handles connections in order, so it has read what was written before.
      await request(url, 'GET', '/healthz')
      socket.destroy()
    }
    // A valid request of each kind still succeeds after the aborted ones.
    const headers = { authorization: `Bearer ${tokenOf('operator')}` }
    expect((await request(url, 'POST', '/api/jobs', { body: { kind: 'echo' }, headers })).status).toBe(201)
    await request(url, 'GET', '/readyz')
    expect(faults).toEqual([])
  })

  test('S1 all bodies together are bounded: beyond that 503 with retry-after, until one ends', async () => {
    const { url } = await bench(memory(), {
      tokens: TOKENS,
      work: false,
      maxBodyBytes: 1_000,
      maxBodiesBytes: 1_500,
    })
    const headers = { authorization: `Bearer ${tokenOf('operator')}` }
    const body = { kind: 'echo', payload: 'x'.repeat(700) }
    const send = (): ReturnType<typeof request> => request(url, 'POST', '/api/jobs', { body, headers })
    const slow = await connected(url)
    const answered = statusOn(slow)
    const text = JSON.stringify({ kind: 'echo', payload: 'y'.repeat(900) })
    slow.write(
      head([
        'POST /api/jobs HTTP/1.1',
        'host: localhost',
        'content-type: application/json',
        `content-length: ${text.length}`,
        `authorization: Bearer ${tokenOf('operator')}`,
      ]),
    )
    slow.write(text.slice(0, 500))
    await expect.poll(async () => (await send()).status).toBe(503)
    const refused = await send()
    expect(refused.body).toMatchObject({ code: 'BUSY' })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    slow.write(text.slice(500))
    expect(await answered).toBe(201)
    expect((await send()).status).toBe(201)
  })

  test('S1 a total bound below that of one body is refused', async () => {
    const mill = jobmill({ store: memory(), log: 'silent' })
    onTestFinished(async () => void (await mill.stop()))
    expect(() => httpApi(mill, { insecure: true, maxBodyBytes: 10, maxBodiesBytes: 5 })).toThrow(
      expect.objectContaining({ code: 'OPTION_CONFLICT', field: 'maxBodiesBytes' }),
    )
  })
})

/** Bodies of fewer than 700 KB with more values than one body may have. */
const DENSE = {
  lists: `[${'[],'.repeat(125_000)}[]]`,
  objects: `[${'{},'.repeat(125_000)}{}]`,
  numbers: `[${'0,'.repeat(250_000)}0]`,
  nested: `${'['.repeat(250_001)}${']'.repeat(250_001)}`,
  keys: `{${Array.from({ length: 125_001 }, (_, n) => `"${n}":0`).join()}}`,
  // What follows is not JSON, but its start would be parsed.
  broken: `[${'[],'.repeat(125_000)}"`,
}

describe('S1 bodies take a bounded amount of memory once they are parsed', () => {
  test.each(Object.entries(DENSE))('S1 a body with too many values gets 413: %s', async (_, payload) => {
    const mill = jobmill({ store: memory(), log: 'silent' })
    onTestFinished(async () => void (await mill.stop()))
    const app = { title: 'Echo', fetch: () => new Response('reached') }
    const api = httpApi(mill, { insecure: true, apps: { echo: app } })
    onTestFinished(() => api.stop())
    for (const path of ['/api/jobs', '/api/jobs/x/retry', '/api/apps/echo/x'])
      for (const declared of [true, false]) {
        const body = `{"kind":"echo","payload":${payload}}`
        const headers = {
          'content-type': 'application/json',
          ...(declared && { 'content-length': String(body.length) }),
        }
        const answer = await api.fetch(new Request(`http://x${path}`, { method: 'POST', headers, body }))
        expect(await answer.json()).toMatchObject({
          status: 413,
          code: 'TOO_LARGE',
          detail: 'the body has too many values (max 250000 list items, keys and values)',
          fix: 'Split it into several requests, or store the data elsewhere and pass a reference',
        })
      }
  })

  test('S1 a string is one value, whatever it contains, and a larger maxBodyBytes allows more values', async () => {
    const { url } = await bench(memory(), { insecure: true, work: false, maxBodyBytes: 9_000_000 })
    const payload = [String.raw`,:[{"\\`.repeat(60_000), '\\', '"', '[,'.repeat(90_000)]
    expect((await request(url, 'POST', '/api/jobs', { body: { kind: 'echo', payload } })).status).toBe(201)
    const numbers = Array.from({ length: 260_000 }, () => 0)
    const sent = { body: { kind: 'echo', payload: numbers } }
    expect((await request(url, 'POST', '/api/jobs', sent)).status).toBe(201)
  })

  test('S1 the values of bodies in progress count in the bound of all bodies, also for applications', async () => {
    const started = Promise.withResolvers<unknown>()
    const go = Promise.withResolvers<void>()
    const app = {
      title: 'Slow',
      async fetch(asked: Request) {
        started.resolve(await asked.json())
        await go.promise
        return new Response('done')
      },
    }
    const { url } = await bench(memory(), {
      insecure: true,
      work: false,
      apps: { slow: app },
      maxBodyBytes: 10_000,
      maxBodiesBytes: 50_000,
    })
    const numbers = Array.from({ length: 1_000 }, (_, n) => n % 10)
    const slow = request(url, 'POST', '/api/apps/slow/x', { body: numbers })
    // A body that is alone is accepted, although its values take more than the bound.
    expect(await started.promise).toEqual(numbers)
    const send = (): ReturnType<typeof request> =>
      request(url, 'POST', '/api/jobs', { body: { kind: 'echo' } })
    expect(await send()).toMatchObject({ status: 503, body: { code: 'BUSY' } })
    go.resolve()
    expect((await slow).status).toBe(200)
    expect((await send()).status).toBe(201)
  })

  test('S1 large bodies are parsed one in each turn of the event loop, and small ones at once', async () => {
    const mill = jobmill({ store: memory(), log: 'silent' })
    onTestFinished(async () => void (await mill.stop()))
    const turns: (() => void)[] = []
    const platform = { ...systemPlatform, nextTurn: (task: () => void) => void turns.push(task) }
    const sizes: number[] = []
    const app = {
      title: 'Sizes',
      fetch: async (asked: Request) => (sizes.push((await asked.text()).length), new Response('done')),
    }
    const api = httpApi(mill, { insecure: true, apps: { sizes: app }, platform })
    onTestFinished(() => api.stop())
    const send = async (chars: number): Promise<number> => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify('x'.repeat(chars - 2))
      const asked = new Request('http://x/api/apps/sizes/x', { method: 'POST', headers, body })
      return (await api.fetch(asked)).status
    }
    const large = [100_000, 100_001, 100_002].map(send)
    expect(await send(60_000)).toBe(200)
    for (const n of [1, 2, 3]) {
      await expect.poll(() => turns.length).toBe(1)
      expect(sizes).toHaveLength(n)
      turns.shift()?.()
      await expect.poll(() => sizes.length).toBe(n + 1)
    }
    expect(await Promise.all(large)).toEqual([200, 200, 200])
    expect(sizes.toSorted((a, b) => a - b)).toEqual([60_000, 100_000, 100_001, 100_002])
  })

  test('S1 metadata is passed on as it is: the keys of a large object are not visited', () => {
    const metadata = new Proxy({}, { ownKeys: () => expect.fail('visited') })
    expect(enqueueShape.parse({ kind: 'echo', metadata }).metadata).toBe(metadata)
    for (const wrong of [null, [], 'x', 5])
      expect(enqueueShape.safeParse({ kind: 'echo', metadata: wrong }).error?.issues).toMatchObject([
        { code: 'invalid_type', path: ['metadata'] },
      ])
  })
})

/** An API whose pages and jobs are read only when the test says so. */
function gatedApi(): {
  readonly ask: (role: 'viewer' | 'operator', path: string, signal?: AbortSignal) => Promise<number>
  readonly reads: { readonly what: unknown; readonly go: () => void }[]
} {
  const mill = jobmill({ store: memory(), log: 'silent' })
  onTestFinished(async () => void (await mill.stop()))
  const reads: { what: unknown; go: () => void }[] = []
  const gate =
    <T>(answer: T) =>
    (what: unknown): Promise<T> =>
      new Promise((resolve) => reads.push({ what, go: () => resolve(answer) }))
  const gated = Object.assign(Object.create(mill) as typeof mill, {
    list: gate({ jobs: [], next: null, scanned: 0, complete: true }),
    get: gate(null),
    history: async () => [],
    why: async () => null,
  })
  const api = httpApi(gated, { tokens: TOKENS })
  onTestFinished(() => api.stop())
  return {
    reads,
    async ask(role, path, signal) {
      const headers = { authorization: `Bearer ${tokenOf(role)}` }
      const asked = new Request(`http://x${path}`, { headers, ...(signal && { signal }) })
      return (await api.fetch(asked)).status
    },
  }
}

const turns = async (): Promise<void> => {
  for (let n = 0; n < 5; n += 1) await new Promise(setImmediate)
}

describe('S1 large responses', () => {
  test('S1 two pages with payloads are built at once, and callers take turns', async () => {
    const { ask, reads } = gatedApi()
    const pages = Array.from({ length: 20 }, (_, n) => ask('viewer', `/api/jobs?include=payload&queue=v${n}`))
    const other = ask('operator', '/api/jobs?include=result&queue=o')
    await turns()
    expect(reads).toHaveLength(2)
    const plain = ask('viewer', '/api/jobs?queue=plain')
    await turns()
    reads.pop()?.go()
    expect(await plain).toBe(200)
    const order: unknown[] = []
    for (let n = 0; n < 21; n += 1) {
      expect(reads).toHaveLength(n === 20 ? 1 : 2)
      const read = reads.shift()
      order.push(read?.what)
      read?.go()
      await turns()
    }
    expect(new Set(await Promise.all([...pages, other]))).toEqual(new Set([200]))
    // Behind the two that were in progress, and one that was next.
    expect(order.slice(0, 4)).toContainEqual({ queue: ['o'] })
  })

  test('S1 four jobs are read at once, and a read is skipped if its client left', async () => {
    const { ask, reads } = gatedApi()
    const left = new AbortController()
    const jobs = Array.from({ length: 5 }, (_, n) => ask('viewer', `/api/jobs/a${n}`))
    const gone = ask('viewer', '/api/jobs/gone', left.signal)
    await turns()
    expect(reads.map(({ what }) => what)).toEqual(['a0', 'a1', 'a2', 'a3'])
    left.abort()
    for (let n = 0; n < 5; n += 1) {
      reads[n]?.go()
      await turns()
    }
    expect(new Set(await Promise.all(jobs))).toEqual(new Set([404]))
    await gone
    expect(reads.map(({ what }) => what)).toEqual(['a0', 'a1', 'a2', 'a3', 'a4'])
  })
})
