/** A violated guarantee, and where. */
export interface Violation {
  readonly rule:
    | 'lost'
    | 'not ended'
    | 'forgotten'
    | 'two leases'
    | 'stale finish'
    | 'old token'
    | 'unwritten'
    | 'unleased start'
    | 'started twice'
    | 'done unrun'
    | 'early'
    | 'paused'
    | 'quiet'
    | 'taken alive'
    | 'crash counted'
    | 'continues'
    | 'repeated'
    | 'effect after cancel'
    | 'run after cancel'
    | 'cancelled unasked'
    | 'order'
    | 'order key'
    | 'key'
    | 'limit'
    | 'tick missing'
    | 'tick twice'
    | 'stale step'
    | 'step repeated'
    | 'step result'
    | 'short sleep'
    | 'event lost'
    | 'event twice'
    | 'parked'
    | 'earlier version'
    | 'follow-up lost'
    | 'follow-up twice'
  /** What happened, in a sentence. */
  readonly message: string
  /** The index in the history. */
  readonly entry: number
}
