/** The command-line options. Errors name the option. */
import { parseArgs } from 'node:util'
import { problemWith } from '../json-file.ts'
import type { Theme } from './tasks/task.ts'

export type StoreName = 'sqlite' | 'postgres'

export interface Options {
  readonly jobs: number
  readonly rounds: number
  /** How long an idle tab is watched. */
  readonly idleSeconds: number
  readonly stores: readonly StoreName[]
  /** The ids of the tasks to perform, `pages` and `idle`; null for everything. */
  readonly tasks: readonly string[] | null
  readonly json: string | null
  /** The themes that are checked on each store. */
  readonly themes: Readonly<Record<StoreName, readonly Theme[]>>
}

const BOTH: Options['themes'] = { sqlite: ['light', 'dark'], postgres: ['light', 'dark'] }
/** The pages of both stores look alike, so a quick run checks each theme once. */
const EACH_ONCE: Options['themes'] = { sqlite: ['light'], postgres: ['dark'] }

export const HELP = `npm run prove:page -- [--quick] [--jobs 1000000] [--rounds 3] [--store both] [--tasks IDS] [--json FILE]

Opens Mission Control in Chromium on a store with many jobs, measures every page and an idle tab, and performs the tasks
of an operator. Fails if a task does not reach its result, if it needs more than the best rival, if the median of a page
is above a second, or if an idle tab costs the server more than 1% of a core.

  --quick      50,000 jobs, one round, 20 s of an idle tab instead of 40 s, and one theme on each store
  --jobs       how many jobs the store holds: at least 10,000
  --rounds     how often each page is measured
  --store      sqlite, postgres or both
  --tasks      only these tasks, such as 3a,7d; also pages and idle for the measurements
  --json       write the results to this file`

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
      quick: { type: 'boolean', default: false },
      jobs: { type: 'string' },
      rounds: { type: 'string' },
      store: { type: 'string', default: 'both' },
      tasks: { type: 'string' },
      json: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return null
  const stores = STORES[values.store]
  if (stores === undefined)
    throw new Error(`--store: must be ${Object.keys(STORES).join(', ')} (got "${values.store}")`)
  const problem = problemWith(values.json)
  if (problem !== null) throw new Error(problem)
  return {
    jobs: whole('--jobs', values.jobs ?? (values.quick ? '50000' : '1000000'), 10_000),
    rounds: whole('--rounds', values.rounds ?? (values.quick ? '1' : '3'), 1),
    // The page refreshes all of its data within 20 s.
    idleSeconds: values.quick ? 20 : 40,
    stores,
    tasks: values.tasks?.split(',') ?? null,
    json: values.json ?? null,
    themes: values.quick && stores.length > 1 ? EACH_ONCE : BOTH,
  }
}

function whole(name: string, text: string, least: number): number {
  if (/^\d+$/.test(text) && Number(text) >= least) return Number(text)
  throw new Error(`${name}: must be a whole number of at least ${least} (got "${text}")`)
}
