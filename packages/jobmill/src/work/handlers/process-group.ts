/**
 * A program in a process group of its own, started without a shell. It can be stopped with everything it
 * started, and has ended only when nothing of it is left.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { systemPlatform, type Timer } from '../../platform/platform.ts'
import { sleep } from '../../platform/sleep.ts'
import { Tail } from './tail.ts'

/** How long what a program left behind may go on, or hold its pipes open, after it has exited itself. */
const LINGER_MS = 1_000
const LOOK_EVERY_MS = 20

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

/** Rejects, with the code of the system, when the program cannot be started. */
export async function startGroup({ file, args, env, cwd }: Program): Promise<ProcessGroup> {
  const child = spawn(file, args, { cwd, env, detached: true, shell: false, stdio: 'pipe' })
  if (child.pid !== undefined) return new ProcessGroup(child, child.pid)
  throw await new Promise<Error>((resolve) => child.once('error', resolve))
}

export class ProcessGroup {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr = new Tail()
  /** Once the program has exited; what it wrote may still be on its way. */
  readonly exited: Promise<Exit>
  /** Once everything it wrote was read and nothing of its group is left. */
  readonly ended: Promise<Exit>
  readonly #child: ChildProcessWithoutNullStreams
  #killTimer: Timer | undefined
  #killAt = Number.POSITIVE_INFINITY
  #isKilled = false
  #isOver = false

  constructor(child: ChildProcessWithoutNullStreams, pid: number) {
    this.pid = pid
    this.#child = child
    this.stdin = child.stdin
    this.stdout = child.stdout
    child.stderr.on('data', (chunk: Buffer) => this.stderr.add(chunk))
    // A program may end without reading what it is given; how it exits says whether that was wrong.
    for (const pipe of child.stdio) pipe?.on('error', () => {})
    this.exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
    const closed = new AbortController()
    child.once('close', () => closed.abort())
    this.ended = this.#untilEnded(closed.signal)
  }

  /** SIGTERM to all of the group, and SIGKILL after a while. Asked again, the earlier end counts. */
  stop(graceMs: number): void {
    const killAt = systemPlatform.monotonic() + graceMs
    if (this.#isOver || killAt >= this.#killAt) return
    if (this.#killAt === Number.POSITIVE_INFINITY) signalGroup(this.pid, 'SIGTERM')
    this.#killAt = killAt
    this.#killTimer?.cancel()
    this.#killTimer = systemPlatform.timer(graceMs, () => this.#kill())
  }

  #kill(): void {
    this.#isKilled = true
    signalGroup(this.pid, 'SIGKILL')
  }

  async #untilEnded(closed: AbortSignal): Promise<Exit> {
    const exit = await this.exited
    const until = systemPlatform.monotonic() + LINGER_MS
    await sleep(systemPlatform, LINGER_MS, closed)
    // Who was killed is of the group until somebody collects it, and there is no need to wait for that.
    while (!this.#isKilled && signalGroup(this.pid, 0) && systemPlatform.monotonic() < until) {
      await sleep(systemPlatform, LOOK_EVERY_MS)
    }
    this.#kill()
    // From here on the number may be given to a process of somebody else.
    this.#isOver = true
    this.#killTimer?.cancel()
    for (const pipe of this.#child.stdio) pipe?.destroy()
    return exit
  }
}

/** False when nothing of the group is left. */
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
