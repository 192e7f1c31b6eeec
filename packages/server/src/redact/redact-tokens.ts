/** Hides secrets that are recognized by their form: private keys, bearer tokens, JWTs, `Basic …`. */
import { HIDDEN } from './redact-keys.ts'

/** A PEM or PGP block. One that is cut off extends to the end of the text, so it is scanned only once. */
const PRIVATE_KEY =
  /(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)[^]*?(-----END [A-Z0-9 ]{0,60}-----|$)/g

/** Runs before all other steps, which would match parts of the base64. */
export function hidePrivateKeys(text: string): string {
  return text.includes('PRIVATE KEY') ? text.replaceAll(PRIVATE_KEY, `$1${HIDDEN}$2`) : text
}

const BEARER = /\b(Bearer(?:[\s:]|%20){1,8}["'\\]{0,4})[\w.~+/-]{16,}=*/gi
/** The header of a JWT is a JSON object, whose base64 starts with eyJ. */
const JWT = /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]{4,}/g
const BASIC = /\b(Basic[ \t]{1,8})([A-Za-z0-9+/]{4,}={0,2})/gi

export function hideTokens(text: string): string {
  return text
    .replaceAll(BEARER, `$1${HIDDEN}`)
    .replaceAll(JWT, HIDDEN)
    .replaceAll(BASIC, (whole, scheme: string, given: string) =>
      isUserAndPassword(given) ? `${scheme}${HIDDEN}` : whole,
    )
}

/** Distinguishes `Basic YWRhOng=` from `basic authentication`. */
function isUserAndPassword(base64: string): boolean {
  return /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(Buffer.from(base64, 'base64').toString('latin1'))
}
