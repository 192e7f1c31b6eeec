/** Runs `jobmill transfer` as a process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../packages/jobmill/dist/cli/main.js', import.meta.url))

interface Digest {
  readonly items: number
  readonly checksum: string
}

/** Its output with --json. */
export interface TransferReport {
  readonly verified: boolean
  readonly carried: number
  readonly there: number
  readonly counts: readonly Readonly<Record<string, string | number>>[]
  readonly checksums: Readonly<Record<'source' | 'target', Readonly<Record<string, Digest>>>>
  readonly differences: readonly string[]
}

export interface Move {
  readonly kill: () => void
  /** Null if it was killed. */
  readonly ended: Promise<TransferReport | null>
}

export function move(from: string, to: string): Move {
  const child = spawn(process.execPath, [MAIN, 'transfer', '--from', from, '--to', to, '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  child.stdout.on('data', (data) => (out += String(data)))
  return {
    kill: () => void child.kill('SIGKILL'),
    ended: once(child, 'close').then(([code]) => {
      if (code === null) return null
      if (out === '') throw new Error(`jobmill transfer ended with ${code}`)
      return JSON.parse(out) as TransferReport
    }),
  }
}
