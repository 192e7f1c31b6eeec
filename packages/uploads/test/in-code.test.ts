/**
 * The inbox in code: put, get and ack without HTTP and in the caller's transaction, ids and tokens of the
 * host, and requests for other mailboxes. On both stores.
 */
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { beforeAll, describe, expect, onTestFinished, test as testEverywhere } from 'vitest'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import { directoryBlobs } from '../src/blobs/directory.ts'
import { postgresBlobs } from '../src/blobs/postgres.ts'
import { mailbox, pending, type Scene, sceneForAll, STORES } from './support/inboxes.ts'

/** A transaction on the caller's own connection. */
async function begin({
  address,
}: Scene): Promise<{ tx: unknown; end: (how: 'COMMIT' | 'ROLLBACK') => Promise<void> }> {
  if (!address.startsWith('postgres')) {
    const tx = new Sqlite(address)
    onTestFinished(() => void tx.close())
    tx.exec('BEGIN IMMEDIATE')
    return { tx, end: async (how) => void tx.exec(how) }
  }
  const url = new URL(address)
  url.searchParams.delete('schema')
  const tx = new pg.Client({ connectionString: url.href })
  await tx.connect()
  onTestFinished(() => tx.end())
  await tx.query('BEGIN')
  return { tx, end: async (how) => void (await tx.query(how)) }
}

/** Transactions in which a statement fails, or returns something unusable. */
const SPOILED: Readonly<Record<string, (client: pg.Client) => unknown>> = {
  'returns nothing': (client) => async (text: string, values: unknown[]) =>
    void (await client.query(text, values)),
  'renames columns': (client) => async (text: string, values: unknown[]) => {
    const { rows } = await client.query<Record<string, unknown>>(text, values)
    return rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name.toUpperCase(), value])),
    )
  },
  async aborted(client) {
    await client.query('SELECT 1 / 0').catch(() => {})
    return client
  },
  async 'read-only'(client) {
    await client.query('SET TRANSACTION READ ONLY')
    return client
  },
}

const codeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'accepted',
    (error: unknown) => (error as { code: unknown }).code,
  )

async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

async function statusOf(asked: Promise<Response>): Promise<number> {
  const response = await asked
  await response.arrayBuffer()
  return response.status
}

