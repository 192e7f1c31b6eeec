/**
 * Orders deliveries: one update per chat at a time, and chats in parallel up to the connection limit. A
 * failed update stays at the head of its chat. It is retried immediately, then after 2, 4, 8 s and so on.
 */
import type { Bot, Update } from './bot.ts'
import type { World } from './methods/method.ts'
import type { Posted } from './post.ts'

/** The longest wait is random between this and twice as much. */
const LONGEST_WAIT_S = 60

export function lanes(
  { pending }: Pick<Bot, 'pending'>,
  maxConnections: number,
  { retryScale, clock }: Pick<World, 'retryScale' | 'clock'>,
  deliver: (update: Update) => Promise<Posted>,
) {
  const timers = new Set<NodeJS.Timeout>()
  let isStopped = false
  /** The last update of each chat with pending updates. */
  const chats = new Map<number, Promise<void>>()
  /** Updates that wait for a connection, next one first. */
  const waiting: (() => void)[] = []
  let connections = 0

  function add(update: Update): void {
    const { chatId } = update
    const before = chats.get(chatId) ?? Promise.resolve()
    const ended = before.then(() => deliverUntilTaken(update))
    chats.set(chatId, ended)
    void ended.then(() => chats.get(chatId) === ended && chats.delete(chatId))
  }

  /** Drops the update when it was delivered or has expired. */
  async function deliverUntilTaken(update: Update): Promise<void> {
    let backoffS = 1
    for (let fails = 0; ; fails += 1) {
      const posted = await send(update)
      if (isStopped) return
      if (posted === null || posted.error === null) break
      let waitS = posted.retryAfterS
      if (waitS === 0 && fails > 0) {
        backoffS = Math.min(LONGEST_WAIT_S * (1 + Math.random()), backoffS * 2)
        waitS = backoffS
      }
      const waitMs = waitS * 1_000 * retryScale
      if (clock() + waitMs > update.expiresAt) break
      if (waitMs > 0) await rest(waitMs)
    }
    pending.delete(update.id)
  }

  /** Posts the update on the next free connection; null if it has expired by then. */
  async function send(update: Update): Promise<Posted | null> {
    if (connections < maxConnections) connections += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    const posted = isStopped || update.expiresAt <= clock() ? null : await deliver(update)
    const next = waiting.shift()
    if (next === undefined) connections -= 1
    else next()
    return posted
  }

  /** Never resolves if the webhook is stopped first. */
  function rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        timers.delete(timer)
        resolve()
      }, ms)
      timers.add(timer)
    })
  }

  return {
    add,
    stop: (): void => {
      isStopped = true
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
