/**
 * Runs the command line for tests. A command that needs a config or standard input runs as a child process;
 * others run in this process, because starting one takes longer than the command.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { inject, onTestFinished } from 'vitest'
import type { Terminal } from '../../src/cli/output/terminal.ts'
import { exitCodeOf } from '../../src/cli/program/exit-code.ts'
import { ours } from '../../src/cli/commands.ts'
import { safeLines } from '../../src/job/text/safe-text.ts'
import { obeyProgram } from '../../src/cli/program/program.ts'
import { freshFile } from '../../../../test/support/databases.ts'
import { recycledSchema } from '../../../../test/support/postgres/recycled-schemas.ts'
import { bundled } from '../../../../test/support/programs/programs.ts'
import { type AnyJob, jobmill, type Mill, type MillOptions, type FullStore } from '../../src/index.ts'
import { postgres } from '../../src/postgres.ts'
import { sqlite } from '../../src/sqlite.ts'
import { openConnection } from '../../src/store-sqlite/connection/connection.ts'
import { migrate } from '../../src/store-sqlite/schema/migrate.ts'

export const source = (file: string): string => bundled(path.join(import.meta.dirname, '../../src', file))

/** Writes a config with these lines, which may use `store` and `defineJob`. */
function writeConfig(folder: string, store: string, lines: string): void {
  // Import only what the config needs: the start of many processes adds up.
  const imports = [
    ...(lines.includes('defineJob') ? [`import { defineJob } from '${source('index.ts')}'`] : []),
    store.startsWith('sqlite')
      ? `import { sqlite } from '${source('sqlite.ts')}'`
      : `import { postgres } from '${source('postgres.ts')}'`,
  ]
  // Removing types from a new file takes a process 70 ms, so only the tests of TypeScript use it.
  writeFileSync(
    path.join(folder, 'jobmill.config.mjs'),
    [...imports, `const store = ${store}`, lines, ''].join('\n'),
  )
}

/** A file with empty tables, because most commands create none. */
export function migratedFile(): string {
  const file = freshFile()
  const handle = openConnection(file, 'relaxed')
  migrate(handle, 0)
  handle.close()
  return file
}

/** A directory with a config of these lines, and the file of its store. */
export function config(lines: string): { folder: string; file: string } {
  const file = migratedFile()
  const folder = path.dirname(file)
  writeConfig(folder, `sqlite(${JSON.stringify(file)})`, lines)
  return { folder, file }
}

/**
 * Runs a command in this process on a SQLite file. `answer` replies to a prompt; undefined means no terminal.
 */
export function call(file: string, args: readonly string[], answer?: boolean): Promise<Ran> {
  return callOn(`sqlite:${file}`, args, answer)
}

async function callOn(address: string, args: readonly string[], answer?: boolean): Promise<Ran> {
  const output = { out: '', err: '' }
  const terminal: Terminal = {
    out: (line) => void (output.out += `${line}\n`),
    err: (line) => void (output.err += `${line}\n`),
    status() {},
    paint: (_, text) => text,
    isInteractive: answer !== undefined,
    async ask(question) {
      output.out += question
      return answer === true ? 'y' : ''
    },
  }
  try {
    const code = await obeyProgram(ours(terminal), [...args, '--db', address], terminal)
    return { code, ...output }
  } catch (error) {
    const { message } = error as Error
    return {
      code: exitCodeOf(error),
      out: output.out,
      err: `${output.err}${safeLines(`error   ${message}`)}\n`,
    }
  }
}

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** A database with a config that uses it. */
export interface Place {
  /** Runs a command to its end. */
  readonly run: (args: readonly string[], input?: string) => Promise<Ran>
  /** Always runs in a child process. */
  readonly runAlone: (args: readonly string[]) => Promise<Ran>
  /** Runs with --json, requires success, and returns the document. */
  readonly json: <T>(args: readonly string[], input?: string) => Promise<T>
  /** A mill on the same database, stopped with the test. */
  readonly mill: (
    jobs?: readonly AnyJob[],
    schedules?: MillOptions['schedules'],
    more?: Pick<MillOptions, 'instance'>,
  ) => Mill
}

