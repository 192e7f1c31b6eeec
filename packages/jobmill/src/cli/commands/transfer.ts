/**
 * `jobmill transfer`: copies one database to another, between SQLite and PostgreSQL. The source keeps its
 * jobs; only those of crashed processes are returned to their queues.
 */
import { BOUNDS } from '../../job/defaults.ts'
import { checkWhole } from '../../job/numbers.ts'
import { JOB_STATES } from '../../job/state.ts'
import type { QueueCounts } from '../../store/types/queue-record.ts'
import { type Command, EXIT, type ParsedArguments } from '../program/command.ts'
import { checkNotEmpty, findPlace, transferAll, type Way } from '../transfer/transfer-parts.ts'
import { checkApps, checkSchema, checkTarget, checkTwo, type Places, placesOf } from '../transfer/places.ts'
import {
  checkIdle,
  checkNoneStarted,
  checkQuiet,
  finishCancels,
  knownInstances,
  returnAbandonedJobs,
} from '../transfer/quiet.ts'
import {
  nextLines,
  printJson,
  printText,
  type TransferReport,
  type TransferSummary,
} from '../transfer/report.ts'
import { verify } from '../transfer/verify.ts'
import { withProgress } from '../output/progress.ts'
import type { Terminal } from '../output/terminal.ts'

const BATCH = 500
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export const transferCommand: Command = {
  words: 'transfer',
  says: 'copy all jobs and settings from one database to another, such as SQLite to PostgreSQL; stop all processes first',
  options: {
    from: { takes: 'URL', says: 'source database (default: the database of the config)' },
    to: { takes: 'URL', says: 'target database; its tables are created if needed: postgres://…?schema=…' },
    batch: { takes: 'N', says: `jobs per write (default ${BATCH})` },
    'jobs-only': { says: 'copy the jobs of an application, such as the upload inbox, without its tables' },
    'verify-only': { says: 'only compare two existing databases' },
  },
  examples: [
    'jobmill transfer --from sqlite:jobs.db --to postgres://app@localhost/app',
    'jobmill transfer --from postgres://app@localhost/app --to sqlite:jobs.db --verify-only',
  ],
  async run(parsed, terminal) {
    const limit = batchOf(parsed)
    const places = await placesOf(parsed)
    checkSchema(places.source.name, await places.source.tools.schema())
    const stop = new AbortController()
    const onSignal = (): void => stop.abort()
    // Handles only the first signal: the second one ends the process at once, which is also safe.
    for (const signal of SIGNALS) process.once(signal, onSignal)
    const isLook = parsed.has('verify-only')
    try {
      await places.source.open()
      // Check the source first, so that a refused transfer creates nothing.
      await checkIdle(places.source)
      await checkNotEmpty(places.source)
      const others = await places.source.tools.otherTables()
      if (!isLook && !parsed.has('jobs-only')) checkApps(places.source.name, others)
      checkTarget(places.target.name, await places.target.tools.schema(), isLook)
      if (!isLook && (await places.target.tools.create())) terminal.err(`created ${places.target.name}`)
      await places.target.open()
      await checkTwo(places)
      const moved = await transfer(places, { limit, isLook, signal: stop.signal, terminal })
      const notCopied = others.map(({ name }) => name)
      if (parsed.has('json')) printJson(places, moved, notCopied, terminal)
      else printText(places, moved, notCopied, nextLines(parsed), terminal)
      return moved.verified.differences.length === 0 ? EXIT.done : EXIT.failed
    } catch (error) {
      if (!stop.signal.aborted) throw error
      terminal.status('')
      terminal.err(
        isLook
          ? 'stopped: the comparison is incomplete. Run the same command again'
          : `stopped: ${places.target.name} is incomplete. Run the same command to continue`,
      )
      return EXIT.failed
    } finally {
      for (const signal of SIGNALS) process.off(signal, onSignal)
      await places.source.close()
      await places.target.close()
    }
  },
}

interface Asked {
  readonly limit: number
  readonly isLook: boolean
  readonly signal: AbortSignal
  readonly terminal: Terminal
}

async function transfer(places: Places, asked: Asked): Promise<TransferReport> {
  await checkQuiet(places)
  const known = await knownInstances(places)
  const brought = asked.isLook ? null : await bring(places, asked)
  const jobs = (await places.source.counts()).reduce((sum, counts) => sum + jobsIn(counts), 0)
  const verified = await withJobProgress('verifying', 0, 2 * jobs, asked, (way) => verify(places, way))
  await checkQuiet(places)
  await checkNoneStarted(places, known)
  return { brought, verified }
}

async function bring(places: Places, asked: Asked): Promise<TransferSummary> {
  const takenBack = await returnAbandonedJobs(places.source)
  await finishCancels(places)
  const place = await findPlace(places)
  const { there, total } = place
  const transferred = await withJobProgress('transferring', there, total, asked, (way) =>
    transferAll(places, place.after, way),
  )
  return { takenBack, there, transferred }
}

function withJobProgress<T>(
  what: string,
  from: number,
  total: number,
  { limit, signal, terminal }: Asked,
  work: (way: Way) => Promise<T>,
): Promise<T> {
  let done = from
  return withProgress(what, terminal, (at) =>
    work({ limit, signal, passed: (jobs) => at((done += jobs), total) }),
  )
}

function jobsIn(counts: QueueCounts): number {
  return JOB_STATES.reduce((sum, state) => sum + counts[state], 0)
}

function batchOf(parsed: ParsedArguments): number {
  const text = parsed.text('batch')
  return text === undefined
    ? BATCH
    : checkWhole(Number(text), '--batch', { least: 1, most: BOUNDS.jobsPerCall })
}
