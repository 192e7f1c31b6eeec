/** Who a request is from: by a token of ours, by what the host application says, or nobody has to say. */
import { JobmillError } from '../../job/errors.ts'
import { isAnswer } from '../apps.ts'
import { problem } from '../problem.ts'
import type { Who } from './roles.ts'
import { bearerOf, holderOf, readTokens } from './tokens.ts'

/**
 * The caller; null for an anonymous one, who gets 401. A Response is sent as it is instead, for example a redirect to the login of the host application.
 */
export type WhoIs = (request: Request) => Who | Response | null | Promise<Who | Response | null>

export interface Identity {
  readonly by: 'tokens' | 'host' | 'nobody'
  readonly whoIs: WhoIs
}

export interface IdentityOptions {
  readonly tokens?: string
  readonly whoIs?: WhoIs
  readonly insecure?: boolean
}

export function identityOf({ tokens, whoIs, insecure = false }: IdentityOptions): Identity {
  if (whoIs !== undefined) return { by: 'host', whoIs }
  if (tokens !== undefined) {
    const known = readTokens(tokens, 'tokens')
    return { by: 'tokens', whoIs: (request) => holderOf(known, bearerOf(request)) }
  }
  if (insecure) return everybody('anybody')
  throw new JobmillError('OPTION_INVALID', 'no authentication is configured', {
    field: 'tokens',
    fix: 'Pass tokens or whoIs, or insecure: true where nobody else can reach it',
  })
}

/** Every caller is an admin of this name. */
export function everybody(name: string): Identity {
  return { by: 'nobody', whoIs: () => ({ name, role: 'admin' }) }
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
  const who = await identity.whoIs(request)
  if (who === null) return anonymous(identity, undefined)
  return isAnswer(who) ? who : null
}
