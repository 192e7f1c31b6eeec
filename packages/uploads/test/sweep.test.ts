/** The sweep: which rows it deletes and keeps, in what order, its counts, and its duty. B.3, B.8, B.9. */
import { jobmill, type Platform } from 'jobmill'
import { systemPlatform } from 'jobmill/internal'
import { openTables, sql } from 'jobmill-tables'
import {
  type BlobStore,
  directoryBlobs,
  type FaultPoint,
  LIMITS,
  postgresBlobs,
  type Schema,
  STEPS,
  uploads,
} from 'jobmill-uploads'
import { describe, expect, onTestFinished, test, test as testEverywhere } from 'vitest'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import { readExposition, valueOf } from '../../jobmill/test/observe/exposition.ts'
import { freshFile } from '../../../test/support/databases.ts'
import {
  type Box,
  hasFolder,
  leftOf,
  mailbox,
  pending,
  PLACES,
  type Scene,
  scene,
  sceneForAll,
} from './support/inboxes.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const NONE = { acked: 0, expired_fetched: 0, expired_unfetched: 0, orphan_blob: 0, mailbox_removed: 0 }

const ack = (box: Box, file: string): Promise<Response> => box.ask(`/uploads/${file}/ack`, { method: 'POST' })

const expectGone = async (made: Scene, box: Box): Promise<void> =>
  expect(await leftOf(made, box)).toMatchObject({ files: 0, notices: 0, staging: 0, blobs: 0 })

async function* bytes(isCutOff: boolean): AsyncGenerator<Uint8Array, void, undefined> {
  yield new Uint8Array(300_000)
  if (isCutOff) throw new Error('gone')
}

/** The blobs of a dead process: one complete, one partial. */
async function orphans(made: Scene, upload: string): Promise<string[]> {
  const { signal } = new AbortController()
  await made.store.write(`${upload}/0`, bytes(false), signal)
  await expect(made.store.write(`${upload}/1`, bytes(true), signal)).rejects.toThrow('gone')
  return made.blobs()
}

/** A store that ends the time of a pass with the first deletion, and counts its listings. */
function countingBlobs(blobs: BlobStore, over: () => void): { blobs: BlobStore; listed: () => number } {
  let listed = 0
  return {
    listed: () => listed,
    blobs: {
      ...blobs,
      async delete(id) {
        const isDeleted = await blobs.delete(id)
        if (isDeleted) over()
        return isDeleted
      },
      uploads() {
        listed += 1
        return blobs.uploads()
      },
    },
  }
}

/** An upload id of that time. */
function idAt(ms: number): string {
  const time = Math.round(ms).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000001`
}

/** A started upload that waits for a signal to end. */
async function slowUpload(made: Scene, box: Box): Promise<{ end: () => Promise<number | undefined> }> {
  const holding = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await holding.promise
      controller.enqueue(
        Buffer.from(
          '--b\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\nx\r\n--b--\r\n',
        ),
      )
      controller.close()
    },
  })
  const sending = made.inbox.fetch(
    new Request(`http://here/mailboxes/${box.id}/uploads`, {
      method: 'POST',
      headers: { authorization: `Bearer ${box.token}`, 'content-type': 'multipart/form-data; boundary=b' },
      body,
      duplex: 'half',
    }),
  )
  await expect.poll(async () => (await leftOf(made, box))['staging']).toBe(1)
  return {
    async end() {
      holding.resolve()
      return (await sending)?.status
    },
  }
}

async function mill(fails: () => boolean) {
  const file = freshFile()
  const { store, tables } = await openTables<Schema>(file, { app: 'uploads', steps: STEPS })
  const real = directoryBlobs(`${file}-blobs`)
  const blobs: BlobStore = {
    ...real,
    delete: async (id) => (fails() ? Promise.reject(new Error('no')) : real.delete(id)),
  }
  const inbox = uploads({ tables, blobs, sweepEvery: '1h', ackRetention: 0 })
  const made = jobmill({ store, duties: [inbox.duty], serve: ['uploads'], log: 'silent' })
  await inbox.start(made)
  await inbox.start(made)
  const box = await inbox.mailboxes.add({ name: 'a' })
  const { token } = await inbox.tokens.add(box.id)
  const ask = async (path: string, init: RequestInit = {}): Promise<Response> =>
    (await inbox.fetch(
      new Request(`http://here/mailboxes/${box.id}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}` },
      }),
    )) ?? new Response(null, { status: 599 })
  return { made, inbox, tables, ask }
}

