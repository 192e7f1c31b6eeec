/** What somebody should know of a kind that they enqueued jobs of: that its own settings do not count here, or that nobody takes it. */
import { DEFAULTS } from '../../job/defaults.ts'
import { nearest } from '../../job/known-keys.ts'
import type { Mill } from '../../runtime/mill.ts'
import type { MillOptions } from '../../runtime/options.ts'
import type { Given } from '../command.ts'
import { oneLine } from '../plain.ts'
import type { Terminal } from '../terminal.ts'

/** Beside the output, which a program may read. */
export async function noteKind(
  mill: Pick<Mill, 'instances'>,
  { given, options }: { readonly given: Given; readonly options: MillOptions },
  terminal: Terminal,
): Promise<void> {
  const [kind = ''] = given.words
  const name = oneLine(kind)
  const usual = usualSettings(given)
  if (options.jobs === undefined && usual.length > 0)
    terminal.err(
      `note    without a config nobody here knows what ${name} has in code: it got ${usual.join(' and ')}`,
    )
  const alive = (await mill.instances()).filter(({ state }) => state === 'alive')
  if (alive.length === 0)
    terminal.err('note    no process is at work on this database: it waits until one is')
  else if (!alive.some(({ kinds }) => kinds.includes(kind))) {
    const near = nearest(kind, [...new Set(alive.flatMap(({ kinds }) => kinds))])
    const meant = near === undefined ? '' : ` Did you mean ${oneLine(near)}?`
    terminal.err(`warning no living process has the kind ${name}: it waits until one does.${meant}`)
  }
}

/** What a kind may say of itself in code, as far as it was not said here. */
function usualSettings(given: Given): string[] {
  return [
    ...(given.text('queue') === undefined ? [`the queue ${DEFAULTS.queue}`] : []),
    ...(given.text('max-attempts') === undefined ? [`${DEFAULTS.maxAttempts} attempts`] : []),
  ]
}
