/** A lock on a folder: a file that names the process which has it. One that is left by a process that is gone holds nobody up. */
import { readFileSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { ClientError, systemCodeOf } from './client-error.ts'

const held = new Set<string>()

/** Returns what gives it back. */
export async function hold(file: string, folder: string): Promise<() => Promise<void>> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (held.has(file)) throw busy(folder, process.pid)
      await writeFile(file, `${process.pid} ${beginOf(process.pid)}`, { flag: 'wx', mode: 0o600 })
      held.add(file)
      return async () => {
        held.delete(file)
        await rm(file, { force: true })
      }
    } catch (error) {
      if (systemCodeOf(error) !== 'EEXIST') throw error
      const [pid, begin] = await holderOf(file)
      if ((pid !== process.pid && isAlive(pid, begin)) || attempt > 3) throw busy(folder, pid)
      await rm(file, { force: true })
    }
  }
}

async function holderOf(file: string): Promise<[pid: number, begin: string]> {
  const [pid = '', begin = ''] = (await readFile(file, 'utf8').catch(() => '')).split(' ')
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
