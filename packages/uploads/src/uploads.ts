/** `uploads(options)`: assembles the inbox. */
import type { JobmillError, Mill, OwnDuty } from 'jobmill'
import { loggerFor, systemPlatform } from 'jobmill/internal'
import { indentedLines, writeOutput } from 'jobmill/cli'
import { bridgeTo, type Bridge } from './inbox/receive/bridge.ts'
import { metrics as createMetrics } from './inbox/metrics.ts'
import { lastSeqs } from './inbox/deliver/feed.ts'
import { foreign as createForeign } from './inbox/deliver/foreign.ts'
import { inCode } from './inbox/in-code.ts'
import type { Inside } from './inbox/inside.ts'
import { live as createLive } from './inbox/deliver/live.ts'
import { mailboxes } from './inbox/mailboxes.ts'
import { sweepCounter as createSwept, type SweptCounts } from './inbox/sweep/sweep-counter.ts'
import { roomOf } from './inbox/receive/room.ts'
import { sweep, sweepDuty } from './inbox/sweep/sweep.ts'
import { lookForOrphans } from './inbox/sweep/sweep-orphans.ts'
import { type Tokens, tokens as createTokens } from './inbox/tokens.ts'
import { app } from './http/app.ts'
import { routesOf } from './http/routes.ts'
import { invalid } from './invalid.ts'
import { uploadsOf } from './http/upload.ts'
import { checkOptions, durationMs, resolveLimits, type UploadsOptions } from './options.ts'

export type Inbox = Readonly<ReturnType<typeof uploads>>

/** How long running uploads may take after a stop. */
export const GRACE_MS = 20_000
/** How long they may take to end after that. */
const LAST_MS = 1_000

export function uploads(options: UploadsOptions) {
  checkOptions(options)
  const { tables, blobs, platform = systemPlatform, fault = () => {}, onError = toStandardError } = options
  const { sweepEvery = '5m' } = options
  const limits = resolveLimits(options)
  const every = durationMs(sweepEvery, 'sweepEvery', 1_000)
  let bridge: Bridge | null = null
  const metrics = createMetrics()
  const swept = createSwept(metrics.swept)
  const inside: Inside = {
    tables,
    blobs,
    limits,
    live: createLive(platform, (asked) => lastSeqs(tables.db, asked)),
    swept,
    room: roomOf(tables, blobs),
    bridge: () => bridge,
    metrics,
    log: loggerFor(options.log),
    platform,
    fault,
    onError,
  }
  const taking = uploadsOf(inside)
  const tokens = createTokens(inside)
  const ownTokens: Omit<Tokens, 'holderOf'> = tokens
  const foreign = createForeign(inside)
  /** Runs one pass by hand. */
  async function pass(signal: AbortSignal = new AbortController().signal): Promise<SweptCounts> {
    const look = lookForOrphans(inside)
    try {
      return await sweep(inside, signal, look)
    } finally {
      await look.end()
    }
  }
  async function begin(mill: Mill<never> | undefined): Promise<void> {
    if (mill !== undefined) metrics.attach(mill, tables, options.metricsByMailbox ?? false)
    await inside.room.makeWay()
    await blobs.open(await openTablesWithId(inside))
    await inside.room.keep()
  }
  let started: Promise<void> | null = null
  const duty: OwnDuty = { name: 'sweep-uploads', every, forAll: true, run: sweepDuty(inside) }
  return {
    /**
     * Handles `/mailboxes/…`; null for other paths. Wrong tokens are counted by the caller's address, if
     * the server provides it.
     */
    fetch: routesOf(inside, { tokens, upload: (request, holder) => taking.take(request, holder), foreign }),
    /** For `jobmill({ duties })`: the sweep. */
    duty,
    /** Creates the tables and the blob store, and connects the mill. Safe to call twice. */
    async start(mill?: Mill<never>): Promise<void> {
      if (mill === undefined && bridge === null && options.job !== undefined) throw noMill(options.job.kind)
      if (mill !== undefined && options.job !== undefined) bridge = bridgeTo(mill, options.job)
      started ??= begin(mill).catch((error: unknown) => {
        // Allow another start, because the cause may be gone by then.
        started = null
        throw error
      })
      return started
    },
    /** Graceful shutdown: lets running uploads finish, and ends waiting requests. */
    async stop({ graceMs = GRACE_MS }: { readonly graceMs?: number } = {}): Promise<void> {
      inside.live.stop()
      // A statement that the database does not answer must not delay the stop.
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const timer = platform.timer(graceMs + LAST_MS, resolve)
      await Promise.race([taking.stop(graceMs).then(() => foreign.settled()), late])
      timer.cancel()
    },
    ...inCode(inside, (work) => taking.during(work)),
    /** For Mission Control, behind its access control. */
    app: app(inside),
    mailboxes: mailboxes(inside),
    tokens: ownTokens,
    sweep: pass,
    /** What this process has swept since its start. */
    swept: swept.totals,
    limits,
  }
}

function noMill(kind: string): JobmillError {
  const what = 'needs a mill to enqueue jobs for files'
  return invalid('job', kind, what, 'Pass the mill to start(), or omit job', 'OPTION_CONFLICT')
}

function toStandardError(error: unknown, what: string): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  writeOutput(process.stderr, `${indentedLines(`uploads error ${what}: ${text}`)}\n`)
}

/**
 * Opens the tables and returns the id of this inbox, created once. If they are created again while this
 * process runs, they get the same id, because the blob folder is marked with it.
 */
async function openTablesWithId({ tables, platform }: Inside): Promise<string> {
  let id = platform.id()
  // One of several processes that start at the same time creates it.
  await tables.open((db) =>
    db
      .insertInto('uploads_inbox')
      .values({ n: 1, id })
      .onConflict((conflict) => conflict.column('n').doNothing())
      .execute(),
  )
  ;({ id } = await tables.db.selectFrom('uploads_inbox').select('id').executeTakeFirstOrThrow())
  return id
}
