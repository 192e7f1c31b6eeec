/** Fetches several files in parallel. Each file has its own retries, so that no file delays another. */
import { bring, type BringTools, type Failed, failure, type Memory, type Outcome } from './bring.ts'
import type { Listed } from './http/listing.ts'
import { delayAfter } from './time.ts'
import { type Trouble, type TroubleCode, troubleOf } from './trouble.ts'

export type Crew = ReturnType<typeof crew>

class Work implements Memory {
  readonly file: Listed
  failures = 0
  isReported = false
  half: string | null = null
  state: 'queued' | 'running' | 'waiting' | 'given up' = 'waiting'
  timer: NodeJS.Timeout | undefined
  trouble: Trouble | null = null
  readonly waiters: ((outcome: Outcome) => void)[] = []

  constructor(file: Listed) {
    this.file = file
  }
}

/** Problems that an early retry would not solve. */
const HOPELESS: readonly TroubleCode[] = ['FILE_TOO_LARGE', 'NAME_TAKEN']

const NO_ROOM = failure('DISK_FULL', 'the disk is full')

export function crew(tools: BringTools, tell: (trouble: Trouble) => void) {
  const { settings, known, signal } = tools
  const works = new Map<string, Work>()
  const queue: Work[] = []
  const running = new Set<Promise<void>>()
  /**
   * On a full disk, one file at a time is tried, because a smaller one may fit. After two failures in a row,
   * all wait for a while.
   */
  const full: { failures: number; timer: NodeJS.Timeout | null } = { failures: 0, timer: null }

  function pump(): void {
    const room = full.failures > 0 ? 1 : settings.concurrency
    while (!signal.aborted && full.timer === null && running.size < room) {
      const work = queue.shift()
      if (work === undefined) return
      const ran = run(work).finally(() => {
        running.delete(ran)
        pump()
      })
      running.add(ran)
    }
  }

  async function run(work: Work): Promise<void> {
    work.state = 'running'
    const outcome = await bring(tools, work.file, work)
    if (outcome.is === 'failed') failed(work, outcome)
    else if (outcome.is !== 'stopped') await ended(work, outcome)
    for (const resolve of work.waiters.splice(0)) resolve(outcome)
  }

  async function ended({ file, failures }: Work, outcome: Outcome): Promise<void> {
    full.failures = 0
    works.delete(file.id)
    if (outcome.is !== 'gone') return
    const attempts = failures + 1
    tell(troubleOf('FILE_GONE', 'the inbox no longer has this file', { uri: file.uri, attempts }))
    // The file was indexed, and is neither here nor in the inbox.
    if (known.get(file.uri)?.doneAt === null) await known.drop(file.uri).catch(() => {})
  }

  function failed(work: Work, outcome: Failed): void {
    const { code, message, retryAfterMs, cause } = outcome
    work.failures += 1
    const isHopeless =
      HOPELESS.includes(code) || (code === 'HASH_DIFFERS' && work.failures >= settings.hashAttempts)
    const isFull = code === 'DISK_FULL'
    if (isFull) full.failures += 1
    const delayMs = delayAfter(work.failures, settings.backoff, retryAfterMs)
    work.trouble = troubleOf(code, message, {
      uri: work.file.uri,
      attempts: work.failures,
      againInMs: isHopeless ? null : delayMs,
      cause,
    })
    tell(work.trouble)
    if (signal.aborted) return
    if (isFull && full.failures > 1) {
      full.timer ??= setTimeout(
        () => {
          full.timer = null
          pump()
        },
        delayAfter(full.failures - 1, settings.backoff),
      )
      for (const other of queue) hasNoRoom(other, outcome)
    }
    if (isHopeless) work.state = 'given up'
    else {
      work.state = 'waiting'
      work.timer = setTimeout(() => enqueue(work), delayMs)
    }
  }

  /** Reports a full disk to the waiting caller. The file is retried when its turn comes. */
  function hasNoRoom(work: Work, outcome: Failed): void {
    const { code, message, retryAfterMs: againInMs } = outcome
    work.trouble ??= troubleOf(code, message, { uri: work.file.uri, attempts: work.failures, againInMs })
    for (const resolve of work.waiters.splice(0)) resolve(outcome)
  }

  function enqueue(work: Work): void {
    clearTimeout(work.timer)
    work.state = 'queued'
    queue.push(work)
    pump()
  }

  function workOf(file: Listed): Work {
    const work = works.get(file.id) ?? new Work(file)
    works.set(file.id, work)
    return work
  }

  return {
    /** Queues a file. A known file is skipped; with `isFresh`, one that was abandoned is queued again. */
    offer(file: Listed, isFresh: boolean): void {
      const there = works.get(file.id)
      if (there === undefined || (isFresh && there.state === 'given up')) enqueue(workOf(file))
    },
    /** Queues a file for an attempt now; resolves when its next attempt has ended. */
    attempt(file: Listed): Promise<Outcome> {
      if (signal.aborted) return Promise.resolve({ is: 'stopped' })
      const work = workOf(file)
      const { promise, resolve } = Promise.withResolvers<Outcome>()
      work.waiters.push(resolve)
      if (work.state === 'waiting' || work.state === 'given up') enqueue(work)
      if (full.timer !== null && work.state === 'queued') hasNoRoom(work, NO_ROOM)
      return promise
    },
    /** Called after a complete list: abandoned files that are not in it are forgotten. */
    forgetAllBut(listed: ReadonlySet<string>): void {
      for (const { file, state } of works.values())
        if (state === 'given up' && !listed.has(file.id)) works.delete(file.id)
    },
    /** The current problems. */
    troubles: (): Trouble[] =>
      [...works.values()].flatMap(({ trouble }) => (trouble === null ? [] : [trouble])),
    /** Resolves when no fetch is running. Abort the signal of the tools first. */
    async stop(): Promise<void> {
      if (full.timer !== null) clearTimeout(full.timer)
      for (const { timer } of works.values()) clearTimeout(timer)
      await Promise.all(running)
      for (const { waiters } of works.values())
        for (const resolve of waiters.splice(0)) resolve({ is: 'stopped' })
    },
  }
}
