/** Request bodies: none is read before the role is checked, and all of them together are bounded. */
import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, onTestFinished, test } from 'vitest'
import { httpApi } from '../src/index.ts'
import { jobmill } from '../../jobmill/src/index.ts'
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
