/** The options of `npm run chaos`. Invalid ones are refused with the valid choices. */
import { parseArgs } from 'node:util'
import { NAMES, strikes } from './nemeses/all.ts'
import type { StoreName } from './scene.ts'

export interface Options {
  /** The duration of the rounds; each store gets at least one. */
  readonly minutes: number
  readonly seed: number
  readonly stores: readonly StoreName[]
  /** The names of the nemeses. */
  readonly only: readonly string[]
  readonly rate: number
  readonly json: string | undefined
}

class OptionError extends Error {}

export const USAGE = `npm run chaos -- [options]
  --quick            each nemesis once on each store, in about 8 minutes (the default)
  --minutes 30       run rounds in random order for this many minutes
  --seed 7           seed of the order (default: random, and printed)
  --store postgres   use one store only: postgres or sqlite
  --only kill,term   run only these nemeses: ${NAMES.join(', ')}
  --rate 50          jobs a second
  --json FILE        write the summary to this file`

/** Null if help was requested. */
export function readOptions(args: readonly string[]): Options | null {
  const values = parse(args)
  if (values.help) return null
  if (values.quick && values.minutes !== undefined)
    throw new OptionError('--quick: cannot be combined with --minutes')
  const stores = storesIn(values.store)
  const only = namesIn(values.only)
  if (!stores.some((store) => only.some((name) => strikes(name, store))))
    throw new OptionError(`--only: nothing of ${only.join(', ')} can happen on ${stores.join(' or ')}`)
  return {
    minutes: values.minutes === undefined ? 0 : whole('--minutes', values.minutes, 1, 100_000),
    seed:
      values.seed === undefined
        ? 1 + Math.floor(Math.random() * 999_999)
        : whole('--seed', values.seed, 1, 999_999_999),
    stores,
    only,
    rate: whole('--rate', values.rate, 1, 1_000),
    json: values.json,
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        quick: { type: 'boolean', default: false },
        minutes: { type: 'string' },
        seed: { type: 'string' },
        store: { type: 'string' },
        only: { type: 'string' },
        rate: { type: 'string', default: '50' },
        json: { type: 'string' },
      },
    }).values
  } catch (error) {
    throw new OptionError(
      `${error instanceof Error ? error.message.split(/\.(?: |$)/)[0] : String(error)}.\n${USAGE}`,
    )
  }
}

function storesIn(text: string | undefined): StoreName[] {
  if (text === undefined) return ['postgres', 'sqlite']
  if (text === 'postgres' || text === 'sqlite') return [text]
  throw new OptionError(`--store: must be postgres or sqlite (got ${text})`)
}

function namesIn(text: string | undefined): readonly string[] {
  if (text === undefined) return NAMES
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !NAMES.includes(name))
  if (unknown !== undefined)
    throw new OptionError(`--only: unknown nemesis (got ${unknown}). Use ${NAMES.join(', ')}`)
  return names
}

function whole(option: string, text: string, least: number, most: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (number >= least && number <= most) return number
  throw new OptionError(`${option}: must be a whole number from ${least} to ${most} (got ${text})`)
}