describe.each(STORES)('the inbox in code on %s', (store) => {
  const test = inTurns(store, STORES)
  const lines: string[] = []
  const sharedScene = sceneForAll(store, {
    maxFileBytes: 100,
    log: (level, message, fields) => void lines.push(`${level} ${message} ${JSON.stringify(fields)}`),
  })
  // A mill opens its store at the first use. Open it once for all tests.
  beforeAll(() => sharedScene().mill.open())

  test('A put, get and ack match HTTP, with limits, keys and named errors', async () => {
    const { inbox } = sharedScene()
    const box = await mailbox(sharedScene(), { quotaFiles: 2 })
    const files = [{ name: '../a b.txt', type: 'text/plain', bytes: 'hello' }]
    const {
      files: [file],
    } = await inbox.put(box.id, files, { key: 'k' })
    const {
      files: [again],
    } = await inbox.put(box.id, files, { key: 'k' })
    expect(again).toEqual(file)
    const got = await inbox.get(box.id, file?.id ?? '')
    expect([got.name, await textOf(got.bytes)]).toEqual(['a_b.txt', 'hello'])
    expect(await (await box.ask(`/uploads/${file?.id}`)).json()).toMatchObject({ fetches: 1, size: 5 })
    await expect(inbox.ack(box.id, file?.id ?? '', { sha256: 'a'.repeat(64) })).rejects.toMatchObject({
      code: 'HASH_DIFFERS',
    })
    expect(await inbox.ack(box.id, file?.id ?? '', { sha256: file?.sha256 ?? '' })).toEqual({ acked: true })
    const large = [{ name: 'x', bytes: Buffer.alloc(101) }]
    await expect(inbox.put(box.id, large)).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' })
    const two = [
      { name: 'x', bytes: 'x' },
      { name: 'y', bytes: 'y' },
    ]
    await expect(inbox.put(box.id, two)).rejects.toMatchObject({ code: 'QUOTA_FILES' })
    await expect(inbox.put(inbox.limits.maxFiles as never, two)).rejects.toMatchObject({ field: 'mailbox' })
    await expect(inbox.put(box.id, [])).rejects.toMatchObject({ field: 'files' })
    await expect(inbox.put(box.id, [{ name: 'x' } as never])).rejects.toMatchObject({
      field: 'files[0].bytes',
    })
    await expect(inbox.put('00000000-0000-7000-8000-000000000000', two)).rejects.toMatchObject({
      code: 'MAILBOX_UNKNOWN',
    })
  })

  testEverywhere(
    'A put and ack in the caller’s transaction apply when it commits, and not when it rolls back',
    async () => {
      const { inbox } = sharedScene()
      const box = await mailbox(sharedScene(), { quotaFiles: 2 })
      for (const how of ['ROLLBACK', 'COMMIT'] as const) {
        const { tx, end } = await begin(sharedScene())
        await inbox.put(box.id, [{ name: 'a', bytes: 'a' }], { tx })
        // A refusal leaves the transaction usable.
        const two = [
          { name: 'b', bytes: 'b' },
          { name: 'c', bytes: 'c' },
        ]
        await expect(inbox.put(box.id, two, { tx })).rejects.toMatchObject({ code: 'QUOTA_FILES' })
        await end(how)
        expect((await pending(box)).files.map(({ name }) => name)).toEqual(how === 'COMMIT' ? ['a'] : [])
      }
      const [file] = (await pending(box)).files
      const { tx, end } = await begin(sharedScene())
      expect(await inbox.ack(box.id, file?.id ?? '', { tx })).toEqual({ acked: true })
      await end('ROLLBACK')
      expect((await pending(box)).files).toHaveLength(1)
      expect(await textOf((await inbox.get(box.id, file?.id ?? '')).bytes)).toBe('a')
      await expect(inbox.ack(box.id, file?.id ?? '', { tx })).rejects.toMatchObject({
        code: 'TX_INVALID',
        field: 'tx',
      })
      await expect(inbox.put(box.id, [{ name: 'a', bytes: 'a' }], { tx: 5 })).rejects.toMatchObject({
        field: 'tx',
      })
    },
  )

  testEverywhere.runIf(store === 'postgres')(
    'D10 a transaction that cannot be used is refused with the error of mill.enqueue',
    async () => {
      const { inbox, mill } = sharedScene()
      const box = await mailbox(sharedScene())
      const codes: Record<string, unknown> = {}
      for (const [name, spoil] of Object.entries(SPOILED)) {
        const given = async (): Promise<unknown> => spoil((await begin(sharedScene())).tx as pg.Client)
        codes[name] = [
          await codeOf(mill.enqueue('any', {}, { tx: (await given()) as never })),
          await codeOf(inbox.put(box.id, [{ name: 'a', bytes: 'a' }], { tx: await given() })),
        ]
      }
      expect(codes).toEqual({
        'returns nothing': ['TX_INVALID', 'TX_INVALID'],
        'renames columns': ['TX_INVALID', 'TX_INVALID'],
        // Errors of the caller's driver, with its codes.
        aborted: ['TX_INVALID', 'TX_INVALID'],
        'read-only': ['25006', '25006'],
      })
      expect((await pending(box)).files).toEqual([])
    },
  )

  test('A a mailbox accepts the id and token of the host application, each validated by name', async () => {
    const { inbox, url } = sharedScene()
    const id = crypto.randomUUID()
    const token = crypto.randomUUID()
    expect(await inbox.mailboxes.add({ name: 'host', id: id.toUpperCase(), token })).toMatchObject({ id })
    const asked = await fetch(`${url}/mailboxes/${id}/uploads`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(asked.status).toBe(200)
    const wrong: [object, string][] = [
      [{ id: 'x' }, 'id'],
      [{ id }, 'id'],
      [{ token: 'short' }, 'token'],
      [{ token }, 'token'],
    ]
    for (const [options, field] of wrong)
      await expect(inbox.mailboxes.add({ name: 'other', ...options })).rejects.toMatchObject({ field })
    await expect(inbox.tokens.add(id, { token })).rejects.toMatchObject({
      code: 'OPTION_CONFLICT',
      field: 'token',
    })
  })

  test('A unknown options of mailboxes and tokens are refused; a misspelled right is not the widest one', async () => {
    const { inbox } = sharedScene()
    const box = await inbox.mailboxes.add({ name: 'strict' })
    const cases: [() => Promise<unknown>, string][] = [
      [() => inbox.tokens.add(box.id, { my: 'upload' } as never), 'options.my'],
      [() => inbox.tokens.add(box.id, { label: 5 } as never), 'label'],
      [() => inbox.tokens.add(undefined as never), 'mailbox'],
      [() => inbox.tokens.list(undefined as never), 'mailbox'],
      [() => inbox.tokens.revoke(undefined as never), 'token'],
      [() => inbox.mailboxes.add({ name: 'other', quotaByte: 1 } as never), 'mailbox.quotaByte'],
      [() => inbox.mailboxes.add(undefined as never), 'mailbox'],
      [() => inbox.mailboxes.add({} as never), 'name'],
      [() => inbox.mailboxes.remove(undefined as never), 'mailbox'],
    ]
    for (const [call, field] of cases)
      await expect(call()).rejects.toMatchObject({
        name: 'JobmillError',
        field,
        fix: expect.any(String) as string,
      })
    expect(await inbox.tokens.list(box.id)).toEqual([])
    for (const make of [postgresBlobs, directoryBlobs])
      expect(() => make(undefined as never)).toThrow(
        expect.objectContaining({ name: 'JobmillError', fix: expect.any(String) as string }),
      )
  })

  test('A a request for another mailbox or its file is counted and logged, and answered as unknown', async () => {
    const scene = sharedScene()
    const [box, other] = [await mailbox(scene), await mailbox(scene)]
    const [file = ''] = await other.sent('a')
    const count = async (target: string): Promise<number> =>
      Number(
        new RegExp(`^jobmill_uploads_foreign_requests_total{target="${target}"} (\\d+)$`, 'm').exec(
          await scene.mill.prometheus(),
        )?.[1],
      )
    const before = [await count('mailbox'), await count('file')]
    const headers = { authorization: `Bearer ${box.token}` }
    expect(await statusOf(fetch(`${scene.url}/mailboxes/${other.id}/uploads`, { headers }))).toBe(401)
    expect(await statusOf(box.ask(`/uploads/${file}`))).toBe(404)
    expect(await statusOf(box.ask('/uploads/00000000-0000-7000-8000-000000000000'))).toBe(404)
    await expect.poll(() => count('file')).toBe((before[1] ?? 0) + 1)
    expect(await count('mailbox')).toBe((before[0] ?? 0) + 1)
    // At most one line in ten seconds.
    expect(lines.filter((line) => line.includes(box.id))).toEqual([
      expect.stringMatching(/^warn uploads: token used for another mailbox/),
    ])
  })
})
