/** Streaming without buffering, full disks, and jobs for files in the same transaction. On both stores. */
import type { Socket } from 'node:net'
import { type AnyJob, defineJob } from 'jobmill'
import { systemPlatform } from 'jobmill/internal'
import { describe, expect, test } from 'vitest'
import { inFull } from '../../../test/support/suite/in-full.ts'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import {
  type Box,
  leftOf,
  mailbox,
  pending,
  refusal,
  scene,
  sceneForAll,
  sha256,
  STORES,
} from './support/inboxes.ts'
import { type Full, fullAfter, stepByStep } from './support/poor-stores.ts'
import { answerOf, BOUNDARY, END, openUpload, partOf } from './support/raw.ts'

const MIB = 1_024 ** 2

describe.each(STORES)('a disk that is full on %s', (store) => {
  const test = inTurns(store, STORES)
  const full: Full = { afterBytes: null }
  const sharedScene = sceneForAll(store, { wrap: (blobs) => fullAfter(blobs, full) })

  test.each([0, 1, 65_536, 262_144, 299_999])(
    'after %i bytes of a file: 507, and nothing is left',
    async (afterBytes) => {
      const made = sharedScene()
      const box = await mailbox(made)
      const bytes = new Uint8Array(300_000).fill(1)
      full.afterBytes = afterBytes
      const response = await box.upload([{ name: 'a', bytes }])
      expect(response.headers.get('retry-after')).toBe('60')
      expect(await refusal(response)).toMatchObject({ status: 507, code: 'DISK_FULL' })
      full.afterBytes = null
      expect(await leftOf(made, box)).toMatchObject({
        files: 0,
        notices: 0,
        uploads: 0,
        staging: 0,
        blobs: 0,
      })
      expect(made.errors.splice(0)).toHaveLength(1)
      const again = await box.upload([{ name: 'a', bytes }])
      expect(again.status).toBe(200)
      made.later(25 * 3_600_000)
      await made.inbox.sweep()
    },
  )
})

// Rows are written after the bytes, so the store does not matter here.
describe.each(inFull<readonly (typeof STORES)[number][]>(STORES, ['sqlite']))('bytes on %s', (store) => {
  test('E35 a slow blob store applies backpressure to the sender', async () => {
    const steps: { step: () => void; bytesTaken: () => number } = { step: () => {}, bytesTaken: () => 0 }
    const made = await scene(store, {
      wrap(blobs) {
        const slow = stepByStep(blobs)
        Object.assign(steps, slow)
        return slow.blobs
      },
    })
    const box = await mailbox(made)
    const size = 24 * MIB
    const head = partOf('files', 'big.bin', '').slice(0, -2)
    const length = head.length + size + 2 + END.length
    const socket = await openUpload({
      url: made.url,
      path: `/mailboxes/${box.id}/uploads`,
      token: box.token,
      headers: { 'content-length': String(length) },
    })
    const answer = answerOf(socket)
    socket.write(head)
    const piece = Buffer.alloc(MIB, 7)
    for (let n = 0; n < 24; n += 1) socket.write(piece)
    socket.write(`\r\n${END}`)
    await expect.poll(() => steps.bytesTaken()).toBeGreaterThan(0)
    // The bytes that neither the kernel nor the inbox could take are still at the sender.
    expect(socket.writableLength).toBeGreaterThan(8 * MIB)
    expect(steps.bytesTaken()).toBeLessThan(MIB)
    const stepping = setInterval(() => steps.step(), 0)
    const { status, body } = await answer
    clearInterval(stepping)
    expect(status).toBe(200)
    expect(body).toContain(sha256(new Uint8Array(size).fill(7)))
    await made.close()
  })
})

