/**
 * Moves the wall clock of running processes that were started with `env`: libfaketime adds the offset in a
 * file. Their monotonic clock is unaffected, as when an operator sets the clock of a machine.
 */
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'

export interface ClockFile {
  readonly env: NodeJS.ProcessEnv
  /** Sets the offset in seconds from now on. */
  readonly set: (seconds: number) => void
}

const LIBRARIES = ['aarch64-linux-gnu', 'x86_64-linux-gnu'].map(
  (machine) => `/usr/lib/${machine}/faketime/libfaketime.so.1`,
)

/** Null if the library is not installed. */
export function clockFile(
  folder: string,
  library = LIBRARIES.find((one) => existsSync(one)),
): ClockFile | null {
  if (library === undefined) return null
  const file = path.join(folder, 'clock')
  const set = (seconds: number): void => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}\n`)
  set(0)
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
    set,
  }
}
