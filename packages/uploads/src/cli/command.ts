/** What a command is. The help is written from this. */
import type { Given as Typed, Lines, Option, Shape } from 'jobmill/cli'
import type { Env, ReadConfig } from '../config/read-config.ts'

/** Where a command says something, and what it finds in the environment. */
export interface Io extends Lines {
  readonly env: Env
}

export interface Given extends Typed, Io {
  readonly config: () => ReadConfig
}

export interface Command extends Shape {
  /** It talks to an inbox elsewhere, and has no config and no database here. */
  readonly isClient?: boolean
  readonly run: (given: Given) => Promise<number>
}

type Options = Readonly<Record<string, Option>>

const SERVER: Options = {
  config: {
    type: 'string',
    takes: 'FILE',
    says: 'the config (default: jobmill-uploads.yaml of this folder, where there is one)',
  },
  db: {
    type: 'string',
    takes: 'URL',
    says: 'the database: uploads.db, postgres://… (default: DATABASE_URL, else uploads.db)',
  },
}

const CLIENT: Options = {
  url: {
    type: 'string',
    takes: 'URL',
    says: 'where the inbox is: https://inbox.example (default: UPLOADS_URL)',
  },
  mailbox: { type: 'string', takes: 'ID', says: 'which mailbox (default: UPLOADS_MAILBOX)' },
  'token-file': {
    type: 'string',
    takes: 'FILE',
    says: 'a file with a token of the mailbox, read anew for every request (default: UPLOADS_TOKEN_FILE)',
  },
}

const ALL: Options = {
  json: { type: 'boolean', says: 'JSON instead of text' },
  help: { type: 'boolean', short: 'h', says: 'this text' },
}

/** What a command has beside its own. */
export function commonOptions({ isClient = false }: Command): Options {
  return { ...(isClient ? CLIENT : SERVER), ...ALL }
}
