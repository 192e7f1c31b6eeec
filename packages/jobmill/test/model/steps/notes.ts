// What a running attempt notes of itself: how far it is, and its log.
import { tokenOf } from '../systems.ts'
import type { LeaseName, World } from '../world.ts'
import { ask } from '../world.ts'

/** One call, with a note on the same attempt for each. */
export async function sendNotes(
  world: World,
  { id, claim }: LeaseName,
  notes: readonly ('value' | 'log')[],
): Promise<void> {
  const at = JSON.stringify({ at: world.clock.now() })
  await ask(
    world,
    'progress',
    (system) => {
      const token = tokenOf(system, { id, claim })
      return system.store.progress(
        notes.map((note) => ({ id, token, ...(note === 'value' ? { value: at } : { log: `log ${at}` }) })),
      )
    },
    (replies) => replies,
  )
}
