/** The command-line options. Errors name the option. */
import { parseArgs } from 'node:util'

export interface Options {
  readonly store: 'postgres' | 'sqlite'
  readonly seconds: number
  /** Jobs a second. */
  readonly rate: number
}

export const HELP = `npm run start:cluster -- [--sqlite] [--seconds 20] [--rate 100]

Runs three worker processes on one database under a steady stream of jobs. One process is killed with -9, the database
is killed and restarted, and at the end acknowledged and executed jobs are compared.

  --sqlite     use a SQLite file, locked by another process for 3 s, instead of PostgreSQL
  --seconds    how long jobs are enqueued: 3 to 3600
  --rate       jobs a second: 1 to 2000`

/** Null if help was requested. */
export function readOptions(args: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sqlite: { type: 'boolean', default: false },
      seconds: { type: 'string', default: '20' },
      rate: { type: 'string', default: '100' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return null
  return {
    store: values.sqlite ? 'sqlite' : 'postgres',
    seconds: whole('--seconds', values.seconds, 3, 3_600),
    rate: whole('--rate', values.rate, 1, 2_000),
  }
}

function whole(option: string, text: string, least: number, most: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (number >= least && number <= most) return number
  throw new Error(`${option}: must be a whole number from ${least} to ${most} (got "${text}")`)
}
