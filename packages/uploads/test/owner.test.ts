/** A blob folder belongs to the inbox of one database. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { openTables } from 'jobmill-tables'
import { directoryBlobs, type Schema, STEPS, uploads } from 'jobmill-uploads'
import { afterEach, describe, expect, vi } from 'vitest'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import { freshFile } from '../../../test/support/databases.ts'
import { addressOf, dropTables, STORES } from './support/inboxes.ts'

const MARKER = '.jobmill-uploads-inbox'
const closing: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

async function startOn(
  address: string,
  folder: string,
): Promise<{ id: string; sweep: () => Promise<unknown> }> {
  const { tables } = await openTables<Schema>(address, { app: 'uploads', steps: STEPS })
  closing.push(() => tables.close())
  const inbox = uploads({ tables, blobs: directoryBlobs(folder) })
  await inbox.start()
  const { id } = await tables.db.selectFrom('uploads_inbox').select('id').executeTakeFirstOrThrow()
  return { id, sweep: () => inbox.sweep() }
}

const ownerOf = (folder: string): string => readFileSync(path.join(folder, MARKER), 'utf8')

describe.each(STORES)('a folder of blobs on %s', (store) => {
  const test = inTurns(store, STORES)
  function place(): { address: string; folder: string } {
    const address = addressOf(store)
    const folder = `${freshFile()}-blobs`
    closing.push(() => dropTables(address))
    return { address, folder }
  }

  test('belongs to its inbox from the first start, across restarts and concurrent starts', async () => {
    const { address, folder } = place()
    const all = await Promise.all([1, 2, 3].map(() => startOn(address, folder)))
    const { id } = await startOn(address, folder)
    expect(all.map((one) => one.id)).toEqual([id, id, id])
    expect(ownerOf(folder)).toBe(`${id}\n`)
    expect(readdirSync(folder).filter((name) => name !== '.reserve')).toEqual([MARKER])
  })

  test.runIf(true)(
    'D3 belongs to the same inbox after its tables were lost and created again, also for the next start',
    async () => {
      const { address, folder } = place()
      const { id, sweep } = await startOn(address, folder)
      if (store === 'postgres') await dropTables(address)
      else {
        const empty = freshFile()
        // Like a backup from before the first migration.
        new Database(empty).exec('CREATE TABLE uploads_migration (n integer PRIMARY KEY)').close()
        renameSync(empty, address)
      }
      await vi.waitFor(sweep, { timeout: 20_000, interval: 100 })
      expect(await startOn(address, folder)).toMatchObject({ id })
      expect(ownerOf(folder)).toBe(`${id}\n`)
    },
    30_000,
  )

  test('is refused to another database with the field and the fix, and stays unchanged', async () => {
    const { address, folder } = place()
    const { id } = await startOn(address, folder)
    const blob = path.join(folder, '01', '00000000-0000-7000-8000-000000000001', '0')
    mkdirSync(path.dirname(blob), { recursive: true })
    writeFileSync(blob, 'x')
    const other = place().address
    const refused: unknown = await startOn(other, folder).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'OPTION_CONFLICT', field: 'blobs' })
    expect(String(refused)).toContain(`belongs to inbox ${id} of another database`)
    expect(String(refused)).toContain(`Delete ${path.join(folder, MARKER)} only if`)
    expect(ownerOf(folder)).toBe(`${id}\n`)
    expect(existsSync(blob)).toBe(true)
  })

  test('goes to one of two databases that start at the same time', async () => {
    const { address, folder } = place()
    const other = place().address
    const both = await Promise.allSettled([startOn(address, folder), startOn(other, folder)])
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  test('without a marker is claimed, even with old blobs in it; one with an empty marker is not', async () => {
    const { address, folder } = place()
    mkdirSync(path.join(folder, '01'), { recursive: true })
    const { id } = await startOn(address, folder)
    expect(ownerOf(folder)).toBe(`${id}\n`)
    writeFileSync(path.join(folder, MARKER), '')
    await expect(startOn(address, folder)).rejects.toThrow('blobs: folder')
    rmSync(path.join(folder, MARKER))
    await startOn(address, folder)
    expect(ownerOf(folder)).toBe(`${id}\n`)
  })
})
