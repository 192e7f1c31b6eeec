import { setImmediate as nextTurn } from 'node:timers/promises'

/** Checks once in every turn of the event loop. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await nextTurn()
}
