/** Accepts an upload request: concurrency limits, timeout and idempotency key. */
import { checkKey } from '../inbox/receive/idempotency.ts'
import type { Inside } from '../inbox/inside.ts'
import { limitsOf } from '../inbox/limits.ts'
import { receive, type Received } from '../inbox/receive/receive.ts'
import type { Holder } from '../inbox/tokens.ts'
import { Refusal } from '../refusal.ts'
import { filesOf, reasonOf } from './multipart.ts'
import { turns } from './turns.ts'

export type Uploader = (request: Request, holder: Holder) => Promise<Received>

export function uploadsOf(inside: Inside) {
  const { platform } = inside
  const running = new Set<Promise<unknown>>()
  /** Running uploads by mailbox, without zeros. */
  const byMailbox = new Map<string, number>()
  const stopping = new AbortController()
  const reading = turns(platform)
  let isStopping = false

  async function track<R>(work: Promise<R>): Promise<R> {
    running.add(work)
    try {
      return await work
    } finally {
      running.delete(work)
    }
  }

  async function take(request: Request, holder: Holder): Promise<Received> {
    const limits = limitsOf(holder.limits, inside.limits)
    const slow = new AbortController()
    // Half of the time after which the sweep cleans up, so that it never meets a running upload.
    const timer = platform.timer(inside.limits.stagingForMs / 2, () => slow.abort(new Refusal('TOO_SLOW')), {
      unref: true,
    })
    const signal = AbortSignal.any([request.signal, stopping.signal, slow.signal])
    const files = filesOf(request, limits, signal, reading.newTurn(holder.mailbox))
    try {
      const { mailbox, token } = holder
      return await receive(inside, { mailbox, token, limits, key: keyOf(request), files, signal })
    } catch (error) {
      throw signal.aborted && !(error instanceof Refusal) ? reasonOf(signal) : error
    } finally {
      timer.cancel()
      // Also ends an iterator that was never started.
      await files.return()
    }
  }

  return {
    async take(request: Request, holder: Holder): Promise<Received> {
      if (isStopping) throw new Refusal('STOPPING')
      const most = inside.limits.uploadsAtOnce
      if (running.size >= most)
        throw new Refusal('TOO_MANY', {
          detail: `${most} uploads are in progress, the limit of this process`,
          fix: 'Try again in a moment',
          max: most,
          retryAfter: 1,
        })
      const { mailbox } = holder
      const own = byMailbox.get(mailbox) ?? 0
      const { uploadsPerMailbox } = limitsOf(holder.limits, inside.limits)
      if (own >= uploadsPerMailbox)
        throw new Refusal('MAILBOX_BUSY', {
          detail: `${uploadsPerMailbox} uploads to this mailbox are in progress, its limit`,
          fix: 'Try again when one of them has ended, or raise the limit of the mailbox',
          max: uploadsPerMailbox,
          retryAfter: 1,
        })
      byMailbox.set(mailbox, own + 1)
      try {
        return await track(take(request, holder))
      } finally {
        const left = (byMailbox.get(mailbox) ?? 1) - 1
        if (left > 0) byMailbox.set(mailbox, left)
        else byMailbox.delete(mailbox)
      }
    },
    /** Runs work of the program itself. A stop waits for it, and refuses any later work. */
    async during<R>(act: (stopping: AbortSignal) => Promise<R>): Promise<R> {
      if (isStopping) throw new Refusal('STOPPING')
      return track(act(stopping.signal))
    },
    /** Accepts no more uploads, and resolves when the running ones have ended. Aborts after `graceMs`. */
    async stop(graceMs: number): Promise<void> {
      isStopping = true
      const timer = platform.timer(graceMs, () => stopping.abort(new Refusal('STOPPING')))
      await Promise.allSettled(running)
      timer.cancel()
    },
  }
}

/** Null for none. */
function keyOf({ headers }: Request): string | null {
  const key = headers.get('idempotency-key')
  return key === null ? null : checkKey(key, 'Idempotency-Key')
}
