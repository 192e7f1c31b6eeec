// The Restate server that all cells share, from its npm package: default settings, so every write to its log
// is synced. It starts only for a run with cells of Restate.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../test/support/free-port.ts'
import { guard } from '../../test/support/programs/guardian.ts'
import { serverFolder, unprivileged } from '../../test/support/postgres/unprivileged.ts'
import { versionOf } from '../measure/versions.ts'
import type { Server } from './postgres.ts'

const STARTS_WITHIN_MS = 60_000

/** Undefined where it does not run: the report says that its cells were skipped. */
export async function startRestateServer(): Promise<Server | undefined> {
  const program = installedProgram()
  if (program === undefined) return undefined
  const folder = serverFolder('restate')
  const log = path.join(folder, 'server.log')
  const pidFile = path.join(folder, 'restate.pid')
  const guardian = guard(folder, pidFile)
  const [node, ingress, admin] = [await freePort(), await freePort(), await freePort()]
  const settings = {
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_DISABLE_TELEMETRY: 'true',
  }
  const output = openSync(log, 'a')
  const args = ['--no-logo', '--listen-mode', 'tcp', '--base-dir', path.join(folder, 'data')]
  const child = spawn(program, args, {
    ...unprivileged,
    cwd: folder,
    env: { ...process.env, ...settings },
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  // For the guardian; the server writes none.
  writeFileSync(pidFile, String(child.pid))
  const exited = once(child, 'exit')
  const url = `http://127.0.0.1:${admin}`
  if (!(await isReady(url, () => child.exitCode === null))) {
    console.error(`Restate did not start:\n${readFileSync(log, 'utf8').slice(-2_000)}`)
    child.kill('SIGKILL')
    await guardian.release()
    return undefined
  }
  return {
    url,
    pid: child.pid ?? 0,
    log,
    version: versionOf('@restatedev/restate-server'),
    settings: 'default: one node, synced log',
    async stop() {
      child.kill('SIGTERM')
      await exited
      await guardian.release()
    },
  }
}

/** The program for this machine; npm installs only that. */
function installedProgram(): string | undefined {
  const { resolve } = createRequire(import.meta.url)
  try {
    return resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`)
  } catch {
    return undefined
  }
}

async function isReady(url: string, isRunning: () => boolean): Promise<boolean> {
  const until = performance.now() + STARTS_WITHIN_MS
  while (isRunning() && performance.now() < until) {
    if (
      await fetch(`${url}/health`)
        .then(({ ok }) => ok)
        .catch(() => false)
    )
      return true
    await sleep(50)
  }
  return false
}
