/**
 * Bearer tokens, a line each: `name role token`. Several may be valid at once, so that one can be replaced by another without a gap.
 * They are compared by their digests, all of them, so that the time it takes tells nothing.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { JobmillError, shown } from '../../job/errors.ts'
import { isRole, ROLES, type Who } from './roles.ts'

interface Token extends Who {
  readonly digest: Buffer
}

const SHORTEST = 16
const FIX =
  'Write a line "name role token" for each, with a token of at least 16 characters: "ci operator 6f1c…"'

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest()

/** Blank lines and those that begin with # are skipped. `field` is where the text came from; the tokens themselves are never shown. */
export function readTokens(text: string, field: string): readonly Token[] {
  const tokens = tokensIn(text, field)
  if (tokens.length > 0) return tokens
  throw new JobmillError('OPTION_INVALID', 'has no token, so nobody could come in', { field, fix: FIX })
}

function tokensIn(text: string, field: string): readonly Token[] {
  return text.split(/[\n;]/).flatMap((line, at) => {
    const words = line.trim().split(/\s+/)
    if (words[0] === '' || words[0]?.startsWith('#') === true) return []
    const [name, role, token] = words
    const where = `${field}, line ${at + 1}`
    if (name === undefined || token === undefined || words.length !== 3)
      throw new JobmillError('OPTION_INVALID', 'is not a name, a role and a token', {
        field: where,
        fix: FIX,
      })
    if (!isRole(role))
      throw new JobmillError('OPTION_INVALID', 'there is no such role', {
        field: where,
        value: shown(role),
        fix: `Use one of ${ROLES.join(', ')}`,
      })
    if (token.length < SHORTEST)
      throw new JobmillError('OPTION_INVALID', 'a token can be guessed that is so short', {
        field: where,
        fix: FIX,
      })
    return [{ name, role, digest: digestOf(token) }]
  })
}

/** Whose token this is; null when it is nobody's. */
export function holderOf(tokens: readonly Token[], given: string): Who | null {
  const digest = digestOf(given)
  let found: Who | null = null
  for (const { name, role, digest: known } of tokens)
    if (timingSafeEqual(digest, known)) found = { name, role }
  return found
}

/** An empty text when there is none. */
export function bearerOf(request: Request): string {
  return /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? ''
}
