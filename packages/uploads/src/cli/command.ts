/** What a command is. The help is written from this. */
import type { Env } from '../config/read-config.ts'
import type { Config } from '../config/shape.ts'

export interface Command {
  readonly words: string
  /** What stands behind them. */
  readonly takes?: string
  readonly arguments?: readonly [least: number, most: number]
  readonly says: string
  /** Each with what it takes in capitals, or null for a switch, and what it says. */
  readonly options?: Readonly<Record<string, readonly [takes: string | null, says: string]>>
  /** It talks to an inbox elsewhere, and has no config and no database here. */
  readonly isClient?: boolean
  readonly run: (given: Given) => Promise<number>
}

export interface Given {
  readonly words: readonly string[]
  readonly config: () => Config
  readonly text: (option: string) => string | undefined
  readonly has: (option: string) => boolean
  readonly env: Env
  readonly out: (line: string) => void
  readonly err: (line: string) => void
}

/** For scripts. */
export const EXIT = { done: 0, failed: 1, usage: 2, refused: 3, unavailable: 4 } as const

const SERVER = {
  config: ['FILE', 'the config (default: jobmill-uploads.yaml of this folder, where there is one)'],
  db: ['URL', 'the database: uploads.db, postgres://… (default: DATABASE_URL, else uploads.db)'],
} as const satisfies Command['options']

const CLIENT = {
  url: ['URL', 'where the inbox is: https://inbox.example (default: UPLOADS_URL)'],
  mailbox: ['ID', 'which mailbox (default: UPLOADS_MAILBOX)'],
  'token-file': [
    'FILE',
    'a file with a token of the mailbox, read anew for every request (default: UPLOADS_TOKEN_FILE)',
  ],
} as const satisfies Command['options']

const ALL = {
  json: [null, 'JSON instead of text'],
  help: [null, 'this text'],
} as const satisfies Command['options']

/** Everything that a command knows. */
export function optionsOf({ options = {}, isClient = false }: Command): NonNullable<Command['options']> {
  return { ...options, ...(isClient ? CLIENT : SERVER), ...ALL }
}
