/**
 * Finds processes of a program that left its process group, as `setsid` and daemons do. Linux only: it reads
 * /proc. A process belongs to the program if one of its parents does, or if it inherited the variable that
 * marks the program's environment.
 */
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { systemPlatform } from '../../platform/platform.ts'

/** Every process we start has its own value of this variable and passes it to its children. */
export const MARK = 'JOBMILL_CHILD'

interface Stat {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** Ticks since boot. Together with the pid it identifies a process, because pids are reused. */
  readonly startedAt: number
  readonly isDead: boolean
  /** True for a kernel thread, and for a program with an empty environment. */
  readonly isEmpty: boolean
}

const KERNEL_THREAD = 0x20_00_00

/**
 * How many processes to read before yielding to the event loop. A marked process is signalled as soon as it
 * is read, because a short-lived one could otherwise start another process and end first.
 */
const BATCH = 50

/**
 * What a scan found. It is unsure if a process ended during the scan, which may have started another one that
 * the scan did not see.
 */
export type Found = 'none' | 'some' | 'unsure'

export class Strays {
  readonly #leader: Stat | null
  readonly #mark: string
  /**
   * Pids with their start. Kept, because after a parent in between has ended, only the mark leads to its
   * children.
   */
  readonly #known = new Map<number, number>()
  /** Processes that had ended by the last scan, but were not reaped. */
  #dead: ReadonlySet<string> = new Set()

  constructor(pid: number, mark: string) {
    this.#leader = statNow(pid)
    this.#mark = mark
  }

  /**
   * Scans for new processes, and with `signal` sends it to each marked one at once, because it may be about
   * to start another and end.
   */
  async find(signal: NodeJS.Signals | 0 = 0): Promise<Found> {
    const leader = this.#leader
    if (leader === null) return 'none'
    const later: Stat[] = []
    const marked: number[] = []
    const dead = new Set<string>()
    let isUnsure = false
    for (const [at, pid] of newestFirst(await readdir('/proc').catch(() => [])).entries()) {
      if (at % BATCH === BATCH - 1) await new Promise<void>((resolve) => systemPlatform.nextTurn(resolve))
      const stat = statNow(pid)
      if (stat === null) isUnsure = true
      if (stat === null || !isLater(stat, leader)) continue
      if (stat.isDead) {
        dead.add(`${pid} ${stat.startedAt}`)
        continue
      }
      const isMarked = this.#isMarked(pid)
      if (isMarked === true && signal !== 0) sent(pid, signal)
      if (isMarked === true) marked.push(pid)
      if (isMarked === null) isUnsure = true
      later.push(stat)
    }
    const ours = new Set([leader.pid, ...this.#known.keys(), ...marked])
    for (let size = 0; size !== ours.size;) {
      size = ours.size
      for (const { pid, parent } of later) if (ours.has(parent)) ours.add(pid)
    }
    const found = later.filter(({ pid }) => ours.has(pid))
    for (const { pid, group, startedAt } of found) if (group !== leader.pid) this.#known.set(pid, startedAt)
    if ([...dead].some((key) => !this.#dead.has(key))) isUnsure = true
    this.#dead = dead
    if (found.some(({ pid }) => isOfThisUser(pid))) return 'some'
    return isUnsure ? 'unsure' : 'none'
  }

  /** Signals the known processes and returns how many exist. */
  signal(signal: NodeJS.Signals | 0): number {
    for (const [pid, startedAt] of this.#known) {
      const now = statNow(pid)
      if (now === null || now.isDead || now.startedAt !== startedAt || !sent(pid, signal))
        this.#known.delete(pid)
    }
    return this.#known.size
  }

  /** Null if the process has ended, or its environment cannot be read in the middle of an exec or exit. */
  #isMarked(pid: number): boolean | null {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1')
      if (environment === '') return statNow(pid)?.isEmpty === true ? false : null
      return environment.split('\u0000').includes(`${MARK}=${this.#mark}`)
    } catch {
      // Owned by another user, unless it has ended.
      return statNow(pid) === null ? null : false
    }
  }
}

/** A process older than the program cannot belong to it. */
function isLater({ pid, startedAt }: Stat, leader: Stat): boolean {
  return startedAt >= leader.startedAt && pid !== process.pid
}

/** The newest process is the most likely to end before it is read. */
function newestFirst(names: readonly string[]): number[] {
  return names
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .toSorted((a, b) => b - a)
}

function statNow(pid: number): Stat | null {
  try {
    return statOf(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return null
  }
}

/** `123 (its name) S 1 123 …`: the name may contain anything, including spaces and parentheses. */
function statOf(text: string): Stat {
  const [state, parent, group, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return {
    pid: Number.parseInt(text, 10),
    parent: Number(parent),
    group: Number(group),
    startedAt: Number(rest[16]),
    isDead: state === 'Z' || state === 'X',
    // The flags, and the addresses where the environment starts and ends.
    isEmpty: (Number(rest[3]) & KERNEL_THREAD) !== 0 || (Number(rest[45]) > 0 && rest[44] === rest[45]),
  }
}

/** False when the process is gone or may not be signalled. */
function sent(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

/** Also true for a process that has ended. */
function isOfThisUser(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EPERM'
  }
}
