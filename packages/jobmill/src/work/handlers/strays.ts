/**
 * Finds processes of a program that left its process group, as `setsid` and daemons do. Linux only: it reads
 * /proc. A process belongs to the program if one of its parents does, or if it inherited the variable that
 * marks the program's environment.
 */
import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'

/** Every process we start has its own value of this variable and passes it to its children. */
export const MARK = 'JOBMILL_CHILD'

interface Stat {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** Ticks since boot. Together with the pid it identifies a process, because pids are reused. */
  readonly startedAt: number
  readonly isDead: boolean
}

export class Strays {
  readonly #leader: Stat | null
  readonly #mark: string
  /**
   * Pids with their start. Remembered, because once a parent in between has ended only the mark leads to
   * them.
   */
  readonly #known = new Map<number, number>()

  constructor(pid: number, mark: string) {
    this.#leader = statNow(pid)
    this.#mark = mark
  }

  /** Scans for new processes. */
  async find(): Promise<void> {
    const leader = this.#leader
    if (leader === null) return
    const later = (await allStats()).filter((one) => isLater(one, leader))
    const ours = new Set([leader.pid, ...this.#known.keys()])
    for (const { pid } of await this.#marked(later)) ours.add(pid)
    for (let size = 0; size !== ours.size;) {
      size = ours.size
      for (const { pid, parent } of later) if (ours.has(parent)) ours.add(pid)
    }
    for (const { pid, group, startedAt } of later)
      if (ours.has(pid) && group !== leader.pid) this.#known.set(pid, startedAt)
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

  async #marked(later: readonly Stat[]): Promise<Stat[]> {
    const entry = `${MARK}=${this.#mark}`
    const has = await Promise.all(
      later.map(({ pid }) =>
        readFile(`/proc/${pid}/environ`, 'latin1').then(
          (text) => text.split('\u0000').includes(entry),
          // Already gone, or owned by another user.
          () => false,
        ),
      ),
    )
    return later.filter((_, at) => has[at])
  }
}

/** A process older than the program cannot belong to it. */
function isLater({ pid, startedAt, isDead }: Stat, leader: Stat): boolean {
  return !isDead && startedAt >= leader.startedAt && pid !== process.pid
}

async function allStats(): Promise<Stat[]> {
  const names = await readdir('/proc').catch(() => [])
  const stats = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map((name) => readFile(`/proc/${name}/stat`, 'latin1').then(statOf, () => null)),
  )
  return stats.filter((one) => one !== null)
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