describe.each(STORES)('E46 the bridge on %s', (store) => {
  const payloads: unknown[] = []
  const job: AnyJob = defineJob({
    kind: 'file.received',
    queue: 'uploads',
    run: ({ payload }) => void payloads.push(payload),
  })
  const sharedScene = sceneForAll(store, {
    job: { kind: 'file.received', queue: 'uploads' },
    jobs: [job],
    quotaFiles: 2,
  })

  test('enqueues a job for every file, and none for a refused upload', async () => {
    const made = sharedScene()
    const box = await mailbox(made)
    expect((await box.upload([{ bytes: 'a' }, { bytes: 'b' }, { bytes: 'c' }])).status).toBe(429)
    const [first = '', second = ''] = await box.sent('one', 'two')
    await expect.poll(() => payloads.length).toBe(2)
    expect(payloads).toEqual(
      expect.arrayContaining([
        {
          uri: `jobmill-upload:${box.id}/${first}`,
          mailbox: box.id,
          fileId: first,
          name: '0.txt',
          type: 'text/plain',
          size: 3,
          sha256: sha256('one'),
        },
      ]),
    )
    expect((await pending(box)).files.map(({ id }) => id)).toEqual([first, second])
  })
})

test('too many parallel uploads are refused with Retry-After', async () => {
  const made = await scene('sqlite', { uploadsAtOnce: 1 })
  const box = await mailbox(made)
  const socket = await openUpload({
    url: made.url,
    path: `/mailboxes/${box.id}/uploads`,
    token: box.token,
    headers: { 'content-length': '100000' },
  })
  socket.write(`--${BOUNDARY}\r\n`)
  await expect.poll(async () => (await leftOf(made, box))['staging']).toBe(1)
  const response = await box.upload([{ bytes: 'x' }])
  expect(response.headers.get('retry-after')).toBe('1')
  expect(await refusal(response)).toMatchObject({ status: 429, code: 'TOO_MANY', max: 1 })
  socket.destroy()
  await expect.poll(async () => (await box.upload([{ bytes: 'x' }])).status).toBe(200)
  await made.close()
})

test.each(STORES)(
  'E38 on %s parallel uploads are limited per mailbox, and other mailboxes continue',
  async (store) => {
    const made = await scene(store, { uploadsPerMailbox: 2 })
    const [box, other, own] = [
      await mailbox(made),
      await mailbox(made),
      await mailbox(made, { uploadsPerMailbox: 1 }),
    ]
    const begin = async ({ id, token }: Box): Promise<Socket> => {
      const socket = await openUpload({
        url: made.url,
        path: `/mailboxes/${id}/uploads`,
        token,
        headers: { 'content-length': '100000' },
      })
      socket.write(`--${BOUNDARY}\r\n`)
      return socket
    }
    const sockets = [await begin(box), await begin(box), await begin(own)]
    const staged = async (one: Box) => (await leftOf(made, one))['staging']
    await expect.poll(async () => [await staged(box), await staged(own)]).toEqual([2, 1])
    for (const [one, max] of [
      [box, 2],
      [own, 1],
    ] as const) {
      const response = await one.upload([{ bytes: 'x' }])
      expect(response.headers.get('retry-after')).toBe('1')
      expect(await refusal(response)).toMatchObject({ status: 429, code: 'MAILBOX_BUSY', max })
      expect(await (await one.ask('/limits')).json()).toMatchObject({ uploadsPerMailbox: max })
    }
    await other.sent('x')
    for (const socket of sockets) socket.destroy()
    // One after the other: each finished upload frees a slot.
    for (const one of [box, own]) {
      await expect.poll(async () => (await one.upload([{ bytes: 'x' }])).status).toBe(200)
      for (let n = 0; n < 3; n += 1) await one.sent('y')
    }
    await made.close()
  },
)

test('an upload that does not end is aborted before the sweep would clean it up', async () => {
  const made = await scene('sqlite', { stagingFor: '1s' })
  const box = await mailbox(made)
  const socket = await openUpload({
    url: made.url,
    path: `/mailboxes/${box.id}/uploads`,
    token: box.token,
    headers: { 'content-length': '100000' },
  })
  const answer = answerOf(socket)
  socket.write(partOf('files', 'a', 'x'.repeat(1_000)))
  expect((await answer).status).toBe(408)
  expect(await leftOf(made, box)).toMatchObject({ staging: 0, blobs: 0 })
  await made.close()
})

