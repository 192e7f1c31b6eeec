/** The problems that the client reports. */
export type TroubleCode =
  | 'TOKEN_REFUSED'
  | 'LIST_FAILED'
  | 'ENTRY_BAD'
  | 'FILE_GONE'
  | 'FILE_TOO_LARGE'
  | 'FETCH_FAILED'
  | 'HASH_DIFFERS'
  | 'NAME_TAKEN'
  | 'DISK_FULL'
  | 'WRITE_FAILED'
  | 'LISTENER_FAILED'
  | 'ACK_FAILED'

export interface Trouble {
  readonly code: TroubleCode
  /** Includes the fix, if there is one. */
  readonly message: string
  /** Null if it does not concern a single file. */
  readonly uri: string | null
  /** The number of attempts. */
  readonly attempts: number
  /** Null: retried only with the next complete list, or never. */
  readonly againInMs: number | null
  readonly cause: unknown
}

export function troubleOf(
  code: TroubleCode,
  message: string,
  more: Partial<Omit<Trouble, 'code' | 'message'>> = {},
): Trouble {
  return { code, message, uri: null, attempts: 1, againInMs: null, cause: null, ...more }
}

export function troubleText({ code, message, uri, attempts, againInMs }: Trouble): string {
  const again = againInMs === null ? '' : `; retrying in ${(againInMs / 1_000).toFixed(1)} s`
  return safeLine(`${code}${uri === null ? '' : ` ${uri}`} (attempt ${attempts}): ${message}${again}`)
}

/**
 * Makes untrusted text safe to print on one terminal line. A copy of jobmill's function, because the client
 * needs only Node.
 */
export function safeLine(text: string): string {
  return text.replaceAll(UNSAFE, (one) =>
    one === '\n' || one === '\t' ? ' ' : `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

const UNSAFE = /[\p{Cc}\p{Cs}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu
