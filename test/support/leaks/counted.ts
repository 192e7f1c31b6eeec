// Counts resources that cannot be tracked one by one: listeners on the process, and open files and sockets of
// any origin.
import { existsSync, readdirSync, readlinkSync } from 'node:fs'

const LIST = '/proc/self/fd'
const hasList = existsSync(LIST)

export interface Counted {
  readonly listeners: ReadonlyMap<string | symbol, number>
  /** Open files, with their number. */
  readonly files: ReadonlyMap<string, number>
}

function listeners(): Map<string | symbol, number> {
  return new Map(process.eventNames().map((name) => [name, process.listenerCount(name)]))
}

/** The targets of the file descriptors at the last lookup, which costs ten times as much as listing them. */
let known: { readonly numbers: string; readonly open: ReadonlyMap<string, number> } = {
  numbers: '',
  open: new Map(),
}

/**
 * Equal descriptors mean equal files, unless one was closed and another opened in its place. The next lookup
 * finds that.
 */
function files(): ReadonlyMap<string, number> {
  // Only Linux lists open files.
  if (!hasList) return known.open
  const numbers = readdirSync(LIST)
  const text = numbers.join()
  if (text === known.numbers) return known.open
  const open = new Map<string, number>()
  for (const number of numbers) {
    const target = targetOf(number)
    if (target !== null) open.set(target, (open.get(target) ?? 0) + 1)
  }
  known = { numbers: text, open }
  return open
}

/** Null for the folder itself, which is closed by then, and for files that Node uses internally. */
function targetOf(number: string): string | null {
  try {
    const target = readlinkSync(`${LIST}/${number}`)
    return /^\/proc\/|^anon_inode:|^\/dev\/(?!shm\/)/.test(target) ? null : target
  } catch {
    return null
  }
}

const countNow = (): Counted => ({ listeners: listeners(), files: files() })

/** Forces a lookup: a file that replaced another since the last one must not appear as new later. */
export function recount(): Counted {
  known = { numbers: '', open: new Map() }
  return countNow()
}

/** Everything open that is not a socket counts as a file. */
export function moreThan(
  before: Counted,
  look: { readonly sockets: boolean; readonly files: boolean },
): string[] {
  const now = countNow()
  const listenerLeaks = [...now.listeners].flatMap(([name, count]) => {
    const more = count - (before.listeners.get(name) ?? 0)
    return more > 0 ? [`listener: ${more} more of the process for ${String(name)}`] : []
  })
  const fileLeaks = [...now.files].flatMap(([target, count]) => {
    const isChecked = target.startsWith('socket:') ? look.sockets : look.files
    const had = before.files.get(target) ?? 0
    // SQLite keeps the descriptors of a closed handle while another handle of this process has the file open.
    // An open -wal file shows that another handle exists.
    const isKept = had > 0 && now.files.has(`${target}-wal`)
    return isChecked && count > had && !isKept ? [`file: ${target} is open`] : []
  })
  return [...listenerLeaks, ...fileLeaks]
}
