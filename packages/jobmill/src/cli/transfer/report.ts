/** Reports the outcome of a transfer, as text or JSON, and the commands to run next. */
import { JOB_STATES } from '../../job/state.ts'
import { safeLine } from '../../job/text/safe-text.ts'
import { table } from '../output/table.ts'
import type { Terminal } from '../output/terminal.ts'
import { countText, number } from '../output/wording.ts'
import type { ParsedArguments } from '../program/command.ts'
import type { Places } from './places.ts'
import { SORTS, type Verified } from './verify.ts'

export interface TransferReport {
  /** Null for a comparison. */
  readonly brought: TransferSummary | null
  readonly verified: Verified
}

/** Numbers of jobs. */
export interface TransferSummary {
  /** Jobs that crashed processes had left running. */
  readonly takenBack: number
  /** Jobs that the target already had. */
  readonly there: number
  readonly transferred: number
}

/** Prints the report as one JSON document. */
export function printJson(
  { source, target }: Places,
  { brought, verified }: TransferReport,
  notCopied: readonly string[],
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
      notCopied,
    }),
  )
}

export function printText(
  places: Places,
  moved: TransferReport,
  notCopied: readonly string[],
  next: NextLines,
  terminal: Terminal,
): void {
  const { brought, verified } = moved
  if (brought !== null) printTransferred(brought, terminal)
  terminal.out(
    table(
      ['queue', ...JOB_STATES],
      verified.counts.map((counts) => [counts.queue, ...JOB_STATES.map((state) => counts[state])]),
      'no queues',
    ),
  )
  for (const sort of SORTS) {
    const [a, b] = [verified.source[sort], verified.target[sort]]
    terminal.out(`${sort.padEnd(8)}  ${a.checksum} on the source, ${a.items}`)
    terminal.out(`${''.padEnd(8)}  ${b.checksum} on the target, ${b.items}`)
  }
  for (const difference of verified.differences) terminal.err(safeLine(`differs ${difference}`))
  const isSame = verified.differences.length === 0
  if (isSame) terminal.out('verified: counts and checksums match')
  if (notCopied.length > 0)
    terminal.err(
      safeLine(`warning ${countText(notCopied.length, 'table')} of ${places.source.name} not copied: `) +
        safeLine(`${notCopied.join(', ')}. Copy them with a database tool if you need them`),
    )
  if (brought === null) printComparison(places, isSame, next, terminal)
  else if (isSame) printNext(places, next, terminal)
  else printDifferences(places, terminal)
}

function printTransferred({ takenBack, there, transferred }: TransferSummary, terminal: Terminal): void {
  if (takenBack > 0) terminal.out(`returned ${countText(takenBack, 'job')} of crashed processes to the queue`)
  terminal.out(`transferred ${countText(transferred, 'job')}, ${number(there)} already on the target`)
}

function printNext({ source, target }: Places, { start, password }: NextLines, terminal: Terminal): void {
  terminal.out(
    `next: set DATABASE_URL, or the store of your config, to ${target.name}. ${source.name} keeps its jobs: do not start anything on it, ` +
      `and remove it when you no longer need it. Start your processes on the new database${password}:`,
  )
  terminal.out(start)
}

/** Nothing was transferred, so differences do not mean that a process wrote to one side. */
function printComparison(
  { source, target }: Places,
  isSame: boolean,
  { start, transfer, password }: NextLines,
  terminal: Terminal,
): void {
  if (isSame) {
    terminal.out(`next: ${target.name} matches ${source.name}. Start your processes on it${password}:`)
    terminal.out(start)
    return
  }
  terminal.err(`error   ${target.name} does not match ${source.name}. Transfer what is missing${password}:`)
  terminal.err(transfer)
}

function printDifferences({ source, target }: Places, terminal: Terminal): void {
  terminal.err(
    `error   ${target.name} does not match ${source.name}: a process wrote to one of them during the transfer. Stop it, including processes that only enqueue. ` +
      'Run the same command to transfer missing jobs; if jobs have changed, drop the target and transfer again.',
  )
}

type NextLines = ReturnType<typeof nextLines>

/** Ready to paste into a shell. Passwords are omitted. */
export function nextLines(parsed: ParsedArguments) {
  const to = parsed.text('to') ?? ''
  const from = ['from', 'db', 'config'].flatMap((option) => {
    const text = parsed.text(option)
    return text === undefined ? [] : [`--${option} ${quoted(withoutPassword(text))}`]
  })
  const target = quoted(withoutPassword(to))
  return {
    /** Starts a process on the new database. */
    start: `DATABASE_URL=${target} jobmill start`,
    /** Runs the transfer after a comparison. */
    transfer: ['jobmill transfer', ...from, `--to ${target}`].join(' '),
    /** A reminder to add the password, if the URL of the target had one. */
    password: withoutPassword(to) === to ? '' : ' (add its password)',
  }
}

function withoutPassword(address: string): string {
  if (!URL.canParse(address)) return address
  const url = new URL(address)
  if (url.password === '') return address
  url.password = ''
  return url.href
}

/** Quotes only text that a shell would interpret. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll(`'`, `'\\''`)}'`
}
