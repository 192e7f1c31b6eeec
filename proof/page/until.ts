/** Waits for a result: asks again until the answer is the expected one, and says what it saw if it is not. */
import { setTimeout as pause } from 'node:timers/promises'

const AGAIN_MS = 50
const WITHIN_MS = 60_000

export async function until<T>(
  what: string,
  ask: () => Promise<T>,
  isExpected: (answer: T) => boolean,
  withinMs = WITHIN_MS,
): Promise<T> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (isExpected(answer)) return answer
    if (performance.now() > deadline)
      throw new Error(`${what}: not within ${withinMs / 1_000} s, last seen ${shown(answer)}`)
    await pause(AGAIN_MS)
  }
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 600)