describe.each(PLACES)('the sweep on %s', (place) => {
  const test = inTurns(place, PLACES)
  /** The blob that a wrapped store refuses to delete. */
  let stuck = ''
  /** Holds up every deletion. */
  let held: ((id: string) => Promise<void>) | null = null
  const wrap = (blobs: BlobStore): BlobStore => ({
    ...blobs,
    async delete(id) {
      await held?.(id)
      if (stuck !== '' && id.endsWith(stuck)) throw new Error(`${id} is stuck`)
      return blobs.delete(id)
    },
  })
  /** Called at each fault point of the sweep. */
  let between: ((point: FaultPoint) => Promise<void>) | null = null
  const sharedScene = sceneForAll(place, { wrap, fault: (point) => between?.(point) })

  test('B3 a file that is neither acknowledged nor expired survives, and an acknowledged one until its retention ends', async () => {
    const made = sharedScene()
    const box = await mailbox(made)
    const [a = '', b = ''] = await box.sent('a', 'b')
    await ack(box, a)
    const { acked_at } = await made.tables.db
      .selectFrom('uploads_file')
      .select('acked_at')
      .where('id', '=', a)
      .executeTakeFirstOrThrow()
    // To the millisecond.
    onTestFinished(() => made.stopAt(null))
    made.stopAt((acked_at ?? 0) + HOUR_MS - 1)
    expect(await made.inbox.sweep()).toEqual(NONE)
    made.stopAt((acked_at ?? 0) + HOUR_MS)
    expect(await made.inbox.sweep()).toEqual({ ...NONE, acked: 1 })
    expect((await pending(box)).files.map(({ id }) => id)).toEqual([b])
    made.stopAt(null)
    made.later(DAY_MS)
    await made.inbox.sweep()
    await expectGone(made, box)
  })

  test('E44 all reasons in one pass, with expired files split into fetched and unfetched, each counted once', async () => {
    const made = sharedScene()
    const box = await mailbox(made)
    const [a = '', b = ''] = await box.sent('a', 'b', 'c', 'd')
    await ack(box, a)
    await (await box.ask(`/uploads/${b}/content`)).text()
    await expect
      .poll(async () => (await (await box.ask(`/uploads/${b}`)).json()) as object)
      .toMatchObject({ fetches: 1 })
    made.later(DAY_MS)
    const before = made.inbox.swept()
    expect(await made.inbox.sweep()).toEqual({
      ...NONE,
      acked: 1,
      expired_fetched: 1,
      expired_unfetched: 2,
    })
    expect(await made.inbox.sweep()).toEqual(NONE)
    const after = made.inbox.swept()
    expect(after.acked - before.acked).toBe(1)
    expect(after.expired_unfetched - before.expired_unfetched).toBe(2)
    await expectGone(made, box)
  })

  test('two passes at once count each file once', async () => {
    const made = sharedScene()
    const box = await mailbox(made)
    await box.sent('a', 'b', 'c', 'd', 'e')
    made.later(DAY_MS)
    // No deletion before both passes have seen all files.
    const [marked, checked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let calls = 0
    held = () => {
      calls += 1
      if (calls === 5) marked.resolve()
      if (calls === 10) checked.resolve()
      return checked.promise
    }
    const first = made.inbox.sweep()
    await marked.promise
    const passes = await Promise.all([first, made.inbox.sweep()])
    held = null
    expect(passes.reduce((sum, { expired_unfetched }) => sum + expired_unfetched, 0)).toBe(5)
    await expectGone(made, box)
  })

  test('the next pass finishes the files that a crashed pass marked', async () => {
    const made = sharedScene()
    const box = await mailbox(made)
    const [file = ''] = await box.sent('a')
    await ack(box, file)
    await made.tables.db.updateTable('uploads_file').set({ swept_at: made.tables.now }).execute()
    expect(await made.inbox.sweep()).toEqual({ ...NONE, acked: 1 })
    await expectGone(made, box)
  })

  test('E44 one pass deletes more than a batch of 500; an aborted pass leaves the rest to the next', async () => {
    const made = sharedScene()
    const box = await mailbox(made)
    const { tables } = made
    const now = Date.now()
    const rows = Array.from({ length: 1_100 }, (_, n) => ({
      mailbox: box.id,
      id: `${String(n).padStart(8, '0')}-0000-7000-8000-000000000000`,
      upload: '00000000-0000-7000-8000-000000000000',
      n: 0,
      name: 'x',
      type: '',
      size: 1,
      sha256: 'a'.repeat(64),
      created_at: now,
      expires_at: 1,
      first_fetched_at: null,
      last_fetched_at: null,
      fetches: 0,
      acked_at: null,
      swept_at: null,
    }))
    for (let at = 0; at < rows.length; at += 550)
      await tables.db
        .insertInto('uploads_file')
        .values(rows.slice(at, at + 550))
        .execute()
    const stopped = new AbortController()
    stopped.abort()
    expect(await made.inbox.sweep(stopped.signal)).toEqual(NONE)
    expect(await made.inbox.sweep()).toEqual({ ...NONE, expired_unfetched: 1_100 })
    await expectGone(made, box)
  })

  testEverywhere(
    'E44 a blob that cannot be deleted keeps its row, blocks no other, fails the pass, and is deleted later',
    async () => {
      const made = sharedScene()
      const box = await mailbox(made)
      await box.sent('a', 'b', 'c')
      made.later(DAY_MS)
      stuck = '/1'
      await expect(made.inbox.sweep()).rejects.toThrow('1 blob could not be deleted')
      expect(await leftOf(made, box)).toMatchObject({ files: 1, blobs: 1 })
      stuck = ''
      expect(await made.inbox.sweep()).toEqual({ ...NONE, expired_unfetched: 1 })
      await expectGone(made, box)
    },
  )

  testEverywhere(
    'E35 the leftovers of a crashed upload are found by its staging row, after an hour and not before',
    async () => {
      const made = sharedScene()
      const box = await mailbox(made)
      const upload = '00000000-0000-7000-8000-00000000000a'
      await made.tables.db
        .insertInto('uploads_staging')
        .values({ upload, mailbox: box.id, begun_at: made.tables.now, swept_at: null })
        .execute()
      const [orphan] = await orphans(made, upload)
      expect(orphan).toContain(upload)
      expect(await made.inbox.sweep()).toEqual(NONE)
      made.later(HOUR_MS)
      expect(await made.inbox.sweep()).toEqual({ ...NONE, orphan_blob: 2 })
      await expectGone(made, box)
    },
  )

  testEverywhere(
    'orphaned blobs, as after a restore, are deleted when they are old; those of files stay',
    async () => {
      const made = sharedScene()
      const box = await mailbox(made)
      await box.sent('kept')
      const kept = await made.blobs()
      const { created_at: now } = await made.tables.db
        .selectFrom('uploads_file')
        .select('created_at')
        .where('mailbox', '=', box.id)
        .executeTakeFirstOrThrow()
      const old = idAt(now - 26 * HOUR_MS)
      await orphans(made, old)
      // For a blob in the database, the first chunk may be the missing one.
      if (!hasFolder(place))
        await sql`UPDATE ${made.tables.table('uploads_chunk')} SET n = n + 3 WHERE blob LIKE ${`${old}/%`}`.execute(
          made.tables.db,
        )
      await orphans(made, idAt(now - 20 * HOUR_MS))
      expect(await made.inbox.sweep()).toEqual({ ...NONE, orphan_blob: 2 })
      expect((await made.blobs()).filter((blob) => !kept.includes(blob))).toHaveLength(2)
      // The younger one and the file are old enough by now, but the file has a row.
      made.later(6 * HOUR_MS)
      expect(await made.inbox.sweep()).toEqual({ ...NONE, orphan_blob: 2 })
      expect(await made.blobs()).toEqual(kept)
      made.later(DAY_MS)
      await made.inbox.sweep()
      await expectGone(made, box)
    },
  )

  test('B8 E44 a pass of the duty ends in time, requests the next one, and resumes the scan', async () => {
    const made = sharedScene()
    const box = await mailbox(made)
    let over: (() => void) | null = null
    const platform: Platform = {
      ...systemPlatform,
      timer(ms, task, options) {
        if (ms !== 15_000) return systemPlatform.timer(ms, task, options)
        over = task
        return { cancel() {} }
      },
    }
    const { blobs, listed } = countingBlobs(made.store, () => over?.())
    const inbox = uploads({ tables: made.tables, blobs, platform })
    expect(inbox.duty.deadline).toBeUndefined()
    const { signal } = new AbortController()
    let asked = 0
    const pass = () => inbox.duty.run({ signal, again: () => void (asked += 1) })
    const sum = (counts: Awaited<ReturnType<typeof pass>>): number =>
      Object.values(counts ?? {}).reduce((a, b) => a + b, 0)
    for (let n = 0; n < 12; n += 1) await box.sent('x')
    made.later(DAY_MS)
    const { now } = await made.tables.db
      .selectNoFrom(sql<number>`CAST(${made.tables.now} AS bigint)`.as('now'))
      .executeTakeFirstOrThrow()
    await orphans(made, idAt(now - 27 * HOUR_MS))
    await orphans(made, idAt(now - 26 * HOUR_MS))
    const counts: number[] = []
    do counts.push(sum(await pass()))
    while (asked === counts.length)
    // Some per pass, all in the end, and no repeated listing.
    expect(counts.length).toBeGreaterThan(3)
    expect(counts.every((count) => count < 12)).toBe(true)
    expect(counts.reduce((a, b) => a + b, 0)).toBe(16)
    expect(listed()).toBe(1)
    await expectGone(made, box)
  })

  test('an upload that the sweep considered dead cannot commit', async () => {
    const made = sharedScene()
    const box = await mailbox(made)
    const upload = await slowUpload(made, box)
    made.later(HOUR_MS)
    await made.inbox.sweep()
    expect(await upload.end()).toBe(408)
    await expectGone(made, box)
  })

  testEverywhere('nor can one that is marked and not yet deleted', async () => {
    const made = sharedScene()
    const box = await mailbox(made)
    const upload = await slowUpload(made, box)
    made.later(HOUR_MS)
    let status: number | undefined
    between = async (point) => {
      if (point !== 'sweep:staging-marked') return
      between = null
      status = await upload.end()
    }
    onTestFinished(() => void (between = null))
    await made.inbox.sweep()
    expect(status).toBe(408)
    await expectGone(made, box)
  })

  testEverywhere('nor one whose token was revoked during the upload: 401, and nothing is left', async () => {
    const made = sharedScene()
    const box = await mailbox(made)
    const upload = await slowUpload(made, box)
    const [token] = await made.inbox.tokens.list(box.id)
    await made.inbox.tokens.revoke(token?.id ?? '')
    expect(await upload.end()).toBe(401)
    await expectGone(made, box)
  })

  testEverywhere.runIf(place === 'postgres')(
    'B3 B6 an acknowledgement that commits while its file expires keeps its retention',
    async () => {
      const made = sharedScene()
      const box = await mailbox(made)
      const [file = ''] = await box.sent('a')
      const { tables, inbox } = made
      const schema = new URL(made.address).searchParams.get('schema')
      const waiting = sql<{ n: number }>`SELECT count(*) AS n FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND query LIKE ${`update "${schema}_uploads"."uploads_file"%`}`
      const sweeping = await tables.transaction(async (db) => {
        made.later(DAY_MS - HOUR_MS / 2)
        await db.updateTable('uploads_file').set({ acked_at: tables.now }).where('id', '=', file).execute()
        made.later(HOUR_MS / 2)
        const pass = inbox.sweep()
        await expect.poll(async () => (await waiting.execute(tables.db)).rows[0]?.n).toBe(1)
        return { pass }
      })
      expect(await sweeping.pass).toEqual(NONE)
      expect(await (await box.ask(`/uploads/${file}/content`)).text()).toBe('a')
      made.later(HOUR_MS / 2)
      expect(await inbox.sweep()).toEqual({ ...NONE, acked: 1 })
      await expectGone(made, box)
    },
  )

  test('E47 a removed mailbox closes immediately, and the next sweep deletes its files only', async () => {
    const made = sharedScene()
    const [box, other] = [await mailbox(made), await mailbox(made)]
    const [file = ''] = await box.sent('a', 'b')
    const [kept = ''] = await other.sent('c')
    expect(await made.inbox.mailboxes.remove(box.id.toUpperCase())).toBe(true)
    expect(await made.inbox.mailboxes.remove(box.id)).toBe(false)
    for (const path of ['/uploads', `/uploads/${file}/content`, '/limits'])
      expect((await box.ask(path)).status).toBe(401)
    expect((await box.upload([{ bytes: 'x' }])).status).toBe(401)
    expect((await made.inbox.mailboxes.list()).map(({ id }) => id)).not.toContain(box.id)
    expect(await made.inbox.sweep()).toEqual({ ...NONE, mailbox_removed: 2 })
    expect(await made.blobs()).toHaveLength(1)
    expect(await leftOf(made, box)).toMatchObject({ files: 0, notices: 0, uploads: 0 })
    const { db } = made.tables
    expect(await db.selectFrom('uploads_token').select('id').where('mailbox', '=', box.id).execute()).toEqual(
      [],
    )
    expect(await db.selectFrom('uploads_mailbox').select('id').where('id', '=', box.id).execute()).toEqual([])
    expect((await other.ask(`/uploads/${kept}/content`)).status).toBe(200)
    made.later(DAY_MS)
    await made.inbox.sweep()
  })
})

test('B3 ackRetention: 0 is the next sweep, unset is an hour, negative is refused', async () => {
  const made = await scene('sqlite', { ackRetention: 0 })
  const box = await mailbox(made)
  const [file = ''] = await box.sent('a')
  await box.ask(`/uploads/${file}/ack`, { method: 'POST' })
  expect(await made.inbox.sweep()).toMatchObject({ acked: 1 })
  const { tables } = made
  const blobs = postgresBlobs(tables)
  expect(uploads({ tables, blobs }).limits).toEqual(LIMITS)
  for (const ackRetention of [-1, '-1s'])
    expect(() => uploads({ tables, blobs, ackRetention })).toThrow(/ackRetention: must not be negative/)
  for (const wrong of [{ expireAfter: 'soon' }, { maxFiles: 65 }, { quotaBytes: -1 }, { sweepEvery: 5 }])
    expect(() => uploads({ tables, blobs, ...wrong })).toThrow(Object.keys(wrong)[0] ?? '')
  await expect(uploads({ tables, blobs }).start()).rejects.toThrow(
    'blobs: storing files in the database requires PostgreSQL',
  )
  await made.close()
})

test('an unknown option is refused with a suggestion; and so is job without a mill', async () => {
  const made = await scene('sqlite')
  const { tables, store: blobs } = made
  const wrong = (more: object) => () => uploads({ tables, blobs, ...more })
  expect(wrong({ ackRetentoin: 1 })).toThrow(/^ackRetentoin: is not an option.*Did you mean "ackRetention"/)
  expect(wrong({ bogus: 1 })).toThrow('bogus: is not an option')
  expect(wrong({ job: { kind: 'a', queu: 'b' } })).toThrow(
    /^job\.queu: is not an option.*Did you mean "queue"/,
  )
  const inbox = uploads({ tables, blobs, job: { kind: 'photo.shrink' } })
  await expect(inbox.start()).rejects.toThrow('job: needs a mill to enqueue jobs for files')
  await made.close()
})

test('a failed start can be retried', async () => {
  const made = await scene('sqlite')
  let isAway = true
  const blobs: BlobStore = {
    ...made.store,
    open: (id) => (isAway ? Promise.reject(new Error('the disk is away')) : made.store.open(id)),
  }
  const inbox = uploads({ tables: made.tables, blobs })
  await expect(inbox.start()).rejects.toThrow('the disk is away')
  isAway = false
  await inbox.start()
  await made.close()
})

describe('the duty of a mill', () => {
  test('B8 sweeps at the start, E44 counts with every series from zero, and reports pending files', async () => {
    const { made, inbox, tables, ask } = await mill(() => false)
    const form = new FormData()
    for (const name of ['a', 'b']) form.append('files', new Blob(['xyz']), name)
    const { files } = (await (await ask('/uploads', { method: 'POST', body: form })).json()) as {
      files: { id: string }[]
    }
    const before = readExposition(await made.prometheus())
    for (const outcome of Object.keys(NONE))
      expect(valueOf(before, 'jobmill_uploads_swept_total', { outcome })).toBe(0)
    expect(valueOf(before, 'jobmill_uploads_pending_files')).toBe(2)
    expect(valueOf(before, 'jobmill_uploads_pending_bytes')).toBe(6)
    expect(valueOf(before, 'jobmill_uploads_oldest_pending_seconds')).toBeGreaterThanOrEqual(0)
    await ask(`/uploads/${files[0]?.id}/ack`, { method: 'POST' })
    await made.start()
    await expect.poll(() => inbox.swept().acked).toBe(1)
    const after = readExposition(await made.prometheus())
    expect(valueOf(after, 'jobmill_uploads_swept_total', { outcome: 'acked' })).toBe(1)
    expect(valueOf(after, 'jobmill_uploads_pending_files')).toBe(1)
    await expect
      .poll(async () => (await made.duties()).find(({ name }) => name === 'sweep-uploads')?.lastSuccessAt)
      .not.toBeNull()
    await inbox.stop()
    await made.stop()
    await tables.close()
  })

  test('B9 E45 a failed pass is counted by the duty and retried; the file counters are unaffected', async () => {
    let isBroken = true
    const { made, inbox, tables, ask } = await mill(() => isBroken)
    const form = new FormData()
    form.append('files', new Blob(['xyz']), 'a')
    const { files } = (await (await ask('/uploads', { method: 'POST', body: form })).json()) as {
      files: { id: string }[]
    }
    await ask(`/uploads/${files[0]?.id}/ack`, { method: 'POST' })
    const errors = async (): Promise<number | undefined> =>
      valueOf(readExposition(await made.prometheus()), 'jobmill_duty_errors_total', { duty: 'sweep-uploads' })
    await made.start()
    await expect.poll(errors).toBeGreaterThan(0)
    expect(inbox.swept()).toEqual(NONE)
    isBroken = false
    await expect.poll(() => inbox.swept().acked).toBe(1)
    await inbox.stop()
    await made.stop()
    await tables.close()
  })

  test('per mailbox, if enabled', async () => {
    const made = await scene('sqlite', { metricsByMailbox: true })
    const [box, other] = [await mailbox(made), await mailbox(made)]
    await box.sent('a', 'bc')
    await other.sent('d')
    const families = readExposition(await made.mill.prometheus())
    expect(valueOf(families, 'jobmill_uploads_pending_bytes', { mailbox: box.id })).toBe(3)
    expect(valueOf(families, 'jobmill_uploads_pending_files', { mailbox: other.id })).toBe(1)
    await made.close()
  })
})
