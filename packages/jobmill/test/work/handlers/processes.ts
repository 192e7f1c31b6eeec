/** Real processes from the outside: the files that they wrote, and whether they are alive. */
import { readFileSync } from 'node:fs'
import { access, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'

const DEADLINE_MS = 15_000
const LOOK_EVERY_MS = 10

/** Waits until there is a value. */
export async function until<T>(what: string, look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const deadline = performance.now() + DEADLINE_MS
  for (;;) {
    const value = await look()
    if (value !== undefined) return value
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`)
    await pause(LOOK_EVERY_MS)
  }
}

export async function aFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'jobmill-handlers-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** The text of a file, once it has a whole line. */
export async function written(file: string): Promise<string> {
  return await until(`${file} is written`, async () => {
    const text = await readFile(file, 'utf8').catch(() => '')
    return text.endsWith('\n') ? text.trim() : undefined
  })
}

export async function pidIn(file: string): Promise<number> {
  return Number(await written(file))
}

export async function isThere(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  )
}

/** The pids that children left as file names in a folder. */
export async function pidsIn(folder: string): Promise<number[]> {
  return (await readdir(folder)).map(Number)
}

/** The live processes with this text in their command line. */
export async function pidsNaming(text: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  return pids.filter((pid) => commandLine(pid).includes(text) && isAlive(pid))
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    return ''
  }
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0) && !isDead(pid)
  } catch {
    return false
  }
}

/** Dead or a zombie, which the init of a container may reap late. */
function isDead(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ')
  } catch {
    return false
  }
}

export async function gone(pid: number): Promise<true> {
  return await until(`process ${pid} is gone`, () => (isAlive(pid) ? undefined : true))
}
