/** What the clock needs of a mill to leap over idle time. */
import type { Store } from '../../../store/store.ts'

/** A started mill on a clock. */
export interface LeapingMill {
  readonly id: () => string
  readonly store: Pick<Store, 'instances'>
  /** When its next job, schedule or limit is due. Undefined while it has work. */
  readonly nextMs: () => Promise<number | undefined>
}
