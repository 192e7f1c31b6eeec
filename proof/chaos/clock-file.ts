/**
 * The wall clock of processes that are started with `env`, moved while they run: libfaketime adds what stands in a file. Their monotonic clock goes on as it is, as
 * it does when somebody sets the clock of a machine.
 */
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'

export interface ClockFile {
  readonly env: NodeJS.ProcessEnv
  /** Wrong by so many seconds from now on. */
  readonly set: (seconds: number) => void
}

const LIBRARIES = ['aarch64-linux-gnu', 'x86_64-linux-gnu'].map(
  (machine) => `/usr/lib/${machine}/faketime/libfaketime.so.1`,
)

/** Null where the library is not installed. */
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
