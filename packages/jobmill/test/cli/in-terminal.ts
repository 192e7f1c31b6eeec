/**
 * Runs the command line in a real pseudo-terminal, with `script` of util-linux: what is shown on it, and key
 * presses.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { source } from './run.ts'
import { tinyTerminal } from './tiny-terminal.ts'

/** Requires the `script` of util-linux; others take different options. */
export const hasScript = spawnSync('script', ['--version']).stdout?.toString().includes('util-linux') ?? false

if (!hasScript)
  console.warn('\n*** script of util-linux is not installed: the tests in a terminal are SKIPPED ***\n')

const COLUMNS = 80
const ROWS = 24

export interface InTerminal {
  /** The visible rows. */
  readonly rows: () => string[]
  /** Waits until the text is visible. */
  readonly shows: (pattern: RegExp) => Promise<void>
  readonly press: (keys: string) => void
  readonly resize: (columns: number, rows: number) => void
  /** Sends a signal to the process in the terminal. */
  readonly kill: (signal: NodeJS.Signals) => void
  /** Waits for the end of the process: the final state of the terminal. */
  readonly left: () => Promise<{
    code: number
    second: boolean
    cursor: boolean
    wraps: boolean
    isRaw: boolean
  }>
  readonly overrun: () => number
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

export async function inTerminal(folder: string, args: readonly string[]): Promise<InTerminal> {
  const program = [process.execPath, source('cli/main.ts'), ...args].map(quoted).join(' ')
  // Set the size, print the pid, run the command, and finally print the state of the terminal.
  const inside = `stty cols ${COLUMNS} rows ${ROWS}; sh -c 'echo at $$ $(tty); exec "$@"' - ${program}; echo "left $?" $(stty -a)`
  const child = spawn('script', ['-qfec', inside, '/dev/null'], {
    cwd: folder,
    env: { ...process.env, TERM: 'xterm-256color', TZ: 'UTC', SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const screen = tinyTerminal(COLUMNS, ROWS)
  let all = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    all += text
    screen.feed(text)
  })
  const ended = once(child, 'close')
  async function until(isSo: () => boolean, what: string): Promise<void> {
    while (!isSo()) {
      const next = await Promise.race([once(child.stdout, 'data'), ended.then(() => null)])
      if (next === null && !isSo())
        throw new Error(
          `it ended without ${what}:\n${screen.rows().join('\n')}\n${JSON.stringify(all.slice(-2_000))}`,
        )
    }
  }
  await until(() => /at \d+ \S+\r\n/.test(all), 'its place')
  const [, pid = '', place = ''] = /at (\d+) (\S+)\r\n/.exec(all) ?? []
  return {
    rows: screen.rows,
    shows: (pattern) => until(() => pattern.test(screen.rows().join('\n')), String(pattern)),
    press: (keys) => void child.stdin.write(keys),
    resize(columns, rows) {
      screen.resize(columns, rows)
      execFileSync('stty', ['-F', place, 'cols', String(columns), 'rows', String(rows)])
    },
    kill: (signal) => void process.kill(Number(pid), signal),
    async left() {
      await until(() => /left \d+ .*echok/s.test(all), 'its end')
      const [, code = ''] = /left (\d+)/.exec(all) ?? []
      const isRaw = /-icanon|-echo\b/.test(all.slice(all.lastIndexOf('left ')))
      return { code: Number(code), ...screen.modes, isRaw }
    },
    overrun: screen.overrun,
  }
}
