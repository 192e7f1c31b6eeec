/**
 * Orders deliveries: one update per chat at a time, and chats in parallel up to the connection limit. A
 * failed update stays at the head of its chat. It is retried immediately, then after 2, 4, 8 s and so on.
 */
import type { Update } from './bot.ts'
import type { Posted } from './post.ts'

/** The longest wait is random between this and twice as much. */
const LONGEST_WAIT_S = 60

export interface Lanes {
  readonly add: (update: Update) => void
  readonly stop: () => void
}

export interface LaneParts {
  readonly maxConnections: number
  readonly retryScale: number
  readonly clock: () => number
  readonly deliver: (update: Update) => Promise<Posted>
  /** Called when an update was delivered or has expired. */
  readonly drop: (update: Update) => void
}

interface Waiting {
  readonly update: Update
  fails: number
  waitS: number
}

export function lanes({ maxConnections, retryScale, clock, deliver, drop }: LaneParts): Lanes {
  /** Chats with pending updates. */
  const chats = new Map<number, Waiting[]>()
  const ready: number[] = []
  const timers = new Set<NodeJS.Timeout>()
  let connections = 0
  let isStopped = false

  function add(update: Update): void {
    const waiting = { update, fails: 0, waitS: 1 }
    const lane = chats.get(update.chatId)
    if (lane !== undefined) return void lane.push(waiting)
    chats.set(update.chatId, [waiting])
    ready.push(update.chatId)
    pump()
  }

  function pump(): void {
    if (isStopped) return
    while (connections < maxConnections) {
      const chat = ready.shift()
      if (chat === undefined) return
      const head = chats.get(chat)?.[0]
      if (head === undefined) continue
      if (head.update.expiresAt <= clock()) pass(head)
      else void send(head)
    }
  }

  async function send(head: Waiting): Promise<void> {
    connections += 1
    const { error, retryAfterS } = await deliver(head.update)
    connections -= 1
    if (isStopped) return
    if (error === null) pass(head)
    else wait(head, retryAfterS)
    pump()
  }

  /** Drops the update and queues the next one of its chat. */
  function pass({ update }: Waiting): void {
    drop(update)
    const lane = chats.get(update.chatId)
    lane?.shift()
    if (lane?.[0] === undefined) chats.delete(update.chatId)
    else ready.push(update.chatId)
  }

  function wait(head: Waiting, retryAfterS: number): void {
    const { chatId, expiresAt } = head.update
    let waitS = retryAfterS
    if (retryAfterS === 0 && head.fails > 0) {
      head.waitS = Math.min(LONGEST_WAIT_S * (1 + Math.random()), head.waitS * 2)
      waitS = head.waitS
    }
    head.fails += 1
    const waitMs = waitS * 1_000 * retryScale
    if (clock() + waitMs > expiresAt) return pass(head)
    if (waitMs === 0) return void ready.push(chatId)
    const timer = setTimeout(() => {
      timers.delete(timer)
      ready.push(chatId)
      pump()
    }, waitMs)
    timers.add(timer)
  }

  return {
    add,
    stop: () => {
      isStopped = true
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
