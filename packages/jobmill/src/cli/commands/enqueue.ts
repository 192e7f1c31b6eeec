/** `jobmill enqueue`: enqueues one job, or one for each line of standard input. */
import { fstatSync } from 'node:fs'
import { DEFAULTS } from '../../job/defaults.ts'
import { isJobmillError, type JobmillError } from '../../job/errors.ts'
import { nearest } from '../../job/options/known-keys.ts'
import { type Platform, systemPlatform } from '../../platform/platform.ts'
import type { ReasonName } from '../../runtime/diagnose/why.ts'
import type { Mill } from '../../runtime/mill.ts'
import type { MillOptions } from '../../runtime/options/options.ts'
import { type Command, EXIT, type ParsedArguments } from '../program/command.ts'
import { enqueueLines, type LinesReport } from '../enqueue/from-lines.ts'
import { checkKind, UNKNOWN_KIND } from '../enqueue/known-kind.ts'
import { linesOf } from '../enqueue/lines.ts'
import { ENQUEUE_FIELDS, ENQUEUE_OPTIONS, enqueueOptionsOf } from '../enqueue/options.ts'
import { exitCodeOf } from '../program/exit-code.ts'
import { interruptible } from '../program/interrupt.ts'
import { translateError } from '../program/own-words.ts'
import { safeLine, safeText } from '../../job/text/safe-text.ts'
import { progressOf, waitingFor } from '../output/progress.ts'
import { findMeantQueue } from '../queues/unknown.ts'
import type { Terminal } from '../output/terminal.ts'
import { isClaiming } from '../../store/types/instance.ts'
import { jsonOf } from '../program/typed-values.ts'
import { withMill } from '../with-mill.ts'
import { countText, number } from '../output/wording.ts'
import { conflict } from '../program/invalid.ts'

export const enqueue: Command = {
  words: 'enqueue',
  takes: 'KIND [JSON]',
  arguments: [1, 2],
  says: 'enqueue a job; the payload defaults to null',
  options: {
    ...ENQUEUE_OPTIONS,
    stdin: { says: 'enqueue one job for each line of JSON on standard input (same as passing - as JSON)' },
    'unknown-kind': UNKNOWN_KIND,
    wait: { says: 'wait for the job and print its result' },
  },
  fields: ENQUEUE_FIELDS,
  examples: [
    `jobmill enqueue email.send '{"to":"ada@example.com"}' --queue mail --delay 10m`,
    `jobmill enqueue report.build '{"month":"2027-01"}' --dedupe-key report:2027-01 --wait`,
    `jq -c '.users[]' users.json | jobmill enqueue email.send --stdin --tag launch`,
  ],
  run: (parsed, terminal) =>
    withMill(
      parsed,
      async (mill, options) => {
        const isMany = parsed.has('stdin') || parsed.words[1] === '-'
        return (isMany ? manyFrom : one)(mill, { parsed, options }, terminal)
      },
      { mayCreate: true, check: (options) => checkKind(parsed.words[0] ?? '', 'KIND', { parsed, options }) },
    ),
}

interface Asked {
  readonly parsed: ParsedArguments
  readonly options: MillOptions
}

async function one(mill: Mill, asked: Asked, terminal: Terminal): Promise<number> {
  const { parsed } = asked
  const [kind = '', json] = parsed.words
  const payload = json === undefined ? null : jsonOf(json, 'payload')
  const options = enqueueOptionsOf(parsed)
  const noteQueue = await findMeantQueue(mill, options.queue, asked.options, terminal)
  const job = await mill.enqueue(kind, payload, options)
  const { id, outcome } = job
  const isJson = parsed.has('json')
  if (!isJson) terminal.out(`${outcome} ${id}`)
  noteQueue()
  await noteKind(mill, asked, terminal)
  if (!parsed.has('wait')) {
    if (isJson) terminal.out(JSON.stringify({ id, outcome }))
    return EXIT.done
  }
  try {
    const result = await stillWaiting(id, waitingFor(`job ${id}`, job.result(), terminal), { mill, terminal })
    if (isJson) terminal.out(JSON.stringify({ id, outcome, result }))
    else if (result !== undefined) terminal.out(safeText(JSON.stringify(result, null, 2)))
    return EXIT.done
  } catch (error) {
    if (isJson && isJobmillError(error)) terminal.out(JSON.stringify({ id, outcome, error: error.message }))
    throw error
  }
}

