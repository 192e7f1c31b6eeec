// Waits for what is being closed. On a busy machine that may take long, and costs nothing when it is done at once.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'

/** A socket is closed a turn or two after it was told to. */
const TURNS = 20
/** Between two looks after that: turns without a pause would take the core from whoever is waited for. */
const PAUSE_MS = 5

/** What `left` says once that is nothing, or has not changed to nothing within that time. */
export async function untilGone(left: () => string[], withinMs: number): Promise<string[]> {
  const began = performance.now()
  for (let turn = 0; ; turn += 1) {
    const now = left()
    if (now.length === 0 || performance.now() - began > withinMs) return now
    await (turn < TURNS ? nextTurn() : sleep(PAUSE_MS))
  }
}
