/**
 * Cuts all connections of an inbox to PostgreSQL, during statements and between steps: requests get a
 * response or a 503 with Retry-After, the next request works, nothing is lost or duplicated, and the next
 * sweep leaves nothing.
 */
import { beforeEach, describe, expect, test } from 'vitest'
import { systemPlatform } from 'jobmill/internal'
import { FAULT_POINTS, type FaultPoint } from 'jobmill-uploads'
import { cutsForAll } from './support/cuts.ts'
import { type Box, leftOf, mailbox, pending, refusal, type Scene, sceneForAll } from './support/inboxes.ts'

const DAY_MS = 86_400_000
const CONTENTS = ['one', 'x'.repeat(300_000)]

const cuts = cutsForAll()
let at: FaultPoint | 'chunk' | null = null
/** A response may arrive before the cut has finished. */
let cutting: Promise<void> | null = null
async function passes(point: FaultPoint | 'chunk'): Promise<void> {
  if (at !== point) return
  at = null
  cutting = cuts().cut()
  await cutting
}
const WAIT_MS = 20_000
let isWaiting = Promise.withResolvers<void>()
const sharedScene = sceneForAll('postgres', {
  address: () => cuts().address,
  fault: passes,
  platform: {
    ...systemPlatform,
    timer(ms, act, options) {
      if (ms > WAIT_MS / 2 && ms <= WAIT_MS) isWaiting.resolve()
      return systemPlatform.timer(ms, act, options)
    },
  },
  wrap: (blobs) => ({
    ...blobs,
    async read(id, range) {
      const chunks = await blobs.read(id, range)
      return (async function* () {
        for await (const chunk of chunks) {
          yield chunk
          await passes('chunk')
        }
      })()
    },
  }),
})

let scene: Scene
let box: Box
beforeEach(async () => {
  at = null
  cutting = null
  isWaiting = Promise.withResolvers<void>()
  scene = sharedScene()
  scene.errors.length = 0
  box = await mailbox(scene)
})

async function expectCut(): Promise<void> {
  await expect.poll(() => cutting).not.toBeNull()
  await cutting
}

const send = (key = 'once'): Promise<Response> =>
  box.upload(
    CONTENTS.map((bytes) => ({ bytes })),
    { headers: { 'idempotency-key': key } },
  )

/** Returns whether the response was a success or asked for a retry. */
async function outcomeOf(response: Response): Promise<'ok' | 'come back'> {
  if (response.status === 200) {
    await response.arrayBuffer()
    return 'ok'
  }
  expect(response.headers.get('retry-after')).toBe('2')
  expect(await refusal(response)).toMatchObject({ status: 503, code: 'UNAVAILABLE' })
  return 'come back'
}

/** Runs the whole path right after a cut. */
async function goesOn(key?: string): Promise<void> {
  expect(await outcomeOf(await send(key))).toBe('ok')
  const { files } = await pending(box)
  for (const [n, { id }] of files.entries()) {
    expect(await (await box.ask(`/uploads/${id}/content`)).text()).toBe(CONTENTS[n])
    expect(await (await box.ask(`/uploads/${id}/ack`, { method: 'POST' })).json()).toEqual({ acked: true })
  }
  expect(files).toHaveLength(CONTENTS.length)
  scene.later(2 * DAY_MS)
  await scene.inbox.sweep()
  expect(await leftOf(scene, box)).toEqual({ files: 0, notices: 0, uploads: 0, staging: 0, blobs: 0 })
}

