/** Shows progress, or what a command waits for: nothing for the first second, then one line. */
import { type Platform, systemPlatform } from '../../platform/platform.ts'
import type { Terminal } from './terminal.ts'
import { lasting, number } from './wording.ts'

const AFTER_MS = 1_000
const EVERY_MS = 100
const WIDTH = 24

export function progressOf(what: string, terminal: Terminal, platform: Platform = systemPlatform) {
  const began = platform.monotonic()
  let shownAt = began + AFTER_MS - EVERY_MS
  return {
    /** `total` is null while it is unknown; `share` is the completed fraction, if it is known another way. */
    at: (done: number, total: number | null, share?: number): void => {
      const now = platform.monotonic()
      if (now - shownAt < EVERY_MS) return
      shownAt = now
      const rate = Math.round(done / ((now - began) / 1_000))
      terminal.status(`${what} ${bar(done, total, share)} ${number(rate)}/s`)
    },
    end: () => terminal.status(''),
  }
}

/** Shows the progress of this work until it ends. */
export async function withProgress<T>(
  what: string,
  terminal: Terminal,
  work: (at: ReturnType<typeof progressOf>['at']) => Promise<T>,
): Promise<T> {
  const progress = progressOf(what, terminal)
  try {
    return await work(progress.at)
  } finally {
    progress.end()
  }
}

function bar(done: number, total: number | null, share: number | undefined): string {
  const known = share ?? (total === null || total === 0 ? null : done / total)
  if (known === null) return number(done)
  const most = Math.min(1, known)
  const full = Math.round(most * WIDTH)
  const of = total === null ? number(done) : `${number(done)}/${number(total)}`
  return `[${'#'.repeat(full)}${'.'.repeat(WIDTH - full)}] ${Math.floor(most * 100)}% ${of}`
}

/** Shows what the command waits for, and for how long. */
export async function waitingFor<T>(
  what: string,
  promise: Promise<T>,
  terminal: Pick<Terminal, 'status'>,
  platform: Platform = systemPlatform,
): Promise<T> {
  const began = platform.monotonic()
  const update = (): void => {
    terminal.status(`waiting for ${what}: ${lasting(platform.monotonic() - began)}`)
    timer = platform.timer(AFTER_MS, update)
  }
  let timer = platform.timer(AFTER_MS, update)
  try {
    return await promise
  } finally {
    timer.cancel()
    terminal.status('')
  }
}
