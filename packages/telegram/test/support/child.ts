/** Gateways in child processes, which die on request of a test. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { killAtEnd } from '../../../../test/support/programs/kill-at-end.ts'
import { bundled } from '../../../../test/support/programs/programs.ts'

const CHILD = fileURLToPath(new URL('gateway-child.ts', import.meta.url))

export interface GatewayChild {
  readonly child: ChildProcess
  /** The exit code and signal, however early it ended. */
  readonly ended: Promise<readonly [code: number | null, signal: string | null]>
  /** Resolves when the child prints this word next. */
  readonly hears: (word: string) => Promise<void>
}

/**
 * It is killed at the end of the test.
 *
 * `env`: its config as `YAML`, its database, its secrets, and the fault points.
 */
export async function startChild(env: Readonly<Record<string, string>>): Promise<GatewayChild> {
  const child = spawn(process.execPath, [bundled(CHILD)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>
  killAtEnd(child)
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  async function hears(word: string): Promise<void> {
    const { value } = (await lines.next()) as { value: string | undefined }
    if (value !== word) throw new Error(`the gateway said ${value}, not ${word}`)
  }
  await hears('ready')
  return { child, ended, hears }
}
