/** Before something that cannot be taken back: asks where somebody can answer, and wants a word of consent elsewhere. */
import { JobmillError } from '../job/errors.ts'
import type { Given, Option } from './command.ts'
import type { Terminal } from './terminal.ts'

export const YES: Option = { type: 'boolean', says: 'do not ask' }

export async function confirmed(
  question: string,
  given: Given,
  terminal: Terminal,
  fix = 'Give --yes',
): Promise<boolean> {
  if (given.has('yes')) return true
  if (terminal.isInteractive && !given.has('json'))
    return /^y(?:es)?$/i.test(await terminal.ask(`${question} [y/N] `))
  throw new JobmillError('OPTION_INVALID', 'is needed where nobody can be asked', { field: '--yes', fix })
}
