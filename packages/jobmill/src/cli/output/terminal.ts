/** The terminal as commands see it: output lines, styles, and prompts. */
import { createInterface } from 'node:readline'
import { styleText } from 'node:util'
import { writeOutput } from '../../platform/write-output.ts'
import { safeLine, safeText } from '../../job/text/safe-text.ts'

export type Style = Parameters<typeof styleText>[0]

export interface Terminal {
  out(line: string): void
  err(line: string): void
  /** Replaces the status line. Does nothing without a terminal; an empty string removes the line. */
  status(line: string): void
  /** Applies a style only on a terminal, and not when NO_COLOR is set. */
  readonly paint: (style: Style, text: string) => string
  /** True when a person can read the output and answer prompts. */
  readonly isInteractive: boolean
  /**
   * Resolves with the typed line, or an empty string when the prompt was aborted. Only for interactive
   * terminals.
   */
  ask(question: string): Promise<string>
}

/** The escape sequences that `paint` writes: bold, dim, inverse, colors, and their resets. */
// oxlint-disable-next-line no-control-regex -- styles start with the escape character
const STYLES = /(\u001B\[(?:[127]|2[27]|3\d|9[0-7])m)/

/**
 * The last line of defense against escape sequences: only text, line feeds, tabs and our own styles reach a
 * terminal. JSON stays valid, because escaped characters only occur inside its strings.
 */
export function printable(line: string, hasStyles: boolean): string {
  if (!hasStyles) return safeText(line)
  return line
    .split(STYLES)
    .map((part, at) => (at % 2 === 1 ? part : safeText(part)))
    .join('')
}

function paint(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout })
}

/** The part of a terminal for programs that only write lines. */
export const standardLines: Pick<Terminal, 'out' | 'err'> = {
  out: (line) => writeOutput(process.stdout, `${printable(line, paint('bold', 'x') !== 'x')}\n`),
  err: (line) => writeOutput(process.stderr, `${printable(line, false)}\n`),
}

export const terminal: Terminal = {
  ...standardLines,
  status(line) {
    // Returns to the first column and clears the line.
    if (process.stderr.isTTY) writeOutput(process.stderr, `\r\u001B[2K${safeLine(line)}`)
  },
  paint,
  isInteractive: process.stdin.isTTY && process.stdout.isTTY,
  ask: (question) =>
    new Promise((resolve) => {
      const prompt = createInterface({ input: process.stdin, output: process.stderr })
      prompt.question(printable(question, false), (answer) => {
        resolve(answer.trim())
        prompt.close()
      })
      // Ctrl+C and Ctrl+D.
      prompt.on('close', () => resolve(''))
    }),
}
