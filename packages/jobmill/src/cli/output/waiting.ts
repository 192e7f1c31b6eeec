/** Shows what the command waits for, and for how long, after the first second. */
import { type Platform, systemPlatform } from '../../platform/platform.ts'
import type { Terminal } from './terminal.ts'
import { lasting } from './wording.ts'

const EVERY_MS = 1_000

export async function waitingFor<T>(
  what: string,
  promise: Promise<T>,
  terminal: Pick<Terminal, 'status'>,
  platform: Platform = systemPlatform,
): Promise<T> {
  const began = platform.monotonic()
  const update = (): void => {
    terminal.status(`waiting for ${what}: ${lasting(platform.monotonic() - began)}`)
    timer = platform.timer(EVERY_MS, update)
  }
  let timer = platform.timer(EVERY_MS, update)
  try {
    return await promise
  } finally {
    timer.cancel()
    terminal.status('')
  }
}
