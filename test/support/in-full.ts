// Some tests go on for as long as one likes: with more random cases, or for more minutes of a clock that is moved. `npm test` takes as much as finds what
// breaks; with JOBMILL_LONG=all, as every night, they go on for longer.
import { test } from 'vitest'

export function inFull<T>(full: T, usual: T): T {
  return process.env['JOBMILL_LONG'] === 'all' ? full : usual
}

type Run = () => Promise<void> | void

/** `test` for what another test of `npm test` also covers, in another way or on another page. Runs every night. */
export function nightlyTest(name: string, run: Run, timeoutMs?: number): void {
  if (inFull(true, false)) test(name, run, timeoutMs)
}
