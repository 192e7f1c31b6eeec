/** Reports queue names that do not exist, and suggests the closest one that does. */
import { quote } from '../../job/errors.ts'
import { nearest } from '../../job/options/known-keys.ts'
import type { Mill } from '../../runtime/mill.ts'
import type { MillOptions } from '../../runtime/options/options.ts'
import { type QueueRecord, queueUnknown } from '../../store/types/queue-record.ts'
import { safeLine } from '../../job/text/safe-text.ts'
import type { Terminal } from '../output/terminal.ts'

export function checkFound(queues: readonly QueueRecord[], name: string): QueueRecord {
  const found = queues.find((queue) => queue.name === name)
  if (found !== undefined) return found
  const known = queues.map((queue) => queue.name)
  throw queueUnknown(name, known)
}

/** Called when a filter has no matches. This is not an error: the queue may not have had a job yet. */
export async function noteUnknownQueues(
  mill: Pick<Mill, 'queues'>,
  names: readonly string[],
  terminal: Pick<Terminal, 'err'>,
): Promise<void> {
  if (names.length === 0) return
  const queues = (await mill.queues()).map((queue) => queue.name)
  for (const name of names.filter((one) => !queues.includes(one))) {
    const near = nearest(name, queues)
    const meant = near === undefined ? '' : ` Did you mean ${quote(near)}?`
    terminal.err(safeLine(`note    queue ${quote(name)} does not exist.${meant}`))
  }
}

/**
 * Suggests a queue for a name that neither the database nor the config has. Call it before the enqueue
 * creates the queue, and call what it resolves with afterwards.
 */
export async function findMeantQueue(
  mill: Pick<Mill, 'queues'>,
  name: string | undefined,
  { queues = {}, jobs = [] }: Pick<MillOptions, 'queues' | 'jobs'>,
  terminal: Pick<Terminal, 'err'>,
): Promise<() => void> {
  if (name === undefined) return () => {}
  const ofConfig = [...Object.keys(queues), ...jobs.flatMap(({ queue }) => queue ?? [])]
  const known = [...(await mill.queues()).map((queue) => queue.name), ...ofConfig]
  const meant = known.includes(name) ? undefined : nearest(name, known)
  return () => {
    if (meant !== undefined)
      terminal.err(safeLine(`note    created queue ${quote(name)}. Did you mean ${quote(meant)}?`))
  }
}
