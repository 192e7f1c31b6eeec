/** Asks before an irreversible change. With `--json`, or without a terminal, requires `--yes` instead. */
import { JobmillError } from '../../job/errors.ts'
import type { ParsedArguments, Option } from '../program/command.ts'
import type { Terminal } from './terminal.ts'

export const YES: Option = { says: 'skip the confirmation prompt' }

export async function confirm(
  question: string,
  parsed: ParsedArguments,
  terminal: Terminal,
  fix = 'Pass --yes',
): Promise<boolean> {
  if (parsed.has('yes')) return true
  if (terminal.isInteractive && !parsed.has('json'))
    return /^y(?:es)?$/i.test(await terminal.ask(`${question} [y/N] `))
  throw new JobmillError('OPTION_INVALID', 'is required with --json, or without an interactive terminal', {
    field: '--yes',
    fix,
  })
}
