/** Who a request is from: by a token of ours, by what the host application says, or nobody has to say. */
import { JobmillError, shown } from '../../job/errors.ts'
import { asError, isAnswer, ownAnswer } from '../apps.ts'
import { problem } from '../problem.ts'
import { isRole, ROLES, type Who } from './roles.ts'
import { bearerOf, holderOf, readTokens } from './tokens.ts'

/**
 * The caller; null or undefined for an anonymous one, who gets 401. A Response is sent as it is instead, for example a redirect to the login of the host
 * application. Anything else is a fault of the host application: it is logged and answered with 500.
 */
export type Authenticate = (request: Request) => Said | Promise<Said>
type Said = Who | Response | null | undefined

export interface Identity {
  readonly by: 'tokens' | 'host' | 'nobody'
  readonly authenticate: (request: Request) => Known | Promise<Known>
}

type Known = Who | Response | null

export interface IdentityOptions {
  readonly tokens?: string
  readonly authenticate?: Authenticate
  readonly insecure?: boolean
}

/** `failed` gets what is wrong with an answer of `authenticate`. */
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
  if (insecure) return everybody('anybody')
  throw new JobmillError('OPTION_INVALID', 'no authentication is configured', {
    field: 'tokens',
    fix: 'Pass tokens or authenticate, or insecure: true where nobody else can reach it',
  })
}

/** Never rejects: what the host application throws is its fault, whatever it is, and must not pass for an error of a route. */
async function askHost(
  authenticate: Authenticate,
  request: Request,
  failed: (error: unknown, what: string) => void,
): Promise<Known> {
  try {
    return knownAs(await authenticate(request))
  } catch (thrown) {
    failed(asError(thrown, 'authenticate'), 'authenticate')
    return problem('INTERNAL', {
      detail: 'authenticate of the application that serves this threw, or returned no valid caller',
      fix: 'Ask its operator to read the log of this process',
    })
  }
}

/** What the host application returns is not typed at run time, and a caller without a valid name would be nobody in the audit. */
function knownAs(given: unknown): Known {
  if (given === null || given === undefined) return null
  // Throws for one that cannot be sent, such as Response.error().
  if (isAnswer(given)) return ownAnswer(given)
  const { name, role } = Object(given) as Partial<Record<keyof Who, unknown>>
  if (typeof name !== 'string' || name.trim() === '')
    throw whoInvalid('name', 'must be text that is not empty', name)
  if (!isRole(role)) throw whoInvalid('role', `must be one of ${ROLES.join(', ')}`, role)
  return { name, role }
}

function whoInvalid(part: string, what: string, value: unknown): JobmillError {
  return new JobmillError('OPTION_INVALID', what, {
    field: `authenticate().${part}`,
    value: shown(value),
    fix: "Return { name: 'ada', role: 'viewer' } from authenticate, null for an anonymous caller, or a Response",
  })
}

/** Every caller is an admin of this name. */
export function everybody(name: string): Identity {
  return { by: 'nobody', authenticate: () => ({ name, role: 'admin' }) }
}

/** What an anonymous caller is told. Only where there are tokens is one asked for: elsewhere the host application has its own way to sign in. */
export function anonymous({ by }: Identity, authorization: string | undefined): Response {
  if (by !== 'tokens')
    return problem('SIGN_IN_NEEDED', {
      detail: 'the application that serves this does not know who asks',
      fix: 'Sign in to that application, then try again',
    })
  if (authorization === undefined)
    return problem('TOKEN_MISSING', {
      detail: 'nobody is known who asks',
      fix: 'Say who you are: with authorization: Bearer TOKEN',
    })
  return problem('TOKEN_UNKNOWN', {
    detail: 'this token is not known',
    field: 'authorization',
    fix: 'Send Bearer and one of the tokens that this server was started with',
  })
}

/**
 * Null for a caller who may have the files of Mission Control. Where there are tokens that is everybody, since the token is typed into them; where the host
 * application signs people in, only those whom it knows.
 */
export async function refusePage(identity: Identity, request: Request): Promise<Response | null> {
  if (identity.by !== 'host') return null
  const who = await identity.authenticate(request)
  if (who === null) return anonymous(identity, undefined)
  return isAnswer(who) ? who : null
}
