/**
 * A program in its own process group, started without a shell. It can be stopped together with everything it
 * started, even processes that left the group (see strays.ts). It has ended only when none of them is left.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { systemPlatform, type Timer } from '../../platform/platform.ts'
import { sleep } from '../../platform/sleep.ts'
import { MARK, Strays } from './strays.ts'
import { Tail } from './tail.ts'

/** How long leftover processes may run, or hold its pipes open, after the program exited. */
const LINGER_MS = 1_000
const LOOK_EVERY_MS = 20
/** The maximum number of scans for processes started during the kill. */
const MOST_SWEEPS = 50
/**
 * The maximum number of scans in a row that find no process of the program, but during which some process
 * ended and may have started another. On a busy machine, unrelated processes end all the time.
 */
const MOST_UNSURE = 10

export interface Program {
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | undefined
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Rejects with the system error code when the program cannot be started. */
export async function startGroup({ file, args, env, cwd }: Program): Promise<ProcessGroup> {
  const mark = systemPlatform.id()
  const marked = { ...env, [MARK]: mark }
  const child = spawn(file, args, { cwd, env: marked, detached: true, shell: false, stdio: 'pipe' })
  if (child.pid !== undefined) return new ProcessGroup(child, child.pid, mark)
  throw await new Promise<Error>((resolve) => child.once('error', resolve))
}

export class ProcessGroup {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr = new Tail()
  readonly stderrPipe: Readable
  /** Resolves when the program has exited. Its output may still arrive. */
  readonly exited: Promise<Exit>
  /** Resolves when all output was read and no process of its group is left. */
  readonly ended: Promise<Exit>
  readonly #child: ChildProcessWithoutNullStreams
  readonly #strays: Strays
  /** The last scan for strays. A kill waits for it, because the scan may need the parents to find them. */
  #looked: Promise<unknown> = Promise.resolve()
  #killTimer: Timer | undefined
  #killAt = Number.POSITIVE_INFINITY
  #isKilled = false
  #isOver = false

  constructor(child: ChildProcessWithoutNullStreams, pid: number, mark: string) {
    this.pid = pid
    this.#strays = new Strays(pid, mark)
    this.#child = child
    this.stdin = child.stdin
    this.stdout = child.stdout
    this.stderrPipe = child.stderr
    child.stderr.on('data', (chunk: Buffer) => this.stderr.add(chunk))
    // A program may end without reading its input. Its exit status says whether that was an error.
    for (const pipe of child.stdio) pipe?.on('error', () => {})
    this.exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
    const closed = new AbortController()
    child.once('close', () => closed.abort())
    this.ended = this.#untilEnded(closed.signal)
  }

  /**
   * Sends SIGTERM to everything it started, and SIGKILL after a while. With several calls the earliest
   * deadline counts.
   */
  stop(graceMs: number): void {
    const killAt = systemPlatform.monotonic() + graceMs
    if (this.#isOver || killAt >= this.#killAt) return
    if (this.#killAt === Number.POSITIVE_INFINITY) void this.#signal('SIGTERM')
    this.#killAt = killAt
    this.#killTimer?.cancel()
    this.#killTimer = systemPlatform.timer(graceMs, () => void this.#kill())
  }

  async #kill(): Promise<void> {
    this.#isKilled = true
    await this.#signal('SIGKILL')
  }

  async #signal(signal: NodeJS.Signals): Promise<void> {
    this.#looked = this.#looked.then(() => this.#strays.find())
    await this.#looked
    if (this.#isOver) return
    signalGroup(this.pid, signal)
    this.#strays.signal(signal)
  }

  async #untilEnded(closed: AbortSignal): Promise<Exit> {
    const exit = await this.exited
    const until = systemPlatform.monotonic() + LINGER_MS
    await sleep(systemPlatform, LINGER_MS, closed)
    // A killed process belongs to the group until it is reaped, and there is no need to wait for that.
    await this.#strays.find()
    while (!this.#isKilled && this.#isAnyLeft() && systemPlatform.monotonic() < until) {
      await sleep(systemPlatform, LOOK_EVERY_MS)
    }
    await this.#kill()
    await this.#killStrays()
    // From here on the system may reuse the pid for an unrelated process.
    this.#isOver = true
    this.#killTimer?.cancel()
    for (const pipe of this.#child.stdio) pipe?.destroy()
    return exit
  }

  /**
   * Kills processes started in the meantime, and waits for those that take a moment to die. Repeats until a
   * scan finds none, because a process that has exited may have started another.
   */
  async #killStrays(): Promise<void> {
    let unsure = 0
    for (let sweep = 0; sweep < MOST_SWEEPS && unsure < MOST_UNSURE; sweep += 1) {
      const found = await this.#strays.find('SIGKILL')
      if (found === 'none') return
      unsure = found === 'unsure' ? unsure + 1 : 0
      if (this.#strays.signal('SIGKILL') > 0) await sleep(systemPlatform, LOOK_EVERY_MS)
    }
  }

  #isAnyLeft(): boolean {
    return signalGroup(this.pid, 0) || this.#strays.signal(0) > 0
  }
}

/** False when no process of the group is left. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}

/** `exit code 3`, or `SIGKILL`. */
export function exitText({ code, signal }: Exit): string {
  return signal ?? `exit code ${code}`
}
