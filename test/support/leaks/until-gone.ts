// Waits for resources that are closing. Costs nothing when they are gone at once, and may take long on a busy
// machine.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'

/** A socket closes a turn or two after the call. */
const TURNS = 20
/**
 * The pause between checks after that: a busy loop would take the core from the processes that must finish.
 */
const PAUSE_MS = 5

/** Returns the result of `left` once it is empty, or after that time. */
export async function untilGone(left: () => string[], withinMs: number): Promise<string[]> {
  const began = performance.now()
  for (let turn = 0; ; turn += 1) {
    const now = left()
    if (now.length === 0 || performance.now() - began > withinMs) return now
    await (turn < TURNS ? nextTurn() : sleep(PAUSE_MS))
  }
}
