/**
 * The read-only API of the inbox for Mission Control. Mission Control authorizes the requests. Tokens are
 * never returned.
 */
import type { Inside } from '../inbox/inside.ts'
import { LOOK_STATES, lookAtFiles } from '../inbox/look-files.ts'
import { lookAtMailbox, lookAtMailboxes, lookForUnfetched } from '../inbox/look-mailboxes.ts'
import { Refusal } from '../refusal.ts'
import { idIn, parametersOf } from './parameters.ts'
import { problem, refusalOf } from './problems.ts'

const PAGE = { least: 1, usual: 100, most: 500 } as const
const LONGEST_FIND = 200

export function app(inside: Inside) {
  return {
    title: 'Uploads',
    /** Serves GET /mailboxes, /mailboxes/:id and /mailboxes/:id/files below any base path. */
    async fetch(request: Request): Promise<Response> {
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
  const [found, id, files] = /\/mailboxes(?:\/([^/]+)(\/files)?)?$/.exec(url.pathname) ?? []
  if (found === undefined) throw new Refusal('ROUTE_UNKNOWN')
  if (request.method !== 'GET')
    throw new Refusal('METHOD_WRONG', { fix: 'Use GET', headers: { allow: 'GET' } })
  if (id === undefined) return listMailboxes(inside, url)
  const mailbox = await lookAtMailbox(inside, mailboxId(id, 'mailbox'))
  if (mailbox === null) throw new Refusal('MAILBOX_UNKNOWN')
  if (files !== undefined) return listFiles(inside, url, mailbox.id)
  parametersOf(url, [])
  return Response.json({ mailbox, expiredUnfetched: await lookForUnfetched(inside, mailbox.id) })
}

async function listMailboxes(inside: Inside, url: URL): Promise<Response> {
  const given = parametersOf(url, ['find', 'after', 'limit'])
  const after = given.text('after')
  const find = given.text('find') ?? ''
  if (find.length > LONGEST_FIND || find.includes('\0') || !find.isWellFormed())
    throw new Refusal('OPTION_INVALID', {
      field: 'find',
      detail: `must be a string of at most ${LONGEST_FIND} characters`,
      fix: 'Pass a part of a name, or an id',
    })
  const [page, expiredUnfetched] = await Promise.all([
    lookAtMailboxes(inside, {
      find,
      after: after === null ? '' : mailboxId(after, 'after'),
      limit: given.whole('limit', PAGE.usual, PAGE.least, PAGE.most),
    }),
    lookForUnfetched(inside),
  ])
  return Response.json({ ...page, expiredUnfetched })
}

async function listFiles(inside: Inside, url: URL, mailbox: string): Promise<Response> {
  const given = parametersOf(url, ['state', 'after', 'limit'])
  return Response.json(
    await lookAtFiles(inside, {
      mailbox,
      state: given.oneOf('state', LOOK_STATES, 'pending'),
      after: given.text('after'),
      limit: given.whole('limit', PAGE.usual, PAGE.least, PAGE.most),
    }),
  )
}

function mailboxId(given: string, field: string): string {
  return idIn(given, 'mailbox', 'Copy the id from the list of mailboxes', field)
}
