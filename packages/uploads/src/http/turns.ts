/**
 * Limits how many request bodies are read in parallel, because each one holds chunks in memory. Waiting
 * bodies stay in their sockets. A turn ends with the body, when the sender is silent, or after a while if
 * others are waiting. Mailboxes take turns, so that one with many uploads does not delay the others.
 */
import type { Platform } from 'jobmill'

/** Maximum bodies in parallel. */
const READ_AT_ONCE = 16
/** How long a sender may be silent before it loses its turn. */
const SILENT_MS = 250
/** Short, so that hundreds of slow senders delay the others only briefly. */
const TURN_MS = 250

export type Turn = ReturnType<ReturnType<typeof turns>['newTurn']>

type Wake = (isMine: boolean) => void

export function turns(platform: Platform, most = READ_AT_ONCE) {
  /** Waiting turns by mailbox, next one first. No entry is empty. */
  const waiting = new Map<string, Set<Wake>>()
  let running = 0

  function join(mailbox: string, wake: Wake): void {
    const own = waiting.get(mailbox) ?? new Set()
    waiting.set(mailbox, own.add(wake))
  }

  /** Returns whether it was waiting. */
  function leave(mailbox: string, wake: Wake): boolean {
    const own = waiting.get(mailbox)
    const wasThere = own?.delete(wake) === true
    if (own?.size === 0) waiting.delete(mailbox)
    return wasThere
  }

  function next(): void {
    const [first] = waiting
    if (first === undefined || running >= most) return
    const [mailbox, own] = first
    const [wake] = own
    // The mailbox moves behind all others.
    waiting.delete(mailbox)
    if (own.size > 1) waiting.set(mailbox, own)
    if (wake === undefined) return
    own.delete(wake)
    running += 1
    wake(true)
  }

  /** Creates a turn for one body of this mailbox, without acquiring it. */
  function newTurn(mailbox: string) {
    let since: number | null = null
    let isOver = false
    let wake: Wake | null = null
    const releaseTurn = (): void => {
      if (since === null) return
      since = null
      running -= 1
      next()
    }
    return {
      /** Resolves when this body may be read. */
      async mine(): Promise<void> {
        if (since !== null && waiting.size > 0 && platform.monotonic() - since > TURN_MS) releaseTurn()
        if (since !== null || isOver) return
        const { promise, resolve } = Promise.withResolvers<boolean>()
        wake = resolve
        join(mailbox, resolve)
        next()
        if (!(await promise)) return
        since = platform.monotonic()
        if (isOver) releaseTurn()
      },
      /** Waits for data from the sender. Releases the turn if that takes too long. */
      async during<T>(read: Promise<T>): Promise<T> {
        const timer = platform.timer(SILENT_MS, releaseTurn, { unref: true })
        try {
          return await read
        } finally {
          timer.cancel()
        }
      },
      /** Ends the turn permanently, even while it is waiting. */
      end(): void {
        isOver = true
        if (wake !== null && leave(mailbox, wake)) wake(false)
        else releaseTurn()
      },
    }
  }
  return {
    newTurn,
    /** The number of bodies being read. */
    running: (): number => running,
  }
}
