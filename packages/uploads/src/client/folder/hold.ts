/**
 * A lock on a folder: a file that names its process. A lock of a dead process is removed. Processes of other
 * machines or containers cannot be checked, so a holder touches its lock regularly.
 */
import { hash, randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { readFile, realpath, rm, stat, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import path from 'node:path'
import { createWhole, systemCodeOf } from '../../files.ts'
import { ClientError } from '../http/client-error.ts'

const held = new Set<string>()
/** Concurrent processes settle within fewer attempts. */
const MOST_ATTEMPTS = 20
const TOUCHED_EVERY_MS = 5_000
/** A lock from another machine or container is stale after this time without a touch. */
const SILENT_MS = 30_000

/** Acquires the lock and returns the function that releases it. Rejects with FOLDER_BUSY if it is held. */
export async function hold(given: string, folder: string): Promise<() => Promise<void>> {
  // Resolve links, so that a folder has one lock under all its paths.
  const file = path.join(await realpath(path.dirname(given)), path.basename(given))
  if (held.has(file)) throw busy(folder, process.pid)
  held.add(file)
  const text = await take(file, folder).catch((error: unknown) => {
    held.delete(file)
    throw error
  })
  const touching = setInterval(() => {
    const now = new Date()
    utimes(file, now, now).catch(() => {})
  }, TOUCHED_EVERY_MS).unref()
  return async () => {
    clearInterval(touching)
    held.delete(file)
    // Another process may have removed the lock if this one was frozen.
    if ((await textIn(file)) === text) await rm(file, { force: true })
  }
}

async function take(file: string, folder: string): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const made = await make(file)
    if (made !== null) return made
    const text = await textIn(file)
    if ((text !== null && (await isHeld(file, text))) || attempt > MOST_ATTEMPTS)
      throw busy(folder, holderOf(text ?? '')[0])
    if (text !== null) await takeAway(file, text)
  }
}

/** Returns the content of the lock, which names its owner. Null if it is taken. */
async function make(file: string): Promise<string | null> {
  const text = `${process.pid} ${beginOf(process.pid)} ${HERE} ${randomUUID()}`
  return (await createWhole(file, text)) ? text : null
}

/**
 * Removes a stale lock. A check followed by a removal could delete a new lock, so a second lock for this
 * exact content ensures that one process removes it.
 */
async function takeAway(file: string, stale: string): Promise<void> {
  const mark = `${file}.${hash('sha256', stale, 'hex').slice(0, 16)}`
  if ((await make(mark)) === null) {
    const text = await textIn(mark)
    if (text !== null && !(await isHeld(mark, text))) await takeAway(mark, text)
    return
  }
  try {
    if ((await textIn(file)) === stale) await rm(file, { force: true })
  } finally {
    await rm(mark, { force: true })
  }
}

async function isHeld(file: string, text: string): Promise<boolean> {
  const [pid, begin, where] = holderOf(text)
  // A lock with this process id is not stale: another thread may hold it. Without hard links, a lock is empty
  // until its content is written, so its owner is unknown.
  if (text !== '' && (where === '' || where === HERE)) return isAlive(pid, begin)
  const touchedAt = await stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
  return Date.now() - touchedAt < SILENT_MS
}

/** Null if the file is gone. */
async function textIn(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch(() => null)
}

function holderOf(text: string): [pid: number, begin: string, where: string] {
  const [pid = '', begin = '', where = ''] = text.split(' ')
  return [/^\d{1,10}$/.test(pid) ? Number(pid) : 0, begin, where]
}

/** Identifies the scope of process ids: this machine since its boot, and this container. */
const SCOPE = [hostname(), ...['/proc/sys/kernel/random/boot_id', '/proc/self/ns/pid'].map(known)].join(' ')
const HERE = hash('sha256', SCOPE, 'hex').slice(0, 16)

/** Empty if the system does not provide it. */
function known(file: string): string {
  try {
    return file.includes('/ns/') ? readlinkSync(file) : readFileSync(file, 'utf8').trim()
  } catch {
    return ''
  }
}

function isAlive(pid: number, begin: string): boolean {
  if (pid === 0) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    // The process exists and belongs to another user.
    if (systemCodeOf(error) !== 'EPERM') return false
  }
  return beginOf(pid) === begin
}

/** The start time of a process, if the system provides it, because process ids are reused. */
function beginOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

function busy(folder: string, pid: number): ClientError {
  const holder = pid === 0 ? 'another process' : `process ${pid}`
  return new ClientError('FOLDER_BUSY', `${folder} is in use by ${holder}`, {
    field: 'folder',
    fix: 'Use one folder per mailbox, and one puller per folder',
  })
}
