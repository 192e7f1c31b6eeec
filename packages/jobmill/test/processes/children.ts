/**
 * Real processes for tests: each runs a script of this folder, reports by messages, and can be stopped,
 * resumed and killed.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { killAtEnd } from '../../../../test/support/programs/kill-at-end.ts'
import { bundled } from '../../../../test/support/programs/programs.ts'

export interface Started {
  readonly child: ChildProcess
  readonly messages: string[]
  /** Resolves once the messages of the process are enough. */
  untilMessages(enough: (messages: readonly string[]) => boolean): Promise<void>
  tell(message: object): void
  /** Resolves when it exited on its own or by SIGKILL, and rejects when it failed. */
  readonly ended: Promise<void>
}

/** The process is killed at the end of the test. */
export function startProcess(script: string, task: object): Started {
  const child = fork(bundled(path.join(import.meta.dirname, script)), [JSON.stringify(task)], {
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  })
  killAtEnd(child)
  const messages: string[] = []
  let errors = ''
  child.stderr?.on('data', (data) => (errors += String(data)))
  child.on('message', (message: string) => messages.push(message))
  const ended = once(child, 'close').then(([code, signal]) => {
    if (code !== 0 && signal !== 'SIGKILL')
      throw new Error(`the process ended with ${String(code ?? signal)}: ${errors}`)
  })
  ended.catch(() => {})
  return {
    child,
    messages,
    ended,
    tell: (message) => void child.send(message),
    async untilMessages(enough) {
      while (!enough(messages))
        await Promise.race([
          once(child, 'message'),
          ended.then(() => Promise.reject(new Error(`it ended early: ${messages.join(', ')} ${errors}`))),
        ])
    },
  }
}

export async function kill({ child, ended }: Started): Promise<void> {
  child.kill('SIGKILL')
  await ended
}
