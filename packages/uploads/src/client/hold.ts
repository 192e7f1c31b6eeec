/**
 * A lock on a folder: a file that names the process which has it. One that is left by a process that is gone holds nobody up. Whether a process of another machine
 * or container is gone nobody can ask: who has the lock touches it now and then.
 */
import { createHash, randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { link, readFile, realpath, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import path from 'node:path'
import { ClientError, NO_LINKS, systemCodeOf } from './client-error.ts'

const held = new Set<string>()
/** Of those that come at once, each finds the lock taken sooner than that. */
const MOST_ATTEMPTS = 20
const TOUCHED_EVERY_MS = 5_000
/** Of one from elsewhere: silent for so long, it is gone. */
const SILENT_MS = 30_000

/** Returns what gives it back. Of several that come at once, one gets it. */
export async function hold(given: string, folder: string): Promise<() => Promise<void>> {
  // The same folder has the same lock, by whatever name it is called.
  const file = path.join(await realpath(path.dirname(given)), path.basename(given))
  if (held.has(file)) throw busy(folder, process.pid)
  held.add(file)
  let text: string
  try {
    text = await take(file, folder)
  } catch (error) {
    held.delete(file)
    throw error
  }
  const touching = setInterval(() => {
    const now = new Date()
    utimes(file, now, now).catch(() => {})
  }, TOUCHED_EVERY_MS).unref()
  return async () => {
    clearInterval(touching)
    held.delete(file)
    // Not one that somebody else has by now, because this process stood still.
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

/** With all that is in it, in one step: whoever sees it knows whose it is. Null when somebody else has it. */
async function make(file: string): Promise<string | null> {
  const text = `${process.pid} ${beginOf(process.pid)} ${HERE} ${randomUUID()}`
  const aside = `${file}.${randomUUID()}`
  try {
    await writeFile(aside, text, { flag: 'wx', mode: 0o600 })
    await link(aside, file).catch(async (error: unknown) => {
      if (!NO_LINKS.has(systemCodeOf(error))) throw error
      await writeFile(file, text, { flag: 'wx', mode: 0o600 })
    })
    return text
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error
    return null
  } finally {
    await rm(aside, { force: true })
  }
}

/**
 * What a dead one left, and nothing else. Who looks and then removes could remove what somebody got in between: so only one at a time may, by a lock of its own
 * that is for this text alone.
 */
async function takeAway(file: string, stale: string): Promise<void> {
  const mark = `${file}.${createHash('sha256').update(stale).digest('hex').slice(0, 16)}`
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
  // This process itself has it as another thread, if not as this one. Where a disk has no second names a lock is empty until its name is written: then nobody
  // knows whose it is.
  if (text !== '' && (where === '' || where === HERE)) return isAlive(pid, begin)
  const touchedAt = await stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
  return Date.now() - touchedAt < SILENT_MS
}

/** Null when it is gone by now. */
async function textIn(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch(() => null)
}

function holderOf(text: string): [pid: number, begin: string, where: string] {
  const [pid = '', begin = '', where = ''] = text.split(' ')
  return [/^\d{1,10}$/.test(pid) ? Number(pid) : 0, begin, where]
}

/** Where the number of a process means the same process: this machine, since it was started, and this container. */
const HERE = createHash('sha256')
  .update([hostname(), ...['/proc/sys/kernel/random/boot_id', '/proc/self/ns/pid'].map(known)].join(' '))
  .digest('hex')
  .slice(0, 16)

/** Empty where the system does not tell. */
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
    // It is there, and somebody else's.
    if (systemCodeOf(error) !== 'EPERM') return false
  }
  return beginOf(pid) === begin
}

/** When a process began, where the system tells: another one may have got its number since. */
function beginOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

function busy(folder: string, pid: number): ClientError {
  return new ClientError('FOLDER_BUSY', `${folder} is in use by process ${pid}`, {
    field: 'folder',
    fix: 'Give every mailbox a folder of its own, and every folder one puller',
  })
}
