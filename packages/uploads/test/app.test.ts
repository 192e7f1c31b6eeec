/** The API for Mission Control: mailboxes, their files by state, and unfetched files. */
import { beforeEach, describe, expect } from 'vitest'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import { type Box, mailbox, type Scene, sceneForAll, STORES } from './support/inboxes.ts'

const DAY_MS = 24 * 3_600_000

describe.each(STORES)('the app on %s', (store) => {
  const test = inTurns(store, STORES)
  const sharedScene = sceneForAll(store)
  let made: Scene
  beforeEach(() => void (made = sharedScene()))

  async function look(path: string, method = 'GET'): Promise<{ status: number; body: AppView }> {
    const answer = await made.inbox.app.fetch(new Request(`http://mill${path}`, { method }))
    return { status: answer.status, body: (await answer.json()) as AppView }
  }
  const one = async (box: Box) => (await look(`/mailboxes/${box.id}`)).body
  const files = async (box: Box, query = '') => (await look(`/mailboxes/${box.id}/files${query}`)).body
  /** The fetch is recorded after the last byte was sent. */
  async function fetched(box: Box, file: string): Promise<void> {
    await (await box.ask(`/uploads/${file}/content`)).arrayBuffer()
    await expect.poll(async () => (await files(box)).files?.find(({ id }) => id === file)?.fetches).toBe(1)
  }

  test('shows the files of a mailbox by state, and never its tokens', async () => {
    const box = await mailbox(made, { quotaBytes: 1_000 })
    expect((await one(box)).mailbox).toMatchObject({
      lastUploadAt: null,
      pending: { files: 0, bytes: 0, oldestAt: null },
    })
    const [a = '', b = '', c = ''] = await box.sent('a', 'bb', 'ccc')
    await box.ask(`/uploads/${b}/ack`, { method: 'POST' })
    await fetched(box, c)
    const view = await one(box)
    expect(view.mailbox).toMatchObject({
      id: box.id,
      name: 'letters',
      pending: { files: 2, bytes: 4 },
      acked: 1,
      expired: 0,
      stored: { files: 3, bytes: 6 },
      expiredUnfetched: { files: 0, lastAt: null },
      limits: { quotaBytes: 1_000, quotaFiles: 10_000 },
    })
    expect(view.mailbox?.lastUploadAt).not.toBeNull()
    expect(view.expiredUnfetched).toEqual([])
    expect((await files(box)).files?.map(({ id, fetches }) => [id, fetches])).toEqual([
      [c, 1],
      [a, 0],
    ])
    expect((await files(box, '?state=acked')).files).toMatchObject([{ id: b, state: 'acked' }])
    for (const path of ['', `/${box.id}`, `/${box.id}/files`])
      expect(JSON.stringify((await look(`/mailboxes${path}`)).body)).not.toMatch(/jmu_|token|hash"/)
  })

  test('remembers unfetched files after they are deleted, each once, and warns for a week', async () => {
    const box = await mailbox(made, { name: 'forgotten' })
    const [, read = ''] = await box.sent('never', 'fetched', 'never too')
    await fetched(box, read)
    made.later(DAY_MS)
    expect((await one(box)).mailbox).toMatchObject({ pending: { files: 0 }, expired: 3 })
    const expired = (await files(box, '?state=expired')).files ?? []
    expect(expired.map(({ fetches }) => fetches)).toEqual([0, 1, 0])
    const lastAt = expired[0]?.expiresAt
    const uploadedAt = (await one(box)).mailbox?.lastUploadAt
    await Promise.all([made.inbox.sweep(), made.inbox.sweep()])
    const { mailbox: after, expiredUnfetched } = await one(box)
    expect(after).toMatchObject({ stored: { files: 0 }, expired: 0, lastUploadAt: uploadedAt })
    expect(after?.expiredUnfetched).toEqual({ files: 2, lastAt })
    expect(expiredUnfetched).toEqual([{ id: box.id, name: 'forgotten', files: 2, lastAt }])
    expect((await look('/mailboxes')).body.expiredUnfetched).toContainEqual(expiredUnfetched?.[0])
    made.later(7 * DAY_MS)
    expect((await one(box)).expiredUnfetched).toEqual([])
    expect((await one(box)).mailbox?.expiredUnfetched.files).toBe(2)
  })

  test('lists mailboxes and files by pages, and finds by name and id', async () => {
    const boxes = [await mailbox(made, { name: 'Ärger 50%' }), await mailbox(made, { name: 'Ärger 500' })]
    const search = async (query: string) =>
      (await look(`/mailboxes?${query}`)).body.mailboxes?.map(({ id }) => id)
    expect(await search(`find=${encodeURIComponent('Ärger')}`)).toEqual(boxes.map(({ id }) => id))
    expect(await search('find=RGER%2050%25')).toEqual([boxes[0]?.id])
    expect(await search('find=50_')).toEqual([])
    expect(await search(`find=${boxes[1]?.id.toUpperCase()}`)).toEqual([boxes[1]?.id])
    const first = (await look('/mailboxes?find=rger&limit=1')).body
    expect(await search(`find=rger&after=${first.next}`)).toEqual([boxes[1]?.id])
    const [box] = boxes
    if (box === undefined) throw new Error('there is no mailbox')
    const sent = await box.sent('1', '2', '3')
    const page = await files(box, '?limit=2')
    expect(page.files?.map(({ id }) => id)).toEqual(sent.slice(1).toReversed())
    const last = await files(box, `?limit=2&after=${page.next}`)
    expect([last.files?.map(({ id }) => id), last.next]).toEqual([sent.slice(0, 1), null])
  })

  test.each([
    ['/mailboxes?state=x', 'GET', 400, 'OPTION_UNKNOWN'],
    ['/mailboxes?find=%00', 'GET', 400, 'OPTION_INVALID'],
    ['/mailboxes?limit=501', 'GET', 400, 'OPTION_INVALID'],
    ['/mailboxes/1', 'GET', 400, 'ID_INVALID'],
    ['/mailboxes/00000000-0000-4000-8000-000000000000', 'GET', 404, 'MAILBOX_UNKNOWN'],
    ['/mailboxes/00000000-0000-4000-8000-000000000000/files', 'GET', 404, 'MAILBOX_UNKNOWN'],
    ['/mailboxes/1/2', 'GET', 404, 'ROUTE_UNKNOWN'],
    ['/mailboxes', 'POST', 405, 'METHOD_WRONG'],
  ])('refuses %s by %s', async (path, method, status, code) => {
    expect(await look(path, method)).toMatchObject({ status, body: { code } })
  })
})

interface AppView {
  readonly code?: string
  readonly next?: string | null
  readonly mailbox?: Mailbox
  readonly mailboxes?: readonly Mailbox[]
  readonly expiredUnfetched?: readonly unknown[]
  readonly files?: readonly { id: string; fetches: number; expiresAt: string }[]
}

interface Mailbox {
  readonly id: string
  readonly lastUploadAt: string | null
  readonly expiredUnfetched: { readonly files: number }
}
