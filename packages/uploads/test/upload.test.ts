/** Uploads: every row of the tables B.3 and B.4, and fixed defects, on both stores over a socket. */
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { describe, expect, test as testEverywhere } from 'vitest'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import {
  type Box,
  leftOf,
  mailbox,
  pending,
  PLACES,
  refusal,
  type Scene,
  sceneForAll,
  sha256,
} from './support/inboxes.ts'
import { answerOf, BOUNDARY, chunk, END, openUpload, partOf } from './support/raw.ts'

const KB = 1_024

const bytes = (size: number): Uint8Array<ArrayBuffer> => new Uint8Array(size).fill(7)

async function expectNothingOf(scene: Scene, box: Box): Promise<void> {
  const { blobs: _, ...rows } = await leftOf(scene, box)
  expect(rows).toEqual({ files: 0, notices: 0, uploads: 0, staging: 0 })
  expect(await blobsWithoutRow(scene)).toEqual([])
}

async function blobsWithoutRow({ tables, blobs }: Scene): Promise<string[]> {
  const rows = await tables.db.selectFrom('uploads_file').select(['upload', 'n']).execute()
  const known = new Set(rows.map(({ upload, n }) => `${upload}/${n}`))
  return (await blobs()).map((path) => path.split('/').slice(-2).join('/')).filter((id) => !known.has(id))
}

/** Sends a hand-written body of these parts. */
const send = (box: Box, body: string, headers: Record<string, string> = {}): Promise<Response> =>
  box.ask('/uploads', {
    method: 'POST',
    body,
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, ...headers },
  })

const keyed = (box: Box, key: string, ...contents: string[]): Promise<Response> =>
  box.upload(
    contents.map((one) => ({ name: 'a.txt', bytes: one })),
    { headers: { 'idempotency-key': key } },
  )

