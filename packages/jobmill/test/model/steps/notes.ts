// Notes of a running attempt: progress and log.
import { tokenOf } from '../systems.ts'
import type { LeaseName } from '../lease-name.ts'
import type { World } from '../world.ts'
import { ask } from '../world.ts'

/** One call with a note on the same attempt in each system. */
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
