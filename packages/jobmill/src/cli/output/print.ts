/** Prints what a command found out or changed: as JSON with `--json`, else as lines of text. */
import { EXIT, type ParsedArguments } from '../program/command.ts'
import type { Terminal } from './terminal.ts'

export interface Answer {
  readonly json: unknown
  readonly text: string | readonly string[]
  /** The exit code (default 0). */
  readonly code?: number
}

export function print(parsed: ParsedArguments, terminal: Terminal, { json, text, code }: Answer): number {
  for (const line of parsed.has('json') ? [JSON.stringify(json)] : [text].flat()) terminal.out(line)
  return code ?? EXIT.done
}
