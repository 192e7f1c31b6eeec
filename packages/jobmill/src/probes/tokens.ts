/**
 * Bearer tokens, one `name role token` per line; a semicolon also ends a line. Several can be valid at once,
 * for rotation without downtime.
 * All digests are compared in constant time, so that timing reveals nothing.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { invalidValue, JobmillError } from '../job/errors.ts'
import { isRole, ROLES, type Who } from './roles.ts'

interface Token extends Who {
  readonly digest: Buffer
}

const SHORTEST = 16
const FIX = 'Use one "name role token" per line, such as "ci operator 6f1c…"'

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest()

/**
 * Skips blank lines and lines that start with #. `field` names the source of the text; tokens never appear in
 * messages.
 */
export function readTokens(text: string, field: string): readonly Token[] {
  const tokens = tokensIn(text, field)
  if (tokens.length > 0) return tokens
  throw new JobmillError('OPTION_INVALID', 'contains no token', { field, fix: FIX })
}

function tokensIn(text: string, field: string): readonly Token[] {
  const lines = new Map<string, number>()
  return text.split(/[\n;]/).flatMap((line, at) => {
    const words = line.trim().split(/\s+/)
    if (words[0] === '' || words[0]?.startsWith('#') === true) return []
    const [name, role, token] = words
    const where = `${field}, line ${at + 1}`
    // Leaves out the value, which may be a token.
    const wrong = (what: string, fix: string): JobmillError =>
      new JobmillError('OPTION_INVALID', what, { field: where, fix })
    if (name === undefined || token === undefined || words.length !== 3)
      throw wrong('must be a name, a role and a token', FIX)
    if (!isRole(role)) throw invalidValue(where, role, 'unknown role', `Use one of ${ROLES.join(', ')}`)
    if (token.length < SHORTEST) {
      const fix = 'Use a longer one, such as the output of openssl rand -hex 32'
      throw wrong(`token too short (min ${SHORTEST} characters)`, fix)
    }
    // Otherwise one line would decide the name and the role of the caller, and the other would be ignored.
    const earlier = lines.get(token)
    if (earlier !== undefined) {
      const fix = 'Use another token, such as the output of openssl rand -hex 32, or remove one of the lines'
      throw wrong(`has the same token as line ${earlier}`, fix)
    }
    lines.set(token, at + 1)
    return [{ name, role, digest: digestOf(token) }]
  })
}

/** The caller with this token, or null. */
export function holderOf(tokens: readonly Token[], given: string): Who | null {
  const digest = digestOf(given)
  let found: Who | null = null
  for (const { name, role, digest: known } of tokens)
    if (timingSafeEqual(digest, known)) found = { name, role }
  return found
}

/** Returns an empty string when there is no token. */
export function bearerOf(request: Request): string {
  return /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? ''
}
