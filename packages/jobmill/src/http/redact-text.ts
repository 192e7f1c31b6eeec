/** Hides credentials inside of a text: in URLs, in assignments (`password=…`), after `Bearer`, and in JSON that is a part of the text. */
import { hideInJson } from './redact-json-text.ts'
import { HIDDEN, type SecretTest, valueOf } from './redact-keys.ts'

/** Every expression here takes a time that grows with the length of the text only: what repeats is bounded, or ends where the next match may begin. */
export function hideCredentials(text: string, isSecret: SecretTest): string {
  return hideAssignments(
    hideParameters(hideUsers(hideInJson(text, isSecret)), isSecret),
    isSecret,
  ).replaceAll(/\b(Bearer )[\w.~+/-]{16,}=*/gi, `$1${HIDDEN}`)
}

/** `https://user:password@host` and `https://token@host`. A user alone is a name with most other protocols: `ssh://git@host`, `postgres://app@db`. */
function hideUsers(text: string): string {
  if (!text.includes('@')) return text
  return text
    .replaceAll(/(:\/\/[^\s/?#@:"'<>]*:)[^\s/?#"'<>]+@/g, `$1${HIDDEN}@`)
    .replaceAll(/(https?:\/\/)[^\s/?#:"'<>]+@/gi, `$1${HIDDEN}@`)
    .replaceAll(/(:\/\/)[^\s/?#:@"'<>]{20,}@/g, `$1${HIDDEN}@`)
}

/** Parameters of URLs that open something, besides those named like a secret key. */
const SECRET_PARAMETERS = /^(?:sig|x-[a-z]+-signature)$/i

/** The parameters of a URL, in its query or its fragment. */
function hideParameters(text: string, isSecret: SecretTest): string {
  if (!text.includes('=')) return text
  return text.replaceAll(
    /([?&#])([^=&?#\s"'<>]{1,64})=([^&#\s"'<>]+)/g,
    (whole, before: string, name: string, value: string) =>
      SECRET_PARAMETERS.test(name) || isSecret(name, valueOf(value)) ? `${before}${name}=${HIDDEN}` : whole,
  )
}

/** Forms, connection strings, environments and log lines: `user=ada password=x`, `Host=db;Password=x`. A quoted value may have been cut off. */
function hideAssignments(text: string, isSecret: SecretTest): string {
  if (!text.includes('=')) return text
  return text.replaceAll(
    /(^|[\s;,|({"'])([^=&?#;,|(){}\s"'<>]{1,64})=(?!=)("[^"]*"?|'[^']*'?|[^\s&#;"'<>]+)/g,
    (whole, before: string, name: string, value: string) =>
      isSecret(name, valueOf(value)) ? `${before}${name}=${HIDDEN}` : whole,
  )
}
