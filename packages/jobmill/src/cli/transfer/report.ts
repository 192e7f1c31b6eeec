/** What became of a move, for people and for programs. */
import { JOB_STATES } from '../../job/state.ts'
import { oneLine } from '../plain.ts'
import { table } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { SORTS } from './digests.ts'
import { counted, number } from '../wording.ts'
import type { NextLines } from './lines.ts'
import type { Places } from './places.ts'
import type { Verified } from './verify.ts'

export interface TransferReport {
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
  readonly transferred: number
}

/** For programs. */
export function tellJson(
  { source, target }: Places,
  { brought, verified }: TransferReport,
  terminal: Terminal,
): void {
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

export function tellText(places: Places, moved: TransferReport, next: NextLines, terminal: Terminal): void {
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
  for (const difference of verified.differences) terminal.err(oneLine(`differs ${difference}`))
  const isSame = verified.differences.length === 0
  if (isSame) terminal.out('verified: counts and checksums are equal')
  if (brought === null) tellLook(places, isSame, next, terminal)
  else if (isSame) tellNext(places, next, terminal)
  else tellDifferent(places, terminal)
}

function tellBrought({ takenBack, there, transferred }: Brought, terminal: Terminal): void {
  if (takenBack > 0)
    terminal.out(`taken back ${counted(takenBack, 'job')} that processes which are gone had left running`)
  terminal.out(
    `moved ${counted(transferred, 'job')}, ${number(there)} ${there === 1 ? 'was' : 'were'} there already`,
  )
}

function tellNext({ source, target }: Places, next: NextLines, terminal: Terminal): void {
  const password = next.needsPassword ? ' (put its password back)' : ''
  terminal.out(
    `next: let DATABASE_URL, or the store of your config, name ${target.name}. ${source.name} stays as it is: remove it when you no ` +
      `longer need it, and let nothing run on it again. Start your processes on the new one${password}:`,
  )
  terminal.out(next.start)
}

/** Nothing was moved, so nobody need have written to one of them meanwhile. */
function tellLook({ source, target }: Places, isSame: boolean, next: NextLines, terminal: Terminal): void {
  const password = next.needsPassword ? ' (put its password back)' : ''
  if (isSame) {
    terminal.out(
      `next: ${target.name} has all that ${source.name} has. Start your processes there${password}:`,
    )
    terminal.out(next.start)
    return
  }
  terminal.err(
    `error   ${target.name} does not have what ${source.name} has. Move what is missing${password}:`,
  )
  terminal.err(next.transfer)
}

function tellDifferent({ source, target }: Places, terminal: Terminal): void {
  terminal.err(
    `error   ${target.name} does not have what ${source.name} has. Something wrote to one of them meanwhile. Stop it, also what only enqueues. ` +
      'What is missing comes with the same command; for what has changed, drop the target and move again.',
  )
}
