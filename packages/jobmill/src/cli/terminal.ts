/** What a command needs of the outside: lines to write, and whether somebody looks at them. */
import { createInterface } from 'node:readline'
import { styleText } from 'node:util'

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

/** For programs that only write lines. */
export const standardLines: Pick<Terminal, 'out' | 'err'> = {
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),
}

export const terminal: Terminal = {
  ...standardLines,
  status(line) {
    // Back to the first column, and whatever stood there goes.
    if (process.stderr.isTTY) process.stderr.write(`\r\u001B[2K${line}`)
  },
  paint: (style, text) => styleText(style, text, { stream: process.stdout }),
  isInteractive: process.stdin.isTTY && process.stdout.isTTY,
  ask: (question) =>
    new Promise((resolve) => {
      const asking = createInterface({ input: process.stdin, output: process.stderr })
      asking.question(question, (answer) => {
        resolve(answer.trim())
        asking.close()
      })
      // Ctrl-C and Ctrl-D.
      asking.on('close', () => resolve(''))
    }),
}
