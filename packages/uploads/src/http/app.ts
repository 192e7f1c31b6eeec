/** What Mission Control reads of the inbox. Who may look is decided by the door in front of it; nothing can be changed here. */
import { sql } from 'jobmill-tables'
import { cleanId } from '../clean/ids.ts'
import { FEED_STATES, feed } from '../inbox/feed.ts'
import type { Inside } from '../inbox/inside.ts'
import { limitsOf } from '../inbox/limits.ts'
import { Refusal } from '../refusal.ts'
import { parametersOf } from './parameters.ts'
import { problem, refusalOf } from './problems.ts'

export interface App {
  readonly title: string
  /** GET /mailboxes and GET /mailboxes/:id/files, below whatever address it is put at. */
  readonly fetch: (request: Request) => Promise<Response>
}

const PAGE = { least: 1, usual: 100, most: 500 } as const

export function app(inside: Inside): App {
  return {
    title: 'Uploads',
    async fetch(request) {
      try {
        return await answer(inside, request)
      } catch (error) {
        const refusal = refusalOf(error)
        if (refusal.status >= 500) inside.onError(error, `${request.method} ${new URL(request.url).pathname}`)
        return problem(refusal)
      }
    },
  }
}

async function answer(inside: Inside, request: Request): Promise<Response> {
  const url = new URL(request.url)
  const [, id] = /\/mailboxes(?:\/([^/]+)\/files)?$/.exec(url.pathname) ?? []
  if (!url.pathname.endsWith('/mailboxes') && id === undefined) throw new Refusal('ROUTE_UNKNOWN')
  if (request.method !== 'GET')
    throw new Refusal('METHOD_WRONG', { fix: 'Use GET', headers: { allow: 'GET' } })
  return id === undefined ? mailboxes(inside, url) : files(inside, url, id)
}

async function mailboxes(inside: Inside, url: URL): Promise<Response> {
  const given = parametersOf(url, ['after', 'limit'])
  const limit = given.whole('limit', PAGE.usual, PAGE.least, PAGE.most)
  const after = given.text('after')
  const { tables } = inside
  const isPending = sql`acked_at IS NULL AND expires_at > ${tables.now}`
  const rows = await tables.db
    .selectFrom('uploads_mailbox')
    .leftJoin('uploads_file', (join) =>
      join.onRef('uploads_file.mailbox', '=', 'uploads_mailbox.id').on('uploads_file.swept_at', 'is', null),
    )
    .select(['uploads_mailbox.id', 'uploads_mailbox.name', 'quota_bytes', 'quota_files', 'max_file_bytes'])
    .select(['max_request_bytes', 'uploads_mailbox.created_at'])
    .select([
      sql<number>`CAST(coalesce(sum(CASE WHEN ${isPending} THEN 1 ELSE 0 END), 0) AS bigint)`.as('pending'),
      sql<number>`CAST(coalesce(sum(CASE WHEN ${isPending} THEN size ELSE 0 END), 0) AS bigint)`.as(
        'pendingBytes',
      ),
      sql<number | null>`min(CASE WHEN ${isPending} THEN uploads_file.created_at END)`.as('oldest'),
      sql<number>`count(uploads_file.id)`.as('stored'),
      sql<number>`CAST(coalesce(sum(size), 0) AS bigint)`.as('storedBytes'),
    ])
    .where('uploads_mailbox.deleted_at', 'is', null)
    .where('uploads_mailbox.id', '>', after === null ? '' : mailboxId(after, 'after'))
    .groupBy('uploads_mailbox.id')
    .orderBy('uploads_mailbox.id')
    .limit(limit + 1)
    .execute()
  const shown = rows.slice(0, limit)
  return Response.json({
    mailboxes: shown.map((row) => ({
      id: row.id,
      name: row.name,
      createdAt: new Date(row.created_at).toISOString(),
      pending: { files: row.pending, bytes: row.pendingBytes, oldestAt: instant(row.oldest) },
      stored: { files: row.stored, bytes: row.storedBytes },
      limits: limitsOf(
        {
          quotaBytes: row.quota_bytes,
          quotaFiles: row.quota_files,
          maxFileBytes: row.max_file_bytes,
          maxRequestBytes: row.max_request_bytes,
        },
        inside.limits,
      ),
    })),
    next: rows.length > limit ? (shown.at(-1)?.id ?? null) : null,
  })
}

async function files(inside: Inside, url: URL, id: string): Promise<Response> {
  const given = parametersOf(url, ['state', 'after', 'limit'])
  const mailbox = mailboxId(id, 'mailbox')
  const page = await feed(inside, {
    mailbox,
    state: given.oneOf('state', FEED_STATES, 'pending'),
    after: given.text('after'),
    limit: given.whole('limit', PAGE.usual, PAGE.least, PAGE.most),
  }).catch((error: unknown) => {
    // Who asks here has no token of a mailbox.
    throw error instanceof Refusal && error.code === 'TOKEN_WRONG' ? new Refusal('MAILBOX_UNKNOWN') : error
  })
  return Response.json({ files: page.files, next: page.more ? page.cursor : null })
}

function mailboxId(given: string, field: string): string {
  const id = cleanId(given)
  if (id === null)
    throw new Refusal('ID_INVALID', {
      field,
      detail: 'the id of a mailbox is a UUID',
      fix: 'Copy it from the list',
    })
  return id
}

function instant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
