// Starts a real PostgreSQL server for tests: own data folder, a free port on 127.0.0.1, no password. Tests
// can restart or kill it, and it stops when the process that started it ends.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../free-port.ts'
import { guard } from '../programs/guardian.ts'
import { postgresPrograms, type Binaries } from './postgres-binaries.ts'
import { serverFolder, unprivileged } from './unprivileged.ts'

export interface PostgresServer {
  readonly url: string
  readonly port: number
  /** The path of its Unix socket, which costs both sides half as much as TCP. */
  readonly socket: string
  /** The path of the log file. */
  readonly log: string
  /** The data folder. */
  readonly data: string
  readonly isRunning: () => boolean
  /** Shuts down and removes the data. Safe to call twice. */
  stop(): Promise<void>
  /** Starts again on the same port with the same data: after a fast shutdown, or after `kill()`. */
  restart(): Promise<void>
  /** Shuts down and leaves it down. */
  shutDown(): Promise<void>
  /** Crashes the server by killing all its processes, and leaves it down. */
  kill(): Promise<void>
}

// Without fsync, commits are fast. They survive a crash of the server, but not of the machine, which no test
// causes.
const defaults: Record<string, string> = {
  fsync: 'off',
  max_connections: '300',
  listen_addresses: '127.0.0.1',
}

const startTimeoutMs = 30_000

export async function startPostgres(options: {
  binaries: Binaries
  settings?: Record<string, string>
  /** The parent of the server's folder. Default: the temporary folder of the system. */
  under?: string
  /** The data of a stopped server: this one starts with a copy of it and follows the server at `follows`. */
  copy?: { data: string; follows: string }
}): Promise<PostgresServer> {
  const folder = serverFolder(`postgres-${options.binaries}`, options.under)
  const data = join(folder, 'data')
  const pidFile = join(data, 'postmaster.pid')
  const log = join(folder, 'server.log')
  const guardian = guard(folder, pidFile)
  let server: ChildProcess | undefined
  let port = 0

  async function launch(): Promise<void> {
    const settings = { ...defaults, unix_socket_directories: folder, port: String(port), ...options.settings }
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    server = start(join(programs, 'postgres'), ['-D', data, ...args], folder, log)
    const deadline = performance.now() + startTimeoutMs
    // The server writes its progress into its pid file, which pg_ctl reads too.
    while (!isReady(pidFile, server.pid)) {
      if (hasExited(server)) throw new Error(`PostgreSQL did not start:\n${tail(log)}`)
      if (performance.now() > deadline) throw new Error(`PostgreSQL was not ready in time:\n${tail(log)}`)
      await sleep(5)
    }
  }

  async function shutDown(): Promise<void> {
    if (server === undefined || hasExited(server)) return
    const exited = once(server, 'exit')
    // SIGINT is PostgreSQL's fast shutdown: it ends the sessions and writes the data out.
    server.kill('SIGINT')
    await exited
  }

  let programs: string
  try {
    programs = postgresPrograms(options.binaries, folder)
    if (options.copy === undefined) await createData(options.binaries, programs, data, folder, log)
    else copyData(options.copy, data)
    for (let attempt = 1; ; attempt++) {
      port = await freePort()
      try {
        await launch()
        break
      } catch (error) {
        // Another process has taken the port first.
        if (attempt === 5 || !String(error).includes('Address already in use')) throw error
      }
    }
  } catch (error) {
    await guardian.release()
    throw error
  }

  return {
    port,
    socket: join(folder, `.s.PGSQL.${port}`),
    log,
    data,
    isRunning: () => server !== undefined && !hasExited(server),
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async stop() {
      await shutDown()
      await guardian.release()
    },
    shutDown,
    async restart() {
      await shutDown()
      await launch()
    },
    async kill() {
      if (server?.pid === undefined || hasExited(server)) return
      const exited = once(server, 'exit')
      // Stop it first, so that it cannot start another process while we list them.
      server.kill('SIGSTOP')
      const children = childrenOf(server.pid)
      server.kill('SIGKILL')
      for (const pid of children) killIfThere(pid)
      await exited
      // A new server refuses to start while a process of the old one is attached to its memory.
      while (children.some(isAlive)) await sleep(5)
    },
  }
}

function start(program: string, args: string[], cwd: string, log: string): ChildProcess {
  // A file instead of a pipe: a full pipe that a busy test does not read would block the server.
  const output = openSync(log, 'a')
  const child = spawn(program, args, { ...unprivileged, cwd, stdio: ['ignore', output, output] })
  closeSync(output)
  // Without a listener, a program that cannot be started would crash the whole test run.
  child.on('error', () => {})
  return child
}

/** Where the data of new servers is kept, by version and user: a copy takes a tenth of the time of initdb. */
const cache = fileURLToPath(new URL('../../../node_modules/.cache/postgres', import.meta.url))
const INITDB = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']

async function createData(
  binaries: Binaries,
  programs: string,
  data: string,
  folder: string,
  log: string,
): Promise<void> {
  const version = execFileSync(join(programs, 'postgres'), ['--version'], { ...unprivileged, cwd: folder })
  const key = createHash('sha256')
    .update([version, process.getuid?.(), ...INITDB].join(' '))
    .digest('hex')
  const kept = join(cache, `${binaries}-${key.slice(0, 16)}`)
  if (existsSync(kept)) return void execFileSync('cp', ['-a', kept, data])
  const child = start(join(programs, 'initdb'), ['-D', data, ...INITDB], folder, log)
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`initdb failed:\n${tail(log)}`)
  keep(data, kept)
}

/** Another process may do the same at the same time: the first one wins. */
function keep(data: string, kept: string): void {
  mkdirSync(cache, { recursive: true })
  const unfinished = mkdtempSync(join(cache, 'unfinished-'))
  try {
    execFileSync('cp', ['-a', data, join(unfinished, 'data')])
    renameSync(join(unfinished, 'data'), kept)
  } catch (error) {
    if (!existsSync(kept)) throw error
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
}

function copyData({ data, follows }: { data: string; follows: string }, to: string): void {
  // Keeps owner and permissions, without which the server does not start.
  execFileSync('cp', ['-a', data, to])
  writeFileSync(join(to, 'standby.signal'), '')
  appendFileSync(join(to, 'postgresql.auto.conf'), `primary_conninfo = '${follows}'\n`)
}

function isReady(pidFile: string, pid: number | undefined): boolean {
  if (!existsSync(pidFile)) return false
  const lines = readFileSync(pidFile, 'utf8').split('\n')
  return lines[0] === String(pid) && (lines[7]?.trim() === 'ready' || lines[7]?.trim() === 'standby')
}

function hasExited(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null
}

function tail(log: string): string {
  return existsSync(log) ? readFileSync(log, 'utf8').slice(-2000) : '(no output)'
}

function childrenOf(pid: number): number[] {
  const list = `/proc/${pid}/task/${pid}/children`
  return existsSync(list) ? readFileSync(list, 'utf8').trim().split(/\s+/).filter(Boolean).map(Number) : []
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process is already gone.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // A zombie process still answers, but holds nothing.
  const status = `/proc/${pid}/stat`
  return !existsSync(status) || !/\) Z /.test(readFileSync(status, 'utf8'))
}
