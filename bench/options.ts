// Parses the options of `npm run bench -- …`. An error lists the valid values.
import { parseArgs } from 'node:util'
import type { PlanOptions } from './plan/plan.ts'

export interface Options extends PlanOptions {
  /** The size of a payload as JSON, in bytes. Default: about 32. */
  readonly payload: number | undefined
  readonly json: string
  readonly markdown: string
}

export class OptionError extends Error {}

const RESULTS = 'bench/results'
const USAGE = `  --quick                 a smaller run, under 12 minutes
  --only d,e              only these cases; a letter selects all that start with it (f: f-same, f-other)
  --systems jobmill,bare  only these systems
  --rounds 3              number of rounds
  --payload 1000          bytes of a payload as JSON (about 32)
  --json FILE             write the figures here (${RESULTS}/latest.json)
  --markdown FILE         write the tables here (next to --json, or ${RESULTS}/latest.md)
  --help                  show this help`

export const HELP = `npm run bench -- [options]\n${USAGE}`

/** `known` has the valid names for --only and --systems. Returns null when help was requested. */
export function readOptions(
  args: readonly string[],
  known: { readonly cases: readonly string[]; readonly systems: readonly string[] },
): Options | null {
  const values = parse(args)
  if (values.help) return null
  const only = parseList('--only', values.only, (name) =>
    known.cases.some((one) => one === name || one.startsWith(`${name}-`)) ? undefined : known.cases,
  )
  const systems = parseList('--systems', values.systems, (name) =>
    known.systems.includes(name) ? undefined : known.systems,
  )
  return {
    quick: values.quick,
    only,
    systems,
    rounds: count('--rounds', values.rounds),
    payload: count('--payload', values.payload),
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
        payload: { type: 'string' },
        json: { type: 'string' },
        markdown: { type: 'string' },
      },
    }).values
  } catch (error) {
    const [first = ''] = (error instanceof Error ? error.message : String(error)).split('. ')
    throw new OptionError(`${first}. Options:\n${USAGE}`)
  }
}

function parseList(
  option: string,
  text: string | undefined,
  otherwise: (name: string) => readonly string[] | undefined,
): string[] | undefined {
  const names = text?.split(',').map((name) => name.trim())
  for (const name of names ?? []) {
    const allowed = otherwise(name)
    if (allowed !== undefined)
      throw new OptionError(`${option}: unknown name (got ${name}). Use one of: ${allowed.join(', ')}`)
  }
  return names
}

function count(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^[1-9]\d*$/.test(text))
    throw new OptionError(`${option}: must be a whole number from 1 (got ${text})`)
  return Number(text)
}
