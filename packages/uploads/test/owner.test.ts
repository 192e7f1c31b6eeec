/** A folder of blobs belongs to the inbox of one database. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { openTables } from 'jobmill-tables'
import { directoryBlobs, type Schema, STEPS, uploads } from 'jobmill-uploads'
import { afterEach, describe, expect } from 'vitest'
import { inTurns } from '../../../test/support/in-turns.ts'
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

  test('is its own from the first start on, also for the next process, and for several at once', async () => {
    const { address, folder } = place()
    const all = await Promise.all([1, 2, 3].map(() => startOn(address, folder)))
    const { id } = await startOn(address, folder)
    expect(all.map((one) => one.id)).toEqual([id, id, id])
    expect(ownerOf(folder)).toBe(`${id}\n`)
    expect(readdirSync(folder).filter((name) => name !== '.reserve')).toEqual([MARKER])
  })

  test('is refused to another database, by the name of the field and with the fix, and nothing in it changes', async () => {
    const { address, folder } = place()
    const { id } = await startOn(address, folder)
    const blob = path.join(folder, '01', '00000000-0000-7000-8000-000000000001', '0')
    mkdirSync(path.dirname(blob), { recursive: true })
    writeFileSync(blob, 'x')
    const other = place().address
    const refused: unknown = await startOn(other, folder).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'OPTION_CONFLICT', field: 'blobs' })
    expect(String(refused)).toContain(`belongs to the inbox ${id} of another database`)
    expect(String(refused)).toContain(`delete ${path.join(folder, MARKER)} only when`)
    expect(ownerOf(folder)).toBe(`${id}\n`)
    expect(existsSync(blob)).toBe(true)
  })

  test('of two databases that come at the same time belongs to one', async () => {
    const { address, folder } = place()
    const other = place().address
    const both = await Promise.allSettled([startOn(address, folder), startOn(other, folder)])
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  test('that is nobody’s is taken, also with blobs in it from before there were markers; one whose marker says nothing is not', async () => {
    const { address, folder } = place()
    mkdirSync(path.join(folder, '01'), { recursive: true })
    const { id } = await startOn(address, folder)
    expect(ownerOf(folder)).toBe(`${id}\n`)
    writeFileSync(path.join(folder, MARKER), '')
    await expect(startOn(address, folder)).rejects.toThrow('blobs: the folder')
    rmSync(path.join(folder, MARKER))
    await startOn(address, folder)
    expect(ownerOf(folder)).toBe(`${id}\n`)
  })
})
