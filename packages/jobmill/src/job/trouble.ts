/** Tells once when a part begins to fail, and once when it works again: not for every try in between. */
import type { Emit } from './events.ts'

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
