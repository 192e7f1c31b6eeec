/** Starts and observes the mill's process and the visitors. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Order, Report, Task } from './messages.ts'

/** An idle process exits within a moment. */
const EXIT_MS = 10_000

function start(program: string, task: Task, execArgv: readonly string[]): ChildProcess {
  return fork(path.join(import.meta.dirname, program), [JSON.stringify(task)], {
    execArgv: [...process.execArgv, ...execArgv],
    // Keep its warnings visible.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
}

export interface WatchedMill {
  readonly sample: () => Promise<Extract<Report, { is: 'sample' }>>
  /** Its final report, and whether its process exited on its own afterwards. */
  readonly finish: () => Promise<Extract<Report, { is: 'end' }> & { readonly exited: boolean }>
  readonly destroy: () => Promise<void>
}

export async function watchedMill(task: Task): Promise<WatchedMill> {
  const child = start('mill.ts', task, ['--expose-gc'])
  const exited = once(child, 'exit')
  const early = exited.then(([code]) =>
    Promise.reject(new Error(`the mill's process ended early, with ${code}`)),
  )
  early.catch(() => {})

  async function answer<Is extends Report['is']>(is: Is): Promise<Extract<Report, { is: Is }>> {
    for (;;) {
      const [report] = (await Promise.race([once(child, 'message'), early])) as [Report]
      if (report.is === is) return report as Extract<Report, { is: Is }>
    }
  }
  function ask<Is extends Report['is']>(order: Order, is: Is): Promise<Extract<Report, { is: Is }>> {
    const answered = answer(is)
    child.send(order)
    return answered
  }

  await answer('ready')
  return {
    sample: () => ask('sample', 'sample'),
    async finish() {
      const report = await ask('finish', 'end')
      const left = Symbol('left')
      const first = await Promise.race([exited, sleep(EXIT_MS, left, { ref: false })])
      return { ...report, exited: first !== left }
    },
    async destroy() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** How long a visitor stays, and the pause before the next one. */
const STAY_MS = 8_000
const AWAY_MS = 4_000

export interface Visits {
  readonly count: number
  /** Runs until the signal fires; every second visitor is killed. */
  readonly run: (signal: AbortSignal) => Promise<void>
}

/** Ends early if the signal fires. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {})
}

export function visits(task: Task): Visits {
  let count = 0
  return {
    get count() {
      return count
    },
    async run(signal) {
      for (; !signal.aborted; await pause(AWAY_MS, signal)) {
        const child = start('visitor.ts', task, [])
        const exited = once(child, 'exit')
        await Promise.race([once(child, 'message'), exited])
        await pause(STAY_MS, signal)
        count += 1
        child.kill(count % 2 === 0 ? 'SIGKILL' : 'SIGTERM')
        await exited
      }
    },
  }
}
