/**
 * A full database: 507, nothing is left behind, and it recovers when there is space. SQLite has a page limit.
 * On PostgreSQL, a trigger raises the error of a full disk for single writes.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sql } from 'jobmill-tables'
import { describe, expect, onTestFinished, test } from 'vitest'
import { reserveIn } from '../src/blobs/reserve.ts'
import {
  type Box,
  leftOf,
  mailbox,
  pending,
  refusal,
  type Scene,
  type SceneOptions,
  sceneForAll,
} from './support/inboxes.ts'

const DAY_MS = 86_400_000
const MOST_FILES = 64
const PAGES = 2 ** 30
const NOTHING = { files: 0, notices: 0, uploads: 0, staging: 0, blobs: 0 }

/** While true, the database is full except for the reserve. */
let isDiskFull = false
const fault: SceneOptions['fault'] = (point) => {
  if (isDiskFull && ['ack:before', 'sweep:marked'].includes(point) && existsSync(reserveOf(sharedScene())))
    throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
}
/** False: the reserve cannot be kept. */
let hasRoom = true
const wrap: SceneOptions['wrap'] = ({ reserve, ...blobs }) => ({
  ...blobs,
  ...(reserve !== undefined && {
    reserve: { ...reserve, keep: async () => hasRoom && (await reserve.keep()) },
  }),
})
const sharedScene = sceneForAll('sqlite', { fault, wrap })
const reserveOf = ({ store }: Scene): string => path.join(store.name.replace('folder ', ''), '.reserve')

/** Allows no more pages than it has. */
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

const ack = (box: Box, file: string): Promise<Response> => box.ask(`/uploads/${file}/ack`, { method: 'POST' })

async function refused(response: Response): Promise<void> {
  expect(response.headers.get('retry-after')).toBe('60')
  expect(await refusal(response)).toMatchObject({ status: 507, code: 'DISK_FULL' })
}

