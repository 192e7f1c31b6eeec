/**
 * Hides the credentials of `Authorization` headers in a text, whatever their scheme: from the scheme to the
 * end of the line, or to the closing quote of a quoted header.
 */
import { endOf, endOfText } from './redact-json-value.ts'
import { type SecretTest, valueOf } from './redact-keys.ts'
import { isPlainWord, isProseWord } from './redact-prose.ts'
import { hideBehind } from './redact-ranges.ts'

/** The header with its quote, and two words after it. A single word is left to the other steps. */
const HEADER =
  /(?:(\\{0,63})(["'`])|(?<![^\s;,|({[>]))([A-Za-z][\w.-]{0,63})[ \t]{0,8}([:=])[ \t]{0,8}(?=([A-Za-z][\w-]{0,63})[ \t]{1,8}([^\s"'`]{1,64}))/g

/** Schemes that stay visible. Behind any other name, the name is hidden too, as it may be a credential. */
const SCHEME =
  /(?:basic|bearer|token|negotiate|ntlm|api-?key|dpop|digest|hawk|aws|aws4-hmac-sha256|signature|oauth2?|bot|ssws|jwt|splunk|zoho-oauthtoken|shared(?:key(?:lite)?|accesssignature)|geniekey)[ \t]{1,8}/iy

export function hideAuthorization(text: string, isSecret: SecretTest): string {
  if (!/authori[sz]ation/i.test(text)) return text
  let line = 0
  return hideBehind(text, HEADER, (header, start) => {
    const [, escapes = '', quote, name = '', sign, first = '', second = ''] = header
    if (!/authori[sz]ation$/i.test(name) || !isSecret(name, valueOf(first))) return null
    const credentials = endOf(SCHEME, text, start)
    if (credentials === null && isProse(first, second)) return null
    // Each line is read once.
    if (start >= line) line = endOf(/[^\r\n]*/y, text, start) ?? text.length
    const end = quote === undefined ? line : beforeQuote(text, start, line, { escapes, quote })
    // After `=`, the step for assignments would hide a visible scheme again.
    return { start: sign === ':' ? (credentials ?? start) : start, end, mark: '' }
  })
}

function beforeQuote(
  text: string,
  start: number,
  line: number,
  quoting: { readonly escapes: string; readonly quote: string },
): number {
  const end = endOfText(text, start, quoting, line)
  return text[end - 1] === quoting.quote ? end - 1 - quoting.escapes.length : end
}

/** `authorization: failed for ada`, `Authorization: Access denied`, `authorization: try again`. */
function isProse(first: string, second: string): boolean {
  if (isProseWord(first) || isProseWord(second)) return true
  return /^[a-z]/.test(first) && isPlainWord(first) && isPlainWord(second)
}
