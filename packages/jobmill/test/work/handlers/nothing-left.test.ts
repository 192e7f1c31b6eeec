/**
 * No exit from a handler leaves a timer or a listener behind. Also tests the backoff of a pool, by its
 * timers.
 */
import { getEventListeners } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { AnyJob } from '../../../src/job/kind/definition.ts'
import type { Platform } from '../../../src/platform/platform.ts'
import { commandJob } from '../../../src/work/handlers/command.ts'
import { demoEcho } from '../../../src/work/handlers/demo-echo.ts'
import { workerPool } from '../../../src/work/handlers/worker-pool.ts'
import { failure, interruptible, run } from './context.ts'
import { aPool } from './pool-program.ts'
import { aFolder, pidIn, until } from './processes.ts'

const timers = vi.hoisted(() => ({ pending: new Set<number>(), asked: [] as number[], count: 0 }))

// The real platform, with its timers counted.
vi.mock(import('../../../src/platform/platform.ts'), async (original) => {
  const { systemPlatform: real } = await original()
  const timer: Platform['timer'] = (ms, task, options) => {
    timers.count += 1
    const id = timers.count
    timers.pending.add(id)
    timers.asked.push(ms)
    const inner = real.timer(
      ms,
      () => {
        timers.pending.delete(id)
        task()
      },
      options,
    )
    return {
      cancel() {
        timers.pending.delete(id)
        inner.cancel()
      },
    }
  }
  return { systemPlatform: { ...real, timer } }
})

beforeEach(() => {
  timers.asked.length = 0
})

const node = process.execPath

/** Runs it until it throws or returns, with a signal that outlives it. */
async function expectNothingLeft(
  job: AnyJob,
  payload: unknown,
  after?: (interrupt: ReturnType<typeof interruptible>['interrupt']) => unknown,
): Promise<void> {
  const { signal, interrupt } = interruptible()
  const attempt = run(job, payload, { signal }).catch(() => 'thrown')
  await after?.(interrupt)
  await attempt
  expect(getEventListeners(signal, 'abort')).toEqual([])
  expect([...timers.pending]).toEqual([])
}

describe('demoEcho leaves nothing behind', () => {
  test('after a sleep or an interruption', async () => {
    await expectNothingLeft(demoEcho, { sleep: 1 })
    await expectNothingLeft(demoEcho, { sleep: '1h' }, (interrupt) =>
      setImmediate(() => interrupt('cancelled')),
    )
  })
})

describe('a command leaves nothing behind', () => {
  const command = commandJob({ programs: [node, '/no/such/program'] })

  test.for<[string, unknown]>([
    ['is done', { argv: [node, '-e', ''], timeout: '1h' }],
    ['fails', { argv: [node, '-e', 'process.exit(1)'], timeout: '1h' }],
    ['cannot be started', { argv: ['/no/such/program'], timeout: '1h' }],
    ['is refused', { argv: ['/bin/sh'], timeout: '1h' }],
    ['takes too long', { argv: [node, '-e', 'setInterval(() => {}, 1000)'], timeout: 1 }],
  ])('if it %s', async ([, payload]) => {
    await expectNothingLeft(command, payload)
  })

  test('if it is interrupted before its timeout', async () => {
    const root = await aFolder()
    const code = 'setInterval(() => {}, 1000); require("node:fs").writeFileSync("pid", process.pid + "\\n")'
    const payload = { argv: [node, '-e', code], timeout: '2h' }
    const job = commandJob({ programs: [node], root, killAfter: '1h' })
    await expectNothingLeft(job, payload, async (interrupt) => {
      await pidIn(join(root, 'pid'))
      interrupt('cancelled')
    })
    expect(timers.asked).toContain(3_600_000)
  })

  test('after a shutdown, which gives it 250 ms, or killAfter if that is less', async () => {
    for (const [killAfter, graceMs] of [
      ['1h', 250],
      [17, 17],
    ] as const) {
      const job = commandJob({ programs: [node], killAfter })
      await expectNothingLeft(job, { argv: [node, '-e', 'setInterval(() => {}, 1000)'] }, (interrupt) =>
        setImmediate(() => interrupt('shutdown')),
      )
      expect(timers.asked).toContain(graceMs)
    }
    expect(timers.asked).not.toContain(3_600_000)
  })
})

describe('a pool leaves nothing behind', () => {
  test('after an answer, an error, a crash, an interruption while running and one while waiting', async () => {
    const pool = await aPool({ killAfter: '1h' })
    await expectNothingLeft(pool.job, null)
    await expectNothingLeft(pool.job, { answer: { status: 'error' } })
    await expectNothingLeft(pool.job, { exit: 3 })
    await expectNothingLeft(pool.job, { hold: 'a' }, async (interrupt) => {
      await pidIn(join(pool.folder, 'a'))
      // The only child is busy at this time.
      await expectNothingLeft(pool.job, null, (interruptWaiting) => interruptWaiting('timeout'))
      interrupt('cancelled')
    })
    await pool.job.service?.stop()
    expect([...timers.pending]).toEqual([])
  })

  test('and restarts a program that exits at its start with growing backoff', async () => {
    const folder = await aFolder()
    const starts = join(folder, 'starts')
    const job = workerPool({ kind: 'broken', argv: ['/bin/sh', '-c', 'echo >> starts'], cwd: folder })
    await job.service?.start()
    await until('it was started five times', async () => {
      const text = await readFile(starts, 'utf8').catch(() => '')
      return text.length >= 5 || undefined
    })
    await job.service?.stop()
    const started = (await readFile(starts, 'utf8')).length
    // The other timers belong to each child: a second for leftover output, and killAfter.
    const pauses = timers.asked.filter((ms) => ![20, 1_000, 5_000].includes(ms))
    expect(pauses.length).toBeGreaterThanOrEqual(started - 1)
    for (const [at, ms] of pauses.entries()) {
      const full = Math.min(5_000, 100 * 2 ** at)
      expect(ms).toBeGreaterThanOrEqual(full / 2)
      expect(ms).toBeLessThanOrEqual(full)
    }
    expect([...timers.pending]).toEqual([])
  })

  test('and replaces a child that ran a job without a pause', async () => {
    const pool = await aPool({ killAfter: '1h' })
    await run(pool.job, null)
    await failure(run(pool.job, { exit: 1 }))
    await run(pool.job, null)
    expect(timers.asked.filter((ms) => ![20, 1_000, 3_600_000].includes(ms))).toEqual([])
  })
})
