/** Warns when the defaults of an enqueued kind are unknown here, or when no worker runs the kind. */
import { DEFAULTS } from '../../job/defaults.ts'
import { nearest } from '../../job/options/known-keys.ts'
import type { Mill } from '../../runtime/mill.ts'
import type { MillOptions } from '../../runtime/options/options.ts'
import type { ParsedArguments } from '../command.ts'
import { oneLine } from '../plain.ts'
import type { Terminal } from '../terminal.ts'

/** Prints to standard error, because a program may read the output. */
export async function noteKind(
  mill: Pick<Mill, 'instances'>,
  { parsed, options }: { readonly parsed: ParsedArguments; readonly options: MillOptions },
  terminal: Terminal,
): Promise<void> {
  const [kind = ''] = parsed.words
  const name = oneLine(kind)
  const defaults = defaultSettings(parsed)
  if (options.jobs === undefined && defaults.length > 0)
    terminal.err(
      `note    no config was loaded, so the defaults of ${name} in code are unknown; used ${defaults.join(' and ')}`,
    )
  const alive = (await mill.instances()).filter(({ state }) => state === 'alive')
  if (alive.length === 0)
    terminal.err('note    no worker is running on this database; the job waits until one starts')
  else if (!alive.some(({ kinds }) => kinds.includes(kind))) {
    const near = nearest(kind, [...new Set(alive.flatMap(({ kinds }) => kinds))])
    const meant = near === undefined ? '' : ` Did you mean ${oneLine(near)}?`
    terminal.err(`warning no worker for kind ${name}; the job waits until one starts.${meant}`)
  }
}

/** The defaults that a kind may set in code and that no option set here. */
function defaultSettings(parsed: ParsedArguments): string[] {
  return [
    ...(parsed.text('queue') === undefined ? [`the queue ${DEFAULTS.queue}`] : []),
    ...(parsed.text('max-attempts') === undefined ? [`${DEFAULTS.maxAttempts} attempts`] : []),
  ]
}
