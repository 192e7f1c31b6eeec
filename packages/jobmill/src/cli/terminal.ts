/** What a command needs of the outside: lines to write, and whether somebody looks at them. */
import { createInterface } from 'node:readline'
import { styleText } from 'node:util'
import { oneLine, plain } from './plain.ts'

export type Style = Parameters<typeof styleText>[0]

export interface Terminal {
  out(line: string): void
  err(line: string): void
  /** Replaces the last line of this kind; only where somebody looks. An empty one takes it away. */
  status(line: string): void
  /** Colours only on a terminal, and not when NO_COLOR is set. */
  readonly paint: (style: Style, text: string) => string
  /** Somebody looks, and can answer. */
  readonly isInteractive: boolean
  /** The line that somebody types, empty when they would rather not. Only where somebody can answer. */
  ask(question: string): Promise<string>
}

/** What `paint` writes around a text: bold, dim, inverse, the colors, and their ends. */
// oxlint-disable-next-line no-control-regex -- the escape character is what begins a style
const STYLES = /(\u001B\[(?:[127]|2[27]|3\d|9[0-7])m)/

/**
 * The last line of defense: nothing reaches a terminal but text, line feeds, tabs, and on standard output the styles that we paint with.
 * JSON stays JSON: what is escaped only occurs inside its strings.
 */
export function printable(line: string, hasStyles: boolean): string {
  if (!hasStyles) return plain(line)
  return line
    .split(STYLES)
    .map((part, at) => (at % 2 === 1 ? part : plain(part)))
    .join('')
}

function paint(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout })
}

/** For programs that only write lines. */
export const standardLines: Pick<Terminal, 'out' | 'err'> = {
  out: (line) => void process.stdout.write(`${printable(line, paint('bold', 'x') !== 'x')}\n`),
  err: (line) => void process.stderr.write(`${printable(line, false)}\n`),
}

export const terminal: Terminal = {
  ...standardLines,
  status(line) {
    // Back to the first column, and whatever stood there goes.
    if (process.stderr.isTTY) process.stderr.write(`\r\u001B[2K${oneLine(line)}`)
  },
  paint,
  isInteractive: process.stdin.isTTY && process.stdout.isTTY,
  ask: (question) =>
    new Promise((resolve) => {
      const asking = createInterface({ input: process.stdin, output: process.stderr })
      asking.question(printable(question, false), (answer) => {
        resolve(answer.trim())
        asking.close()
      })
      // Ctrl-C and Ctrl-D.
      asking.on('close', () => resolve(''))
    }),
}
