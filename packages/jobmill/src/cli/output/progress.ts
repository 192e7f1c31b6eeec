/** Shows the progress of long work: nothing for the first second, then one line that is updated in place. */
import type { Platform } from '../../platform/platform.ts'
import { systemPlatform } from '../../platform/platform.ts'
import type { Terminal } from './terminal.ts'
import { number } from './wording.ts'

export interface Progress {
  /** `total` is null while it is unknown; `share` is the completed fraction, if it is known another way. */
  at(done: number, total: number | null, share?: number): void
  end(): void
}

const AFTER_MS = 1_000
const EVERY_MS = 100
const WIDTH = 24

export function progressOf(what: string, terminal: Terminal, platform: Platform = systemPlatform): Progress {
  const began = platform.monotonic()
  let shownAt = began + AFTER_MS - EVERY_MS
  return {
    at(done, total, share) {
      const now = platform.monotonic()
      if (now - shownAt < EVERY_MS) return
      shownAt = now
      const rate = Math.round(done / ((now - began) / 1_000))
      terminal.status(`${what} ${bar(done, total, share)} ${number(rate)}/s`)
    },
    end: () => terminal.status(''),
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
