/**
 * Runs a mill until a signal stops it, with or without workers and with or without the API. Both `start` and
 * `work` use it.
 */
import { errorText } from '../job/text/error-text.ts'
import { BULK_QUEUE } from '../runtime/operate/bulk/bulk.ts'
import { bulkJob } from '../runtime/operate/bulk/bulk-job.ts'
import { jobmill } from '../runtime/jobmill.ts'
import type { Mill } from '../runtime/mill.ts'
import { loggerFor } from '../runtime/options/log-option.ts'
import type { Logger } from '../observe/log/logger.ts'
import type { MillOptions } from '../runtime/options/options.ts'
import { ignoreOutputErrors } from '../platform/write-output.ts'
import { type Stoppable, stopOnSignals } from '../runtime/stop-on-signals.ts'
import type { ProbeOptions } from '../probes/probes.ts'
import { EXIT } from './program/command.ts'
import { type ApiOptions, loadServer, type Served } from './config/load-server.ts'
import { safeLines } from '../job/text/safe-text.ts'
import type { Terminal } from './output/terminal.ts'

export interface RunOptions {
  readonly options: MillOptions
  readonly works: boolean
  /** Null to serve no API. */
  readonly api: ApiOptions | null
  /** Used when there is no API: serves only probes and metrics. */
  readonly probes?: ProbeOptions | null
  readonly terminal: Terminal
}

/** Further uncaught errors are not reported, because reporting one may cause the next. */
const MOST_REPORTED = 100

/** Resolves with the exit code: 0 after a clean stop. */
export async function runMill(run: RunOptions): Promise<number> {
  const { options, works, terminal } = run
  // A log collector that restarts must not end the workers.
  ignoreOutputErrors()
  const mill: Mill<never> = jobmill(works ? withBulk(options, () => mill) : options)
  // A mill that works logs its warnings when it starts.
  const report = reporter(options.log, terminal)
  if (!works) for (const { message } of mill.warnings) report('warn', message)
  // Listen first: a process that cannot listen should not start working.
  const served = await listening(mill, run)
  const { ended, stopping } = untilSignal(mill, served, report)
  try {
    const begun = works ? mill.start() : mill.open()
    const early = await Promise.race([begun, ended])
    // Two signals stopped the process while the database did not answer. Do not wait for the start.
    if (early !== undefined) {
      begun.catch(() => {})
      return early
    }
  } catch (error) {
    // A signal came first, so the failed start no longer matters.
    if (stopping.aborted) return ended
    await served?.close()
    throw error
  }
  announce({ ...run, mill, served })
  return ended
}

/** Adds the job kind that runs bulk actions, and its queue, so that every worker can run them. */
function withBulk(options: MillOptions, mill: () => Mill<never>): MillOptions {
  const { jobs = [], serve, env = process.env } = options
  // The mill refuses a value that is not an array, and names the option.
  const isList = [jobs, serve ?? []].every((given) => Array.isArray(given))
  if (!isList) return options
  const named = env['JOBMILL_QUEUES']?.trim() ?? ''
  // Without jobs the mill refuses to start, and bulk actions alone do not justify a worker.
  if (jobs.length === 0 && serve === undefined && named === '') return options
  return {
    ...options,
    jobs: [...jobs, bulkJob(mill)],
    ...(serve !== undefined && { serve: [...serve, BULK_QUEUE] }),
    ...(named !== '' && { env: { ...env, JOBMILL_QUEUES: `${named},${BULK_QUEUE}` } }),
  }
}

/** Reports errors of the API to the same log as all others. */
function errorsTo(log: MillOptions['log']): Pick<ApiOptions, 'onError'> {
  if (log === undefined || typeof log === 'string') return {}
  const logger = loggerFor(log)
  return { onError: (error, what) => logger?.error(`${what} failed: ${errorText(error)}`, { error }) }
}

/** With an error, the message ends with its text, and its stack is a field of the line. */
type Report = (level: 'warn' | 'error', message: string, error?: unknown) => void

/**
 * The logger for lines that programs read together with the log, so that all of them have one format. Null
 * when the log is text, or when a person reads the stream.
 */
function programLog(log: MillOptions['log'], stream: { readonly isTTY?: boolean }): Logger | null {
  return log === undefined || typeof log === 'string' || stream.isTTY === true ? null : loggerFor(log)
}

