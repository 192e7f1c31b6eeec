/** The HTTP API of mailboxes. Authenticates every request before anything else. */
import type { Platform } from 'jobmill'
import type { Caller } from 'jobmill-server'
import { cleanId } from '../clean/ids.ts'
import { ack } from '../inbox/deliver/ack.ts'
import { FEED_STATES } from '../inbox/deliver/feed.ts'
import { fileView } from '../inbox/deliver/file-view.ts'
import { findFile } from '../inbox/deliver/files.ts'
import type { Foreign } from '../inbox/deliver/foreign.ts'
import type { Inside } from '../inbox/inside.ts'
import { limitsOf } from '../inbox/limits.ts'
import { usageOf } from '../inbox/receive/quota.ts'
import type { Holder, Tokens } from '../inbox/tokens.ts'
import { Refusal } from '../refusal.ts'
import { content } from './content.ts'
import { events } from './events.ts'
import { letGoOf } from './let-go.ts'
import type { Listeners } from './listeners.ts'
import { parametersOf } from './parameters.ts'
import { problem, refusalOf } from './problems.ts'
import { smallBody } from './small-body.ts'
import type { Tries } from './tries.ts'
import type { Uploader } from './upload.ts'
import { waitForPage } from './wait.ts'
import { mustBeAllowed, tokenOf, whoAsks } from './who.ts'

export interface RouteTools {
  readonly inside: Inside
  readonly tokens: Tokens
  readonly upload: Uploader
  readonly platform: Platform
  readonly tries: Tries
  readonly listeners: Listeners
  readonly foreign: Foreign
}

interface Asked extends RouteTools {
  readonly request: Request
  readonly url: URL
  readonly holder: Holder
  /** The `:file` part of the path. */
  readonly file: string
}

type Route = (asked: Asked) => Promise<Response>

const PAGE = { least: 1, usual: 100, most: 1_000 } as const
const LONGEST_WAIT_MS = 60_000

export const ROUTES: readonly (readonly [pattern: RegExp, methods: Readonly<Record<string, Route>>])[] = [
  [/^uploads$/, { GET: listFiles, POST: takeUpload }],
  [/^events$/, { GET: listen }],
  [/^limits$/, { GET: tellLimits }],
  [/^uploads\/([^/]*)$/, { GET: tellFile }],
  [/^uploads\/([^/]*)\/content$/, { GET: sendContent, HEAD: sendContent }],
  [/^uploads\/([^/]*)\/ack$/, { POST: acknowledge }],
]

/** Null for a path that does not belong to mailboxes. */
export function route(
  request: Request,
  { address }: Pick<Caller, 'address'>,
  tools: RouteTools,
): Promise<Response> | null {
  const url = new URL(request.url)
  const [, mailbox, rest] = /^\/mailboxes\/([^/]*)(?:\/(.*))?$/.exec(url.pathname) ?? []
  if (mailbox === undefined) return null
  return answer({ request, address, url, mailbox, rest: rest ?? '' }, tools).catch(async (error: unknown) => {
    const refusal = refusalOf(error)
    // The body of an unauthenticated request is not read, not even to discard it: the server responds and
    // closes.
    if (refusal.code !== 'TOKEN_WRONG' && refusal.code !== 'TRIES_TOO_MANY') letGoOf(request)
    // Free the reserve, so that the mill and the sweep can write again.
    await tools.inside.room.giveUpFor(error)
    if (refusal.status >= 500 && refusal.cause !== undefined)
      tools.inside.onError(error, `${request.method} ${url.pathname}`)
    return problem(refusal)
  })
}

interface Arrived {
  readonly request: Request
  readonly address: string
  readonly url: URL
  readonly mailbox: string
  /** The path after the mailbox. */
  readonly rest: string
}

async function answer(
  { request, address, url, mailbox, rest }: Arrived,
  tools: RouteTools,
): Promise<Response> {
  const holder = await tools.tries({ address, token: tokenOf(request) }, () =>
    whoAsks(request, mailbox, tools.tokens, tools.foreign.mailbox),
  )
  for (const [pattern, methods] of ROUTES) {
    const found = pattern.exec(rest)
    if (found === null) continue
    const act = methods[request.method]
    if (act === undefined || !Object.hasOwn(methods, request.method)) {
      const allow = Object.keys(methods).join(', ')
      throw new Refusal('METHOD_WRONG', { fix: `Use ${allow}`, headers: { allow } })
    }
    const file = found[1] ?? ''
    return act({ ...tools, request, url, holder, file }).catch((error: unknown) => {
      if (error instanceof Refusal && error.code === 'FILE_UNKNOWN')
        tools.foreign.file(holder.mailbox, cleanId(file) ?? '')
      throw error
    })
  }
  throw new Refusal('ROUTE_UNKNOWN')
}

