/**
 * The index: maps each uri to its file in the folder and whether it is acknowledged. It consists of JSON
 * lines; the last line of a uri wins, and a line cut off by a crash is ignored.
 */
import { constants } from 'node:fs'
import { type FileHandle, open, readFile, rename } from 'node:fs/promises'
import path from 'node:path'
import { flushFolder, ifMissing, withFile } from '../../files.ts'
import { type Listed, listedOf } from '../http/listing.ts'
import { fileNameOf } from './place.ts'

export interface Entry extends Listed {
  /** The file name in the folder. */
  readonly file: string
  /**
   * When the file was acknowledged, or was gone from the inbox; its retention starts here. Null until then.
   */
  readonly doneAt: number | null
}

export type FileIndex = Awaited<ReturnType<typeof openIndex>>

const FILE = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}-[A-Za-z0-9._-]{1,100}$/
/** The index is rewritten when it has this many lines more than twice its entries. */
const SLACK = 1_000

export async function openIndex(file: string) {
  const { entries, lines, isTorn } = await read(file)
  if (isTorn || lines > 2 * entries.size + SLACK) await rewriteIndex(file, entries)
  let handle = await openToAppend(file)
  // The file may be new, so flush its folder.
  await flushFolder(path.dirname(file))
  let count = isTorn ? entries.size : lines
  let isCut = false
  let waiting: Line[] = []
  let writing: Promise<void> | null = null

  /** Writes all pending lines with one flush. Lines that arrive during the write form the next batch. */
  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        await append(batch)
        for (const { change, resolve } of batch) {
          change()
          resolve()
        }
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    writing = null
  }

  async function append(batch: readonly Line[]): Promise<void> {
    if (count > 2 * entries.size + SLACK) {
      await rewriteIndex(file, entries)
      await handle.close()
      handle = await openToAppend(file)
      count = entries.size
    }
    const text = batch.map(({ value }) => `${JSON.stringify(value)}\n`).join('')
    // Start a new line after a write that may have been cut off.
    const start = isCut ? '\n' : ''
    isCut = true
    await handle.appendFile(start + text)
    if (batch.some(({ isNote }) => !isNote)) await handle.datasync()
    isCut = false
    count += batch.length
  }

  function add(value: object, change: () => void, isNote: boolean): Promise<void> {
    const line = { value, change, isNote, ...Promise.withResolvers<void>() }
    waiting.push(line)
    writing ??= write()
    return line.promise
  }

  return {
    get: (uri: string): Entry | undefined => entries.get(uri),
    all: (): IterableIterator<Entry> => entries.values(),
    /** Durable when it resolves. */
    put: (entry: Entry): Promise<void> => add(entry, () => entries.set(entry.uri, entry), false),
    /** Not flushed: if a power cut loses the entry, the step that it records is repeated. */
    note: (entry: Entry): Promise<void> => add(entry, () => entries.set(entry.uri, entry), true),
    drop: (uri: string): Promise<void> => add({ uri, gone: true }, () => entries.delete(uri), true),
    async close(): Promise<void> {
      await writing
      await handle.close()
    },
  }
}

interface Line extends PromiseWithResolvers<void> {
  readonly value: object
  readonly change: () => void
  readonly isNote: boolean
}

function openToAppend(file: string): Promise<FileHandle> {
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = constants
  return open(file, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600)
}

async function read(file: string): Promise<{ entries: Map<string, Entry>; lines: number; isTorn: boolean }> {
  const entries = new Map<string, Entry>()
  const flag = constants.O_RDONLY | constants.O_NOFOLLOW
  const text = await readFile(file, { encoding: 'utf8', flag }).catch(ifMissing(''))
  const lines = text.split('\n')
  const isTorn = lines.pop() !== ''
  for (const line of lines) {
    const entry = entryOf(line)
    if (entry === null) continue
    if ('gone' in entry) entries.delete(entry.uri)
    else entries.set(entry.uri, entry)
  }
  return { entries, lines: lines.length, isTorn }
}

function entryOf(line: string): Entry | { readonly uri: string; readonly gone: true } | null {
  try {
    const entry = JSON.parse(line) as Entry & { gone?: true }
    if (typeof entry.uri !== 'string') return null
    if (entry.gone === true) return { uri: entry.uri, gone: true }
    return FILE.test(entry.file) && entry.file === fileNameOf(entry) && listedOf(entry) !== null
      ? entry
      : null
  } catch {
    return null
  }
}

async function rewriteIndex(file: string, entries: ReadonlyMap<string, Entry>): Promise<void> {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
  const fresh = `${file}.new`
  await withFile(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, async (handle) => {
    for (const entry of entries.values()) await handle.appendFile(`${JSON.stringify(entry)}\n`)
    await handle.sync()
  })
  await rename(fresh, file)
  await flushFolder(path.dirname(file))
}
