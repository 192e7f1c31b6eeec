/** What became of a move, for people and for programs. */
import { JOB_STATES } from '../../job/state.ts'
import { table } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { SORTS } from './digests.ts'
import type { Places } from './places.ts'
import type { Verified } from './verify.ts'

export interface Moved {
  /** Null when it only looked. */
  readonly brought: Brought | null
  readonly verified: Verified
}

/** In jobs. */
export interface Brought {
  /** That processes which are gone had left running. */
  readonly takenBack: number
  /** That were at the target before. */
  readonly there: number
  readonly carried: number
}

export function tellJson({ source, target }: Places, { brought, verified }: Moved, terminal: Terminal): void {
  const { source: ofSource, target: ofTarget, counts, differences } = verified
  terminal.out(
    JSON.stringify({
      from: source.name,
      to: target.name,
      verified: differences.length === 0,
      ...brought,
      counts: counts.map(({ oldestReadyMs: _, ...states }) => states),
      checksums: { source: ofSource, target: ofTarget },
      differences,
    }),
  )
}

export function tellText(places: Places, moved: Moved, terminal: Terminal): void {
  const { source, target } = places
  const { brought, verified } = moved
  if (brought !== null) tellBrought(brought, terminal)
  terminal.out(
    table(
      ['queue', ...JOB_STATES],
      verified.counts.map((counts) => [counts.queue, ...JOB_STATES.map((state) => counts[state])]),
      'no queues',
    ),
  )
  for (const sort of SORTS) {
    const [a, b] = [verified.source[sort], verified.target[sort]]
    terminal.out(`${sort.padEnd(8)}  ${a.checksum} at the source, ${a.items}`)
    terminal.out(`${''.padEnd(8)}  ${b.checksum} at the target, ${b.items}`)
  }
  if (verified.differences.length === 0) tellNext(places, terminal)
  else tellDifferences(source.name, target.name, verified.differences, terminal)
}

function tellBrought({ takenBack, there, carried }: Brought, terminal: Terminal): void {
  if (takenBack > 0)
    terminal.out(`taken back ${takenBack} jobs that processes which are gone had left running`)
  terminal.out(`moved ${carried} jobs, ${there} were there already`)
}

function tellNext({ source, target }: Places, terminal: Terminal): void {
  terminal.out('verified: counts and checksums are equal')
  terminal.out(
    `next: let DATABASE_URL, or the store of your config, name ${target.name}, and start your processes there. ` +
      `${source.name} stays as it is: remove it when you no longer need it, and let nothing run on it again.`,
  )
}

function tellDifferences(
  source: string,
  target: string,
  differences: readonly string[],
  terminal: Terminal,
): void {
  for (const difference of differences) terminal.err(`differs ${difference}`)
  terminal.err(
    `error   ${target} does not have what ${source} has. Something wrote to one of them meanwhile. Stop it, also what only enqueues. ` +
      'What is missing comes with the same command; for what has changed, drop the target and move again.',
  )
}
