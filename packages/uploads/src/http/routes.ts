/** The HTTP API of mailboxes. Authenticates every request before anything else. */
import { type Caller, places } from 'jobmill-server'
import { cleanId } from '../clean/ids.ts'
import { ack } from '../inbox/deliver/ack.ts'
import { feed, FEED_STATES, type FeedPage, type FeedRequest } from '../inbox/deliver/feed.ts'
import { fileView } from '../inbox/deliver/file-view.ts'
import { type FileRef, findFile } from '../inbox/deliver/files.ts'
import type { Foreign } from '../inbox/deliver/foreign.ts'
import type { Inside } from '../inbox/inside.ts'
import { type Limits, limitsOf } from '../inbox/limits.ts'
import { usageOf } from '../inbox/receive/quota.ts'
import type { Holder, Tokens } from '../inbox/tokens.ts'
import { Refusal } from '../refusal.ts'
import { content } from './content.ts'
import { events } from './events.ts'
import { letGoOf } from './let-go.ts'
import { idIn, type Parameters, parametersOf } from './parameters.ts'
import { problem, refusalOf } from './problems.ts'
import { smallBody } from './small-body.ts'
import { type Tries, tries } from './tries.ts'
import type { Uploader } from './upload.ts'
import { mustBeAllowed, tokenOf, whoAsks } from './who.ts'

interface Asked {
  readonly inside: Inside
  readonly tokens: Tokens
  readonly upload: Uploader
  readonly foreign: Foreign
  readonly tries: Tries
  readonly enter: ReturnType<typeof listeners>
  readonly request: Request
  readonly holder: Holder
  readonly given: Parameters
  /** The `:file` part of the path. */
  readonly file: string
}

interface Route {
  /** What the token must allow (default: any token). */
  readonly may?: 'upload' | 'consume'
  /** The query parameters. */
  readonly takes: readonly string[]
  readonly answer: (asked: Asked) => Promise<Response>
}

const PAGE = { least: 1, usual: 100, most: 1_000 } as const
const LONGEST_WAIT_MS = 60_000

const tellFile = ofFile(async ({ inside }, ref) => json(fileView(await findFile(inside, ref))))
const sendContent = ofFile(({ inside, request }, ref) => content(inside, request, ref))

export const ROUTES: readonly (readonly [pattern: RegExp, methods: Readonly<Record<string, Route>>])[] = [
  [
    /^uploads$/,
    {
      GET: { may: 'consume', takes: ['state', 'after', 'limit', 'wait'], answer: listFiles },
      POST: { may: 'upload', takes: [], answer: takeUpload },
    },
  ],
  [/^events$/, { GET: { may: 'consume', takes: ['after'], answer: listen } }],
  [/^limits$/, { GET: { takes: [], answer: tellLimits } }],
  [/^uploads\/([^/]*)$/, { GET: tellFile }],
  [/^uploads\/([^/]*)\/content$/, { GET: sendContent, HEAD: sendContent }],
  [/^uploads\/([^/]*)\/ack$/, { POST: ofFile(acknowledge) }],
]

function ofFile(answer: (asked: Asked, ref: FileRef) => Promise<Response>): Route {
  return { may: 'consume', takes: [], answer: (asked) => answer(asked, refOf(asked)) }
}

/** Returns null for a path that does not belong to mailboxes. */
export function routesOf(
  inside: Inside,
  given: Pick<Asked, 'tokens' | 'upload' | 'foreign'>,
): (request: Request, caller?: Caller) => Promise<Response> | null {
  const tools = { ...given, inside, tries: tries(inside.platform), enter: listeners(inside.limits) }
  return (request, { address } = { address: '' }) => {
    const url = new URL(request.url)
    const [, mailbox, rest = ''] = /^\/mailboxes\/([^/]*)(?:\/(.*))?$/.exec(url.pathname) ?? []
    if (mailbox === undefined) return null
    return tools
      .tries({ address, mailbox, token: tokenOf(request) }, () =>
        whoAsks(request, mailbox, tools.tokens, tools.foreign.mailbox),
      )
      .then((holder) => answer({ ...tools, request, holder }, url, rest))
      .catch(async (error: unknown) => {
        const refusal = refusalOf(error)
        // The body of an unauthenticated request is not read, not even to discard it: the server responds and
        // closes.
        if (refusal.code !== 'TOKEN_WRONG' && refusal.code !== 'TRIES_TOO_MANY') letGoOf(request)
        // Free the reserve, so that the mill and the sweep can write again.
        await inside.room.giveUpFor(error)
        if (refusal.status >= 500 && refusal.cause !== undefined)
          inside.onError(error, `${request.method} ${url.pathname}`)
        return problem(refusal)
      })
  }
}

/** `rest`: the path after the mailbox. */
async function answer(asked: Omit<Asked, 'file' | 'given'>, url: URL, rest: string): Promise<Response> {
  const { request, holder, foreign } = asked
  for (const [pattern, methods] of ROUTES) {
    const found = pattern.exec(rest)
    if (found === null) continue
    const route = methods[request.method]
    if (route === undefined || !Object.hasOwn(methods, request.method)) {
      const allow = Object.keys(methods).join(', ')
      throw new Refusal('METHOD_WRONG', { fix: `Use ${allow}`, headers: { allow } })
    }
    if (route.may !== undefined) mustBeAllowed(holder, route.may)
    const file = found[1] ?? ''
    return route.answer({ ...asked, given: parametersOf(url, route.takes), file }).catch((error: unknown) => {
      if (error instanceof Refusal && error.code === 'FILE_UNKNOWN')
        foreign.file(holder.mailbox, cleanId(file) ?? '')
      throw error
    })
  }
  throw new Refusal('ROUTE_UNKNOWN')
}

