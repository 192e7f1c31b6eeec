/**
 * The feed: order, repeated listing until acknowledgement, long polling and events, also across processes.
 */
import type { Platform } from 'jobmill'
import { systemPlatform } from 'jobmill/internal'
import { openTables } from 'jobmill-tables'
import { directoryBlobs, postgresBlobs, type Schema, STEPS, uploads } from 'jobmill-uploads'
import { describe, expect, test } from 'vitest'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import {
  type Box,
  mailbox,
  type Page,
  pending,
  refusal,
  type Scene,
  scene,
  sceneForAll,
  STORES,
} from './support/inboxes.ts'

interface FeedEvent {
  readonly id: string
  readonly data: { readonly id: string; readonly name: string }
}

/** Reads events until there are `n`. */
async function readEvents(response: Response, n: number): Promise<FeedEvent[]> {
  const reader = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream())
    .getReader()
  const received: FeedEvent[] = []
  let text = ''
  while (received.length < n) {
    const { done, value } = await reader.read()
    if (done) break
    text += value
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const [, id, data] = /^id: (.*)\nevent: file\ndata: (.*)$/.exec(text.slice(0, end)) ?? []
      if (id !== undefined && data !== undefined)
        received.push({ id, data: JSON.parse(data) as FeedEvent['data'] })
      text = text.slice(end + 2)
    }
  }
  await reader.cancel()
  return received
}

const ids = ({ files }: Page): string[] => files.map(({ id }) => id)

const ack = (box: Box, file: string): Promise<Response> => box.ask(`/uploads/${file}/ack`, { method: 'POST' })