async function manyFrom(mill: Mill, asked: Asked, terminal: Terminal): Promise<number> {
  const { parsed } = asked
  const [kind = '', json = '-'] = parsed.words
  for (const option of ['id', 'dedupe-key', 'debounce'])
    if (parsed.text(option) !== undefined) throw oneOnly(`--${option}`)
  if (parsed.has('wait')) throw oneOnly('--wait')
  if (json !== '-') throw oneOnly('payload')
  const options = enqueueOptionsOf(parsed)
  const noteQueue = await findMeantQueue(mill, options.queue, asked.options, terminal)
  const progress = progressOf('enqueue', terminal)
  const { signal, end } = interruptible(() => terminal.err('stopping after this batch'))
  const size = sizeOfInput()
  try {
    const report = await enqueueLines({
      lines: linesOf(process.stdin, signal),
      write: (payloads) =>
        mill.enqueueMany(
          kind,
          payloads.map((payload) => ({ ...options, payload })),
        ),
      onProgress: (jobs, bytes) => progress.at(jobs, null, size === null ? undefined : bytes / size),
    })
    progress.end()
    const { enqueued, replaced } = report.counts
    if (enqueued + replaced > 0) {
      noteQueue()
      await noteKind(mill, asked, terminal)
    }
    return printReport(report, { isJson: parsed.has('json'), isStopped: signal.aborted }, terminal)
  } finally {
    end()
  }
}

function printReport(
  { counts, failure }: LinesReport,
  { isJson, isStopped }: { readonly isJson: boolean; readonly isStopped: boolean },
  terminal: Terminal,
): number {
  const { enqueued, duplicate, replaced } = counts
  if (isJson) terminal.out(JSON.stringify({ ...counts, failedAtLine: failure?.line ?? null, isStopped }))
  else {
    const others = [
      ...(duplicate === 0 ? [] : [countText(duplicate, 'duplicate')]),
      ...(replaced === 0 ? [] : [`${number(replaced)} replaced`]),
    ]
    terminal.out([`${countText(enqueued, 'job')} enqueued`, ...others].join(', '))
  }
  if (failure === null) return isStopped ? EXIT.failed : EXIT.done
  const { line } = failure
  const error = translateError(failure.error, { fields: ENQUEUE_FIELDS })
  if (!isJobmillError(error)) throw error
  const stopped =
    error.code === 'OUTCOME_UNKNOWN'
      ? `Stopped at line ${line}: jobs from this line on may or may not have been enqueued.`
      : `Stopped: line ${line} and all lines after it were not enqueued.`
  terminal.err(`error   ${safeLine(error.message)} ${stopped}`)
  const code = exitCodeOf(error)
  // Some jobs were written, and exit code 2 means that nothing was changed.
  return code === EXIT.usage && enqueued + duplicate + replaced > 0 ? EXIT.failed : code
}

function oneOnly(field: string): JobmillError {
  return conflict(field, 'applies to a single job, not to --stdin', 'Omit it, or enqueue a single job')
}

/** Null unless the input is a file: the size of a pipe is unknown. */
function sizeOfInput(): number | null {
  const about = fstatSync(0)
  return about.isFile() ? about.size : null
}

/** Prints to standard error, because a program may read the output. */
async function noteKind(mill: Mill, { parsed, options }: Asked, terminal: Terminal): Promise<void> {
  const [kind = ''] = parsed.words
  const name = safeLine(kind)
  const defaults = defaultSettings(parsed)
  if (options.jobs === undefined && defaults.length > 0)
    terminal.err(
      `note    no config was loaded, so the defaults of ${name} in code are unknown; used ${defaults.join(' and ')}`,
    )
  const alive = (await mill.instances()).filter(isClaiming)
  if (alive.length === 0)
    terminal.err('note    no worker is running on this database; the job waits until one starts')
  else if (!alive.some(({ kinds }) => kinds.includes(kind))) {
    const near = nearest(kind, [...new Set(alive.flatMap(({ kinds }) => kinds))])
    const meant = near === undefined ? '' : ` Did you mean ${safeLine(near)}?`
    terminal.err(`warning no worker for kind ${name}; the job waits until one starts.${meant}`)
  }
}

/** The defaults that no option replaces here. The kind may still replace them in code. */
function defaultSettings(parsed: ParsedArguments): string[] {
  return [
    ...(parsed.text('queue') === undefined ? [`the queue ${DEFAULTS.queue}`] : []),
    ...(parsed.text('max-attempts') === undefined ? [`${DEFAULTS.maxAttempts} attempts`] : []),
  ]
}

const AFTER_MS = 2_000

/** Reasons that do not resolve on their own. */
const PERSISTENT: ReadonlySet<ReasonName> = new Set([
  'queue-without-worker',
  'kind-without-worker',
  'paused',
  'no-workers',
])

export async function stillWaiting<T>(
  id: string,
  result: Promise<T>,
  {
    mill,
    terminal,
  }: { readonly mill: Pick<Mill, 'why'>; readonly terminal: Pick<Terminal, 'err' | 'status'> },
  platform: Platform = systemPlatform,
): Promise<T> {
  let isOver = false
  const explain = async (): Promise<void> => {
    const why = await mill.why(id)
    const reasons = (why?.reasons ?? []).filter((reason) => PERSISTENT.has(reason.why))
    if (isOver || reasons.length === 0) return
    terminal.status('')
    terminal.err(safeLine(`note    still waiting: ${reasons.map(({ message }) => message).join('; ')}`))
  }
  // Database errors are reported by the wait for the result.
  const timer = platform.timer(AFTER_MS, () => void explain().catch(() => {}))
  try {
    return await result
  } finally {
    isOver = true
    timer.cancel()
  }
}
