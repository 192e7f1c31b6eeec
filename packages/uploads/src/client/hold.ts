/** A lock on a folder: a file that names the process which has it. One that is left by a process that is gone holds nobody up. */
import { createHash, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { ClientError, NO_LINKS, systemCodeOf } from './client-error.ts'

const held = new Set<string>()
/** Of those that come at once, each finds the lock taken sooner than that. */
const MOST_ATTEMPTS = 20

/** Returns what gives it back. Of several that come at once, one gets it. */
export async function hold(file: string, folder: string): Promise<() => Promise<void>> {
  if (held.has(file)) throw busy(folder, process.pid)
  held.add(file)
  try {
    await take(file, folder)
  } catch (error) {
    held.delete(file)
    throw error
  }
  return async () => {
    held.delete(file)
    await rm(file, { force: true })
  }
}

async function take(file: string, folder: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    if (await isMade(file)) return
    const text = await textIn(file)
    if ((text !== null && isHeld(text)) || attempt > MOST_ATTEMPTS)
      throw busy(folder, holderOf(text ?? '')[0])
    if (text !== null) await takeAway(file, text)
  }
}

/** With all that is in it, in one step: whoever sees it knows whose it is. */
async function isMade(file: string): Promise<boolean> {
  const text = `${process.pid} ${beginOf(process.pid)} ${randomUUID()}`
  const aside = `${file}.${randomUUID()}`
  try {
    await writeFile(aside, text, { flag: 'wx', mode: 0o600 })
    await link(aside, file).catch(async (error: unknown) => {
      if (!NO_LINKS.has(systemCodeOf(error))) throw error
      await writeFile(file, text, { flag: 'wx', mode: 0o600 })
    })
    return true
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error
    return false
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
  if (!(await isMade(mark))) {
    const text = await textIn(mark)
    if (text !== null && !isHeld(text)) await takeAway(mark, text)
    return
  }
  try {
    if ((await textIn(file)) === stale) await rm(file, { force: true })
  } finally {
    await rm(mark, { force: true })
  }
}

/** By another process. */
function isHeld(text: string): boolean {
  const [pid, begin] = holderOf(text)
  return pid !== process.pid && isAlive(pid, begin)
}

/** Null when it is gone by now. */
async function textIn(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch(() => null)
}

function holderOf(text: string): [pid: number, begin: string] {
  const [pid = '', begin = ''] = text.split(' ')
  return [/^\d{1,10}$/.test(pid) ? Number(pid) : 0, begin]
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
