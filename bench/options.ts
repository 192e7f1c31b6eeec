// The options of `npm run bench -- …`. What is not understood is refused with what would be.
import { parseArgs } from 'node:util'
import type { PlanOptions } from './plan.ts'

export interface Options extends PlanOptions {
  readonly json: string
  readonly markdown: string
}

export class OptionError extends Error {}

const RESULTS = 'bench/results'
const USAGE = `  --quick                 a smaller run, under 8 minutes
  --only d,e              these cases alone, with those that belong to them: f stands for f-same and f-other
  --systems jobmill,bare  these systems alone
  --rounds 3              so many rounds of everything
  --json FILE             where the figures go (${RESULTS}/latest.json)
  --markdown FILE         where the tables go (beside --json, else ${RESULTS}/latest.md)
  --help                  this`

export const HELP = `npm run bench -- [options]\n${USAGE}`

/** `known` are the names that --only and --systems may hold. Null when help is asked for. */
export function readOptions(
  args: readonly string[],
  known: { readonly cases: readonly string[]; readonly systems: readonly string[] },
): Options | null {
  const values = parse(args)
  if (values.help) return null
  const only = listed('--only', values.only, (name) =>
    known.cases.some((one) => one === name || one.startsWith(`${name}-`)) ? undefined : known.cases,
  )
  const systems = listed('--systems', values.systems, (name) =>
    known.systems.includes(name) ? undefined : known.systems,
  )
  return {
    quick: values.quick,
    only,
    systems,
    rounds: count('--rounds', values.rounds),
    json: values.json ?? `${RESULTS}/latest.json`,
    markdown: values.markdown ?? values.json?.replace(/\.json$|$/, '.md') ?? `${RESULTS}/latest.md`,
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        quick: { type: 'boolean', default: false },
        only: { type: 'string' },
        systems: { type: 'string' },
        rounds: { type: 'string' },
        json: { type: 'string' },
        markdown: { type: 'string' },
      },
    }).values
  } catch (error) {
    const [first = ''] = (error instanceof Error ? error.message : String(error)).split('. ')
    throw new OptionError(`${first}. There are:\n${USAGE}`)
  }
}

function listed(
  option: string,
  text: string | undefined,
  otherwise: (name: string) => readonly string[] | undefined,
): string[] | undefined {
  const names = text?.split(',').map((name) => name.trim())
  for (const name of names ?? []) {
    const allowed = otherwise(name)
    if (allowed !== undefined)
      throw new OptionError(`${option}: there is no ${name}. There are: ${allowed.join(', ')}`)
  }
  return names
}

function count(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^[1-9]\d*$/.test(text)) throw new OptionError(`${option}: a number from 1 on is needed (got ${text})`)
  return Number(text)
}