describe('in the middle of a statement', () => {
  test.each([
    'uploads_staging',
    'uploads_chunk',
    'uploads_file',
    'uploads_notice',
    'uploads_upload',
    'uploads_token',
  ])('of an upload, at %s', async (table) => {
    expect(await outcomeOf(await cuts().cutDuring(table, () => send()))).toBe('come back')
    await goesOn()
  })

  test.each([
    ['fetch', 'uploads_file', 'GET', '/content'],
    ['fetch, at its bytes', 'uploads_chunk', 'GET', '/content'],
    ['ack', 'uploads_file', 'POST', '/ack'],
    ['feed', 'uploads_notice', 'GET', null],
  ])('of a %s', async (_name, table, method, what) => {
    const [file] = await box.sent('a')
    const path = what === null ? '/uploads?wait=5s' : `/uploads/${file}${what}`
    expect(await outcomeOf(await cuts().cutDuring(table, () => box.ask(path, { method })))).toBe('come back')
    expect((await pending(box)).files).toHaveLength(1)
    expect(await outcomeOf(await box.ask(path, { method }))).toBe('ok')
    await box.ask(`/uploads/${file}/ack`, { method: 'POST' })
    await goesOn()
  })

  test.each(['uploads_file', 'uploads_chunk', 'uploads_staging', 'uploads_upload'])(
    'of a sweep, at %s',
    async (table) => {
      await send()
      const ids = (await pending(box)).files.map(({ id }) => id)
      await box.ask(`/uploads/${ids[0]}/ack`, { method: 'POST' })
      scene.later(2 * DAY_MS)
      await expect(cuts().cutDuring(table, () => scene.inbox.sweep())).rejects.toThrow(
        /connection was lost|could not be deleted/,
      )
      await goesOn('again')
    },
  )
})

describe('between two steps', () => {
  test.each(FAULT_POINTS.filter((point) => point.startsWith('receive') || point.startsWith('discard')))(
    'of an upload, at %s',
    async (point) => {
      at = point
      const outcome = point.startsWith('discard')
        ? (await box.upload([{ bytes: 'x' }, { bytes: '' }])).status
        : await outcomeOf(await send())
      expect([400, 'ok', 'come back']).toContain(outcome)
      await expectCut()
      await goesOn()
    },
  )

  test.each(['fetch:read', 'fetch:sent', 'ack:before', 'ack:after'] as const)('of %s', async (point) => {
    const [file] = await box.sent('a')
    at = point
    const path = point.startsWith('fetch') ? 'content' : 'ack'
    const method = path === 'ack' ? 'POST' : 'GET'
    await outcomeOf(await box.ask(`/uploads/${file}/${path}`, { method }))
    await expectCut()
    expect(await outcomeOf(await box.ask(`/uploads/${file}/${path}`, { method }))).toBe('ok')
    await box.ask(`/uploads/${file}/ack`, { method: 'POST' })
    await goesOn()
  })

  test('of the bytes of a file: a range request resumes it', async () => {
    const [file] = await box.sent('x'.repeat(600_000))
    at = 'chunk'
    const response = await box.ask(`/uploads/${file}/content`)
    expect(response.status).toBe(200)
    // The next connection may be ready in time.
    await response.text().catch(() => {})
    const rest = await box.ask(`/uploads/${file}/content`, { headers: { range: 'bytes=262144-' } })
    expect([rest.status, (await rest.text()).length]).toEqual([206, 600_000 - 262_144])
    await box.ask(`/uploads/${file}/ack`, { method: 'POST' })
    await goesOn()
  })

  test('during a long poll: it still reports the next upload', async () => {
    const waiting = box.ask(`/uploads?wait=${WAIT_MS}ms`)
    await isWaiting.promise
    await cuts().cut()
    expect(await outcomeOf(await send())).toBe('ok')
    expect(((await (await waiting).json()) as { files: unknown[] }).files.length).toBeGreaterThan(0)
    await goesOn()
  })

  test.each(FAULT_POINTS.filter((point) => point.startsWith('sweep')))('of a sweep, at %s', async (point) => {
    await send()
    const upload = '00000000-0000-7000-8000-0000000000ff'
    await scene.tables.db
      .insertInto('uploads_staging')
      .values({ upload, mailbox: box.id, begun_at: scene.tables.now, swept_at: null })
      .execute()
    for (const one of [upload, '00000000-0000-7000-8000-0000000000fe'])
      await scene.store.write(`${one}/0`, [new Uint8Array(10)] as never, new AbortController().signal)
    scene.later(2 * DAY_MS)
    at = point
    await scene.inbox.sweep().catch(() => {})
    await expectCut()
    await goesOn('again')
  })
})
