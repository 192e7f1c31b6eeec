/** The problems that the client reports. */
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

export function troubleText({ code, message, uri, attempts, againInMs }: Trouble): string {
  const again = againInMs === null ? '' : `; retrying in ${(againInMs / 1_000).toFixed(1)} s`
  return safeLine(`${code}${uri === null ? '' : ` ${uri}`} (attempt ${attempts}): ${message}${again}`)
}