/** With an `address`, commands that need no config or standard input run in this process. */
function place(folder: string, store: () => FullStore, address?: string): Place {
  const runHere: Place['run'] = (args, input) =>
    address === undefined || input !== undefined ? ran(folder, args, input) : callOn(address, args)
  return {
    run: runHere,
    runAlone: (args) => ran(folder, args),
    async json<T>(args: readonly string[], input?: string) {
      const { code, out, err } = await runHere([...args, '--json'], input)
      if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${err}`)
      return JSON.parse(out) as T
    },
    mill(jobs = [], schedules = [], more = {}) {
      const mill = jobmill({ store: store(), jobs, schedules, log: 'silent', ...more })
      onTestFinished(async () => void (await mill.stop({ grace: 0 })))
      return mill
    },
  }
}

const OPTIONS = 'export default { store }'

export const places = [
  {
    name: 'sqlite',
    create: (lines: string = OPTIONS): Place => {
      const { folder, file } = config(lines)
      return place(folder, () => sqlite(file), lines === OPTIONS ? `sqlite:${file}` : undefined)
    },
  },
  {
    name: 'postgres',
    create: (lines: string = OPTIONS): Place => {
      const url = inject('keptPostgresUrl')
      const schema = recycledSchema(url, 'cli')
      const folder = path.dirname(freshFile())
      writeConfig(folder, `postgres(${JSON.stringify(url)}, ${JSON.stringify({ schema })})`, lines)
      const address = `${url}?schema=${schema}`
      return place(folder, () => postgres(url, { schema }), lines === OPTIONS ? address : undefined)
    },
  },
] as const

/** A SQLite file without a config, and a mill on it. */
export function file(jobs: readonly AnyJob[] = []): { readonly path: string; readonly mill: Mill } {
  const at = migratedFile()
  return { path: at, mill: place(path.dirname(at), () => sqlite(at)).mill(jobs) }
}

/** Runs a command to its end in a directory. */
export const runIn = (folder: string, args: readonly string[]): Promise<Ran> => ran(folder, args)

async function ran(folder: string, args: readonly string[], input?: string): Promise<Ran> {
  const { child, ended, output } = run(folder, args)
  child.stdin.end(input)
  const code = await ended
  return { code, ...output }
}

/** Its standard input stays open until a test ends it. */
export function run(folder: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return started(folder, process.execPath, [source('cli/main.ts'), ...args], env)
}

/** Runs on a terminal, which `script` of util-linux provides. */
export function runOnTerminal(folder: string, args: readonly string[]) {
  const line = [process.execPath, source('cli/main.ts'), ...args].map((word) => `'${word}'`).join(' ')
  // Force colors: the environment may disable them, and Node disables them where `CI` is set.
  const decided = {
    NO_COLOR: undefined,
    FORCE_COLOR: undefined,
    NODE_DISABLE_COLORS: undefined,
    CI: undefined,
  }
  const env = { ...decided, TERM: 'xterm' }
  return started(folder, 'script', ['--quiet', '--return', '--command', line, '/dev/null'], env)
}

function started(folder: string, program: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, TZ: 'UTC', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  // The process may end before it has read everything.
  child.stdin.on('error', () => {})
  const output = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (data: string) => (output.out += data))
  child.stderr.setEncoding('utf8').on('data', (data: string) => (output.err += data))
  const ended = once(child, 'close').then(([code]) => code as number)
  const untilOutput = async (text: string): Promise<void> => {
    while (!output.out.includes(text) && !output.err.includes(text))
      await Promise.race([
        once(child.stdout, 'data'),
        once(child.stderr, 'data'),
        ended.then(() => Promise.reject(new Error(`it ended without "${text}": ${output.out}${output.err}`))),
      ])
  }
  return { child, output, ended, says: untilOutput }
}