async function takeUpload({ upload, request, holder }: Asked): Promise<Response> {
  const { answer, isRepeat } = await upload(request, holder)
  return json(answer, isRepeat ? { 'idempotency-replayed': 'true' } : {})
}

async function listFiles(asked: Asked): Promise<Response> {
  const { given, holder } = asked
  const wanted: FeedRequest = {
    mailbox: holder.mailbox,
    state: given.oneOf('state', FEED_STATES, 'pending'),
    after: given.text('after'),
    limit: given.whole('limit', PAGE.usual, PAGE.least, PAGE.most),
  }
  const { files, cursor, more } = await waitForPage(asked, wanted, given.duration('wait', 0, LONGEST_WAIT_MS))
  return json({ files, cursor, more })
}

/** Long polling: holds an empty page open until files arrive or the wait ends. */
async function waitForPage(
  { inside, request, holder, tokens, enter }: Asked,
  wanted: FeedRequest,
  waitMs: number,
): Promise<FeedPage> {
  const { live, platform } = inside
  const { signal } = request
  const until = platform.monotonic() + waitMs
  let leave: (() => void) | undefined
  try {
    for (;;) {
      const page = await feed(inside, wanted)
      const leftMs = until - platform.monotonic()
      if (page.files.length > 0 || leftMs <= 0 || signal.aborted || live.isStopped()) return page
      leave ??= enter(holder.mailbox)
      await live.wait(holder.mailbox, page.seq, leftMs, signal)
      // Check access before reading again: a revoked token must not see new files.
      await whoAsks(request, holder.mailbox, tokens)
    }
  } finally {
    leave?.()
  }
}

async function listen({ inside, tokens, enter, request, given, holder }: Asked): Promise<Response> {
  // The header is newer: a reconnecting client sends its original URL.
  const header = request.headers.get('last-event-id') ?? ''
  const after =
    header === '' ? { text: given.text('after'), field: 'after' } : { text: header, field: 'Last-Event-ID' }
  const isAllowed = (): Promise<boolean> =>
    whoAsks(request, holder.mailbox, tokens).then(Boolean, () => false)
  const leave = enter(holder.mailbox)
  return events(inside, { mailbox: holder.mailbox, after, isAllowed, leave }).catch((error: unknown) => {
    leave()
    throw error
  })
}

async function tellLimits({ inside, holder }: Asked): Promise<Response> {
  const { expireAfterMs, ackRetentionMs } = inside.limits
  const used = await usageOf(inside.tables.db, holder.mailbox)
  const limits = limitsOf(holder.limits, inside.limits)
  return json({ ...limits, used, expireAfterMs, ackRetentionMs })
}

async function acknowledge({ inside, request }: Asked, ref: FileRef): Promise<Response> {
  const { sha256 = null, ...others } = (await smallBody(request, inside.platform)) ?? {}
  const [other] = Object.keys(others)
  if (other !== undefined)
    throw new Refusal('BODY_INVALID', {
      detail: 'is an unknown field',
      field: other.slice(0, 100).toWellFormed(),
      fix: 'Pass only the field sha256',
    })
  const wanted = { ...ref, sha256: hashOf(sha256) }
  return json(await inside.room.forced(() => ack(inside, wanted)))
}

function json(body: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  const own = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
  return Response.json(body, { headers: { ...own, ...headers } })
}

function refOf({ holder, file }: Asked): FileRef {
  const fix = 'Copy it from the response to the upload, or from the list'
  return { mailbox: holder.mailbox, file: idIn(file, 'file', fix) }
}

function hashOf(given: unknown): string | null {
  if (given === null) return null
  if (typeof given === 'string' && /^[0-9a-f]{64}$/i.test(given)) return given.toLowerCase()
  throw new Refusal('BODY_INVALID', {
    field: 'sha256',
    detail: 'must be a SHA-256 hash',
    fix: 'Pass 64 hexadecimal digits, or omit it',
  })
}

/**
 * Caps the requests that stay open to wait for files: event streams and long polls, counted together. The
 * result takes a slot and returns the function that releases it. It throws if the mailbox or this process is
 * at its limit.
 */
function listeners({ listenersAtOnce: total, listenersPerMailbox: perCaller }: Limits) {
  const { open } = places({ total, perCaller })
  return (mailbox: string): (() => void) => {
    const opened = open(mailbox)
    if (opened === 'caller')
      throw new Refusal('LISTENERS_TOO_MANY', {
        detail: `${perCaller} event streams and long polls of this mailbox are open, the limit per mailbox`,
        fix: 'Close one, or list the files without the parameter "wait"',
        max: perCaller,
        retryAfter: 1,
      })
    if (opened === 'total')
      throw new Refusal('BUSY', {
        detail: `${total} event streams and long polls are open, the limit of this process`,
        fix: 'Try again in a moment, or list the files without the parameter "wait"',
        max: total,
      })
    return opened
  }
}
