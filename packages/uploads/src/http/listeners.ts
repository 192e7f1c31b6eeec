/** Caps the requests that stay open to wait for files: event streams and long polls, counted together. */
import { places } from 'jobmill/http'
import type { Limits } from '../inbox/limits.ts'
import { Refusal } from '../refusal.ts'

export interface Listeners {
  /** Returns the function that gives the place back. Throws when the mailbox, or this process, has as many as it may. */
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
          detail: `${perCaller} event streams and long polls of this mailbox are open, which is the most for one mailbox`,
          fix: 'Close one, or ask without wait',
          max: perCaller,
          retryAfter: 1,
        })
      if (opened === 'total')
        throw new Refusal('BUSY', {
          detail: `${total} event streams and long polls are open, which is the most for this process`,
          fix: 'Try again in a moment, or ask without wait',
          max: total,
        })
      return opened
    },
  }
}
