/**
 * One long-lived child of a pool. It serves one request at a time and is killed if it breaks the protocol.
 */
import { StringDecoder } from 'node:string_decoder'
import type { JobContext, JobLog } from '../../job/context.ts'
import { systemPlatform, type Timer } from '../../platform/platform.ts'
import { type ChildPlan, environment, graceMs } from './child-options.ts'
import { LineSplitter } from './line-splitter.ts'
import { type Answer, readAnswer, requestLine } from './pool-messages.ts'
import { type Exit, exitText, type ProcessGroup, type Program, startGroup } from './process-group.ts'

const LONGEST_LINE_BYTES = 2 * 1024 * 1024
/** A child that lived this long did not fail at startup. */
const LONG_MS = 5_000

interface Request {
  readonly id: string
  readonly answered: (answer: Answer) => void
  readonly failed: (error: Error) => void
}

/** Rejects when the program cannot be started. `onLeave` is called when the child accepts no more jobs. */
export async function startPoolChild(
  plan: ChildPlan & Program,
  onLeave: (child: PoolChild) => void,
): Promise<PoolChild> {
  const group = await startGroup({ ...plan, env: environment(plan) })
  return new PoolChild(group, plan.killAfterMs, onLeave)
}

export class PoolChild {
  /** Resolves together with `onLeave`. */
  readonly left: Promise<void>
  readonly ended: Promise<void>
  readonly #group: ProcessGroup
  readonly #killAfterMs: number
  readonly #leave: () => void
  readonly #startedAt = systemPlatform.monotonic()
  /** `leaving`: may finish its current request only. `killed`: its output is ignored. */
  #state: 'ready' | 'leaving' | 'killed' = 'ready'
  #request: Request | undefined
  /** The standard error output of the current job. */
  #stderr: StderrLines | undefined
  #asked = 0
  #answered = 0
  /** Why it was killed. Undefined if a caller asked for it. */
  #fault: string | undefined
  #isInterrupted = false
  #killTimer: Timer | undefined

  constructor(group: ProcessGroup, killAfterMs: number, onLeave: (child: PoolChild) => void) {
    this.#group = group
    this.#killAfterMs = killAfterMs
    const { promise, resolve } = Promise.withResolvers<void>()
    this.left = promise
    this.#leave = () => {
      onLeave(this)
      resolve()
    }
    const lines = new LineSplitter(LONGEST_LINE_BYTES)
    group.stdout.on('data', (chunk: Buffer) => {
      for (const line of lines.add(chunk)) this.#receive(line)
    })
    group.stderrPipe.on('data', (chunk: Buffer) => this.#stderr?.add(chunk))
    // A child without its pipes is useless. It is probably about to exit, and its exit status is worth
    // waiting for.
    group.stdout.once('end', () => this.retire())
    group.stdin.once('error', () => this.retire())
    void group.exited.then(() => this.retire())
    this.ended = group.ended.then((exit) => this.#end(exit))
  }

  get isReady(): boolean {
    return this.#state === 'ready'
  }

  get answered(): number {
    return this.#answered
  }

  /** Whether a replacement will probably fail too. */
  get brokeEarly(): boolean {
    const livedMs = systemPlatform.monotonic() - this.#startedAt
    return this.#answered === 0 && livedMs < LONG_MS && !this.#isInterrupted
  }

  /** If the signal fires before the answer, throws its reason once the child has ended. */
  async ask({ payload, job, signal, log }: JobContext): Promise<Answer> {
    signal.throwIfAborted()
    this.#asked += 1
    const id = String(this.#asked)
    const line = requestLine(id, { payload, job })
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    this.#request = { id, answered: resolve, failed: reject }
    const stderr = new StderrLines(log)
    this.#stderr = stderr
    const onAbort = (): void => {
      this.#isInterrupted = true
      this.#kill(graceMs(signal.reason, this.#killAfterMs))
    }
    signal.addEventListener('abort', onAbort)
    this.#group.stdin.write(line)
    try {
      const answer = await promise
      // Lets stderr output from before the answer arrive in this event-loop turn.
      await new Promise<void>((resolve) => systemPlatform.nextTurn(resolve))
      return answer
    } catch (error) {
      signal.throwIfAborted()
      throw error
    } finally {
      signal.removeEventListener('abort', onAbort)
      this.#stderr = undefined
      stderr.end()
    }
  }

  /** Accepts no more jobs: closes its input and gives it time to exit on its own. */
  retire(): void {
    if (this.#state !== 'ready') return
    this.#state = 'leaving'
    this.#leave()
    this.#group.stdin.end()
    this.#killTimer = systemPlatform.timer(this.#killAfterMs, () => this.#group.stop(0))
  }

  #receive(line: string | null): void {
    if (this.#state === 'killed') return
    const request = this.#request
    if (request === undefined) {
      if (this.#state === 'ready') this.#blame('wrote a line without a request')
      return
    }
    const answer = line === null ? { wrong: 'wrote a line of more than 2 MiB' } : readAnswer(line, request.id)
    if ('wrong' in answer) {
      this.#blame(answer.wrong)
      return
    }
    this.#request = undefined
    this.#answered += 1
    request.answered(answer)
  }

  #blame(fault: string): void {
    this.#fault = fault
    this.#kill(0)
  }

  #kill(graceMs: number): void {
    if (this.#state === 'ready') this.#leave()
    this.#state = 'killed'
    this.#group.stop(graceMs)
  }

  #end(exit: Exit): void {
    this.#killTimer?.cancel()
    const how =
      this.#fault === undefined
        ? `exited during the job with ${exitText(exit)}`
        : `${this.#fault}, and was killed`
    const error = new Error(`the child (pid ${this.#group.pid}) ${how}${this.#group.stderr.inMessage()}`)
    this.#request?.failed(error)
    this.#request = undefined
  }
}

/** A log holds 64 KiB, and must leave space for the handler's own lines. */
const MOST_LINES = 200
const MOST_CHARS = 32_768
const LONGEST_LINE = 4_096

class StderrLines {
  readonly #log: JobLog
  readonly #decoder = new StringDecoder('utf8')
  #rest = ''
  #lines = 0
  #chars = 0

  constructor(log: JobLog) {
    this.#log = log
  }

  add(chunk: Buffer): void {
    if (this.#isFull()) return
    const lines = (this.#rest + this.#decoder.write(chunk)).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#write(line)
    // A line without an end would otherwise grow without bound.
    if (this.#rest.length < LONGEST_LINE) return
    this.#write(this.#rest)
    this.#rest = ''
  }

  /** The job has ended, so the remaining text counts as a line even without a newline. */
  end(): void {
    this.#write(this.#rest)
    this.#rest = ''
  }

  #write(line: string): void {
    const text = line.trimEnd().slice(0, LONGEST_LINE)
    if (text === '' || this.#isFull()) return
    this.#lines += 1
    this.#chars += text.length
    this.#log(text, { stream: 'stderr' })
    if (this.#isFull()) this.#log.warn('child stderr was truncated', { stream: 'stderr' })
  }

  #isFull(): boolean {
    return this.#lines >= MOST_LINES || this.#chars >= MOST_CHARS
  }
}
