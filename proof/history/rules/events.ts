/**
 * P18: each event that was acknowledged is stored, a wait does not time out while the store has an event for
 * it, no two waits receive the same event, and no sleep ends early. A job that waits for a lost event does
 * not end, which the rule for lost jobs finds.
 */
import type { Entry } from '../entry.ts'
import { retentionTracker } from '../retention-tracker.ts'
import type { Violation } from '../violation.ts'

interface Stored {
  readonly name: string
  /** The step that received it. */
  receivedBy: string | null
}

interface Mailbox {
  /** Keyed by payload. */
  readonly events: Map<string, Stored>
  readonly ended: Set<string>
  /** When each sleep is over. */
  readonly sleeps: Map<string, number>
}

/** Store clocks are in whole milliseconds. */
const ROUNDING_MS = 1

export function eventsReceivedOnce(history: readonly Entry[]): Violation[] {
  const mailboxes = new Map<string, Mailbox>()
  const kept = retentionTracker()
  const violations: Violation[] = []

  function mailboxOf(job: string): Mailbox {
    const mailbox = mailboxes.get(job) ?? { events: new Map(), ended: new Set(), sleeps: new Map() }
    mailboxes.set(job, mailbox)
    return mailbox
  }

  history.forEach((one, entry) => {
    const broken = (rule: Violation['rule'], message: string): void =>
      void violations.push({ rule, message, entry })
    // Retention deleted it with its events, and a late call wrote it again.
    if (one.what === 'written' && kept.isOld(one.job, one.at)) mailboxes.delete(one.job)
    kept.see(one)
    if (one.what === 'event stored') {
      const { events } = mailboxOf(one.job)
      if (!events.has(one.payload)) events.set(one.payload, { name: one.name, receivedBy: null })
    } else if (one.what === 'event acknowledged') {
      if (mailboxes.get(one.job)?.events.has(one.payload) !== true)
        broken('event lost', `event ${one.payload} of ${one.job} was acknowledged and is not there`)
    } else if (one.what === 'step waits') {
      const { sleeps } = mailboxOf(one.job)
      if (one.events.length === 0 && one.dueAt !== null && !sleeps.has(one.step))
        sleeps.set(one.step, one.dueAt)
    } else if (one.what === 'step returned' && one.isSleep === true) {
      const leftMs = (mailboxes.get(one.job)?.sleeps.get(one.step) ?? 0) - one.at
      if (leftMs > ROUNDING_MS)
        broken('short sleep', `"${one.step}" of ${one.job} ended ${leftMs.toFixed(0)} ms early`)
    } else if (one.what === 'step recorded' && one.events !== undefined) {
      const { events, ended } = mailboxOf(one.job)
      const of = `"${one.step}" of ${one.job}`
      if (ended.has(one.step)) return
      ended.add(one.step)
      if (one.value === null) {
        const missed = [...events].find(
          ([, { name, receivedBy }]) => receivedBy === null && one.events?.includes(name) === true,
        )
        if (missed !== undefined)
          broken('event lost', `${of} timed out although event ${missed[0]} was there`)
        return
      }
      const payload = payloadOf(one.value)
      const event = events.get(payload)
      if (event === undefined) broken('event twice', `${of} received event ${payload}, which is not there`)
      else if (event.receivedBy !== null)
        broken('event twice', `${of} received event ${payload} after "${event.receivedBy}"`)
      else event.receivedBy = one.step
    }
  })
  return violations
}

/** As JSON text. */
function payloadOf(received: string): string {
  return JSON.stringify((JSON.parse(received) as { readonly payload: unknown }).payload)
}
