/** The entries of a history about durable steps, and about the events that jobs wait for. */

/** A handler called the function of a step. */
interface StepRan {
  readonly what: 'step ran'
  readonly job: string
  readonly token: number
  readonly step: string
}

/** The store accepted the end of a step or of a wait. */
interface StepRecorded {
  readonly what: 'step recorded'
  readonly job: string
  readonly token: number
  readonly step: string
  /** The result as JSON text; null for none. */
  readonly value: string | null
  /** The events that a wait ends with. */
  readonly events?: readonly string[]
}

/** A handler got the result of a step. */
interface StepReturned {
  readonly what: 'step returned'
  readonly job: string
  readonly token: number
  readonly step: string
  /** The result as JSON text; null for none. */
  readonly value: string | null
  /** Nothing writes the end of a sleep. */
  readonly isSleep?: true
}

/** The store accepted a wait that is not over. */
interface StepWaits {
  readonly what: 'step waits'
  readonly job: string
  readonly token: number
  readonly step: string
  /** Empty for a sleep. */
  readonly events: readonly string[]
  /** When it ends without an event; null if it does not. */
  readonly dueAt: number | null
}

/** The store has an event for a job. */
interface EventStored {
  readonly what: 'event stored'
  readonly job: string
  readonly name: string
  /** The payload as JSON text, which no other event of the history has. */
  readonly payload: string
}

/** A sender got the acknowledgement of an event. */
interface EventAcknowledged {
  readonly what: 'event acknowledged'
  readonly job: string
  readonly payload: string
}

export type StepEntry = StepRan | StepRecorded | StepReturned | StepWaits | EventStored | EventAcknowledged
