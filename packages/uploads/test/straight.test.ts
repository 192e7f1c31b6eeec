/**
 * The happy path on both stores over a real socket: upload, list, fetch, acknowledge, sweep, and nothing is
 * left.
 */
import { describe, expect, test } from 'vitest'
import { leftOf, mailbox, pending, sceneForAll, sha256, STORES } from './support/inboxes.ts'

const HOUR_MS = 3_600_000

describe.each(STORES)('the inbox on %s', (store) => {
  const sharedScene = sceneForAll(store)

  test('upload, list, fetch, acknowledge, sweep', async () => {
    const scene = sharedScene()
    const box = await mailbox(scene)
    const bytes = new Uint8Array(700_000).map((_, at) => at % 251)
    const response = await box.upload([
      { name: 'hello world!.pdf', type: 'application/pdf', bytes },
      { name: 'b.txt', bytes: 'two' },
    ])
    expect(response.status).toBe(200)
    const { files, upload } = (await response.json()) as {
      upload: string
      files: { id: string; uri: string }[]
    }
    expect(upload).toMatch(/^[0-9a-f-]{36}$/)
    const [first, second] = files as [{ id: string; uri: string }, { id: string; uri: string }]
    expect(first).toMatchObject({
      name: 'hello_world_.pdf',
      mimeType: 'application/pdf',
      size: 700_000,
      sha256: sha256(bytes),
      uri: `jobmill-upload:${box.id}/${first.id}`,
    })
    const page = await pending(box)
    expect(page.files.map(({ id }) => id)).toEqual([first.id, second.id])
    expect(page.more).toBe(false)
    expect((await pending(box, `?after=${page.cursor}`)).files).toEqual([])

    const fetched = await box.ask(`/uploads/${first.id}/content`)
    expect(Object.fromEntries(fetched.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-length': '700000',
      'content-disposition': `attachment; filename="hello_world_.pdf"; filename*=UTF-8''hello_world_.pdf`,
      etag: `"${sha256(bytes)}"`,
      'x-content-type-options': 'nosniff',
    })
    expect(sha256(new Uint8Array(await fetched.arrayBuffer()))).toBe(sha256(bytes))

    const acks = [first, second].map(({ id }) => box.ask(`/uploads/${id}/ack`, { method: 'POST' }))
    for (const acked of await Promise.all(acks)) expect(await acked.json()).toEqual({ acked: true })
    expect((await pending(box)).files).toEqual([])
    expect((await pending(box, '?state=all')).files).toHaveLength(2)

    scene.later(HOUR_MS + 1)
    expect(await scene.inbox.sweep()).toMatchObject({ acked: 2, expired_unfetched: 0 })
    expect(await leftOf(scene, box)).toMatchObject({ files: 0, notices: 0, staging: 0, blobs: 0 })
    expect((await box.ask(`/uploads/${first.id}/content`)).status).toBe(404)
    expect(scene.errors).toEqual([])
  })
})
