/** Authenticates callers: by our tokens, by the host application, or not at all. */
import { JobmillError } from 'jobmill'
import { bearerOf, holderOf, isRole, readTokens, ROLES, type Who } from 'jobmill/internal'
import { quote } from 'jobmill/store'
import { asError, isAnswer, ownAnswer } from '../apps.ts'
import { problem } from '../problem.ts'

/**
 * Returns the caller, or null or undefined for an anonymous one (401). A Response is sent as it is, such as a
 * redirect to a login page. Any other value is an error of the host application: it is logged and answered
 * with 500.
 */
export type Authenticate = (request: Request) => Answer | Promise<Answer>
type Answer = Who | Response | null | undefined

export interface Identity {
  readonly by: 'tokens' | 'host' | 'none'
  readonly authenticate: (request: Request) => Known | Promise<Known>
}

type Known = Who | Response | null

export interface IdentityOptions {
  readonly tokens?: string
  readonly authenticate?: Authenticate
  readonly insecure?: boolean
}

/** `failed` receives errors of `authenticate`. */
export function identityOf(
  { tokens, authenticate, insecure = false }: IdentityOptions,
  failed: (error: unknown, what: string) => void,
): Identity {
  if (authenticate !== undefined)
    return { by: 'host', authenticate: (request) => askHost(authenticate, request, failed) }
  if (tokens !== undefined) {
    const known = readTokens(tokens, 'tokens')
    return { by: 'tokens', authenticate: (request) => holderOf(known, bearerOf(request)) }
  }
  if (insecure) return adminForEveryone('anybody')
  throw new JobmillError('OPTION_INVALID', 'no authentication configured', {
    field: 'tokens',
    fix: 'Pass tokens or authenticate, or insecure: true for local use',
  })
}

/** Never rejects: an error of the host application must not look like an error of a route. */
async function askHost(
  authenticate: Authenticate,
  request: Request,
  failed: (error: unknown, what: string) => void,
): Promise<Known> {
  try {
    return checkCaller(await authenticate(request))
  } catch (thrown) {
    failed(asError(thrown, 'authenticate'), 'authenticate')
    return problem('INTERNAL', {
      detail: 'the authenticate function of the host application threw or returned an invalid value',
      fix: 'Check the log of this process',
    })
  }
}

/** Checks the value at run time: without a valid name, the audit log could not show the caller. */
function checkCaller(given: unknown): Known {
  if (given === null || given === undefined) return null
  // Throws for a response that cannot be sent, such as Response.error().
  if (isAnswer(given)) return ownAnswer(given)
  const { name, role } = Object(given) as Partial<Record<keyof Who, unknown>>
  if (typeof name !== 'string' || name.trim() === '') throw whoInvalid('name', 'must be non-empty text', name)
  if (!isRole(role)) throw whoInvalid('role', `must be one of ${ROLES.join(', ')}`, role)
  return { name, role }
}

function whoInvalid(part: string, what: string, value: unknown): JobmillError {
  return new JobmillError('OPTION_INVALID', what, {
    field: `authenticate().${part}`,
    value: quote(value),
    fix: "Return { name: 'ada', role: 'viewer' } from authenticate, null for an anonymous caller, or a Response",
  })
}

/** Treats every caller as an admin of this name. */
export function adminForEveryone(name: string): Identity {
  return { by: 'none', authenticate: () => ({ name, role: 'admin' }) }
}

/**
 * The response for an anonymous caller. It asks for a token only where tokens are used; a host application
 * has its own login.
 */
export function anonymous({ by }: Identity, authorization: string | undefined): Response {
  if (by !== 'tokens')
    return problem('SIGN_IN_NEEDED', {
      detail: 'not signed in to the host application',
      fix: 'Sign in, then try again',
    })
  if (authorization === undefined)
    return problem('TOKEN_MISSING', {
      detail: 'no token sent',
      fix: 'Send the header "Authorization: Bearer TOKEN"',
    })
  return problem('TOKEN_UNKNOWN', {
    detail: 'unknown token',
    field: 'authorization',
    fix: 'Send the header "Authorization: Bearer TOKEN" with a token of this server',
  })
}

/**
 * Resolves with null if the caller may load the files of Mission Control. With a host application,
 * only authenticated callers may. With tokens everyone may, because the token is typed into the dashboard.
 */
export async function refusePage(identity: Identity, request: Request): Promise<Response | null> {
  if (identity.by !== 'host') return null
  const who = await identity.authenticate(request)
  if (who === null) return anonymous(identity, undefined)
  return isAnswer(who) ? who : null
}
