/** The type of a command. The help is generated from it. */
import type { Given as Typed, Lines, Option, Shape } from 'jobmill/cli'
import type { Env } from '../config/read-config.ts'
import type { ReadConfig } from '../config/shape.ts'

/** The output and the environment of a command. */
export interface Io extends Lines {
  readonly env: Env
}

export interface CommandInput extends Typed, Io {
  readonly config: () => ReadConfig
}

export interface Command extends Shape {
  /** It talks to a remote inbox, and uses no config and no database. */
  readonly isClient?: boolean
  readonly run: (given: CommandInput) => Promise<number>
}

type Options = Readonly<Record<string, Option>>

const SERVER: Options = {
  config: { takes: 'FILE', says: 'config file (default: jobmill-uploads.yaml in this folder, if it exists)' },
  db: {
    takes: 'URL',
    says: 'database: uploads.db, postgres://… (default: DATABASE_URL, the config, or uploads.db)',
  },
}

const CLIENT: Options = {
  url: { takes: 'URL', says: 'URL of the inbox: https://inbox.example (default: UPLOADS_URL)' },
  mailbox: { takes: 'ID', says: 'mailbox id (default: UPLOADS_MAILBOX)' },
  'token-file': {
    takes: 'FILE',
    says: 'file with a token of the mailbox, read for every request (default: UPLOADS_TOKEN_FILE)',
  },
}

const ALL: Options = {
  json: { says: 'print JSON' },
  help: { short: 'h', says: 'show this help' },
}

/** The options that a command has in addition to its own. */
export function commonOptions({ isClient = false }: Command): Options {
  return { ...(isClient ? CLIENT : SERVER), ...ALL }
}