describe('a database that is full', () => {
  test('E38 refuses an upload whose rows do not fit, leaves nothing, and accepts it when there is space', async () => {
    const scene = sharedScene()
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

  test('E38 refuses before storing a byte if not even the staging row fits', async () => {
    const scene = sharedScene()
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
    // Fill the rest of the last page too.
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

  test('E38 B8 is emptied by its own sweep, and accepts as much again', async () => {
    const scene = sharedScene()
    const box = await mailbox(scene)
    expect((await many(box)).status).toBe(200)
    await fill(scene)
    let count = 1
    for (; count < 20; count += 1) {
      const response = await many(box, `again-${count}`)
      if (response.status === 200) continue
      await refused(response)
      break
    }
    expect(count).toBeLessThan(20)
    const { files } = await pending(box, '?limit=1000')
    expect(files).toHaveLength(count * MOST_FILES)
    expect(await (await box.ask(`/uploads/${files[0]?.id}/content`)).text()).toBe('0')
    scene.later(2 * DAY_MS)
    await scene.inbox.sweep()
    expect(await leftOf(scene, box)).toEqual(NOTHING)
    expect((await many(box, 'after')).status).toBe(200)
  })
})

describe('a disk full of files, shared with the database', () => {
  test('E38 B8 acknowledgements and the sweep use the reserve, and it is restored', async () => {
    const scene = sharedScene()
    scene.later(2 * DAY_MS)
    await scene.inbox.sweep()
    const box = await mailbox(scene)
    const [file = ''] = await box.sent('a', 'b')
    const { size, mode } = statSync(reserveOf(scene))
    expect([size, mode & 0o777]).toEqual([8 * 1_024 * 1_024, 0o600])
    isDiskFull = true
    onTestFinished(() => void (isDiskFull = false))
    expect(await (await ack(box, file)).json()).toEqual({ acked: true })
    expect(existsSync(reserveOf(scene))).toBe(false)
    expect(await scene.inbox.sweep()).toMatchObject({ acked: 0 })
    expect(existsSync(reserveOf(scene))).toBe(true)
    scene.later(2 * DAY_MS)
    expect(await scene.inbox.sweep()).toMatchObject({ acked: 1, expired_unfetched: 1 })
    expect(await leftOf(scene, box)).toEqual(NOTHING)
    expect(existsSync(reserveOf(scene))).toBe(true)
  })

  test('E38 refuses uploads while the reserve is missing', async () => {
    const scene = sharedScene()
    const box = await mailbox(scene)
    hasRoom = false
    onTestFinished(() => void (hasRoom = true))
    await refused(await box.upload([{ bytes: 'x' }]))
    expect(await leftOf(scene, box)).toEqual(NOTHING)
    hasRoom = true
    await box.sent('x')
    scene.later(2 * DAY_MS)
    await scene.inbox.sweep()
  })

  test('the reserve is created if twice its size is free, and given up at the start if space is short', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-reserve-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const mib = 1_024 * 1_024
    let free = 16 * mib - 1
    const reserve = reserveIn(folder, async () => free)
    expect([await reserve.keep(), await reserve.giveUp()]).toEqual([false, false])
    free += 1
    expect([await reserve.keep(), await reserve.keep()]).toEqual([true, true])
    // A partial reserve of a crashed process does not count.
    truncateSync(path.join(folder, '.reserve'), mib)
    expect([await reserve.giveUp(), await reserve.keep()]).toEqual([false, true])
    free = 8 * mib
    await reserve.makeWay()
    expect(readdirSync(folder)).toEqual(['.reserve'])
    free -= 1
    await reserve.makeWay()
    expect(readdirSync(folder)).toEqual([])
    // A folder that does not exist has nothing to give up.
    await reserveIn(path.join(folder, 'none')).makeWay()
  })
})

/** Makes these writes fail until the returned function is called. */
async function fillFor(
  { address, tables }: Scene,
  ...writes: readonly string[]
): Promise<() => Promise<void>> {
  const schema = `"${new URL(address).searchParams.get('schema')}_uploads"`
  const run = (text: string) => sql.raw(text).execute(tables.db)
  await run(`CREATE OR REPLACE FUNCTION ${schema}.full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
  END $$`)
  for (const [n, write] of writes.entries()) {
    // Checked by the COMMIT itself.
    const isCommit = write.startsWith('COMMIT OF ')
    const [what = '', rest = ''] = write.replace('COMMIT OF ', 'INSERT ON ').split(' ON ')
    const [table = '', condition] = rest.split(' WHEN ')
    await run(
      `CREATE ${isCommit ? 'CONSTRAINT' : ''} TRIGGER full_${n} ${isCommit ? 'AFTER' : 'BEFORE'} ${what} ON ${schema}.${table}
        ${isCommit ? 'DEFERRABLE INITIALLY DEFERRED' : ''} FOR EACH ROW
        ${condition === undefined ? '' : `WHEN (${condition})`} EXECUTE FUNCTION ${schema}.full()`,
    )
  }
  return async () => void (await run(`DROP FUNCTION ${schema}.full CASCADE`))
}

const two = (box: Box): Promise<Response> =>
  box.upload([{ bytes: 'x'.repeat(600_000) }, { bytes: 'y' }], { headers: { 'idempotency-key': 'once' } })

describe('a server of PostgreSQL whose disk is full', () => {
  const sharedScene = sceneForAll('postgres')

  test.each([
    'INSERT ON uploads_staging',
    'INSERT ON uploads_chunk',
    'INSERT ON uploads_chunk WHEN NEW.n = 2',
    "INSERT ON uploads_chunk WHEN NEW.blob LIKE '%/1'",
    'UPDATE OF last_seq ON uploads_mailbox',
    'INSERT ON uploads_file',
    'INSERT ON uploads_notice WHEN NEW.seq % 2 = 0',
    'INSERT ON uploads_upload',
    'COMMIT OF uploads_upload',
  ])('E38 B4 refuses an upload for %s, leaves nothing, and accepts it when there is space', async (write) => {
    const scene = sharedScene()
    const box = await mailbox(scene)
    const empty = await fillFor(scene, write)
    const answer = await two(box)
    await empty()
    await refused(answer)
    expect(await leftOf(scene, box)).toEqual(NOTHING)
    expect((await two(box)).status).toBe(200)
    expect((await pending(box)).files).toHaveLength(2)
    scene.later(2 * DAY_MS)
    await scene.inbox.sweep()
    expect(await leftOf(scene, box)).toEqual(NOTHING)
  })

  test('E38 deletes the blobs before the staging row, which is left to the sweep if it cannot be written', async () => {
    const scene = sharedScene()
    const box = await mailbox(scene)
    const empty = await fillFor(scene, 'INSERT ON uploads_file', 'UPDATE OR DELETE ON uploads_staging')
    const answer = await two(box)
    await empty()
    await refused(answer)
    expect((await pending(box)).files).toEqual([])
    expect(await leftOf(scene, box)).toEqual({ ...NOTHING, staging: 1 })
    expect((await two(box)).status).toBe(200)
    scene.later(2 * DAY_MS)
    expect(await scene.inbox.sweep()).toMatchObject({ expired_unfetched: 2, orphan_blob: 0 })
    expect(await leftOf(scene, box)).toEqual(NOTHING)
  })

  test('E38 B5 B6 serves files, and counts and acknowledges them when there is space', async () => {
    const scene = sharedScene()
    const box = await mailbox(scene)
    const [file = ''] = await box.sent('here')
    const fetches = async (): Promise<unknown> =>
      ((await (await box.ask(`/uploads/${file}`)).json()) as { fetches: number }).fetches
    // Without a socket, it ends when the fetch is recorded, not with the last byte.
    const content = async () => {
      const headers = { authorization: `Bearer ${box.token}` }
      const url = `http://here/mailboxes/${box.id}/uploads/${file}/content`
      return (await scene.inbox.fetch(new Request(url, { headers })))?.text()
    }
    scene.errors.length = 0
    const empty = await fillFor(scene, 'UPDATE ON uploads_file')
    try {
      expect(await content()).toBe('here')
      await refused(await ack(box, file))
    } finally {
      await empty()
    }
    expect(scene.errors.splice(0)).toMatchObject([{ code: '53100' }, { code: '53100' }])
    expect([await fetches(), (await pending(box)).files.length]).toEqual([0, 1])
    expect([await content(), await fetches()]).toEqual(['here', 1])
    expect(await (await ack(box, file)).json()).toEqual({ acked: true })
    scene.later(2 * DAY_MS)
    await scene.inbox.sweep()
  })

  test.each([
    'UPDATE OF swept_at ON uploads_file',
    'DELETE ON uploads_chunk',
    'DELETE ON uploads_notice',
    'DELETE ON uploads_file',
    'UPDATE OF unfetched_files ON uploads_mailbox',
    'UPDATE OF swept_at ON uploads_staging',
    'DELETE ON uploads_staging',
    'DELETE ON uploads_upload',
  ])('E38 B8 reports a sweep that was refused for %s, and the next one completes it', async (write) => {
    const scene = sharedScene()
    const box = await mailbox(scene)
    await box.sent('a', 'b')
    const { db, now } = scene.tables
    const died = { upload: box.id, mailbox: box.id, begun_at: now, swept_at: null }
    await db.insertInto('uploads_staging').values(died).execute()
    scene.later(2 * DAY_MS)
    const before = scene.inbox.swept().expired_unfetched
    const empty = await fillFor(scene, write)
    await expect(scene.inbox.sweep()).rejects.toThrow('No space left on device')
    await empty()
    await scene.inbox.sweep()
    expect(await leftOf(scene, box)).toEqual(NOTHING)
    expect(scene.inbox.swept().expired_unfetched).toBe(before + 2)
  })
})
