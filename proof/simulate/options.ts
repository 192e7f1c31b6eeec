/** The options of `npm run simulate`. Invalid ones are refused with the valid choices. */
import { parseArgs } from 'node:util'

export interface Options {
  /** The seeds `first` to `first + seeds − 1`. */
  readonly first: number
  readonly seeds: number
  /** Stops at the first history that violates a guarantee. */
  readonly untilBroken: boolean
  readonly short: boolean
  readonly json: string | undefined
}

export class OptionError extends Error {}

export const USAGE = `npm run simulate -- [options]
  --seeds 2000   number of histories (default 200)
  --seed 1       first seed; without --seeds, only this history, printed in full if it violates a guarantee
  --short        inject faults for 5 s instead of 13: half the work per history
  --until-broken stop at the first history that violates a guarantee
  --json FILE    write the summary to this file`

/** Null if help was requested. */
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
  throw new OptionError(`${option}: must be a whole number of at least 1 (got ${text})`)
}