describe.each(STORES)('the feed on %s', (store) => {
  const test = inTurns(store, STORES)
  /** How often a long poll started to wait. */
  let waits = 0
  const platform: Platform = {
    ...systemPlatform,
    timer(ms, act, options) {
      if (ms > 16_000 && ms <= 30_000) waits += 1
      return systemPlatform.timer(ms, act, options)
    },
  }
  const sharedScene = sceneForAll(store, { platform })

  test('E32 a fetched but unacknowledged file is listed again from the beginning', async () => {
    const box = await mailbox(sharedScene())
    const [a = '', b = ''] = await box.sent('a', 'b')
    const first = await pending(box)
    expect(ids(first)).toEqual([a, b])
    await (await box.ask(`/uploads/${a}/content`)).text()
    // The cursor is past the file, as after a failed fetch.
    expect(ids(await pending(box, `?after=${first.cursor}`))).toEqual([])
    expect(ids(await pending(box))).toEqual([a, b])
    await ack(box, b)
    expect(ids(await pending(box))).toEqual([a])
    expect((await pending(box, '?state=all')).files.map(({ state }) => state)).toEqual(['pending', 'acked'])
  })

  test('B7 pages are in order of arrival, even while more files arrive', async () => {
    const box = await mailbox(sharedScene())
    const sent = [...(await box.sent('a', 'b', 'c')), ...(await box.sent('d'))]
    const first = await pending(box, '?limit=2')
    expect([ids(first), first.more]).toEqual([sent.slice(0, 2), true])
    sent.push(...(await box.sent('e')))
    const second = await pending(box, `?limit=2&after=${first.cursor}`)
    const third = await pending(box, `?limit=2&after=${second.cursor}`)
    expect([...ids(first), ...ids(second), ...ids(third)]).toEqual(sent)
    expect(third.more).toBe(false)
    expect((await pending(box, `?after=${third.cursor}`)).cursor).toBe(third.cursor)
    expect(ids(await pending(box, `?after=${first.files[0]?.cursor}`))).toEqual(sent.slice(1))
  })

  test('concurrent uploads are not skipped', async () => {
    const box = await mailbox(sharedScene())
    const listedIds: string[] = []
    let cursor: string | null = null
    const sending = Promise.all(Array.from({ length: 12 }, (_, n) => box.sent(`x${n}`)))
    let isSent = false
    void sending.then(() => (isSent = true))
    for (let last = false; !last;) {
      last = isSent
      const page: Page = await pending(box, cursor === null ? '?limit=3' : `?limit=3&after=${cursor}`)
      listedIds.push(...ids(page))
      last &&= page.files.length === 0
      cursor = page.cursor
    }
    expect(listedIds.toSorted()).toEqual((await sending).flat().toSorted())
  })

  test('F a cursor from another mailbox is 410 with the fix, and an invalid one is 400', async () => {
    const scene = sharedScene()
    const [box, other] = [await mailbox(scene), await mailbox(scene)]
    await box.sent('a')
    const { cursor } = await pending(box)
    expect(await refusal(await other.ask(`/uploads?after=${cursor}`))).toMatchObject({
      status: 410,
      code: 'CURSOR_GONE',
      field: 'after',
      fix: 'Omit it to list all unacknowledged files from the beginning',
    })
    // The database is an older copy.
    await scene.tables.db
      .updateTable('uploads_mailbox')
      .set({ last_seq: 0 })
      .where('id', '=', box.id)
      .execute()
    expect((await box.ask(`/uploads?after=${cursor}`)).status).toBe(410)
    const events = await box.ask('/events', { headers: { 'last-event-id': cursor } })
    expect(await refusal(events)).toMatchObject({ status: 410, field: 'Last-Event-ID' })
    expect(await refusal(await box.ask('/uploads?after=nonsense'))).toMatchObject({
      status: 400,
      code: 'CURSOR_INVALID',
    })
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=x', 'limit'],
    ['state=lost', 'state'],
    ['wait=2m', 'wait'],
    ['wait=-1s', 'wait'],
    ['limit=1&limit=2', 'limit'],
    ['page=2', 'page'],
  ])('refuses ?%s by its name', async (query, field) => {
    const box = await mailbox(sharedScene())
    expect(await refusal(await box.ask(`/uploads?${query}`))).toMatchObject({ status: 400, field })
  })

  test('waits for new files, and then responds immediately', async () => {
    const scene = sharedScene()
    const box = await mailbox(scene)
    const { cursor } = await pending(box)
    const waiting = pending(box, `?after=${cursor}&wait=30s`)
    const [file = ''] = await box.sent('a')
    expect(ids(await waiting)).toEqual([file])
    // With a pending file it does not wait.
    expect(ids(await pending(box, '?wait=30s'))).toEqual([file])
    expect(ids(await pending(box, `?after=${(await pending(box)).cursor}&wait=10ms`))).toEqual([])
  })

  test('a disconnected long poll is forgotten', async () => {
    const box = await mailbox(sharedScene())
    const leaving = new AbortController()
    const waiting = box.ask('/uploads?wait=60s', { signal: leaving.signal })
    leaving.abort()
    await expect(waiting).rejects.toThrow('abort')
  })

  test('events: pending files, then new ones; after a reconnect, those since', async () => {
    const box = await mailbox(sharedScene())
    const [a = '', b = ''] = await box.sent('a', 'b')
    await ack(box, b)
    const response = await box.ask('/events')
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const hearing = readEvents(response, 2)
    const [c = ''] = await box.sent('c')
    const feedEvents = await hearing
    expect(feedEvents.map(({ data }) => data.id)).toEqual([a, c])
    const [d = ''] = await box.sent('d')
    const again = await box.ask('/events', { headers: { 'last-event-id': feedEvents.at(-1)?.id ?? '' } })
    expect((await readEvents(again, 1)).map(({ data }) => data.id)).toEqual([d])
    const after = await box.ask(`/events?after=${feedEvents[0]?.id}`)
    expect((await readEvents(after, 2)).map(({ data }) => data.id)).toEqual([c, d])
  })

  test('an event stream ends when its token is revoked', async () => {
    const scene = sharedScene()
    const box = await mailbox(scene)
    const { id, token } = await scene.inbox.tokens.add(box.id)
    const response = await box.ask('/events', { headers: { authorization: `Bearer ${token}` } })
    await scene.inbox.tokens.revoke(id)
    await box.sent('a')
    expect(await response.text()).not.toContain('event: file')
  })

  test('a revoked token gets no further page of pending files', async () => {
    const scene = sharedScene()
    const box = await mailbox(scene)
    for (let n = 0; n < 2; n += 1) await box.sent(...Array.from({ length: 60 }, () => 'x'))
    const [token] = await scene.inbox.tokens.list(box.id)
    const response = await scene.inbox.fetch(
      new Request(`http://here/mailboxes/${box.id}/events`, {
        headers: { authorization: `Bearer ${box.token}` },
      }),
    )
    const { body } = response ?? Response.error()
    const reader = (body as ReadableStream<Uint8Array>).getReader()
    let first = ''
    while (!first.includes('event: file')) first += Buffer.from((await reader.read()).value ?? []).toString()
    expect(first.match(/event: file/g)).toHaveLength(100)
    await scene.inbox.tokens.revoke(token?.id ?? '')
    expect((await reader.read()).done).toBe(true)
  })

  test('a long poll whose token is revoked is refused, without new files', async () => {
    const scene = sharedScene()
    const box = await mailbox(scene)
    const { id, token } = await scene.inbox.tokens.add(box.id)
    const headers = { authorization: `Bearer ${token}` }
    const before = waits
    const waiting = box.ask('/uploads?wait=30s', { headers })
    await expect.poll(() => waits).toBeGreaterThan(before)
    await scene.inbox.tokens.revoke(id)
    await box.sent('a')
    const answer = await waiting
    expect([answer.status, await answer.text()]).toEqual([
      401,
      expect.not.stringContaining('sha256') as string,
    ])
  })

  test('B4 no event for a refused upload, or before the commit', async () => {
    const box = await mailbox(sharedScene())
    const hearing = readEvents(await box.ask('/events'), 1)
    expect((await box.upload([{ bytes: 'x' }, { bytes: '' }])).status).toBe(400)
    const [file = ''] = await box.sent('y')
    const [feedEvents] = await hearing
    expect(feedEvents?.data.id).toBe(file)
    expect((await box.ask(`/uploads/${file}/content`)).status).toBe(200)
  })

  test('E46 uploads to another process reach events and long polls, without a notification', async () => {
    const scene = sharedScene()
    const box = await mailbox(scene)
    const elsewhere = await other(scene)
    const hearing = readEvents(await box.ask('/events'), 1)
    const waiting = pending(box, '?wait=30s')
    const form = new FormData()
    form.append('files', new Blob(['x']), 'x.txt')
    const response = await elsewhere.fetch(
      new Request(`http://elsewhere/mailboxes/${box.id}/uploads`, {
        method: 'POST',
        headers: { authorization: `Bearer ${box.token}` },
        body: form,
      }),
    )
    const { files } = (await (response ?? new Response()).json()) as { files: { id: string }[] }
    expect((await hearing).map(({ data }) => data.id)).toEqual(files.map(({ id }) => id))
    expect(ids(await waiting)).toEqual(files.map(({ id }) => id))
    await elsewhere.close()
  })

  /** Another process on the same database, as far as the database can tell. */
  async function other(scene: Scene) {
    const { tables } = await openTables<Schema>(scene.address, { app: 'uploads', steps: STEPS })
    const blobs = store === 'sqlite' ? directoryBlobs(`${scene.address}-elsewhere`) : postgresBlobs(tables)
    const inbox = uploads({ tables, blobs })
    await inbox.start()
    return {
      fetch: inbox.fetch,
      async close() {
        await inbox.stop()
        await tables.close()
      },
    }
  }
})

