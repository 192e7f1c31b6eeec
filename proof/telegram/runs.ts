/** What the handler did, by the lines that it wrote: the judge of "handled once, in the order of the chat". Replies are judged apart. */
import { readFileSync } from 'node:fs'

export interface RunsReport {
  /** Of the handler, those that failed on purpose included. */
  readonly runs: number
  readonly failedRuns: number
  /** Updates that were handled to the end more than once: their process died, or the database went away, before that was written. */
  readonly again: number
  /** Chats in which an update was begun before the one before it had been handled. */
  readonly runsOutOfOrder: number
  /** Updates that were never handled to the end. */
  readonly unhandled: number
}

/** Updates of a chat are called 0, 1, 2 and so on. */
export function judgeRuns(file: string, updates: number): RunsReport {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  const done = new Map<string, number>()
  /** By chat: how far it is. */
  const next = new Map<string, number>()
  const wrong = new Set<string>()
  let failedRuns = 0
  for (const line of lines) {
    const [chat = '', n = '', how] = line.split(' ')
    const expected = next.get(chat) ?? 0
    // One that was handled may come again until the one after it has begun, and never later.
    if (Number(n) !== expected && Number(n) !== expected - 1) wrong.add(chat)
    if (how === 'failed') {
      failedRuns += 1
      continue
    }
    done.set(`${chat} ${n}`, (done.get(`${chat} ${n}`) ?? 0) + 1)
    next.set(chat, Math.max(expected, Number(n) + 1))
  }
  return {
    runs: lines.length,
    failedRuns,
    again: [...done.values()].filter((times) => times > 1).length,
    runsOutOfOrder: wrong.size,
    unhandled: updates - done.size,
  }
}
