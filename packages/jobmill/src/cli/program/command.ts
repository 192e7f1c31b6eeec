/** Defines a command: its name, arguments, options and implementation. The help is generated from it. */
import type { Terminal } from '../output/terminal.ts'

export interface Option {
  /** Placeholder of the value, in capitals: `NAME`. An option without it is a flag. */
  readonly takes?: string
  readonly says: string
  readonly multiple?: boolean
  /** One-letter alias, used with a single dash. */
  readonly short?: string
}

/** The name, arguments and options of a command, in any program. Parsing and help need nothing else. */
export interface Shape {
  /** `jobs list` */
  readonly words: string
  /** The positional arguments that follow the name: `KIND [JSON]`. */
  readonly takes?: string
  /** The minimum and maximum number of positional arguments. */
  readonly arguments?: readonly [number, number]
  readonly says: string
  readonly options?: Readonly<Record<string, Option>>
  /** Maps the field paths of library errors to options, for error messages: `job.delay` is `--delay`. */
  readonly fields?: Readonly<Record<string, string>>
  readonly examples?: readonly string[]
}

/** What the parser and the help need to know about a program. */
export interface ProgramInfo<C extends Shape> {
  /** The name of the executable. */
  readonly name: string
  readonly version: string
  /** The first lines of the help. */
  readonly introduction: string
  /** What else may be unreachable (exit code 4), in addition to the database. */
  readonly reaches?: string
  /** The meaning of exit code 3, when it differs from that of `jobmill`. */
  readonly refused?: string
  readonly commands: readonly C[]
  /** Options that a command accepts in addition to its own. */
  readonly common: (command: C) => Readonly<Record<string, Option>>
}

export interface Command extends Shape {
  readonly examples: readonly string[]
  readonly run: (parsed: ParsedArguments, terminal: Terminal) => Promise<number>
}

/** The arguments of a command that takes one name. */
export const ONE_NAME = { takes: 'NAME', arguments: [1, 1] } as const

/** The parsed arguments and options of a command. */
export interface ParsedArguments {
  readonly words: readonly string[]
  /** The last value of the option, or undefined when it was not passed. */
  readonly text: (option: string) => string | undefined
  /** Every value of an option that was passed repeatedly. */
  readonly texts: (option: string) => readonly string[]
  readonly has: (option: string) => boolean
}

/** Where a program writes its output and its errors. */
export type Lines = Pick<Terminal, 'out' | 'err'>

/** Exit codes, for scripts. */
export const EXIT = {
  done: 0,
  /** The command ran and failed. */
  failed: 1,
  /** The command line is invalid. Nothing was changed. */
  usage: 2,
  /** The target does not exist, its state or schema does not allow the change, or the user declined it. */
  refused: 3,
  /** The database cannot be reached or used, or refused the connection. */
  unavailable: 4,
} as const

/** Options that every command accepts. */
export const COMMON: Readonly<Record<string, Option>> = {
  config: {
    takes: 'FILE',
    says: 'config file (default: jobmill.config.ts, .mts, .js or .mjs in this directory)',
  },
  db: {
    takes: 'URL',
    says: 'database to use instead of the one in the config: sqlite:jobs.db, postgres://…',
  },
  json: { says: 'print JSON instead of text' },
  help: { short: 'h', says: 'show this help' },
}
