/**
 * How many bodies are read at the same time: every one that is has chunks in memory, and those that wait have none but what their socket holds, which makes their
 * senders wait. A turn ends with the body, when its sender has nothing to send, and after a while when others wait: so nobody who is slow holds up the rest. Mailboxes
 * have the next turn one after the other, however many bodies each has waiting: so one that has many holds up no other.
 */
import type { Platform } from 'jobmill'

/** The most bodies that are read at once. */
const READ_AT_ONCE = 16
/** How long a sender may be silent before somebody else is read. */
const SILENT_MS = 250
/** Short, so that hundreds who are slow and steady hold up nobody for long. */
const TURN_MS = 250

export interface Turns {
  /** One body, to this mailbox. Nothing is taken yet. */
  readonly newTurn: (mailbox: string) => Turn
  /** How many bodies are being read. */
  readonly running: () => number
}

export interface Turn {
  /** Resolves when this body may be read on. */
  readonly mine: () => Promise<void>
  /** What the sender brings. The turn goes to somebody else when that takes a while. */
  readonly during: <T>(read: Promise<T>) => Promise<T>
  /** For good; also while waiting. */
  readonly end: () => void
}

type Wake = (isMine: boolean) => void

export function turns(platform: Platform, most = READ_AT_ONCE): Turns {
  /** By mailbox, the next one first; none is empty. */
  const waiting = new Map<string, Set<Wake>>()
  let running = 0

  function join(mailbox: string, wake: Wake): void {
    const own = waiting.get(mailbox) ?? new Set()
    waiting.set(mailbox, own.add(wake))
  }

  /** Whether it was among those who wait. */
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
    // Those that it has left stand behind every other mailbox.
    waiting.delete(mailbox)
    if (own.size > 1) waiting.set(mailbox, own)
    if (wake === undefined) return
    own.delete(wake)
    running += 1
    wake(true)
  }

  function newTurn(mailbox: string): Turn {
    let since: number | null = null
    let isOver = false
    let wake: Wake | null = null
    const giveBack = (): void => {
      if (since === null) return
      since = null
      running -= 1
      next()
    }
    return {
      async mine() {
        if (since !== null && waiting.size > 0 && platform.monotonic() - since > TURN_MS) giveBack()
        if (since !== null || isOver) return
        const { promise, resolve } = Promise.withResolvers<boolean>()
        wake = resolve
        join(mailbox, resolve)
        next()
        if (!(await promise)) return
        since = platform.monotonic()
        if (isOver) giveBack()
      },
      async during(read) {
        const timer = platform.timer(SILENT_MS, giveBack, { unref: true })
        try {
          return await read
        } finally {
          timer.cancel()
        }
      },
      end() {
        isOver = true
        if (wake !== null && leave(mailbox, wake)) wake(false)
        else giveBack()
      },
    }
  }
  return { newTurn, running: () => running }
}
