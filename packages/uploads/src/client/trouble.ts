/** What did not work, told as it happens, and what becomes of it. */
import { safeLine } from './safe-line.ts'

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
  /** With the fix, where there is one. */
  readonly message: string
  /** Null when it is not about one file. */
  readonly uri: string | null
  /** How often it was tried. */
  readonly attempts: number
  /** Null: only when everything is listed again, or not at all. */
  readonly againInMs: number | null
  readonly cause: unknown
}

export function troubleText({ code, message, uri, attempts, againInMs }: Trouble): string {
  const again = againInMs === null ? '' : `; again in ${(againInMs / 1_000).toFixed(1)} s`
  return safeLine(`${code}${uri === null ? '' : ` ${uri}`} (attempt ${attempts}): ${message}${again}`)
}
