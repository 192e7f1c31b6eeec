/** Starts the inbox, queries it, and observes its memory. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Left, Question, Ready } from './server.ts'
import { endChild } from '../end-child.ts'

export interface Place {
  readonly name: string
  readonly database: string
  /** A folder, or `postgres`. */
  readonly blobs: string
}

export interface Running extends Ready {
  readonly later: (ms: number) => void
  /** Runs one pass in addition to those of the mill. */
  readonly sweep: () => Promise<void>
  readonly left: () => Promise<Left>
  /** Resident memory now and its maximum, in MB; Linux only, null elsewhere. */
  readonly memory: () => { readonly now: number; readonly most: number } | null
  readonly stop: () => Promise<void>
}

export async function startServer(
  { database, blobs }: Pick<Place, 'database' | 'blobs'>,
  mailboxes: number,
): Promise<Running> {
  const program = fileURLToPath(new URL('server.ts', import.meta.url))
  // The same flag as in bin/ of the command.
  const child = spawn(process.execPath, ['--semi-space-growth-factor=1', program], {
    env: { ...process.env, DATABASE_URL: database, BLOBS: blobs, MAILBOXES: String(mailboxes) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ready = (await nextMessage(child)) as Ready
  const send = (question: Question): void => void child.send(question)
  async function ask(question: Question): Promise<unknown> {
    const answer = nextMessage(child)
    send(question)
    return answer
  }
  return {
    ...ready,
    later: (ms) => send({ later: ms }),
    sweep: async () => void (await ask({ ask: 'sweep' })),
    left: async () => (await ask({ ask: 'left' })) as Left,
    memory: () => memoryOf(child.pid),
    stop: () => endChild(child),
  }
}

/** The next message of the process; rejects if it exits instead. */
async function nextMessage(child: ChildProcess): Promise<unknown> {
  const ending = new AbortController()
  const { signal } = ending
  try {
    return await Promise.race([
      once(child, 'message', { signal }).then(([message]: unknown[]) => message),
      once(child, 'exit', { signal }).then(([code]) => {
        throw new Error(`the inbox ended with ${String(code)}`)
      }),
    ])
  } finally {
    ending.abort()
  }
}

export function memoryOf(pid: number | undefined): { now: number; most: number } | null {
  if (process.platform !== 'linux') return null
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  const megabytes = (field: string): number =>
    Math.round((Number(new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(text)?.[1]) * 1_024) / 1e6)
  return { now: megabytes('VmRSS'), most: megabytes('VmHWM') }
}
