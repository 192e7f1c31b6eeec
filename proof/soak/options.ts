/** The command-line options. Errors name the option. */
import { parseArgs } from 'node:util'

export type StoreName = 'sqlite' | 'postgres'

export interface Options {
  readonly minutes: number
  readonly stores: readonly StoreName[]
  /** The output file for all samples; null for none. */
  readonly json: string | null
}

export const HELP = `npm run soak -- [--minutes 30] [--store sqlite|postgres|both] [--json FILE]

Runs a mill in its own process under a steady, varied load, while a second process comes and goes, connections are
dropped and the file is locked. Memory, handles, listeners, rows and size are sampled: they must not grow in the second
half of the run. At the end every acknowledged job must have ended.

  --minutes    how long jobs are enqueued: 4 to 1440. In less time, rows with a retention of a minute still grow
  --store      one store, or both in parallel
  --json       write all samples to this file`

const STORES: Readonly<Record<string, readonly StoreName[]>> = {
  sqlite: ['sqlite'],
  postgres: ['postgres'],
  both: ['sqlite', 'postgres'],
}

/** Null if help was requested. */
export function readOptions(args: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '30' },
      store: { type: 'string', default: 'both' },
      json: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return null
  const minutes = /^\d+$/.test(values.minutes) ? Number(values.minutes) : Number.NaN
  if (!(minutes >= 4 && minutes <= 1_440))
    throw new Error(`--minutes: must be a whole number from 4 to 1440 (got "${values.minutes}")`)
  const stores = STORES[values.store]
  if (stores === undefined)
    throw new Error(`--store: must be ${Object.keys(STORES).join(', ')} (got "${values.store}")`)
  return { minutes, stores, json: values.json ?? null }
}
