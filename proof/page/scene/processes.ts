/** Starts and stops the worker processes of the scene. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { endChild } from '../../end-child.ts'
import type { WorkerTask } from './worker.ts'

/** Resolves when it works. Its errors go to the terminal. */
export async function startProcess(task: WorkerTask): Promise<ChildProcess> {
  const child = fork(path.join(import.meta.dirname, 'worker.ts'), [JSON.stringify(task)])
  const exited = once(child, 'exit').then(() => {
    throw new Error(`the process ${task.label} did not start`)
  })
  await Promise.race([once(child, 'message'), exited])
  // It ends later, when it is stopped.
  exited.catch(() => {})
  return child
}

export async function stopAll(children: readonly ChildProcess[]): Promise<void> {
  await Promise.all(children.map((child) => endChild(child)))
}