describe.each(STORES)('news of the same process on %s, when it never looks for those of others', (store) => {
  const WAIT_MS = 15_000
  const counts = { waiting: 0, woken: 0 }
  const platform: Platform = {
    ...systemPlatform,
    timer(ms, act, options) {
      if (ms === 500) return { cancel() {} }
      if (ms <= WAIT_MS / 2 || ms > WAIT_MS) return systemPlatform.timer(ms, act, options)
      counts.waiting += 1
      const timer = systemPlatform.timer(ms, act, options)
      return {
        cancel() {
          counts.woken += 1
          timer.cancel()
        },
      }
    },
  }
  let wokenBefore: number | null = null
  let box: Box
  const sharedScene = sceneForAll(store, {
    platform,
    async fault(point) {
      if (point !== 'receive:rows') return
      // A waiter that was notified too early has read by now, and does not read again.
      if (store === 'postgres') for (let n = 0; n < 3; n += 1) await pending(box)
      wokenBefore = counts.woken
    },
  })

  test('B4 E46 ends a long poll, and is sent as an event, right after the commit and not before', async () => {
    box = await mailbox(sharedScene())
    const [events, waiting] = [await box.ask('/events'), pending(box, `?wait=${WAIT_MS}ms`)]
    const feedEvents = readEvents(events, 1)
    await expect.poll(() => counts.waiting).toBe(2)
    const [file = ''] = await box.sent('news')
    expect([wokenBefore, counts.woken]).toEqual([0, 2])
    expect(ids(await waiting)).toEqual([file])
    expect((await feedEvents).map(({ data }) => data.id)).toEqual([file])
  })
})

