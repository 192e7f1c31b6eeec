/**
 * Kills the inbox at every fault point, on both stores, with blobs in PostgreSQL or in a folder: every
 * response stays true, a retry creates no duplicates, every row has its blob, and the next sweep leaves no
 * orphans.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openTables } from 'jobmill-tables'
import {
  type BlobStore,
  directoryBlobs,
  FAULT_POINTS,
  type FaultPoint,
  type Inbox,
  postgresBlobs,
  type Schema,
  STEPS,
  uploads,
  type UploadsOptions,
} from 'jobmill-uploads'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { killAtEnd } from '../../../test/support/programs/kill-at-end.ts'
import { inFull } from '../../../test/support/suite/in-full.ts'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import { bundled } from '../../../test/support/programs/programs.ts'
import { addressOf, dropTables, filesIn, hasFolder, PLACES, sha256 } from './support/inboxes.ts'
import { CONTENTS, KEY, NOBODYS, type StepReport } from './support/way-of-files.ts'

const HOUR_MS = 3_600_000

async function die(args: readonly string[]): Promise<{ steps: StepReport[]; signal: string | null }> {
  const program = bundled(path.join(import.meta.dirname, 'support/dying.ts'))
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  killAtEnd(child)
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  if (code !== null && code !== 0) throw new Error(`it failed on its own: ${err}`)
  const lines = out.split('\n').filter((line) => line !== '')
  return { steps: lines.map((line) => JSON.parse(line) as StepReport), signal }
}

// Each test is a process, which starts slowly on a busy machine.
describe.each(PLACES)('kill -9 on %s', { timeout: 60_000 }, (place) => {
  const test = inTurns(place, PLACES)
  let address = ''
  let tables: UploadsOptions['tables']
  let inbox: Inbox
  let store: BlobStore
  let aheadMs = 0
  const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-dying-'))

  beforeAll(async () => {
    address = addressOf(place)
    const options = { app: 'uploads', steps: STEPS, clock: () => Date.now() + aheadMs }
    ;({ tables } = await openTables<Schema>(address, options))
    store = hasFolder(place) ? directoryBlobs(folder) : postgresBlobs(tables)
    inbox = uploads({ tables, blobs: store, ackRetention: 0 })
    await inbox.start()
  })
  afterAll(async () => {
    await inbox.stop()
    await tables.close()
    await dropTables(address)
    rmSync(folder, { recursive: true, force: true })
  })

  async function blobsThere(): Promise<string[]> {
    if (hasFolder(place))
      return filesIn(folder).map((name) => name.split(path.sep).slice(1).join('/').replace('.part', ''))
    const rows = await tables.db.selectFrom('uploads_chunk').select('blob').distinct().execute()
    return rows.map(({ blob }) => blob)
  }

  /** A pass that finds leftovers by their rows alone: the blob listing is empty. */
  async function onlyRows(): Promise<void> {
    const blobs = { ...store, async *uploads() {} }
    await uploads({ tables, blobs, ackRetention: 0 }).sweep()
  }

  async function sender() {
    const { id } = await inbox.mailboxes.add({ name: 'a' })
    const { token } = await inbox.tokens.add(id)
    const ask = async (at: string, init: RequestInit = {}): Promise<Response> => {
      const headers = { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) }
      const response = await inbox.fetch(
        new Request(`http://here/mailboxes/${id}${at}`, { ...init, headers }),
      )
      if (response === null) throw new Error('not its own')
      return response
    }
    return { id, token, ask }
  }

  async function dieAt(point: FaultPoint | 'never'): Promise<void> {
    aheadMs = 0
    const { id, token, ask } = await sender()
    const { steps, signal } = await die([address, hasFolder(place) ? folder : '', point, id, token])
    expect(signal).toBe(point === 'never' ? null : 'SIGKILL')

    // Visible files are complete, and acknowledged uploads exist unless they may have been swept.
    const uploaded = steps.flatMap((one) => ('uploaded' in one ? one.uploaded : []))
    const fetched = steps.flatMap((one) => ('fetched' in one ? [one.fetched] : []))
    const { files } = (await (await ask('/uploads?state=all')).json()) as {
      files: { id: string; sha256: string }[]
    }
    for (const file of files) {
      const content = await ask(`/uploads/${file.id}/content`)
      expect(sha256(new Uint8Array(await content.arrayBuffer()))).toBe(file.sha256)
    }
    const kept = uploaded.filter((file) => point === 'ack:before' || !fetched.includes(file))
    expect(files.map((file) => file.id)).toEqual(expect.arrayContaining(kept))

    // A retry with its key gives the same files, and no more.
    const form = new FormData()
    for (const content of CONTENTS) form.append('files', new Blob([content]), 'a.bin')
    const again = await ask('/uploads', { method: 'POST', body: form, headers: { 'idempotency-key': KEY } })
    const answer = (await again.json()) as { files: { id: string }[] }
    expect(answer.files).toHaveLength(CONTENTS.length)
    const answered = answer.files.map((file) => file.id)
    expect(answered).toEqual(uploaded.length > 0 ? uploaded : answered)
    const rows = await tables.db.selectFrom('uploads_file').select('id').execute()
    expect(rows.map((row) => row.id).filter((one) => !answered.includes(one))).toEqual([])

    // After the staging time, the next pass leaves no blob without a row, even without the orphan scan;
    // except the one that never had a row.
    aheadMs = 2 * HOUR_MS
    await onlyRows()
    const known = await tables.db.selectFrom('uploads_file').select(['upload', 'n']).execute()
    const named = known.map(({ upload, n }) => `${upload}/${n}`)
    expect((await blobsThere()).filter((blob) => !blob.startsWith(NOBODYS)).toSorted()).toEqual(
      named.toSorted(),
    )

    // A day later, nothing is left.
    aheadMs = 25 * HOUR_MS
    await inbox.sweep()
    for (const table of ['uploads_file', 'uploads_notice', 'uploads_staging', 'uploads_chunk'] as const)
      expect(await tables.db.selectFrom(table).selectAll().execute()).toEqual([])
    expect(filesIn(folder)).toEqual([])
  }

  // The nightly run covers all points in all places; other runs cover a third.
  const points = ([...FAULT_POINTS, 'never'] as const).filter((_, at) => inFull(true, at % 3 === 0))
  for (const point of points) test(`at ${point}`, () => dieAt(point))
})
