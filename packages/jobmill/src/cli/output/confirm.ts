/** Asks before an irreversible change. With `--json`, or without a terminal, requires `--yes` instead. */
import type { ParsedArguments, Option } from '../program/command.ts'
import { invalid } from '../program/invalid.ts'
import type { Terminal } from './terminal.ts'

export const YES: Option = { says: 'skip the confirmation prompt' }

/** Resolves with false, and prints `declined`, unless the user agrees. */
export async function confirm(
  question: string,
  declined: string,
  parsed: ParsedArguments,
  terminal: Terminal,
  fix = 'Pass --yes',
): Promise<boolean> {
  if (parsed.has('yes')) return true
  if (!terminal.isInteractive || parsed.has('json'))
    throw invalid('--yes', 'is required with --json, or without an interactive terminal', fix)
  const agrees = /^y(?:es)?$/i.test(await terminal.ask(`${question} [y/N] `))
  if (!agrees) terminal.err(declined)
  return agrees
}
