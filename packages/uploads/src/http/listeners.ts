/** Caps the requests that stay open to wait for files: event streams and long polls, counted together. */
import { places } from 'jobmill-server'
import type { Limits } from '../inbox/limits.ts'
import { Refusal } from '../refusal.ts'

export interface Listeners {
  /**
   * Returns the function that releases the slot. Throws if the mailbox or this process has reached its limit.
   */
  readonly open: (mailbox: string) => () => void
}

export function listeners({
  listenersAtOnce: total,
  listenersPerMailbox: perCaller,
}: Pick<Limits, 'listenersAtOnce' | 'listenersPerMailbox'>): Listeners {
  const { open } = places({ total, perCaller })
  return {
    open(mailbox) {
      const opened = open(mailbox)
      if (opened === 'caller')
        throw new Refusal('LISTENERS_TOO_MANY', {
          detail: `${perCaller} event streams and long polls of this mailbox are open, the limit per mailbox`,
          fix: 'Close one, or request without wait',
          max: perCaller,
          retryAfter: 1,
        })
      if (opened === 'total')
        throw new Refusal('BUSY', {
          detail: `${total} event streams and long polls are open, the limit of this process`,
          fix: 'Try again in a moment, or request without wait',
          max: total,
        })
      return opened
    },
  }
}
