/** What a command is: words to call it by, what it takes, and what it does. The help is written from this. */
import type { Terminal } from './terminal.ts'

export interface Option {
  readonly type: 'string' | 'boolean'
  /** What it takes, in capitals: `NAME`. Left out for a switch. */
  readonly takes?: string
  readonly says: string
  readonly multiple?: boolean
  /** One letter for it, behind one dash. */
  readonly short?: string
}

/** What it is called and what it takes, of whatever program: enough to read what was typed, and to help. */
export interface Shape {
  /** `jobs list` */
  readonly words: string
  /** What stands behind them: `KIND [JSON]`. */
  readonly takes?: string
  /** How many words that may be, at least and at most. */
  readonly arguments?: readonly [number, number]
  readonly says: string
  readonly options?: Readonly<Record<string, Option>>
  /** What the library calls by a path, and what it is here: `job.delay` is `--delay`. For what it says when it refuses something. */
  readonly fields?: Readonly<Record<string, string>>
  readonly examples?: readonly string[]
}

export interface Command extends Shape {
  readonly examples: readonly string[]
  readonly run: (given: Given, terminal: Terminal) => Promise<number>
}

/** What somebody typed behind the words of a command. */
export interface Given {
  readonly words: readonly string[]
  /** Undefined when it was not given. */
  readonly text: (option: string) => string | undefined
  /** Every time that it was given. */
  readonly texts: (option: string) => readonly string[]
  readonly has: (option: string) => boolean
}

/** Where a program says something: what was asked for, and what is wrong. */
export type Lines = Pick<Terminal, 'out' | 'err'>

/** For scripts. */
export const EXIT = {
  done: 0,
  /** It was tried, and did not work. */
  failed: 1,
  /** It was called wrongly, or something that was given cannot be used. Nothing was done. */
  usage: 2,
  /** What was asked for is not there, or its state does not allow it. */
  refused: 3,
  /** The database cannot be reached, or refuses us. */
  unavailable: 4,
} as const

/** Every command has these. */
export const COMMON: Readonly<Record<string, Option>> = {
  config: {
    type: 'string',
    takes: 'FILE',
    says: 'the config (default: jobmill.config.ts, .mts, .js or .mjs of this folder)',
  },
  db: {
    type: 'string',
    takes: 'URL',
    says: 'the database instead of the one of the config: sqlite:jobs.db, postgres://…',
  },
  json: { type: 'boolean', says: 'JSON instead of text' },
  help: { type: 'boolean', short: 'h', says: 'this text' },
}
