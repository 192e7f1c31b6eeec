/** `uploads(options)`: assembles the inbox. */
import { JobmillError, type Mill, type OwnDuty } from 'jobmill'
import { loggerFor, systemPlatform } from 'jobmill/internal'
import { indentedLines, writeOutput } from 'jobmill/cli'
import type { Caller } from 'jobmill-server'
import { bridgeTo, type Bridge } from './inbox/receive/bridge.ts'
import { countForeignRequests, countSwept, registerPendingGauges } from './inbox/metrics.ts'
import { lastSeqs } from './inbox/deliver/feed.ts'
import { openTablesWithId } from './inbox/identity.ts'
import { foreign, type ForeignTarget } from './inbox/deliver/foreign.ts'
import { inCode, type InCode } from './inbox/in-code.ts'
import type { Inside } from './inbox/inside.ts'
import type { Limits } from './inbox/limits.ts'
import { live as createLive } from './inbox/deliver/live.ts'
import { type Mailboxes, mailboxes } from './inbox/mailboxes.ts'
import {
  sweepCounter as createSwept,
  type SweptCounts,
  type SweptOutcome,
} from './inbox/sweep/sweep-counter.ts'
import { roomOf } from './inbox/receive/room.ts'
import { sweep } from './inbox/sweep/sweep.ts'
import { lookForOrphans } from './inbox/sweep/sweep-orphans.ts'
import { sweepDuty } from './inbox/sweep/sweep-pass.ts'
import { type Tokens, tokens as createTokens } from './inbox/tokens.ts'
import { type App, app } from './http/app.ts'
import { listeners } from './http/listeners.ts'
import { route } from './http/routes.ts'
import { tries } from './http/tries.ts'
import { uploadsOf } from './http/upload.ts'
import { checkOptions, durationMs, resolveLimits, type UploadsOptions } from './options.ts'

export interface Inbox extends InCode {
  /**
   * Handles `/mailboxes/…`; null for other paths. Wrong tokens are counted by the caller's address, if the
   * server provides it.
   */
  readonly fetch: (request: Request, caller?: Caller) => Promise<Response> | null
  /** For `jobmill({ duties })`: the sweep. */
  readonly duty: OwnDuty
  /** Creates the tables and the blob store, and connects the mill. Safe to call twice. */
  readonly start: (mill?: Mill<never>) => Promise<void>
  /** Graceful shutdown: lets running uploads finish, and ends waiting requests. */
  readonly stop: (options?: { readonly graceMs?: number }) => Promise<void>
  /** For Mission Control, behind its access control. */
  readonly app: App
  readonly mailboxes: Mailboxes
  readonly tokens: Omit<Tokens, 'holderOf'>
  /** Runs one pass by hand. */
  readonly sweep: (signal?: AbortSignal) => Promise<SweptCounts>
  /** What this process has swept since its start. */
  readonly swept: () => SweptCounts
  readonly limits: Limits
}

/** How long running uploads may take after a stop. */
export const GRACE_MS = 20_000
/** How long they may take to end after that. */
const LAST_MS = 1_000

export function uploads(options: UploadsOptions): Inbox {
  checkOptions(options)
  const { tables, blobs, platform = systemPlatform, fault = () => {}, onError = toStandardError } = options
  const { sweepEvery = '5m' } = options
  const limits = resolveLimits(options)
  const every = durationMs(sweepEvery, 'sweepEvery', 1_000)
  let bridge: Bridge | null = null
  let counted: ((outcome: SweptOutcome, n: number) => void) | null = null
  const swept = createSwept((outcome, n) => counted?.(outcome, n))
  const inside: Inside = {
    tables,
    blobs,
    limits,
    live: createLive(platform, (asked) => lastSeqs({ tables }, asked)),
    swept,
    room: roomOf(tables, blobs),
    bridge: () => bridge,
    newId: () => platform.id(),
    fault,
    onError,
  }
  const taking = uploadsOf(inside, platform)
  const tokens = createTokens(inside)
  let countForeign: ((target: ForeignTarget) => void) | null = null
  const logger = loggerFor(options.log)
  const reaches = foreign(inside, { platform, log: () => logger, count: (target) => countForeign?.(target) })
  const tools = {
    inside,
    tokens,
    upload: taking.take,
    platform,
    tries: tries(platform),
    listeners: listeners(limits),
    foreign: reaches,
  }
  async function pass(signal = new AbortController().signal): Promise<SweptCounts> {
    const look = lookForOrphans(inside)
    try {
      return await sweep(inside, signal, look)
    } finally {
      await look.end()
    }
  }
  let hasMetrics = false
  async function begin(mill: Mill<never> | undefined): Promise<void> {
    if (mill !== undefined && !hasMetrics) {
      hasMetrics = true
      counted = countSwept(mill)
      countForeign = countForeignRequests(mill)
      registerPendingGauges(mill, inside, options.metricsByMailbox ?? false)
    }
    await inside.room.makeWay()
    await blobs.open(await openTablesWithId(inside))
    await inside.room.keep()
  }
  let started: Promise<void> | null = null
  return {
    fetch: (request, caller = { address: '' }) => route(request, caller, tools),
    duty: {
      name: 'sweep-uploads',
      every,
      forAll: true,
      run: sweepDuty(inside, platform),
    },
    async start(mill) {
      if (mill === undefined && bridge === null && options.job !== undefined) throw noMill(options.job.kind)
      if (mill !== undefined && options.job !== undefined) bridge = bridgeTo(mill, options.job)
      started ??= begin(mill).catch((error: unknown) => {
        // Allow another start, because the cause may be gone by then.
        started = null
        throw error
      })
      return started
    },
    async stop({ graceMs = GRACE_MS } = {}) {
      inside.live.stop()
      // A statement that the database does not answer must not hold up the stop.
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const timer = platform.timer(graceMs + LAST_MS, resolve)
      await Promise.race([taking.stop(graceMs).then(() => reaches.settled()), late])
      timer.cancel()
    },
    ...inCode(inside, taking.during),
    app: app(inside),
    mailboxes: mailboxes(inside),
    tokens,
    sweep: pass,
    swept: swept.totals,
    limits,
  }
}

function noMill(kind: string): JobmillError {
  return new JobmillError('OPTION_CONFLICT', 'needs a mill to enqueue jobs for files', {
    field: 'job',
    value: JSON.stringify(kind),
    fix: 'Pass the mill to start(), or omit job',
  })
}

function toStandardError(error: unknown, what: string): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  writeOutput(process.stderr, `${indentedLines(`uploads error ${what}: ${text}`)}\n`)
}
