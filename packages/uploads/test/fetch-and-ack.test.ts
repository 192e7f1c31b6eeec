/**
 * Fetching and acknowledging: every row of the tables B.3, B.5 and B.6, and fixed defects, on both stores
 * over a socket.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test as testEverywhere } from 'vitest'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import {
  type Box,
  mailbox,
  pending,
  PLACES,
  refusal,
  type Scene,
  type SceneOptions,
  sceneForAll,
  sha256,
} from './support/inboxes.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

const post = (box: Box, file: string, body?: unknown): Promise<Response> =>
  box.ask(`/uploads/${file}/ack`, {
    method: 'POST',
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })

const get = (box: Box, file: string, headers: Record<string, string> = {}): Promise<Response> =>
  box.ask(`/uploads/${file}/content`, { headers })

/** Without a socket, it ends when the fetch is recorded, not with the last byte. */
const whole = async ({ inbox }: Scene, box: Box, file: string, headers: Record<string, string> = {}) => {
  const request = new Request(`http://here/mailboxes/${box.id}/uploads/${file}/content`, {
    headers: { authorization: `Bearer ${box.token}`, ...headers },
  })
  return (await inbox.fetch(request))?.text()
}

const rowOf = (scene: Scene, file: string) =>
  scene.tables.db.selectFrom('uploads_file').selectAll().where('id', '=', file).executeTakeFirstOrThrow()

async function sentOne(scene: Scene, content = '0123456789'): Promise<{ box: Box; file: string }> {
  const box = await mailbox(scene)
  const [file = ''] = await box.sent(content)
  return { box, file }
}

/** The complete response of one connection with several pipelined requests. */
async function answersTo({ url }: Scene, line: string, token: string, times: number): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const asked = `${line} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\n\r\n`
  socket.on('error', () => {}).write(asked.repeat(times))
  let text = ''
  socket.setEncoding('latin1').on('data', (data: string) => (text += data))
  await once(socket, 'close')
  return text
}

/** A stream whose remaining bytes never arrive. */
function stuckAfter(bytes: AsyncIterable<Uint8Array>): Readable {
  const chunks = bytes[Symbol.asyncIterator]()
  return new Readable({
    read() {
      void chunks.next().then(({ done, value }) => done !== true && this.push(value))
    },
  })
}

type Change = (scene: Scene, box: Box, file: string) => Promise<unknown>

const acked: Change = (_scene, box, file) => post(box, file)
const swept: Change = ({ inbox }) => inbox.sweep()
const changed =
  (values: { expires_at?: number; swept_at?: number }): Change =>
  ({ tables }, _box, file) =>
    tables.db.updateTable('uploads_file').set(values).where('id', '=', file).execute()
const [expired, marked] = [changed({ expires_at: 1 }), changed({ swept_at: 1 })]