describe.each(PLACES)('an upload on %s', (place) => {
  const test = inTurns(place, PLACES)
  const sharedScene = sceneForAll(place, { maxFileBytes: 64 * KB, maxRequestBytes: 256 * KB })

  describe('B4 is refused, and leaves nothing:', () => {
    const rows: [string, (box: Box) => Promise<Response>, object][] = [
      [
        'no multipart',
        (box) => box.ask('/uploads', { method: 'POST', body: 'hello' }),
        { status: 415, code: 'MEDIA_TYPE_WRONG' },
      ],
      ['no body at all', (box) => box.ask('/uploads', { method: 'POST' }), { status: 415 }],
      [
        'no boundary',
        (box) => send(box, 'x', { 'content-type': 'multipart/form-data' }),
        { status: 400, code: 'MULTIPART_BROKEN' },
      ],
      ['an empty multipart', (box) => send(box, ''), { status: 400 }],
      [
        'a body that is not multipart',
        (box) => send(box, 'hello'),
        { status: 400, code: 'MULTIPART_BROKEN' },
      ],
      [
        'one that ends inside a file',
        (box) => send(box, partOf('files', 'a', 'hel').slice(0, -2)),
        { status: 400, code: 'MULTIPART_BROKEN' },
      ],
      [
        'a part without any header, which could hang a parser',
        (box) => send(box, `\r\n--${BOUNDARY}\r\n\r\n${END}`),
        { status: 400, code: 'MULTIPART_BROKEN' },
      ],
      [
        'no files',
        (box) => send(box, partOf('note', null, 'hi') + END),
        { status: 400, code: 'FILES_MISSING', field: 'files' },
      ],
      [
        'E39 an empty file',
        (box) => send(box, partOf('files', 'a', '') + END),
        { status: 400, code: 'FILE_EMPTY', file: 'a' },
      ],
      [
        'E39 an empty file behind a good one',
        (box) => send(box, partOf('files', 'a', 'x') + partOf('files', 'b', '') + END),
        { status: 400, code: 'FILE_EMPTY', file: 'b' },
      ],
      [
        'a file in a part of another name',
        (box) => send(box, partOf('files', 'a', 'x') + partOf('other', 'b', 'y') + END),
        { status: 400, code: 'PART_UNKNOWN', field: 'other' },
      ],
      [
        'a part called files that is not a file',
        (box) => send(box, partOf('files', null, 'x') + END),
        { status: 400, code: 'MULTIPART_BROKEN' },
      ],
      [
        '17 fields',
        (box) => send(box, Array.from({ length: 17 }, (_, n) => partOf(`f${n}`, null, 'x')).join('') + END),
        { status: 400, code: 'MULTIPART_BROKEN' },
      ],
      [
        '65 files',
        (box) => box.upload(Array.from({ length: 65 }, (_, n) => ({ name: `${n}`, bytes: 'x' }))),
        { status: 400, code: 'FILES_TOO_MANY', max: 64 },
      ],
      [
        'E39 a file of one byte too many',
        (box) => box.upload([{ bytes: 'x' }, { name: 'big.bin', bytes: bytes(64 * KB + 1) }]),
        { status: 413, code: 'FILE_TOO_LARGE', file: 'big.bin', size: 64 * KB + 1, max: 64 * KB },
      ],
      [
        'E39 a body that says that it is too large',
        (box) => box.upload(Array.from({ length: 5 }, () => ({ bytes: bytes(60 * KB) }))),
        { status: 413, code: 'REQUEST_TOO_LARGE', field: 'Content-Length', file: null, max: 256 * KB },
      ],
      [
        'E39 the declared size of a body, by that size',
        (box) => send(box, 'x'.repeat(300 * KB)),
        { status: 413, code: 'REQUEST_TOO_LARGE', file: null, size: 300 * KB, max: 256 * KB },
      ],
      [
        'E39 a file whose part declares too many bytes, before it is read',
        (box) => send(box, partOf('files', 'big.bin', 'x', `Content-Length: ${64 * KB + 1}\r\n`) + END),
        { status: 413, code: 'FILE_TOO_LARGE', file: 'big.bin', size: 64 * KB + 1, max: 64 * KB },
      ],
      [
        'E39 a file whose part declares less than it has',
        (box) =>
          send(box, partOf('files', 'big.bin', 'x'.repeat(64 * KB + 1), 'Content-Length: 5\r\n') + END),
        { status: 413, code: 'FILE_TOO_LARGE', file: 'big.bin', size: 64 * KB + 1, max: 64 * KB },
      ],
      [
        'a key with a space',
        (box) => box.upload([{ bytes: 'x' }], { headers: { 'idempotency-key': 'a b' } }),
        { status: 400, code: 'KEY_INVALID', field: 'Idempotency-Key' },
      ],
      [
        'a parameter',
        (box) => box.ask('/uploads?x=1', { method: 'POST' }),
        { status: 400, code: 'OPTION_UNKNOWN', field: 'x' },
      ],
    ]
    for (const [name, act, problem] of rows)
      test(name, async () => {
        const scene = sharedScene()
        const box = await mailbox(scene)
        expect(await refusal(await act(box))).toMatchObject(problem)
        await expectNothingOf(scene, box)
      })
  })

  testEverywhere('B4 64 files, and a file of exactly the maximum size', async () => {
    const box = await mailbox(sharedScene())
    const many = await box.upload(
      Array.from({ length: 64 }, (_, n) => ({ name: `${n}.txt`, bytes: `file ${n}` })),
    )
    const { files } = (await many.json()) as { files: { name: string; sha256: string }[] }
    expect(files.map(({ name }) => name)).toEqual(Array.from({ length: 64 }, (_, n) => `${n}.txt`))
    expect(files[63]?.sha256).toBe(sha256('file 63'))
    for (const size of [64 * KB - 1, 64 * KB])
      expect((await box.upload([{ bytes: bytes(size) }])).status).toBe(200)
    expect((await pending(box)).files).toHaveLength(66)
  })

  test('B4 the escapes of browsers for quotes and line ends in names are decoded', async () => {
    const box = await mailbox(sharedScene())
    const names = ['a%22b.txt', 'c%0D%0Ad', '100%25%41']
    const response = await send(box, names.map((name) => partOf('files', name, 'x')).join('') + END)
    const { files } = (await response.json()) as { files: { name: string }[] }
    expect(files.map(({ name }) => name)).toEqual(['a_b.txt', 'c__d', '100_25_41'])
  })

  test('B4 names and types are cleaned, small fields are allowed, a file may lack its name', async () => {
    const box = await mailbox(sharedScene())
    const body =
      partOf('note', null, 'hi') +
      partOf('files', '../../etc/pass wd', 'x', 'Content-Type: text/html; charset=x\r\n') +
      partOf('files', null, 'y', 'Content-Type: application/octet-stream\r\n') +
      partOf('files', 'z', 'z', 'Content-Type: nonsense\r\n') +
      partOf('files', 'none.txt', 'n') +
      partOf('files', 'empty.txt', 'e', 'Content-Type: ; charset=utf-8\r\n') +
      partOf('files', 'said.txt', 's', 'Content-Type: text/plain\r\n') +
      END
    const { files } = (await (await send(box, body)).json()) as { files: { id: string }[] }
    expect(files).toMatchObject([
      { name: 'pass_wd', mimeType: 'text/html' },
      { name: 'file', mimeType: 'application/octet-stream' },
      { name: 'z', mimeType: 'application/octet-stream' },
      { name: 'none.txt', mimeType: '' },
      { name: 'empty.txt', mimeType: '' },
      { name: 'said.txt', mimeType: 'text/plain' },
    ])
    const fetched = await box.ask(`/uploads/${files[3]?.id}/content`)
    expect([await fetched.text(), fetched.headers.get('content-type')]).toEqual([
      'n',
      'application/octet-stream',
    ])
  })

  test('E39 a body that exceeds its Content-Length, or has none, is too large', async () => {
    const scene = sharedScene()
    const box = await mailbox(scene)
    const where = { url: scene.url, path: `/mailboxes/${box.id}/uploads`, token: box.token }
    const socket = await openUpload({ ...where, headers: { 'transfer-encoding': 'chunked' } })
    const answer = answerOf(socket)
    for (let n = 0; n < 5; n += 1) socket.write(chunk(partOf('files', `${n}.txt`, 'x'.repeat(60 * KB))))
    socket.write(`${chunk(END)}0\r\n\r\n`)
    const { status, body } = await answer
    const json = JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1)) as { size: number }
    expect({ status, ...json }).toMatchObject({ status: 413, code: 'REQUEST_TOO_LARGE', max: 256 * KB })
    // The bytes received so far.
    expect(json.size).toBeGreaterThan(256 * KB)
    expect(json.size).toBeLessThanOrEqual(5 * 61 * KB)
    await expectNothingOf(scene, box)
  })

  test('E39 a connection stays usable after a refusal before the body was read', async () => {
    const scene = sharedScene()
    const box = await mailbox(scene)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = async (method: string, at: string, body = ''): Promise<[number, unknown]> => {
      const asked = request(`${scene.url}/mailboxes/${box.id}${at}`, {
        method,
        agent,
        headers: {
          authorization: `Bearer ${box.token}`,
          'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
          'content-length': String(body.length),
        },
      })
      asked.end(body)
      const [response] = (await once(asked, 'response')) as [IncomingMessage]
      await once(response.resume(), 'end')
      return [response.statusCode ?? 0, asked.socket]
    }
    const [refused, first] = await ask('POST', '/uploads', partOf('files', 'a', 'x'.repeat(900 * KB)) + END)
    // Long enough for a server that would close it with a delay.
    const [status, second] = await ask('GET', '/uploads?wait=700ms')
    expect([refused, status, second === first]).toEqual([413, 200, true])
    agent.destroy()
  })

  testEverywhere('E35 a disconnect halfway leaves nothing', async () => {
    const scene = sharedScene()
    const box = await mailbox(scene)
    const where = { url: scene.url, path: `/mailboxes/${box.id}/uploads`, token: box.token }
    const socket = await openUpload({ ...where, headers: { 'content-length': '60000' } })
    socket.write(partOf('files', 'a.txt', 'x'.repeat(20_000)) + partOf('files', 'b.txt', 'y'.repeat(20_000)))
    await expect.poll(() => blobsWithoutRow(scene)).not.toEqual([])
    socket.destroy()
    await expect.poll(() => leftOf(scene, box)).toMatchObject({ staging: 0, files: 0 })
    await expectNothingOf(scene, box)
  })

  testEverywhere(
    'A B4 E46 if a row cannot be written, nothing is: no file, no notice, no blob, and it recovers afterwards',
    async () => {
      const scene = sharedScene()
      const box = await mailbox(scene)
      const { tables } = scene
      const rename = (from: string, to: string) => tables.db.schema.alterTable(from).renameTo(to).execute()
      await rename('uploads_notice', 'uploads_away')
      try {
        expect(await refusal(await box.upload([{ bytes: 'x' }, { bytes: 'y' }]))).toEqual({
          type: 'urn:jobmill-uploads:UNAVAILABLE',
          title: 'The inbox is temporarily unavailable',
          status: 503,
          code: 'UNAVAILABLE',
        })
      } finally {
        await rename('uploads_away', 'uploads_notice')
      }
      expect(scene.errors.splice(0)).toHaveLength(1)
      await expectNothingOf(scene, box)
      expect(await box.sent('x')).toHaveLength(1)
    },
  )

  describe('E37 an idempotency key', () => {
    test('gives the first answer again, and no second file', async () => {
      const scene = sharedScene()
      const box = await mailbox(scene)
      const first = await keyed(box, 'k', 'one', 'two')
      const again = await keyed(box, 'k', 'one', 'two')
      expect(again.headers.get('idempotency-replayed')).toBe('true')
      expect(await again.json()).toEqual(await first.json())
      expect((await pending(box)).files).toHaveLength(2)
      expect(await blobsWithoutRow(scene)).toEqual([])
    })

    test('with different files is refused; another mailbox has its own keys', async () => {
      const scene = sharedScene()
      const [box, other] = [await mailbox(scene), await mailbox(scene)]
      await keyed(box, 'k', 'one')
      expect(await refusal(await keyed(box, 'k', 'two'))).toMatchObject({ status: 422, code: 'KEY_REUSED' })
      expect((await keyed(other, 'k', 'two')).status).toBe(200)
      expect((await pending(box)).files).toHaveLength(1)
    })

    test('of several concurrent requests lets one through, and all get its response', async () => {
      const scene = sharedScene()
      const box = await mailbox(scene)
      const all = await Promise.all([1, 2, 3, 4].map(() => keyed(box, 'k', 'one')))
      expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      const answers = await Promise.all(all.map((one) => one.text()))
      expect(new Set(answers).size).toBe(1)
      expect((await pending(box)).files).toHaveLength(1)
      expect(await blobsWithoutRow(scene)).toEqual([])
      expect((await leftOf(scene, box))['staging']).toBe(0)
    })

    test('of a refused upload can be reused', async () => {
      const box = await mailbox(sharedScene())
      expect((await keyed(box, 'k', '')).status).toBe(400)
      expect((await keyed(box, 'k', 'one')).status).toBe(200)
    })

    test('expires', async () => {
      const scene = sharedScene()
      const box = await mailbox(scene)
      await keyed(box, 'k', 'one')
      scene.later(24 * 3_600_000 + 1)
      await scene.inbox.sweep()
      expect((await keyed(box, 'k', 'two')).status).toBe(200)
    })
  })

  describe('E38 a quota', () => {
    test('of files: one more is 429 with Retry-After', async () => {
      const scene = sharedScene()
      const box = await mailbox(scene, { quotaFiles: 2 })
      await box.sent('a')
      const response = await box.upload([{ bytes: 'b' }, { bytes: 'c' }])
      expect(response.headers.get('retry-after')).toBe('60')
      expect(await refusal(response)).toMatchObject({ status: 429, code: 'QUOTA_FILES', max: 2 })
      await box.sent('b')
      expect((await pending(box)).files).toHaveLength(2)
    })

    test('that a single request exceeds has no Retry-After', async () => {
      const box = await mailbox(sharedScene(), { quotaFiles: 2, quotaBytes: 10 })
      const files = await box.upload(['a', 'b', 'c'].map((bytes) => ({ bytes })))
      expect(files.headers.get('retry-after')).toBeNull()
      expect(await refusal(files)).toMatchObject({
        code: 'QUOTA_FILES',
        fix: 'Send fewer files at once, or raise the quota',
      })
      expect(await refusal(await box.upload([{ bytes: '12345678901' }]))).toMatchObject({
        code: 'QUOTA_BYTES',
        detail: 'the mailbox has 0 of 10 bytes, and this upload adds 11',
        fix: 'Send less at once, or raise the quota',
      })
    })

    test('of bytes: one more is 507; the sweep frees space', async () => {
      const scene = sharedScene()
      const box = await mailbox(scene, { quotaBytes: 10 })
      const [file = ''] = await box.sent('12345678')
      expect(await refusal(await box.upload([{ bytes: '123' }]))).toMatchObject({
        status: 507,
        code: 'QUOTA_BYTES',
        max: 10,
      })
      await box.sent('12')
      await box.ask(`/uploads/${file}/ack`, { method: 'POST' })
      expect((await box.upload([{ bytes: '123' }])).status).toBe(507)
      scene.later(3_600_001)
      await scene.inbox.sweep()
      await box.sent('12345678')
      expect(await blobsWithoutRow(scene)).toEqual([])
    })

    test('holds under concurrency', async () => {
      const scene = sharedScene()
      const box = await mailbox(scene, { quotaFiles: 3 })
      const all = await Promise.all(Array.from({ length: 8 }, () => box.upload([{ bytes: 'x' }])))
      expect(all.filter(({ status }) => status === 200)).toHaveLength(3)
      expect(all.filter(({ status }) => status === 429)).toHaveLength(5)
      expect((await pending(box)).files).toHaveLength(3)
      expect(await blobsWithoutRow(scene)).toEqual([])
    })

    test('and the limits of a mailbox are its own, and E41 served', async () => {
      const scene = sharedScene()
      const box = await mailbox(scene, { quotaFiles: 3, maxFileBytes: 5 })
      expect(await refusal(await box.upload([{ bytes: '123456' }]))).toMatchObject({
        code: 'FILE_TOO_LARGE',
        max: 5,
      })
      await box.sent('12345')
      expect(await (await box.ask('/limits')).json()).toEqual({
        maxFiles: 64,
        maxFileBytes: 5,
        maxRequestBytes: 256 * KB,
        quotaBytes: 10 * 1_024 ** 3,
        quotaFiles: 3,
        uploadsPerMailbox: 16,
        used: { files: 1, bytes: 5 },
        expireAfterMs: 86_400_000,
        ackRetentionMs: 3_600_000,
      })
    })

    test('and no file may exceed the request limit', async () => {
      const scene = sharedScene()
      const add = (caps: object) => scene.inbox.mailboxes.add({ name: 'x', ...caps })
      for (const caps of [{ maxFileBytes: 256 * KB + 1 }, { maxFileBytes: 11, maxRequestBytes: 10 }])
        await expect(add(caps)).rejects.toMatchObject({ code: 'OPTION_CONFLICT', field: 'maxFileBytes' })
      expect(await add({ maxFileBytes: 256 * KB })).toMatchObject({ maxFileBytes: 256 * KB })
      expect(await add({ maxFileBytes: 512 * KB, maxRequestBytes: 512 * KB })).toBeDefined()
      const box = await mailbox(scene, { maxRequestBytes: 1_000 })
      expect(await (await box.ask('/limits')).json()).toMatchObject({
        maxFileBytes: 1_000,
        maxRequestBytes: 1_000,
      })
    })
  })
})