test('a stopping process ends all waiting requests', async () => {
  const made = await scene('sqlite')
  const box = await mailbox(made)
  const waiting = pending(box, '?wait=60s')
  const events = await box.ask('/events')
  await made.inbox.stop()
  expect((await waiting).files).toEqual([])
  expect(await events.text()).toBe('retry: 2000\n\n: quiet\n\n')
  expect(await refusal(await box.upload([{ bytes: 'x' }]))).toMatchObject({ status: 503, code: 'STOPPING' })
  await made.close()
})

test('A event streams and long polls are capped for each mailbox and for the process; a list with files never is', async () => {
  const made = await scene('sqlite', { listenersAtOnce: 3, listenersPerMailbox: 2 })
  const [box, other] = [await mailbox(made), await mailbox(made)]
  const [first, second] = [await box.ask('/events'), await box.ask('/events')]
  expect([first.status, second.status]).toEqual([200, 200])
  for (const path of ['/events', '/uploads?wait=30s']) {
    const refused = await box.ask(path)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refusal(refused)).toMatchObject({ status: 429, code: 'LISTENERS_TOO_MANY', max: 2 })
  }
  expect((await pending(box)).files).toEqual([])
  const third = await other.ask('/events')
  const full = await other.ask('/uploads?wait=30s')
  expect(full.headers.get('retry-after')).toBe('2')
  expect(await refusal(full)).toMatchObject({ status: 503, code: 'BUSY', max: 3 })
  const [file = ''] = await other.sent('a')
  expect(ids(await pending(other, '?wait=30s'))).toEqual([file])
  // An invalid cursor takes no slot, and a closed stream releases its own.
  for (const events of [first, second, third]) await events.body?.cancel()
  const statusOf = async (path: string): Promise<number> => {
    const response = await box.ask(path)
    await response.body?.cancel()
    return response.status
  }
  await expect.poll(() => statusOf('/uploads?wait=1ms')).toBe(200)
  for (let n = 0; n < 4; n += 1) expect(await statusOf('/events?after=nonsense')).toBe(400)
  // Of three concurrent long polls, the last one is refused immediately.
  const polls = [1, 2, 3].map(() => statusOf('/uploads?wait=30s'))
  expect(await Promise.race(polls)).toBe(429)
  await box.sent('b')
  expect((await Promise.all(polls)).toSorted((a, b) => a - b)).toEqual([200, 200, 429])
  await made.close()
})
