// The parent's side of worker.ts.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { WorkerProcess, WorkerResult } from '../case.ts'
import type { Request, WorkerSpec } from './worker.ts'

export async function startWorkerProcess(spec: WorkerSpec): Promise<WorkerProcess> {
  const child = fork(fileURLToPath(new URL('worker.ts', import.meta.url)), [JSON.stringify(spec)], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit').then(() => [{ error: 'the worker process ended' }])
  /** The child answers in order, and gets one request at a time. */
  async function ask<Answer>(request: Request): Promise<Answer> {
    const answered = once(child, 'message')
    child.send(request)
    const [reply] = (await Promise.race([answered, exited])) as [{ answer: Answer; error?: string }]
    if (reply.error !== undefined) throw new Error(`worker process, ${request}: ${reply.error}`)
    return reply.answer
  }
  await ask<boolean>('open')
  let stopped: Promise<void> | undefined
  async function stop(): Promise<void> {
    await ask<void>('stop')
    child.disconnect()
    await exited
  }
  return {
    pid: child.pid ?? 0,
    work: () => ask<number>('work'),
    count: () => ask<number>('count'),
    settle: () => ask<WorkerResult>('settle'),
    stop: () => (stopped ??= stop()),
  }
}
