/** The database of the server has no room left (SQLite, which can be told how large it may get): 507, nothing stays behind, and it goes on when there is room again. */
import { sql } from 'jobmill-tables'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Box, leftOf, mailbox, pending, refusal, type Scene, sceneForAll } from './support/inboxes.ts'

const DAY_MS = 86_400_000
const MOST_FILES = 64
const PAGES = 2 ** 30
const NOTHING = { files: 0, notices: 0, uploads: 0, staging: 0, blobs: 0 }

const given = sceneForAll('sqlite')

/** No page more than it has. */
async function fill({ tables }: Scene): Promise<void> {
  const most = (pages: number) => sql`PRAGMA max_page_count = ${sql.lit(pages)}`.execute(tables.db)
  const { rows } = await sql<{ page_count: number }>`PRAGMA page_count`.execute(tables.db)
  await most(rows[0]?.page_count ?? 0)
  onTestFinished(async () => void (await most(PAGES)))
}

const many = (box: Box, key = 'once'): Promise<Response> =>
  box.upload(
    Array.from({ length: MOST_FILES }, (_, n) => ({ name: `${'x'.repeat(90)}${n}.txt`, bytes: `${n}` })),
    { headers: { 'idempotency-key': key } },
  )

async function refused(response: Response): Promise<void> {
  expect(response.headers.get('retry-after')).toBe('60')
  expect(await refusal(response)).toMatchObject({ status: 507, code: 'DISK_FULL' })
}

describe('a database that is full', () => {
  test('E38 refuses an upload whose rows do not fit, keeps nothing of it, and takes it when there is room', async () => {
    const scene = given()
    const box = await mailbox(scene)
    await fill(scene)
    await refused(await many(box))
    expect(await leftOf(scene, box)).toEqual(NOTHING)
    expect((await pending(box)).files).toEqual([])
    await sql`PRAGMA max_page_count = ${sql.lit(PAGES)}`.execute(scene.tables.db)
    expect((await many(box)).status).toBe(200)
    expect((await pending(box)).files).toHaveLength(MOST_FILES)
    scene.later(2 * DAY_MS)
    await scene.inbox.sweep()
    expect(await leftOf(scene, box)).toEqual(NOTHING)
  })

  test('E38 refuses before a byte is kept where not even the beginning fits', async () => {
    const scene = given()
    const box = await mailbox(scene)
    const { db, now } = scene.tables
    await fill(scene)
    const filler = `filler ${'x'.repeat(2_000)}`
    const other = { mailbox: filler, begun_at: now, swept_at: null }
    await expect(
      (async () => {
        for (let n = 0; n < 10_000; n += 1)
          await db
            .insertInto('uploads_staging')
            .values({ upload: `${n}`, ...other })
            .execute()
      })(),
    ).rejects.toThrow('full')
    // And what is left of the last page.
    await expect(
      (async () => {
        for (let n = 0; n < 10_000; n += 1)
          await db
            .insertInto('uploads_staging')
            .values({ upload: `z${n}`, ...other, mailbox: 'filler' })
            .execute()
      })(),
    ).rejects.toThrow('full')
    await refused(await many(box))
    expect(await leftOf(scene, box)).toEqual(NOTHING)
    await db.deleteFrom('uploads_staging').where('mailbox', 'like', 'filler%').execute()
    expect((await many(box)).status).toBe(200)
    scene.later(2 * DAY_MS)
    await scene.inbox.sweep()
    expect(await leftOf(scene, box)).toEqual(NOTHING)
  })

  test('E38 B8 is emptied by its own sweep, and takes as much again', async () => {
    const scene = given()
    const box = await mailbox(scene)
    expect((await many(box)).status).toBe(200)
    await fill(scene)
    let taken = 1
    for (; taken < 20; taken += 1) {
      const response = await many(box, `again-${taken}`)
      if (response.status === 200) continue
      await refused(response)
      break
    }
    expect(taken).toBeLessThan(20)
    const { files } = await pending(box, '?limit=1000')
    expect(files).toHaveLength(taken * MOST_FILES)
    expect(await (await box.ask(`/uploads/${files[0]?.id}/content`)).text()).toBe('0')
    scene.later(2 * DAY_MS)
    await scene.inbox.sweep()
    expect(await leftOf(scene, box)).toEqual(NOTHING)
    expect((await many(box, 'after')).status).toBe(200)
  })
})
