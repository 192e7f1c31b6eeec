/** `uploads(options)`: the inbox, its parts put together. */
import { JobmillError, loggerFor, type Mill, type OwnDuty, systemPlatform } from 'jobmill'
import { indentedLines } from 'jobmill/cli'
import type { Caller } from 'jobmill/http'
import { bridgeTo, type Bridge } from './inbox/bridge.ts'
import { countForeignRequests, countSwept, tellPending } from './inbox/metrics.ts'
import { lastSeqs } from './inbox/feed.ts'
import { identityOf } from './inbox/identity.ts'
import { foreign, type ForeignTarget } from './inbox/foreign.ts'
import { inCode, type InCode } from './inbox/in-code.ts'
import type { Inside } from './inbox/inside.ts'
import type { Limits } from './inbox/limits.ts'
import { live as createLive } from './inbox/live.ts'
import { type Mailboxes, mailboxes } from './inbox/mailboxes.ts'
import { swept as createSwept, type SweptCounts, type SweptOutcome } from './inbox/swept.ts'
import { roomOf } from './inbox/room.ts'
import { sweep } from './inbox/sweep.ts'
import { lookForOrphans } from './inbox/sweep-orphans.ts'
import { sweepDuty } from './inbox/sweep-pass.ts'
import { type Tokens, tokens as createTokens } from './inbox/tokens.ts'
import { type App, app } from './http/app.ts'
import { listeners } from './http/listeners.ts'
import { route } from './http/routes.ts'
import { tries } from './http/tries.ts'
import { uploadsOf } from './http/upload.ts'
import { checkOptions, durationMs, resolveLimits, type UploadsOptions } from './options.ts'

export interface Inbox extends InCode {
  /** Takes `/mailboxes/…`; null for what is not its own. Wrong tokens are counted by the address of the caller, where the server says it. */
  readonly fetch: (request: Request, caller?: Caller) => Promise<Response> | null
  /** For `jobmill({ duties })`: the sweep. */
  readonly duty: OwnDuty
  /** Makes the tables and the place for blobs, and knows the mill from then on. Twice is once. */
  readonly start: (mill?: Mill<never>) => Promise<void>
  /** Lets uploads on their way end, and whoever waits go. */
  readonly stop: (options?: { readonly graceMs?: number }) => Promise<void>
  /** For Mission Control, behind its door. */
  readonly app: App
  readonly mailboxes: Mailboxes
  readonly tokens: Omit<Tokens, 'holderOf'>
  /** One pass by hand. */
  readonly sweep: (signal?: AbortSignal) => Promise<SweptCounts>
  /** What this process has swept since its start. */
  readonly swept: () => SweptCounts
  readonly limits: Limits
}

/** How long uploads in progress may take after a stop has begun. */
export const GRACE_MS = 20_000

export function uploads(options: UploadsOptions): Inbox {
  checkOptions(options)
  const { tables, blobs, platform = systemPlatform, fault = () => {}, onError = toStandardError } = options
  const limits = resolveLimits(options)
  const every = durationMs(options.sweepEvery ?? '5m', 'sweepEvery', 1_000)
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
  let isTold = false
  async function begin(mill: Mill<never> | undefined): Promise<void> {
    if (mill !== undefined && !isTold) {
      isTold = true
      counted = countSwept(mill)
      countForeign = countForeignRequests(mill)
      tellPending(mill, inside, options.metricsByMailbox ?? false)
    }
    await inside.room.makeWay()
    await tables.open()
    await blobs.open(await identityOf(inside))
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
        // What was in its way may be gone when it is tried again.
        started = null
        throw error
      })
      return started
    },
    async stop({ graceMs = GRACE_MS } = {}) {
      inside.live.stop()
      await taking.stop(graceMs)
      await reaches.settled()
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
  return new JobmillError('OPTION_CONFLICT', 'files would come in without their jobs', {
    field: 'job',
    value: JSON.stringify(kind),
    fix: 'Give the mill to start(), or leave job out',
  })
}

function toStandardError(error: unknown, what: string): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  process.stderr.write(`${indentedLines(`uploads error ${what}: ${text}`)}\n`)
}