describe.each(PLACES)('a file on %s', (place) => {
  const test = inTurns(place, PLACES)
  const statements: string[] = []
  /** What happens to a blob after its first 100,000 bytes. */
  let reading: 'well' | 'short' | 'broken' | 'stuck' = 'well'
  const wrap: SceneOptions['wrap'] = (blobs) => ({
    ...blobs,
    async read(id, range) {
      if (reading === 'well') return blobs.read(id, range)
      const { start, end } = range
      const bytes = await blobs.read(id, { start, end: Math.min(end, 99_999) })
      if (reading === 'stuck') return stuckAfter(bytes)
      return (async function* () {
        yield* bytes
        if (reading === 'broken') throw new Error('the disk is gone')
      })()
    },
  })
  const sharedScene = sceneForAll(place, { wrap, onStatement: (tree) => void statements.push(tree) })

  describe('B5 authentication', () => {
    test('E47 401 comes first, and is the same for every unknown caller', async () => {
      const scene = sharedScene()
      const { box, file } = await sentOne(scene)
      const other = await mailbox(scene)
      const paths = [
        `${box.id}/uploads`,
        `${box.id}/uploads/${file}/content`,
        `${box.id}/nothing`,
        'x/uploads',
        `${randomUUID()}/uploads`,
      ]
      const words = new Set<string>()
      for (const path of paths)
        for (const authorization of [null, 'Bearer nope', 'Basic x', `Bearer ${'x'.repeat(5_000)}`]) {
          const response = await fetch(`${scene.url}/mailboxes/${path}`, {
            method: 'DELETE',
            headers: authorization === null ? {} : { authorization },
          })
          expect(response.status).toBe(401)
          expect(response.headers.get('www-authenticate')).toBe('Bearer')
          words.add(await response.text())
        }
      // The token of another mailbox, for this mailbox and for one that does not exist.
      for (const path of [`${box.id}/uploads`, `${randomUUID()}/uploads`]) {
        const response = await fetch(`${scene.url}/mailboxes/${path}`, {
          headers: { authorization: `Bearer ${other.token}` },
        })
        expect(response.status).toBe(401)
        words.add(await response.text())
      }
      expect(words.size).toBe(1)
    })

    test('S1 the body of an anonymous request is not read', async () => {
      const scene = sharedScene()
      const box = await mailbox(scene)
      for (const method of ['POST', 'PUT', 'DELETE']) {
        let chunks = 0
        const body = new ReadableStream(
          {
            pull(controller) {
              chunks += 1
              controller.enqueue(new Uint8Array(1_000))
            },
          },
          { highWaterMark: 0 },
        )
        const at = `http://inbox/mailboxes/${box.id}/uploads`
        const answer = await scene.inbox.fetch(new Request(at, { method, body, duplex: 'half' }))
        // A read after the response would have started by now.
        await new Promise((resolve) => setImmediate(resolve))
        expect([method, answer?.status, chunks]).toEqual([method, 401, 0])
      }
    })

    test('an invalid mailbox id is 400 for an authenticated caller', async () => {
      const scene = sharedScene()
      const { token } = await mailbox(scene)
      const response = await fetch(`${scene.url}/mailboxes/x/uploads`, {
        headers: { authorization: `Bearer ${token}` },
      })
      expect(await refusal(response)).toMatchObject({ status: 400, code: 'ID_INVALID', field: 'mailbox' })
    })

    test('a token may be restricted, several work at once, and a revoked one does not', async () => {
      const scene = sharedScene()
      const { box, file } = await sentOne(scene)
      const sender = await scene.inbox.tokens.add(box.id, { may: 'upload', label: 'sender' })
      const reader = await scene.inbox.tokens.add(box.id, { may: 'consume' })
      const as = (token: string, path: string, init: RequestInit = {}): Promise<Response> =>
        box.ask(path, { ...init, headers: { authorization: `Bearer ${token}` } })
      for (const path of ['/uploads', '/events', `/uploads/${file}`, `/uploads/${file}/content`])
        expect(await refusal(await as(sender.token, path))).toMatchObject({ status: 403, code: 'FORBIDDEN' })
      expect((await as(sender.token, `/uploads/${file}/ack`, { method: 'POST' })).status).toBe(403)
      expect((await as(reader.token, '/uploads', { method: 'POST' })).status).toBe(403)
      expect((await as(reader.token, `/uploads/${file}/content`)).status).toBe(200)
      expect((await as(sender.token, '/limits')).status).toBe(200)
      expect((await scene.inbox.tokens.list(box.id)).map(({ label, may }) => [label, may])).toEqual([
        ['', 'both'],
        ['sender', 'upload'],
        ['', 'consume'],
      ])
      expect(await scene.inbox.tokens.revoke(reader.id)).toBe(true)
      expect(await scene.inbox.tokens.revoke(reader.id)).toBe(false)
      expect((await as(reader.token, '/uploads')).status).toBe(401)
      expect((await box.ask('/uploads')).status).toBe(200)
      const kept = await scene.tables.db.selectFrom('uploads_token').selectAll().execute()
      expect(JSON.stringify(kept)).not.toContain(sender.token)
    })

    test('unknown routes are 404, other methods are 405 with Allow: a caller can delete nothing', async () => {
      const { box, file } = await sentOne(sharedScene())
      for (const path of ['', '/x', '/uploads/a/b/c', `/uploads/${file}/content/x`])
        expect(await refusal(await box.ask(path))).toMatchObject({ status: 404, code: 'ROUTE_UNKNOWN' })
      for (const [path, allow] of [
        ['/uploads', 'GET, POST'],
        [`/uploads/${file}`, 'GET'],
        [`/uploads/${file}/content`, 'GET, HEAD'],
        [`/uploads/${file}/ack`, 'POST'],
      ] as const) {
        const response = await box.ask(path, { method: 'DELETE' })
        expect([response.status, response.headers.get('allow')]).toEqual([405, allow])
      }
      expect((await pending(box)).files).toHaveLength(1)
    })
  })

  describe('B5 fetching', () => {
    test('a bad id is 400; E40 one in upper case is found', async () => {
      const scene = sharedScene()
      const { box, file } = await sentOne(scene)
      expect(await refusal(await get(box, 'not-a-uuid'))).toMatchObject({
        status: 400,
        code: 'ID_INVALID',
        field: 'file',
      })
      expect(await refusal(await post(box, '..%2f..%2fetc'))).toMatchObject({
        status: 400,
        code: 'ID_INVALID',
      })
      expect((await get(box, file.toUpperCase())).status).toBe(200)
      const upper = await fetch(
        `${scene.url}/mailboxes/${box.id.toUpperCase()}/uploads/${file.toUpperCase()}/ack`,
        {
          method: 'POST',
          headers: { authorization: `Bearer ${box.token}` },
        },
      )
      expect(await upper.json()).toEqual({ acked: true })
    })

    test("E33 another mailbox's file looks like an unknown one: same response, same statements, unchanged", async () => {
      const scene = sharedScene()
      const { file } = await sentOne(scene)
      const other = await mailbox(scene)
      const never = randomUUID()
      async function describeResponse(asked: Promise<Response>, id: string) {
        statements.length = 0
        const response = await asked
        const { date: _date, ...headers } = Object.fromEntries(response.headers)
        const text = await response.text()
        // No statement finds the file first and checks its owner later.
        expect(statements.filter((tree) => tree.includes(id) && !tree.includes(other.id))).toEqual([])
        return {
          status: response.status,
          headers,
          text,
          statements: statements
            // A fetch of an earlier test may be recorded only now.
            .filter((tree) => !tree.includes('last_fetched_at') || tree.includes(id))
            .map((tree) => tree.replaceAll(id, 'ID').replace(/\b1[0-9]{12}\b/g, 'NOW')),
        }
      }
      for (const ask of [
        (id: string) => get(other, id),
        (id: string) => other.ask(`/uploads/${id}`),
        (id: string) => post(other, id),
        (id: string) => post(other, id, { sha256: sha256('0123456789') }),
        (id: string) => post(other, id, { sha256: sha256('else') }),
      ]) {
        const theirs = await describeResponse(ask(file), file)
        expect(theirs).toEqual(await describeResponse(ask(never), never))
        expect(theirs.status).toBe(404)
        expect(theirs.statements.length).toBeGreaterThanOrEqual(2)
      }
      expect(await rowOf(scene, file)).toMatchObject({ acked_at: null, fetches: 0 })
    })

    testEverywhere(
      'B10 a repeat gives the same bytes, before and after the acknowledgement, until the sweep',
      async () => {
        const scene = sharedScene()
        const { box, file } = await sentOne(scene)
        for (let n = 0; n < 2; n += 1) expect(await (await get(box, file)).text()).toBe('0123456789')
        await post(box, file)
        expect(await (await get(box, file)).text()).toBe('0123456789')
        expect(await (await box.ask(`/uploads/${file}`)).json()).toMatchObject({
          id: file,
          state: 'acked',
          size: 10,
        })
        scene.later(HOUR_MS + 1)
        expect((await get(box, file)).status).toBe(200)
        await scene.inbox.sweep()
        expect(await refusal(await get(box, file))).toMatchObject({ status: 404, code: 'FILE_UNKNOWN' })
      },
    )

    test('E36 the ETag is the hash: If-None-Match avoids a repeat', async () => {
      const { box, file } = await sentOne(sharedScene())
      const etag = `"${sha256('0123456789')}"`
      expect((await get(box, file)).headers.get('etag')).toBe(etag)
      for (const header of [etag, `W/${etag}`, '*', `"x", ${etag}`]) {
        const response = await get(box, file, { 'if-none-match': header })
        expect([response.status, await response.text()]).toEqual([304, ''])
      }
      expect((await get(box, file, { 'if-none-match': '"x"' })).status).toBe(200)
    })

    test('E36 If-Match with another hash is refused, with the actual ETag', async () => {
      const { box, file } = await sentOne(sharedScene())
      const etag = `"${sha256('0123456789')}"`
      for (const header of [etag, '*', `"x", ${etag}`])
        expect(await (await get(box, file, { 'if-match': header })).text()).toBe('0123456789')
      // A weak ETag does not guarantee identical bytes.
      for (const header of ['"x"', `W/${etag}`, ''])
        expect(await refusal(await get(box, file, { 'if-match': header, range: 'bytes=1-2' }))).toMatchObject(
          {
            status: 412,
            code: 'ETAG_DIFFERS',
            field: 'If-Match',
            detail: `the file has the ETag ${etag}`,
          },
        )
      // If-Match takes precedence.
      const both = { 'if-match': '"x"', 'if-none-match': etag }
      expect((await get(box, file, both)).status).toBe(412)
      expect((await get(box, file, { 'if-match': etag, 'if-none-match': etag })).status).toBe(304)
      const head = await box.ask(`/uploads/${file}/content`, {
        method: 'HEAD',
        headers: { 'if-match': '"x"' },
      })
      expect([head.status, await head.text()]).toEqual([412, ''])
      // Each fetch is counted after its last byte.
      await expect.poll(async () => (await rowOf(sharedScene(), file)).fetches).toBe(3)
    })

    test('E35 ranges', async () => {
      const { box, file } = await sentOne(sharedScene())
      const ranged = async (range: string, more: Record<string, string> = {}) => {
        const response = await get(box, file, { range, ...more })
        return [response.status, response.headers.get('content-range'), await response.text()]
      }
      expect(await ranged('bytes=2-4')).toEqual([206, 'bytes 2-4/10', '234'])
      expect(await ranged('bytes=7-')).toEqual([206, 'bytes 7-9/10', '789'])
      expect(await ranged('bytes=-2')).toEqual([206, 'bytes 8-9/10', '89'])
      expect(await ranged('bytes=nonsense')).toEqual([200, null, '0123456789'])
      expect(await ranged('bytes=1-2', { 'if-range': `"${sha256('0123456789')}"` })).toEqual([
        206,
        'bytes 1-2/10',
        '12',
      ])
      for (const other of ['"old"', `W/"${sha256('0123456789')}"`, 'Mon, 16 Nov 2026 12:00:00 GMT'])
        expect(await ranged('bytes=1-2', { 'if-range': other })).toEqual([200, null, '0123456789'])
      // An unsatisfiable range is ignored if If-Range does not match.
      expect(await ranged('bytes=10-', { 'if-range': '"old"' })).toEqual([200, null, '0123456789'])
      const beyond = await get(box, file, { range: 'bytes=10-' })
      expect(beyond.headers.get('content-range')).toBe('bytes */10')
      expect(await refusal(beyond)).toMatchObject({ status: 416, code: 'RANGE_UNSATISFIABLE', size: 10 })
    })

    testEverywhere('E35 ranges across the chunks of a large file', async () => {
      const box = await mailbox(sharedScene())
      const bytes = new Uint8Array(600_000).map((_, at) => (at * 7 + (at >> 9)) % 256)
      const { files } = (await (await box.upload([{ bytes }])).json()) as { files: { id: string }[] }
      const file = files[0]?.id ?? ''
      for (const [start, end] of [
        [0, 262_143],
        [262_143, 262_144],
        [262_144, 524_288],
        [100_000, 599_999],
        [599_999, 599_999],
      ] as const) {
        const response = await get(box, file, { range: `bytes=${start}-${end}` })
        expect(sha256(new Uint8Array(await response.arrayBuffer()))).toBe(sha256(bytes.slice(start, end + 1)))
      }
    })

    test('HEAD sends the headers only, and is not counted', async () => {
      const scene = sharedScene()
      const { box, file } = await sentOne(scene)
      const head = await box.ask(`/uploads/${file}/content`, { method: 'HEAD' })
      expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '10', ''])
      for (const range of ['bytes=0-3', 'bytes=99-'])
        expect(
          (await box.ask(`/uploads/${file}/content`, { method: 'HEAD', headers: { range } })).status,
        ).toBe(200)
      expect((await rowOf(scene, file)).fetches).toBe(0)
    })

    test('E43 the first and last fetch and their number are recorded; a partial fetch does not count', async () => {
      const scene = sharedScene()
      const { box, file } = await sentOne(scene)
      for (const headers of [{ range: 'bytes=0-3' }, { range: 'bytes=4-8' }, { 'if-none-match': '*' }]) {
        await whole(scene, box, file, headers)
        expect(await rowOf(scene, file)).toMatchObject({ fetches: 0, first_fetched_at: null })
      }
      await whole(scene, box, file)
      const first = await rowOf(scene, file)
      expect(first.fetches).toBe(1)
      scene.later(60_000)
      await whole(scene, box, file, { range: 'bytes=4-' })
      const second = await rowOf(scene, file)
      expect(second.fetches).toBe(2)
      expect(second.first_fetched_at).toBe(first.first_fetched_at)
      expect((second.last_fetched_at ?? 0) - (first.last_fetched_at ?? 0)).toBeGreaterThanOrEqual(60_000)
    })

    testEverywhere(
      'E43 B5 a short or broken blob breaks the connection, is logged, and does not count',
      async () => {
        const scene = sharedScene()
        const { box, file } = await sentOne(scene, 'x'.repeat(600_000))
        scene.errors.length = 0
        for (const [how, words] of [
          ['short', 'has 100000 of 600000 bytes'],
          ['broken', 'the disk is gone'],
        ] as const) {
          reading = how
          const response = await get(box, file)
          expect(response.status).toBe(200)
          await expect(response.arrayBuffer()).rejects.toThrow('terminated')
          expect(String(scene.errors.splice(0))).toContain(words)
          // A client must not take the second response for the rest of the first.
          const path = `/mailboxes/${box.id}/uploads/${file}/content`
          const answers = await answersTo(scene, `GET ${path}`, box.token, 2)
          expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200'])
        }
        scene.errors.length = 0
        // A range before the cut is complete.
        reading = 'short'
        expect(await (await get(box, file, { range: 'bytes=0-99999' })).text()).toHaveLength(100_000)
        reading = 'well'
        expect((await rowOf(scene, file)).fetches).toBe(0)
        expect(await whole(scene, box, file)).toHaveLength(600_000)
        expect((await rowOf(scene, file)).fetches).toBe(1)
      },
    )

    testEverywhere('B5 a client that disconnects during a read causes no error', async () => {
      const scene = sharedScene()
      const { box, file } = await sentOne(scene, 'x'.repeat(600_000))
      scene.errors.length = 0
      const request = new Request(`http://here/mailboxes/${box.id}/uploads/${file}/content`, {
        headers: { authorization: `Bearer ${box.token}` },
      })
      reading = 'stuck'
      const body = (await scene.inbox.fetch(request))?.body ?? new ReadableStream<Uint8Array>()
      reading = 'well'
      const reader = (body as ReadableStream<Uint8Array>).getReader()
      for (let had = 0; had < 100_000;) had += (await reader.read()).value?.length ?? 0
      const next = reader.read()
      await nextTurn()
      await reader.cancel()
      expect(await next).toMatchObject({ done: true })
      expect(scene.errors).toEqual([])
      expect((await rowOf(scene, file)).fetches).toBe(0)
    })

    test('E47 a browser neither guesses the type nor runs the content', async () => {
      const box = await mailbox(sharedScene())
      const { files } = (await (
        await box.upload([{ name: 'x.html', type: 'text/html', bytes: '<script>alert(1)</script>' }])
      ).json()) as { files: { id: string }[] }
      const { headers } = await get(box, files[0]?.id ?? '')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-security-policy')).toContain('sandbox')
      expect(headers.get('content-disposition')).toMatch(/^attachment;/)
      expect(headers.get('cache-control')).toContain('private')
    })

    test('B3 between its expiry and the sweep a file is gone: not listed, 404 for fetch and ack', async () => {
      const scene = sharedScene()
      const { box, file } = await sentOne(scene)
      scene.later(DAY_MS)
      expect((await pending(box)).files).toEqual([])
      expect((await pending(box, '?state=all')).files).toEqual([])
      expect((await get(box, file)).status).toBe(404)
      expect((await box.ask(`/uploads/${file}`)).status).toBe(404)
      expect((await post(box, file)).status).toBe(404)
      expect((await post(box, file, { sha256: sha256('else') })).status).toBe(404)
      expect((await rowOf(scene, file)).acked_at).toBeNull()
    })
  })

  describe('B6 acknowledging', () => {
    test('E34 is idempotent', async () => {
      const scene = sharedScene()
      const { box, file } = await sentOne(scene)
      expect(await (await post(box, file)).json()).toEqual({ acked: true })
      const { acked_at } = await rowOf(scene, file)
      scene.later(5_000)
      for (let n = 0; n < 2; n += 1)
        expect(await (await post(box, file)).json()).toEqual({ acked: true, alreadyAcked: true })
      expect((await rowOf(scene, file)).acked_at).toBe(acked_at)
    })

    test('E36 with another hash is 409 and changes nothing; hashes are case-insensitive', async () => {
      const scene = sharedScene()
      const { box, file } = await sentOne(scene)
      const right = sha256('0123456789')
      expect(await refusal(await post(box, file, { sha256: sha256('else') }))).toMatchObject({
        status: 409,
        code: 'HASH_DIFFERS',
        field: 'sha256',
      })
      expect((await rowOf(scene, file)).acked_at).toBeNull()
      expect(await (await post(box, file, { sha256: right.toUpperCase() })).json()).toEqual({ acked: true })
      expect((await post(box, file, { sha256: sha256('else') })).status).toBe(409)
      expect(await (await post(box, file, { sha256: right })).json()).toEqual({
        acked: true,
        alreadyAcked: true,
      })
    })

    const bodies: [string, unknown][] = [
      ['no JSON', '{'],
      ['a list', '[]'],
      ['a hash that is none', { sha256: 'abc' }],
      ['a number', { sha256: 7 }],
      ['another field', { sha: 'x' }],
    ]
    for (const [name, body] of bodies)
      test(`takes no body that is ${name}`, async () => {
        const { box, file } = await sentOne(sharedScene())
        const answer = await refusal(await post(box, file, body))
        expect(answer).toMatchObject({ status: 400, code: 'BODY_INVALID' })
        expect((await post(box, file, 'x'.repeat(10_000))).status).toBe(413)
        expect((await pending(box)).files).toHaveLength(1)
      })

    test('neither an empty body nor an empty object is a hash', async () => {
      const { box, file } = await sentOne(sharedScene())
      expect((await post(box, file, '')).status).toBe(200)
      expect((await post(box, file, {})).status).toBe(200)
    })

    test('B6 reports a race with the sweep', async () => {
      const scene = sharedScene()
      const { box, file } = await sentOne(scene)
      await post(box, file)
      await scene.tables.db.updateTable('uploads_file').set({ swept_at: 1 }).where('id', '=', file).execute()
      expect(await (await post(box, file)).json()).toEqual({ acked: true, alreadyAcked: true, raced: true })
      await scene.tables.db
        .updateTable('uploads_file')
        .set({ acked_at: null })
        .where('id', '=', file)
        .execute()
      expect(await (await post(box, file)).json()).toEqual({ acked: true, raced: true })
      expect((await get(box, file)).status).toBe(404)
      await scene.inbox.sweep()
      expect((await post(box, file)).status).toBe(404)
    })
  })

  describe('is in one state for list, file, content and acknowledgement:', () => {
    const GONE = { pending: false, all: false, file: 404, content: 404 }
    const UNKNOWN = { status: 404, code: 'FILE_UNKNOWN' }
    const rows: [string, Change[], object, object][] = [
      ['pending', [], { pending: true, all: true, file: 200, content: 200 }, { acked: true }],
      [
        'acknowledged',
        [acked],
        { pending: false, all: true, file: 200, content: 200 },
        { acked: true, alreadyAcked: true },
      ],
      [
        'acknowledged, and past its expiry',
        [acked, expired],
        { pending: false, all: true, file: 200, content: 200 },
        { acked: true, alreadyAcked: true },
      ],
      ['expired', [expired], GONE, UNKNOWN],
      ['expired, and marked by the sweep', [expired, marked], GONE, { acked: true, raced: true }],
      [
        'acknowledged, and marked by the sweep',
        [acked, marked],
        GONE,
        { acked: true, alreadyAcked: true, raced: true },
      ],
      ['expired, and swept', [expired, swept], GONE, UNKNOWN],
      ['acknowledged, and swept', [acked, marked, swept], GONE, UNKNOWN],
    ]
    for (const [name, changes, view, answer] of rows)
      test(name, async () => {
        const scene = sharedScene()
        const { box, file } = await sentOne(scene)
        for (const change of changes) await change(scene, box, file)
        const isIn = async (query: string): Promise<boolean> =>
          (await pending(box, query)).files.some(({ id }) => id === file)
        const statusOf = async (path: string): Promise<number> => {
          const response = await box.ask(`/uploads/${file}${path}`)
          await response.arrayBuffer()
          return response.status
        }
        expect({
          pending: await isIn(''),
          all: await isIn('?state=all'),
          file: await statusOf(''),
          content: await statusOf('/content'),
        }).toEqual(view)
        const reply = (await (await post(box, file)).json()) as Record<string, unknown>
        const { acked: isAcked, alreadyAcked, raced, status, code } = reply
        expect({ acked: isAcked, alreadyAcked, raced, status, code }).toEqual(answer)
        // The same with a hash, and never with another one.
        const other = await post(box, file, { sha256: 'a'.repeat(64) })
        expect(other.status).toBe(answer === UNKNOWN ? 404 : 409)
      })
  })

  test('A D1 a missing table is 503 without the database error, and the file is unchanged', async () => {
    const scene = sharedScene()
    const { box, file } = await sentOne(scene)
    const rename = (from: string, to: string) =>
      scene.tables.db.schema.alterTable(from).renameTo(to).execute()
    await rename('uploads_file', 'uploads_away')
    scene.errors.length = 0
    try {
      for (const response of [await get(box, file), await post(box, file), await box.ask('/uploads')])
        expect(await refusal(response)).toEqual({
          type: 'urn:jobmill-uploads:UNAVAILABLE',
          title: 'The inbox is temporarily unavailable',
          status: 503,
          code: 'UNAVAILABLE',
        })
    } finally {
      await rename('uploads_away', 'uploads_file')
    }
    expect(scene.errors.splice(0)).toHaveLength(3)
    expect((await pending(box)).files).toHaveLength(1)
  })

  test('B5 a failed fetch record is logged, and the response is unchanged', async () => {
    const scene = sharedScene()
    const { box, file } = await sentOne(scene)
    const { db } = scene.tables
    // Only the fetch record uses this column.
    await db.schema.alterTable('uploads_file').renameColumn('fetches', 'gone').execute()
    try {
      expect(await (await get(box, file)).text()).toBe('0123456789')
      await expect.poll(() => scene.errors.length).toBeGreaterThan(0)
    } finally {
      await db.schema.alterTable('uploads_file').renameColumn('gone', 'fetches').execute()
      scene.errors.splice(0)
    }
  })
})
