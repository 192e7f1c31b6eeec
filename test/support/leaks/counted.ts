// What can only be counted: listeners on the process, and open files and sockets, whoever opened them.
import { existsSync, readdirSync, readlinkSync } from 'node:fs'

const LIST = '/proc/self/fd'
const hasList = existsSync(LIST)

export interface Counted {
  readonly listeners: ReadonlyMap<string | symbol, number>
  /** How many files are open, and which. */
  readonly files: ReadonlyMap<string, number>
}

function listeners(): Map<string | symbol, number> {
  return new Map(process.eventNames().map((name) => [name, process.listenerCount(name)]))
}

/** What the numbers of open files stood for when they were last looked up, which costs ten times what it costs to list them. */
let known: { readonly numbers: string; readonly open: ReadonlyMap<string, number> } = {
  numbers: '',
  open: new Map(),
}

/** The same numbers stand for the same files, but for one that was closed and another opened in its place: that is found when they are looked up again. */
function files(): ReadonlyMap<string, number> {
  // Elsewhere than on Linux nobody tells.
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

/** Null for the folder itself, which is closed by the time, and for what Node has for itself. */
function targetOf(number: string): string | null {
  try {
    const target = readlinkSync(`${LIST}/${number}`)
    return /^\/proc\/|^anon_inode:|^\/dev\/(?!shm\/)/.test(target) ? null : target
  } catch {
    return null
  }
}

const countNow = (): Counted => ({ listeners: listeners(), files: files() })

/** What stood in the place of another since the last look is not taken for that other, or it would seem to come later. */
export function countAnew(): Counted {
  known = { numbers: '', open: new Map() }
  return countNow()
}

/** Files are whatever is open that is not a socket. */
export function moreThan(
  before: Counted,
  look: { readonly sockets: boolean; readonly files: boolean },
): string[] {
  const now = countNow()
  const heard = [...now.listeners].flatMap(([name, count]) => {
    const more = count - (before.listeners.get(name) ?? 0)
    return more > 0 ? [`listener: ${more} more of the process for ${String(name)}`] : []
  })
  const opened = [...now.files].flatMap(([target, count]) => {
    const isLookedAt = target.startsWith('socket:') ? look.sockets : look.files
    const had = before.files.get(target) ?? 0
    // SQLite keeps what a handle had open until no other of this process has the file. The log of one that was not closed tells.
    const isKept = had > 0 && now.files.has(`${target}-wal`)
    return isLookedAt && count > had && !isKept ? [`file: ${target} is open`] : []
  })
  return [...heard, ...opened]
}
