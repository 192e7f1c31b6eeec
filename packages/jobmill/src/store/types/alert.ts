/** Alert rules in the store. A store does not interpret a rule or its state. */
import type { AlertRule, AlertState } from '../../job/alert/rule.ts'

export interface AlertRecord {
  readonly name: string
  /** Rises with every write. */
  readonly revision: number
  readonly rule: AlertRule
  readonly state: AlertState
}

/** `revision` is the revision that the caller read, or null for a new rule. */
export interface AlertWrite extends Omit<AlertRecord, 'revision'> {
  readonly revision: number | null
}
