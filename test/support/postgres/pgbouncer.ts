// Starts PgBouncer in transaction mode in front of a PostgreSQL server. Returns null when Debian's package is
// not installed; the caller should then report a skipped test.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, isListening } from '../free-port.ts'
import { guard } from '../programs/guardian.ts'
import { serverFolder, unprivileged } from './unprivileged.ts'

const program = '/usr/sbin/pgbouncer'
const startTimeoutMs = 10_000

export interface Pgbouncer {
  readonly url: string
  readonly port: number
  stop(): Promise<void>
}

/** `settings` are added to the `[pgbouncer]` section and override the ones here. */
export async function startPgbouncer(options: {
  url: string
  settings?: Record<string, string>
}): Promise<Pgbouncer | null> {
  if (!existsSync(program)) return null
  const target = new URL(options.url)
  const user = decodeURIComponent(target.username) || 'postgres'
  const folder = serverFolder('pgbouncer')
  const port = await freePort()
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    pool_mode: 'transaction',
    max_client_conn: '500',
    default_pool_size: '20',
    auth_type: 'trust',
    auth_file: join(folder, 'users.txt'),
    logfile: join(folder, 'server.log'),
    pidfile: join(folder, 'server.pid'),
    ...options.settings,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  const database = `* = host=${target.hostname} port=${target.port || '5432'}`
  const config = join(folder, 'server.ini')
  writeFileSync(config, ['[databases]', database, '[pgbouncer]', ...lines, ''].join('\n'))
  writeFileSync(settings.auth_file, `${quoted(user)} ${quoted(decodeURIComponent(target.password))}\n`)

  const guardian = guard(folder, settings.pidfile)
  const child = spawn(program, ['-q', config], { ...unprivileged, cwd: folder, stdio: 'ignore' })
  child.on('error', () => {})
  const deadline = performance.now() + startTimeoutMs
  while (!(await isListening(port))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      const log = existsSync(settings.logfile) ? readFileSync(settings.logfile, 'utf8') : '(no output)'
      await guardian.release()
      throw new Error(`PgBouncer did not start:\n${log.slice(-2000)}`)
    }
    await sleep(10)
  }

  const url = new URL(options.url)
  url.host = `127.0.0.1:${port}`
  return {
    port,
    url: url.href,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit')
        // SIGTERM closes at once; SIGINT would wait for the sessions to end.
        child.kill('SIGTERM')
        await exited
      }
      await guardian.release()
    },
  }
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}