test('S wrong tokens are rate-limited by address before any query, and right ones are not', async () => {
  const statements: string[] = []
  const made = await scene('sqlite', {
    // The clock does not move, so no permit is returned.
    platform: { ...systemPlatform, monotonic: () => 0 },
    onStatement: (tree) => void statements.push(tree),
  })
  const [box, other] = [await mailbox(made), await mailbox(made)]
  const ask = async (token: string, address: string, { id } = box): Promise<number> => {
    const headers = { authorization: `Bearer ${token}` }
    const asked = new Request(`http://inbox/mailboxes/${id}/limits`, { headers })
    return (await made.inbox.fetch(asked, { address }))?.status ?? 0
  }
  expect(await ask(box.token, 'proxy')).toBe(200)
  const guesses: number[] = []
  for (let n = 0; n < 42; n += 1) guesses.push(await ask(`guess-${n}`, 'proxy'))
  expect(guesses).toEqual([...Array<number>(40).fill(401), 429, 429])
  statements.length = 0
  expect(await ask('one-more-guess', 'proxy')).toBe(429)
  expect(statements).toEqual([])
  // A token that has worked is accepted behind the same proxy; a new one waits.
  expect(await ask(box.token, 'proxy')).toBe(200)
  expect(await ask(other.token, 'proxy', other)).toBe(429)
  expect(await ask(other.token, 'elsewhere', other)).toBe(200)
  // A token that was sent to the wrong mailbox is still known for its own.
  expect(await ask(box.token, 'proxy', other)).toBe(429)
  expect(await ask(box.token, 'proxy')).toBe(200)
  const answer = await fetch(`${made.url}/mailboxes/${box.id}/limits`)
  expect(answer.status).toBe(401)
  await made.close()
})

describe.each(STORES)('parallel requests on %s', (store) => {
  test('S wrong tokens reach the database no more often than one at a time, and right ones are not refused', async () => {
    const lookups: string[] = []
    const made = await scene(store, {
      // The clock does not move, so no permit is returned.
      platform: { ...systemPlatform, monotonic: () => 0 },
      onStatement: (tree) => void (tree.includes('uploads_token') && lookups.push(tree)),
    })
    const box = await mailbox(made)
    const ask = async (token: string, address: string): Promise<number> => {
      const headers = { authorization: `Bearer ${token}` }
      const asked = new Request(`http://inbox/mailboxes/${box.id}/limits`, { headers })
      return (await made.inbox.fetch(asked, { address }))?.status ?? 0
    }
    const all = async (tokens: readonly string[], address: string): Promise<Record<number, number>> => {
      const statuses = await Promise.all(tokens.map((token) => ask(token, address)))
      return Object.fromEntries([200, 401, 429].map((s) => [s, statuses.filter((one) => one === s).length]))
    }
    const own = await Promise.all(
      Array.from({ length: 100 }, async () => (await made.inbox.tokens.add(box.id)).token),
    )
    const guesses = Array.from({ length: 200 }, (_, n) => `guess-${n}`)
    lookups.length = 0
    expect(await all(guesses, 'attacker')).toEqual({ 200: 0, 401: 40, 429: 160 })
    expect(lookups).toHaveLength(40)
    expect(await all(guesses, 'attacker')).toEqual({ 200: 0, 401: 0, 429: 200 })
    expect(lookups).toHaveLength(40)
    // More unknown tokens than permits, as after a restart. None of them uses one up.
    expect(await all(own, 'proxy')).toEqual({ 200: 100, 401: 0, 429: 0 })
    expect(await all(guesses, 'proxy')).toEqual({ 200: 0, 401: 40, 429: 160 })
    expect(await all(own, 'attacker')).toEqual({ 200: 100, 401: 0, 429: 0 })
    await made.close()
  })
})

