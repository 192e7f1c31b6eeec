/** Judges the handler runs from their log: handled once, in order per chat. Replies are judged separately. */
import { readFileSync } from 'node:fs'

export interface RunsReport {
  /** Handler runs, including deliberate failures. */
  readonly runs: number
  readonly failedRuns: number
  /** Updates handled to the end more than once: a crash or outage came before the outcome was written. */
  readonly again: number
  /** Chats in which an update started before the previous one was handled. */
  readonly runsOutOfOrder: number
  /** Updates that were never handled to the end. */
  readonly unhandled: number
}

/** The updates of a chat are numbered from 0. */
export function judgeRuns(file: string, updates: number): RunsReport {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  const done = new Map<string, number>()
  /** The progress of each chat. */
  const next = new Map<string, number>()
  const wrong = new Set<string>()
  let failedRuns = 0
  for (const line of lines) {
    const [chat = '', n = '', how] = line.split(' ')
    const expected = next.get(chat) ?? 0
    // A handled update may repeat until the next one has started, and never later.
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
