// The Redis server that all cells share, from the system's package: append-only file, synced every second.
// Its queues recommend this setting; a power cut can lose the jobs acknowledged in the last second.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, isListening } from '../../test/support/free-port.ts'
import { guard } from '../../test/support/programs/guardian.ts'
import { serverFolder, unprivileged } from '../../test/support/postgres/unprivileged.ts'
import type { Server } from './postgres.ts'

const SETTINGS = { appendonly: 'yes', appendfsync: 'everysec', save: '' }

/** Undefined when redis-server is not installed: the report says that its cells were skipped. */
export async function startRedisServer(): Promise<Server | undefined> {
  const version = installedVersion()
  if (version === undefined) return undefined
  const folder = serverFolder('redis')
  const log = path.join(folder, 'server.log')
  const pidFile = path.join(folder, 'redis.pid')
  const guardian = guard(folder, pidFile)
  const port = await freePort()
  const own = { port: String(port), bind: '127.0.0.1', dir: folder, pidfile: pidFile, ...SETTINGS }
  const args = Object.entries(own).flatMap(([name, value]) => [`--${name}`, value])
  const output = openSync(log, 'a')
  const child = spawn('redis-server', args, {
    ...unprivileged,
    cwd: folder,
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  const exited = once(child, 'exit')
  while (!(await isListening(port))) {
    if (child.exitCode !== null) throw new Error(`Redis did not start:\n${readFileSync(log, 'utf8')}`)
    await sleep(20)
  }
  return {
    url: `redis://127.0.0.1:${port}/0`,
    pid: child.pid ?? 0,
    log,
    version,
    settings: 'appendonly yes, appendfsync everysec, no snapshots',
    async stop() {
      child.kill('SIGTERM')
      await exited
      await guardian.release()
    },
  }
}

function installedVersion(): string | undefined {
  try {
    return /v=(\S+)/.exec(execFileSync('redis-server', ['--version'], { encoding: 'utf8' }))?.[1]
  } catch {
    return undefined
  }
}

/** Sends one inline command and returns the raw answer, which is enough for FLUSHALL and INFO. */
export async function redisCommand(url: string, command: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.setEncoding('utf8')
  socket.write(`${command}\r\nQUIT\r\n`)
  let answer = ''
  for await (const part of socket) answer += String(part)
  if (answer.startsWith('-')) throw new Error(`Redis refused ${command}: ${answer}`)
  return answer
}

export async function commandsProcessed(url: string): Promise<number> {
  return Number(/total_commands_processed:(\d+)/.exec(await redisCommand(url, 'INFO stats'))?.[1])
}
