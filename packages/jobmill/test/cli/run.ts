/**
 * The command line: what it prints, how it ends, and the database that it works on. With a config of its own, or with something to read, it is a child process;
 * a command on a database alone runs in this process, since to start one takes longer than the command.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { inject, onTestFinished } from 'vitest'
import type { Terminal } from '../../src/cli/terminal.ts'
import { exitCodeOf } from '../../src/cli/exit-code.ts'
import { ours } from '../../src/cli/ours.ts'
import { indentedLines } from '../../src/cli/plain.ts'
import { obeyProgram } from '../../src/cli/program.ts'
import { freshFile } from '../../../../test/support/databases.ts'
import { recycledSchema } from '../../../../test/support/recycled-schemas.ts'
import { bundled } from '../../../../test/support/programs.ts'
import { type AnyJob, jobmill, type Mill, type MillOptions, type Store } from '../../src/index.ts'
import { postgres } from '../../src/postgres.ts'
import { sqlite } from '../../src/sqlite.ts'
import { openConnection } from '../../src/store-sqlite/connection.ts'
import { migrate } from '../../src/store-sqlite/migrate.ts'

export const source = (file: string): string => bundled(path.join(import.meta.dirname, '../../src', file))

/** A config of these lines, which may say `store` and `defineJob`. */
function writeConfig(folder: string, store: string, lines: string): void {
  // Only what it needs: a process for each command adds up.
  const imports = [
    ...(lines.includes('defineJob') ? [`import { defineJob } from '${source('index.ts')}'`] : []),
    store.startsWith('sqlite')
      ? `import { sqlite } from '${source('sqlite.ts')}'`
      : `import { postgres } from '${source('postgres.ts')}'`,
  ]
  writeFileSync(
    path.join(folder, 'jobmill.config.ts'),
    [...imports, `const store = ${store}`, lines, ''].join('\n'),
  )
}

/** With our tables and nothing in them: most commands make none. */
export function migratedFile(): string {
  const file = freshFile()
  const handle = openConnection(file, 'relaxed')
  migrate(handle, 0)
  handle.close()
  return file
}

/** A folder with a config of these lines, and the file of its store. */
export function config(lines: string): { folder: string; file: string } {
  const file = migratedFile()
  const folder = path.dirname(file)
  writeConfig(folder, `sqlite(${JSON.stringify(file)})`, lines)
  return { folder, file }
}

/** A command in this process, on a SQLite file. `answer` is what somebody says who is asked; undefined when nobody can be. */
export function call(file: string, args: readonly string[], answer?: boolean): Promise<Ran> {
  return callOn(`sqlite:${file}`, args, answer)
}

async function callOn(address: string, args: readonly string[], answer?: boolean): Promise<Ran> {
  const said = { out: '', err: '' }
  const terminal: Terminal = {
    out: (line) => void (said.out += `${line}\n`),
    err: (line) => void (said.err += `${line}\n`),
    status() {},
    paint: (_, text) => text,
    isInteractive: answer !== undefined,
    async ask(question) {
      said.out += question
      return answer === true ? 'y' : ''
    },
  }
  try {
    const code = await obeyProgram(ours(terminal), [...args, '--db', address], terminal)
    return { code, ...said }
  } catch (error) {
    const { message } = error as Error
    return {
      code: exitCodeOf(error),
      out: said.out,
      err: `${said.err}${indentedLines(`error   ${message}`)}\n`,
    }
  }
}

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** A database with a config that names it. */
export interface Place {
  /** Runs a command to its end. */
  readonly run: (args: readonly string[], input?: string) => Promise<Ran>
  /** In a process of its own, whatever it is. */
  readonly runAlone: (args: readonly string[]) => Promise<Ran>
  /** The same with --json, which has to succeed: the document. */
  readonly json: <T>(args: readonly string[], input?: string) => Promise<T>
  /** A mill of the test on the same database; stopped with the test. */
  readonly mill: (jobs?: readonly AnyJob[], schedules?: MillOptions['schedules']) => Mill
}

/** With an `address`, what is not read from a config or from standard input runs in this process. */
function place(folder: string, store: () => Store, address?: string): Place {
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
    mill(jobs = [], schedules = []) {
      const mill = jobmill({ store: store(), jobs, schedules, log: 'silent' })
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

/** A SQLite file without a config, and a mill of the test on it. */
export function file(jobs: readonly AnyJob[] = []): { readonly path: string; readonly mill: Mill } {
  const at = migratedFile()
  return { path: at, mill: place(path.dirname(at), () => sqlite(at)).mill(jobs) }
}

/** Runs a command to its end in a folder. */
export const runIn = (folder: string, args: readonly string[]): Promise<Ran> => ran(folder, args)

async function ran(folder: string, args: readonly string[], input?: string): Promise<Ran> {
  const { child, ended, said } = run(folder, args)
  child.stdin.end(input)
  const code = await ended
  return { code, ...said }
}

/** Nothing comes from its standard input until a test ends it. */
export function run(folder: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return started(folder, process.execPath, [source('cli/main.ts'), ...args], env)
}

/** The same on a terminal, which util-linux's `script` makes. */
export function runOnTerminal(folder: string, args: readonly string[]) {
  const line = [process.execPath, source('cli/main.ts'), ...args].map((word) => `'${word}'`).join(' ')
  // Whoever runs the tests may want no colours, and Node paints none where `CI` is set; what is looked at here wants some.
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
  // It may end before it has read everything.
  child.stdin.on('error', () => {})
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (data: string) => (said.out += data))
  child.stderr.setEncoding('utf8').on('data', (data: string) => (said.err += data))
  const ended = once(child, 'close').then(([code]) => code as number)
  const says = async (text: string): Promise<void> => {
    while (!said.out.includes(text) && !said.err.includes(text))
      await Promise.race([
        once(child.stdout, 'data'),
        once(child.stderr, 'data'),
        ended.then(() => Promise.reject(new Error(`it ended without "${text}": ${said.out}${said.err}`))),
      ])
  }
  return { child, said, ended, says }
}
