/** Attempts that succeeded or failed: of a queue or a kind, and of a kind by version of the application. */
import type { Counter } from './tally.ts'

/** Snoozed, throttled, cancelled and interrupted attempts do not count: they say nothing about success. */
export interface Attempts {
  readonly attempts: number
  readonly failed: number
}

type Ends = Readonly<Partial<Record<Extract<Counter, 'done' | 'retried' | 'dead' | 'timedOut'>, number>>>

export function attemptsOf({ done = 0, retried = 0, dead = 0, timedOut = 0 }: Ends): Attempts {
  const failed = retried + dead + timedOut
  return { attempts: done + failed, failed }
}

const COUNTED = ['attempts', 'failed'] as const satisfies readonly (keyof Attempts)[]

/** Further counters of a kind. The version comes last, so that `attemptsByVersion` can parse them. */
export function versionCounters(version: string, all: Attempts): Readonly<Record<string, number>> {
  const counted = COUNTED.filter((name) => all[name] > 0)
  return Object.fromEntries(counted.map((name) => [`${name} ${version}`, all[name]]))
}

/** Parses the counters of a kind. Sorted by version. */
export function attemptsByVersion(
  counters: Readonly<Record<string, number>>,
): Readonly<Record<string, Attempts>> {
  const found = new Map<string, Attempts>()
  for (const [counter, n] of Object.entries(counters)) {
    const name = COUNTED.find((one) => counter.startsWith(`${one} `))
    if (name === undefined) continue
    const version = counter.slice(name.length + 1)
    found.set(version, { ...(found.get(version) ?? { attempts: 0, failed: 0 }), [name]: n })
  }
  return Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
