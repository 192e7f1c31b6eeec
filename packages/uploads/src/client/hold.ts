/** A lock on a folder: a file that names the process which has it. One that is left by a process that is gone holds nobody up. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { ClientError, systemCodeOf } from './client-error.ts'

const held = new Set<string>()

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
  const mine = `${process.pid} ${beginOf(process.pid)} ${randomUUID()}`
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await writeFile(file, mine, { flag: 'wx', mode: 0o600 })
    } catch (error) {
      if (systemCodeOf(error) !== 'EEXIST') throw error
    }
    const text = await textIn(file)
    const [pid, begin] = holderOf(text)
    if ((pid !== process.pid && isAlive(pid, begin)) || attempt > 3) throw busy(folder, pid)
    await takeAway(file, text)
  }
}

/** What a dead one left, and nothing else: somebody may have been quicker, and have it now. */
async function takeAway(file: string, stale: string): Promise<void> {
  const aside = `${file}.${randomUUID()}`
  try {
    await rename(file, aside)
    if ((await textIn(aside)) !== stale) await link(aside, file)
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes(systemCodeOf(error))) throw error
  } finally {
    await rm(aside, { force: true })
  }
}

async function textIn(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '')
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
