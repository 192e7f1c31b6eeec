/** Alert rules as plain data: which problems are sent to which webhook, and how often. */
import type { CheckName, Subject } from './check-names.ts'

/** The kind of the jobs that send messages. */
export const ALERT_KIND = 'jobmill.alert'

export interface AlertRule {
  /** Null: the errors and warnings of every check. A check that is named also sends its notices. */
  readonly checks: readonly CheckName[] | null
  /** Only problems of this queue. With `kind` too, problems of either. */
  readonly queue: string | null
  readonly kind: string | null
  readonly url: string
  /** `whsec_…`, newest first. Every message is signed with each of them. */
  readonly secrets: readonly string[]
  /** How long a problem must last before it is sent. */
  readonly forMs: number
  /** How long after a message the same cause is not sent again. */
  readonly coolDownMs: number
  /** Whether the end of a sent problem is sent too. */
  readonly recovery: boolean
  /** Set at run time, even for a rule from code. */
  readonly paused: boolean
  readonly inCode: boolean
}

/** What is known about a rule between two passes. */
export interface AlertState {
  /** Current problems, and ended ones until their cool-down is over. */
  readonly causes: readonly AlertCause[]
  /**
   * Messages that may not have been enqueued yet. They are stored before they are enqueued, so that a
   * process that dies in between loses none, and removed afterwards. A message that is enqueued twice has
   * the same id.
   */
  readonly outbox: readonly AlertMessage[]
}

export const NO_STATE: AlertState = { causes: [], outbox: [] }

/** A finding, without the time. */
export interface FoundProblem {
  readonly check: string
  readonly level: 'notice' | 'warning' | 'error'
  readonly about: { readonly what: Subject | null; readonly name: string | null }
  readonly message: string
  readonly fix: string
}

/** One cause: a check and what it is about. */
export interface AlertCause extends FoundProblem {
  /** When it was first found. */
  readonly since: number
  /** Null while it lasts. */
  readonly endedAt: number | null
  /** How many messages about this occurrence were sent, or are in the outbox. */
  readonly sent: number
  /** The time and the level of the last message, even of one about an earlier occurrence. */
  readonly sentAt: number | null
  readonly sentLevel: FoundProblem['level'] | null
}

export interface AlertMessage extends FoundProblem {
  /** The `webhook-id`, which receivers use to recognize a repeated delivery. */
  readonly id: string
  readonly type: 'problem' | 'recovered' | 'test'
  readonly since: number
  readonly at: number
}