function reporter(log: MillOptions['log'], terminal: Terminal): Report {
  const logger = programLog(log, process.stderr)
  return (level, message, error) => {
    const stack = error instanceof Error ? error.stack : undefined
    const end = error === undefined ? '' : `: ${errorText(error)}`
    try {
      if (logger !== null) {
        logger[level](`${message}${end}`, stack === undefined ? {} : { stack })
        return
      }
    } catch {
      // A broken logger must not hide the line.
    }
    const head = level === 'warn' ? 'warning' : 'error  '
    terminal.err(safeLines(`${head} ${message}${stack === undefined ? end : `: ${stack}`}`))
  }
}

type Listening = Served & { readonly hasApi: boolean }

/** Loads the server on demand: a worker without an API does not need it. */
async function listening(
  mill: Mill<never>,
  { api, probes = null, options }: RunOptions,
): Promise<Listening | null> {
  const onErrors = errorsTo(options.log)
  if (api !== null) {
    const { serve } = await loadServer()
    return { ...(await serve(mill, { ...api, ...onErrors })), hasApi: true }
  }
  if (probes === null) return null
  const { serveProbes } = await import('../probes/probes.ts')
  return { ...(await serveProbes(mill, { ...probes, ...onErrors })), hasApi: false, hasPage: false }
}

/** `ended` resolves with the exit code, and `stopping` fires at the first signal. */
function untilSignal(mill: Mill<never>, served: Listening | null, report: Report) {
  // An uncaught error means that the process is in an unknown state. Stop gracefully, so that its jobs return
  // to the queue without waiting for the reaper.
  let uncaught = 0
  const breaks = (error: unknown): void => {
    uncaught += 1
    if (uncaught <= MOST_REPORTED) report('error', 'uncaught error', error)
    // A second signal would cut the grace period short.
    if (uncaught > 1) return
    process.kill(process.pid, 'SIGTERM')
  }
  process.on('uncaughtException', breaks)
  process.on('unhandledRejection', breaks)
  const stopping = new AbortController()
  const stop: Stoppable['stop'] = (options) => {
    stopping.abort()
    return mill.stop(options)
  }
  const ended = new Promise<number>((resolve) => {
    stopOnSignals(
      { stop },
      {
        beforeClose: async () => served?.close(),
        stopped: () => resolve(uncaught > 0 ? EXIT.failed : EXIT.done),
        failed(error) {
          report('error', 'shutdown failed', error)
          resolve(EXIT.failed)
        },
      },
    )
  })
  return { ended, stopping: stopping.signal }
}

interface Started extends RunOptions {
  readonly mill: Mill<never>
  readonly served: Listening | null
}

/** Prints the banner for people, or logs one line for programs. */
function announce(started: Started): void {
  const { mill, options, works, served } = started
  const kinds = (options.jobs ?? []).map(({ kind }) => kind)
  const queues = works ? mill.queuesServed.filter((queue) => queue !== BULK_QUEUE) : []
  const logger = programLog(options.log, process.stdout)
  if (logger === null) return printBanner(started, queues, kinds)
  const fields = {
    store: mill.storeName,
    instance: mill.instance.label ?? mill.instance.id,
    queues,
    kinds,
    ...(served !== null && { url: served.url }),
  }
  try {
    logger.info('mill is ready', fields)
  } catch {
    // A broken logger must not end a process that already works.
    printBanner(started, queues, kinds)
  }
}

function printBanner(
  { mill, works, served, terminal }: Started,
  queues: readonly string[],
  kinds: readonly string[],
): void {
  terminal.out(`store   ${mill.storeName}`)
  terminal.out(`queues  ${works ? queues.join(', ') : 'none (workers are disabled)'}`)
  if (works) terminal.out(`kinds   ${kinds.join(', ')}`)
  if (served !== null) {
    if (served.hasPage) terminal.out(`ui      ${served.url}/`)
    if (served.hasApi) {
      terminal.out(`api     ${served.url}/api/overview`)
      terminal.out(`        ${served.url}/metrics, /healthz, /readyz, /api/openapi.json`)
    } else terminal.out(`probes  ${served.url}/healthz, /readyz, /metrics`)
  }
  terminal.out(`ready   instance ${mill.instance.label ?? mill.instance.id}; press Ctrl+C to stop`)
}
