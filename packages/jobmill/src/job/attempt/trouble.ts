/** Emits one event when a component starts to fail and one when it recovers, not one for every retry. */
import type { Emit } from '../events.ts'

export interface Trouble {
  readonly failing: (error: unknown) => void
  readonly working: () => void
}

export function trouble(part: string, emit: Emit): Trouble {
  let isFailing = false
  return {
    failing(error) {
      if (isFailing) return
      isFailing = true
      emit('store-failing', { part, error })
    },
    working() {
      if (!isFailing) return
      isFailing = false
      emit('store-back', { part })
    },
  }
}
