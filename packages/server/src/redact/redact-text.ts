/**
 * Hides credentials in a text: in URLs, assignments (`password=…`), headers and settings (`password: …`),
 * command options, after `Bearer`, and in embedded JSON.
 */
import { hideAuthorization } from './redact-authorization.ts'
import { hideInJson } from './redact-json-text.ts'
import { endOf, quotedAt } from './redact-json-value.ts'
import { HIDDEN, type SecretTest, valueOf } from './redact-keys.ts'
import { hideInLists } from './redact-list-text.ts'
import { hideBehind } from './redact-ranges.ts'
import { hideRawHeaders } from './redact-raw-headers.ts'
import { hideSettings } from './redact-settings.ts'
import { hidePrivateKeys, hideTokens } from './redact-tokens.ts'

/**
 * Every expression here runs in linear time: repetitions are bounded, or end where the next match may start.
 */
export function hideCredentials(text: string, isSecret: SecretTest): string {
  const plain = text.replaceAll(COLORS, '')
  const hidden = hideInPlain(plain, isSecret)
  // Keeps the colors unless something is hidden.
  return hidden === plain ? text : hidden
}

/** Terminal colors, which may be between a name and its value. They may be escaped. */
const COLORS = /(?:(?!\s)\p{Cc}|\\{1,8}u001b|\\{1,8}x1b)\[[\d;]{0,32}m/giu

function hideInPlain(text: string, isSecret: SecretTest): string {
  const steps = [
    hidePrivateKeys,
    hideRawHeaders,
    hideInJson,
    hideInLists,
    hideAuthorization,
    hideUsers,
    hideParameters,
    hideAssignments,
    hideSettings,
    hideTokens,
  ]
  return steps.reduce((hidden, step) => step(hidden, isSecret), text)
}

/**
 * `https://user:password@host` and `https://token@host`. In most other protocols a user alone is a name:
 * `ssh://git@host`, `postgres://app@db`.
 */
function hideUsers(text: string): string {
  if (!text.includes('@')) return text
  return text
    .replaceAll(/(:\/\/[^\s/?#@:"'<>]*:)[^\s/?#"'<>]+@/g, `$1${HIDDEN}@`)
    .replaceAll(RAW_PASSWORD, `$1${HIDDEN}@`)
    .replaceAll(/(https?:\/\/)[^\s/?#:"'<>]+@/gi, `$1${HIDDEN}@`)
    .replaceAll(/(:\/\/)[^\s/?#:@"'<>]{20,}@/g, `$1${HIDDEN}@`)
}

/**
 * A password with a `/`, `?` or `#` that should have been encoded. A number before these is a port, and the
 * `@` after it belongs to the path.
 */
const RAW_PASSWORD =
  /(:\/\/[^\s/?#@:"'<>]*:)(?!\d{1,5}(?:[/?#]|$))(?!\(hidden\))[^\s@"'<>]{1,256}@(?=[\w.[-])/g

/** URL parameters that grant access, in addition to those named like a secret key. */
const SECRET_PARAMETERS = /^(?:sig|x-[a-z]+-signature)$/i

/** Hides parameters in the query or fragment of a URL. */
function hideParameters(text: string, isSecret: SecretTest): string {
  if (!text.includes('=')) return text
  return text.replaceAll(
    /([?&#])([^=&?#\s"'<>]{1,64})=([^&#\s"'<>]+)/g,
    (whole, before: string, name: string, value: string) =>
      SECRET_PARAMETERS.test(name) || isSecret(name, valueOf(value)) ? `${before}${name}=${HIDDEN}` : whole,
  )
}

/**
 * Forms, connection strings, environments and log lines: `user=ada password=x`, `Host=db;Password=x`,
 * `password = x`, unless another assignment follows (`password= user=ada`).
 */
const ASSIGNMENT =
  /(?:^|[\s;,|({["'])([^=&?#;,|(){}\s"'<>]{1,64})(?:=(?!=)|=[ \t]{1,8}(?![\w.-]{1,64}=[\w"'])|[ \t]{1,8}=(?![=~])[ \t]{0,8})(?=[^\s&#;<>])/g
/**
 * A quote before a letter is part of the value (`password=a"b`); a closing quote is followed by something
 * else.
 */
const UNQUOTED = /[^\s&#;"'<>]+(?:["'<>#](?=\w)[^\s&#;"'<>]*){0,1000}/y

function hideAssignments(text: string, isSecret: SecretTest): string {
  if (!text.includes('=')) return text
  return hideBehind(text, ASSIGNMENT, ([, name = ''], start) => {
    if (!isSecret(name, '') || text.startsWith(HIDDEN, start)) return null
    const quoted = quotedAt(text, start)
    const end = quoted === null ? endOf(UNQUOTED, text, start) : endOf(/\w*/y, text, quoted.end)
    if (end === null || !isSecret(name, valueOf(text.slice(start, end)))) return null
    return { start, end, mark: '' }
  })
}