async function takeUpload({ upload, request, url, holder }: Asked): Promise<Response> {
  mustBeAllowed(holder, 'upload')
  parametersOf(url, [])
  const { answer, isRepeat } = await upload(request, holder)
  return Response.json(answer, {
    headers: isRepeat ? { ...PRIVATE, 'idempotency-replayed': 'true' } : PRIVATE,
  })
}

async function listFiles(asked: Asked): Promise<Response> {
  const { inside, platform, request, url, holder, tokens, listeners } = asked
  mustBeAllowed(holder, 'consume')
  const given = parametersOf(url, ['state', 'after', 'limit', 'wait'])
  const { files, cursor, more } = await waitForPage(
    inside,
    {
      mailbox: holder.mailbox,
      state: given.oneOf('state', FEED_STATES, 'pending'),
      after: given.text('after'),
      limit: given.whole('limit', PAGE.usual, PAGE.least, PAGE.most),
    },
    {
      waitMs: given.duration('wait', 0, LONGEST_WAIT_MS),
      signal: request.signal,
      platform,
      enter: () => listeners.open(holder.mailbox),
      mayStill: () => whoAsks(request, holder.mailbox, tokens),
    },
  )
  return Response.json({ files, cursor, more }, { headers: PRIVATE })
}

async function listen({ inside, tokens, listeners, request, url, holder }: Asked): Promise<Response> {
  mustBeAllowed(holder, 'consume')
  const parameter = parametersOf(url, ['after']).text('after')
  // The header is newer: a reconnecting client sends its original URL.
  const header = request.headers.get('last-event-id')
  const after =
    header !== null && header !== ''
      ? { text: header, field: 'Last-Event-ID' }
      : parameter === null
        ? null
        : { text: parameter, field: 'after' }
  const isAllowed = (): Promise<boolean> =>
    whoAsks(request, holder.mailbox, tokens).then(Boolean, () => false)
  const leave = listeners.open(holder.mailbox)
  return events(inside, { mailbox: holder.mailbox, after, isAllowed, leave }).catch((error: unknown) => {
    leave()
    throw error
  })
}

async function tellLimits({ inside, url, holder }: Asked): Promise<Response> {
  parametersOf(url, [])
  const { expireAfterMs, ackRetentionMs } = inside.limits
  const used = await usageOf(inside.tables.db, holder.mailbox)
  const limits = limitsOf(holder.limits, inside.limits)
  return Response.json({ ...limits, used, expireAfterMs, ackRetentionMs }, { headers: PRIVATE })
}

async function tellFile(asked: Asked): Promise<Response> {
  mustBeAllowed(asked.holder, 'consume')
  parametersOf(asked.url, [])
  return Response.json(fileView(await findFile(asked.inside, refOf(asked))), { headers: PRIVATE })
}

async function sendContent(asked: Asked): Promise<Response> {
  mustBeAllowed(asked.holder, 'consume')
  parametersOf(asked.url, [])
  return content(asked.inside, asked.request, refOf(asked))
}

async function acknowledge(asked: Asked): Promise<Response> {
  mustBeAllowed(asked.holder, 'consume')
  parametersOf(asked.url, [])
  const ref = refOf(asked)
  const { sha256 = null, ...others } = (await smallBody(asked.request, asked.platform)) ?? {}
  const [other] = Object.keys(others)
  if (other !== undefined)
    throw new Refusal('BODY_INVALID', {
      detail: 'is an unknown field',
      field: other.slice(0, 100).toWellFormed(),
      fix: 'Pass only the field sha256',
    })
  const request = { ...ref, sha256: hashOf(sha256) }
  const acked = await asked.inside.room.forced(() => ack(asked.inside, request))
  return Response.json(acked, { headers: PRIVATE })
}

const PRIVATE = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const

function refOf({ holder, file }: Asked): { mailbox: string; file: string } {
  const id = cleanId(file)
  if (id !== null) return { mailbox: holder.mailbox, file: id }
  throw new Refusal('ID_INVALID', {
    field: 'file',
    detail: 'the id of a file must be a UUID',
    fix: 'Copy it from the response to the upload, or from the list',
  })
}

function hashOf(given: unknown): string | null {
  if (given === null) return null
  if (typeof given === 'string' && /^[0-9a-f]{64}$/i.test(given)) return given.toLowerCase()
  throw new Refusal('BODY_INVALID', {
    field: 'sha256',
    detail: 'must be a SHA-256',
    fix: 'Pass 64 hexadecimal digits, or omit it',
  })
}