test('Mission Control reads mailboxes and their files behind its access control', async () => {
  const made = await scene('sqlite')
  const [box, other] = [await mailbox(made, { name: 'first' }), await mailbox(made, { name: 'second' })]
  const [file = ''] = await box.sent('abc', 'de')
  await box.ask(`/uploads/${file}/ack`, { method: 'POST' })
  const read = async (path: string): Promise<Response> => fetch(`${made.adminUrl}/api/apps/uploads${path}`)
  const all = (await (await read('/mailboxes')).json()) as { mailboxes: object[]; next: string | null }
  expect(all).toMatchObject({
    mailboxes: [
      { id: box.id, name: 'first', pending: { files: 1, bytes: 2 }, stored: { files: 2, bytes: 5 } },
      { id: other.id, name: 'second', pending: { files: 0, bytes: 0, oldestAt: null }, stored: { files: 0 } },
    ],
    next: null,
  })
  const first = (await (await read('/mailboxes?limit=1')).json()) as { next: string }
  expect(await (await read(`/mailboxes?limit=1&after=${first.next}`)).json()).toMatchObject({
    mailboxes: [{ id: other.id }],
    next: null,
  })
  for (const [state, name] of [
    ['acked', '0.txt'],
    ['pending', '1.txt'],
  ] as const)
    expect(await (await read(`/mailboxes/${box.id}/files?state=${state}`)).json()).toMatchObject({
      files: [{ name, state }],
      next: null,
    })
  for (const [path, status] of [
    ['/mailboxes/x/files', 400],
    [`/mailboxes/${'0'.repeat(8)}-0000-7000-8000-000000000000/files`, 404],
    ['/nothing', 404],
    ['/mailboxes?x=1', 400],
  ] as const)
    expect((await read(path)).status).toBe(status)
  expect((await fetch(`${made.adminUrl}/api/apps/uploads/mailboxes`, { method: 'POST' })).status).toBe(405)
  await made.close()
})

describe.each(STORES)('an upload on %s with a lost commit response', (store) => {
  const test = inTurns(store, STORES)
  let isCut = false
  /** Holds up the next upload before it checks its quota. */
  let held: (() => Promise<void>) | null = null
  const sharedScene = sceneForAll(store, {
    quotaBytes: 150_000,
    async fault(point) {
      const wait = held
      if (point === 'receive:staged') held = null
      if (point === 'receive:staged') await wait?.()
      if (!isCut || point !== 'receive:committed') return
      isCut = false
      throw new Error('the connection was cut after the commit')
    },
  })

  test('P16 exists with its bytes, and is reported as successful', async () => {
    const made = sharedScene()
    const box = await mailbox(made)
    isCut = true
    const response = await box.upload([{ name: 'a', bytes: 'kept' }])
    expect(response.status).toBe(200)
    const { files } = (await response.json()) as { files: { id: string }[] }
    const content = await box.ask(`/uploads/${files[0]?.id}/content`)
    expect([content.status, await content.text()]).toEqual([200, 'kept'])
    expect(await leftOf(made, box)).toMatchObject({ files: 1, staging: 0, blobs: 1 })
  })

  test('E37 four concurrent uploads with one key near the quota are one upload with one response', async () => {
    const box = await mailbox(sharedScene())
    const bytes = new Uint8Array(100_000).fill(3)
    const send = () => box.upload([{ name: 'a', bytes }], { headers: { 'idempotency-key': 'k' } })
    const all = await Promise.all([send(), send(), send(), send()])
    // A request that got 503 retries.
    const again = await Promise.all(all.map(async (one) => (one.status === 503 ? send() : one)))
    expect(again.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const answers = await Promise.all(again.map((one) => one.text()))
    expect(new Set(answers).size).toBe(1)
  })

  test('E37 a concurrent repeat that finds the quota used up by the first gets a retry, not a quota error', async () => {
    const box = await mailbox(sharedScene())
    const send = (key: string) =>
      box.upload([{ name: 'a', bytes: new Uint8Array(100_000).fill(3) }], {
        headers: { 'idempotency-key': key },
      })
    let first: Response | null = null
    held = async () => void (first = await send('k'))
    const second = await send('k')
    expect((first as Response | null)?.status).toBe(200)
    expect(second.headers.get('retry-after')).toBe('1')
    expect(await refusal(second)).toMatchObject({ status: 503, code: 'UNAVAILABLE' })
    expect((await send('k')).headers.get('idempotency-replayed')).toBe('true')
    expect(await refusal(await send('another'))).toMatchObject({ status: 507, code: 'QUOTA_BYTES' })
  })
})
