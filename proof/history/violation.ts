/** A promise that a history breaks, and where. */
export interface Violation {
  readonly rule:
    | 'lost'
    | 'not ended'
    | 'forgotten'
    | 'two leases'
    | 'stale finish'
    | 'unleased start'
    | 'taken alive'
    | 'goes on'
    | 'repeated'
    | 'effect after cancel'
    | 'order'
    | 'key'
    | 'limit'
    | 'tick missing'
    | 'tick twice'
  /** What happened, in a sentence. */
  readonly told: string
  /** The place in the history. */
  readonly entry: number
}
