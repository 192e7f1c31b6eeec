/** Starts and stops the processes of the scene. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { endChild } from '../../end-child.ts'
import type { FromServer, ServerTask } from './server.ts'
import type { WorkerTask } from './worker.ts'

export interface Server {
  /** Mission Control, without a trailing slash. */
  readonly url: string
  /** The CPU time of its process so far. */
  readonly cpuMs: () => Promise<number>
  readonly stop: () => Promise<void>
}

/** Resolves when it works. Its errors go to the terminal. */
export async function startWorker(task: WorkerTask): Promise<ChildProcess> {
  return (await start('worker.ts', task)).child
}

export async function startServer(task: ServerTask): Promise<Server> {
  const { child, first } = await start('server.ts', task)
  return {
    url: (first as { url: string }).url,
    async cpuMs() {
      const answer = once(child, 'message') as Promise<FromServer[]>
      child.send('cpu')
      return ((await answer)[0] as { cpuMs: number }).cpuMs
    },
    stop: () => endChild(child),
  }
}

/** Resolves with the first message. */
async function start(program: string, task: object): Promise<{ child: ChildProcess; first: unknown }> {
  const child = fork(path.join(import.meta.dirname, program), [JSON.stringify(task)])
  const exited = once(child, 'exit').then(() => {
    throw new Error(`${program} did not start: ${JSON.stringify(task)}`)
  })
  const [first] = (await Promise.race([once(child, 'message'), exited])) as unknown[]
  // It ends later, when it is stopped.
  exited.catch(() => {})
  return { child, first }
}

export async function stopAll(children: readonly ChildProcess[]): Promise<void> {
  await Promise.all(children.map((child) => endChild(child)))
}
