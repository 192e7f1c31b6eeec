/** The options of `npm run simulate -- …`. What is not understood is refused with what would be. */
import { parseArgs } from 'node:util'

export interface Options {
  /** The seeds `first` to `first + seeds − 1`. */
  readonly first: number
  readonly seeds: number
  /** Ends with the first history that breaks a promise. */
  readonly untilBroken: boolean
  readonly short: boolean
  readonly json: string | undefined
}

export class OptionError extends Error {}

export const USAGE = `npm run simulate -- [options]
  --seeds 2000   how many histories (default 200)
  --seed 1       the first of their seeds; alone, that one history, told in full when it breaks a promise
  --short        with trouble for 5 s instead of 13: half the work, for many beginnings
  --until-broken end with the first history that breaks a promise
  --json FILE    where the summary goes`

/** Null when help is asked for. */
export function readOptions(args: readonly string[]): Options | null {
  const values = parse(args)
  if (values.help) return null
  const first = whole('--seed', values.seed ?? '1')
  const seeds = whole('--seeds', values.seeds ?? (values.seed === undefined ? '200' : '1'))
  return { first, seeds, untilBroken: values['until-broken'], short: values.short, json: values.json }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        'until-broken': { type: 'boolean', default: false },
        short: { type: 'boolean', default: false },
        seeds: { type: 'string' },
        seed: { type: 'string' },
        json: { type: 'string' },
      },
    }).values
  } catch (error) {
    throw new OptionError(
      `${error instanceof Error ? error.message.split(/\.(?: |$)/)[0] : String(error)}.\n${USAGE}`,
    )
  }
}

function whole(option: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new OptionError(`${option}: a whole number from 1 on is needed (got ${text})`)
}
