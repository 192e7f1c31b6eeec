/** A pool of children: requests and answers, who gets which child, and how failing children are replaced. */
import { chmod, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { inFull } from '../../../../../test/support/suite/in-full.ts'
import { errorText } from '../../../src/job/text/error-text.ts'
import { isJobmillError } from '../../../src/job/errors.ts'
import { Dead, Throttled } from '../../../src/job/attempt/thrown.ts'
import { workerPool, type WorkerPoolOptions } from '../../../src/work/handlers/worker-pool.ts'
import { refusal, rejection } from '../../unit/support.ts'
import { aContext, failure, interruptible, run } from './context.ts'
import { aPool, type Ask, type TestPool } from './pool-program.ts'
import { aFolder, gone, pidIn, pidsIn, until } from './processes.ts'

interface Echo {
  readonly pid: number
  readonly request: { readonly id: string }
}

const ask = async ({ job }: TestPool, payload: Ask | null = null): Promise<Echo> =>
  (await run(job, payload)) as Echo

const release = async ({ folder }: TestPool, name: string): Promise<void> =>
  await writeFile(join(folder, `${name}.go`), '')

const retryIf = (): boolean => false

describe('a request and its answer', () => {
  test('the child receives the payload and the job', async () => {
    const { job } = await aPool()
    const info = { id: 'the-job', attempt: 2, maxAttempts: 7 }
    const payload = { stays: false, text: 'né\n€' }
    const { request } = (await job.run(aContext(payload, { job: info }))) as Echo
    expect(request).toEqual({ id: '1', payload, job: { ...info, kind: 'some.kind' } })
  })

  test('request ids are unique', async () => {
    const pool = await aPool()
    const echoes = [await ask(pool), await ask(pool), await ask(pool)]
    expect(new Set(echoes.map(({ pid }) => pid)).size).toBe(1)
    expect(new Set(echoes.map(({ request }) => request.id)).size).toBe(3)
  })

  test('ok returns the result, error fails, dead throws Dead, throttled throws Throttled', async () => {
    const { job } = await aPool()
    const answer = (answer: Ask['answer']): Promise<unknown> => run(job, { answer })
    expect(await answer({ status: 'ok', result: { a: [1] } })).toEqual({ a: [1] })
    expect(await answer({ status: 'ok' })).toBeUndefined()
    expect(await failure(answer({ status: 'error', message: 'no luck' }))).toEqual(new Error('no luck'))
    expect((await failure(answer({ status: 'error' }))).message).toBe('the child gave no message')
    const dead = await failure(answer({ status: 'dead', message: 'beyond help' }))
    expect(dead).toBeInstanceOf(Dead)
    expect(dead.message).toBe('beyond help')
    const named = await failure(answer({ status: 'throttled', retryAfterMs: 1_500 }))
    expect(named).toBeInstanceOf(Throttled)
    expect(named).toMatchObject({ retryAfterMs: 1_500 })
    const inSeconds = await failure(answer({ status: 'throttled', retry_after_secs: 2.5 }))
    expect(inSeconds, 'A retry_after_secs is honoured').toMatchObject({ retryAfterMs: 2_500 })
    expect(await failure(answer({ status: 'throttled', retryAfterMs: null }))).toBeInstanceOf(Throttled)
    expect(await failure(answer({ status: 'throttled' }))).toMatchObject({ retryAfterMs: null })
  })

  test('A stderr of a healthy child goes to the log of its job, up to a bound', async () => {
    const { job } = await aPool()
    const logged = async (stderr: string): Promise<unknown[]> => {
      const context = aContext({ stderr })
      await job.run(context)
      return context.lines.map(({ message }) => message)
    }
    expect(await logged('loading é\n\nslow query\nno end')).toEqual(['loading é', 'slow query', 'no end'])
    expect(await logged('')).toEqual([])
    const many = await logged('line\n'.repeat(1_000))
    expect([many.length, many.at(-1)]).toEqual([201, 'child stderr was truncated'])
    expect(await logged('of another job\n')).toEqual(['of another job'])
  })

  test('none of these answers ends the child', async () => {
    const pool = await aPool()
    const { pid } = await ask(pool)
    for (const status of ['error', 'dead', 'throttled']) await failure(ask(pool, { answer: { status } }))
    expect(await ask(pool)).toMatchObject({ pid })
  })

  test('an answer can have almost 2 MiB', async () => {
    const { job } = await aPool()
    const result = 'x'.repeat(2 * 1024 * 1024 - 100)
    expect(await run(job, { answer: { status: 'ok', result } })).toBe(result)
  })
})

describe('the choice of a child', () => {
  test('a slow job does not block a free child', async () => {
    const pool = await aPool({ size: 2 })
    const slow = ask(pool, { hold: 'slow' })
    const slowPid = await pidIn(join(pool.folder, 'slow'))
    const quick = [await ask(pool), await ask(pool), await ask(pool)].map(({ pid }) => pid)
    expect(new Set(quick).size).toBe(1)
    expect(quick).not.toContain(slowPid)
    await release(pool, 'slow')
    expect(await slow).toMatchObject({ pid: slowPid })
  })

  test('waiting jobs are served in order', async () => {
    const pool = await aPool()
    const held = ask(pool, { hold: 'held' })
    await pidIn(join(pool.folder, 'held'))
    const waiting = Promise.all([ask(pool), ask(pool), ask(pool)])
    await release(pool, 'held')
    await held
    expect((await waiting).map(({ request }) => request.id)).toEqual(['2', '3', '4'])
  })

  test('an interrupted job stops waiting at once, and the next is served', async () => {
    const pool = await aPool()
    const held = ask(pool, { hold: 'held' })
    const pid = await pidIn(join(pool.folder, 'held'))
    const { signal, interrupt } = interruptible()
    const impatient = failure(run(pool.job, null, { signal }))
    const patient = ask(pool)
    const reason = interrupt('timeout')
    expect(await impatient).toBe(reason)
    await release(pool, 'held')
    await held
    expect(await patient).toMatchObject({ pid, request: { id: '2' } })
  })
})

describe('a child that violates the protocol', () => {
  /** One case of each rule; more every night. */
  const cases: Record<string, [Ask, RegExp]> = {
    'no JSON': [{ raw: 'ready!\n' }, /a line that is not a JSON object: "ready!"/],
    'an unknown status': [{ answer: { status: 'fine' } }, /status "fine", which is not one of ok, error/],
    'no id': [{ answer: { id: null, status: 'ok' } }, /without an id/],
    'another id': [{ answer: { id: '7', status: 'ok' } }, /id "7" instead of "2"/],
    'a wait that is not a number': [{ answer: { status: 'throttled', retryAfterMs: '1s' } }, /retryAfterMs/],
    'a line of more than 2 MiB': [{ longLine: 2 * 1024 * 1024 + 1 }, /a line of more than 2 MiB/],
  }
  const more: typeof cases = {
    'an empty line': [{ raw: '\n' }, /a line that is not a JSON object: ""/],
    'JSON that is not an object': [{ raw: '"1"\n' }, /a line that is not a JSON object/],
    'no status': [{ answer: {} }, /with status undefined/],
    'an id that is a number': [{ answer: { id: 2, status: 'ok' } }, /id 2 instead of "2"/],
  }

  test.for(Object.entries(inFull({ ...cases, ...more }, cases)))(
    'answers with %s: the job fails, the child is killed',
    async ([, [bad, says]]) => {
      // It ignores the end of its input, so it must be killed.
      const pool = await aPool({ killAfter: '1h' })
      const { pid } = await ask(pool, { deaf: true, stays: true })
      const error = await failure(ask(pool, bad))
      expect(error).not.toBeInstanceOf(Dead)
      expect(error.message).toMatch(says)
      expect(error.message).toMatch(/, and was killed$/)
      await gone(pid)
      expect((await ask(pool)).pid).not.toBe(pid)
    },
  )

  test('writes without a request: it is killed, and the earlier answer counts', async () => {
    const pool = await aPool()
    const { pid } = await ask(pool, { thenRaw: 'by the way\n' })
    await gone(pid)
    expect((await ask(pool)).pid).not.toBe(pid)
  })
})

describe('a child that exits', () => {
  test('during a job: the job fails with the exit code and the end of stderr', async () => {
    const pool = await aPool()
    const { pid } = await ask(pool)
    const error = await failure(ask(pool, { exit: 3 }))
    expect(error.message).toContain(`the child (pid ${pid}) exited during the job with exit code 3: `)
    expect(errorText(error)).toMatch(/a long story out of paper$/)
    expect(error).not.toBeInstanceOf(Dead)
    expect((await ask(pool)).pid).not.toBe(pid)
  })

  test('before its answer was read: the answer counts', async () => {
    // The answer comes from its child after it has exited.
    const late = `while kill -0 "$1" 2>/dev/null; do sleep 0.01; done; echo "$2"`
    const code = `process.stdin.once('data', (line) => {
      const answer = JSON.stringify({ id: JSON.parse(line).id, status: 'ok', result: 'bye' })
      const argv = ['-c', ${JSON.stringify(late)}, 'sh', process.pid, answer]
      require('node:child_process').spawn('/bin/sh', argv, { stdio: 'inherit' })
      process.exit(1)
    })`
    const job = workerPool({ kind: 'once', argv: [process.execPath, '-e', code] })
    onTestFinished(async () => await job.service?.stop())
    expect(await run(job, null)).toBe('bye')
  })

  test('while idle: it is replaced before the next job', async () => {
    const pool = await aPool()
    const { pid } = await ask(pool)
    process.kill(pid, 'SIGKILL')
    await until('another child is up', async () => (await pidsIn(pool.children)).find((one) => one !== pid))
    expect((await ask(pool)).pid).not.toBe(pid)
  })

  test('and cannot be replaced: the waiting job fails with the reason', async () => {
    const folder = await aFolder()
    const program = join(folder, 'program')
    await writeFile(program, '#!/bin/sh\nread line\necho $$ > asked\nexec sleep 600\n')
    await chmod(program, 0o755)
    const job = workerPool({ kind: 'fragile', argv: [program], cwd: folder })
    onTestFinished(async () => await job.service?.stop())
    const { signal, interrupt } = interruptible()
    const first = failure(run(job, null, { signal }))
    const second = failure(run(job, null))
    await pidIn(join(folder, 'asked'))
    await rm(program)
    interrupt('cancelled')
    expect(await first).toBe(signal.reason)
    const error = await second
    expect(isJobmillError(error) && error.field).toBe('workerPool.argv')
    expect(error.cause).toMatchObject({ code: 'ENOENT' })
  })
})

describe('an interruption', () => {
  test('ends the child and its descendants, and is thrown once they have ended', async () => {
    const pool = await aPool()
    const { signal, interrupt } = interruptible()
    const attempt = failure(run(pool.job, { hold: 'held', family: true }, { signal }))
    const pid = await pidIn(join(pool.folder, 'held'))
    const grandchild = await pidIn(join(pool.folder, 'held.grandchild'))
    const reason = interrupt('cancelled')
    expect(await attempt).toBe(reason)
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    await gone(grandchild)
    expect((await ask(pool)).pid).not.toBe(pid)
  })

  test.for([
    ['timeout', '100ms'],
    ['lease-lost', '100ms'],
    ['shutdown', '1h'],
  ] as const)('%s kills a child that ignores SIGTERM, when killAfter is %s', async ([why, killAfter]) => {
    const pool = await aPool({ killAfter })
    const { signal, interrupt } = interruptible()
    const attempt = failure(run(pool.job, { hold: 'held', deaf: true, stays: true }, { signal }))
    const pid = await pidIn(join(pool.folder, 'held'))
    const reason = interrupt(why)
    expect(await attempt).toBe(reason)
    await gone(pid)
  })

  test('replaces the child at once, however long it takes to end', async () => {
    const pool = await aPool({ killAfter: '1h' })
    const { signal, interrupt } = interruptible()
    const attempt = failure(run(pool.job, { hold: 'held', deaf: true, stays: true }, { signal }))
    const pid = await pidIn(join(pool.folder, 'held'))
    const reason = interrupt('cancelled')
    expect((await ask(pool)).pid).not.toBe(pid)
    process.kill(pid, 'SIGKILL')
    expect(await attempt).toBe(reason)
  })
})

describe('after recycleAfter jobs', () => {
  test('a child ends and is replaced', async () => {
    const pool = await aPool({ recycleAfter: 2 })
    const pids: number[] = []
    for (let job = 0; job < 5; job += 1) pids.push((await ask(pool)).pid)
    const [first = 0, , third = 0, , fifth = 0] = pids
    expect(pids).toEqual([first, first, third, third, fifth])
    expect(new Set(pids).size).toBe(3)
    await Promise.all([gone(first), gone(third)])
  })

  test('a child that does not end on its own is killed, after it was replaced', async () => {
    const pool = await aPool({ recycleAfter: 1, killAfter: '1s' })
    const { pid } = await ask(pool, { stays: true, deaf: true })
    expect((await ask(pool)).pid).not.toBe(pid)
    await gone(pid)
  })
})

describe('the options', () => {
  test('A the policy comes from the job, with a timeout of ten minutes by default', () => {
    const policy = { queue: 'tools', priority: 3, maxAttempts: 2, timeout: '1m', retryIf } as const
    const job = workerPool({ kind: 'resize', argv: ['resize'], ...policy, backoff: { fixed: '1s' } })
    expect(job).toMatchObject({ kind: 'resize', queue: 'tools', priority: 3, maxAttempts: 2, retryIf })
    expect(job).toMatchObject({ timeoutMs: 60_000, backoff: { fixedMs: 1_000 } })
    expect(workerPool({ kind: 'resize', argv: ['resize'] }).timeoutMs).toBe(600_000)
    expect(workerPool({ kind: 'resize', argv: ['resize'], timeout: 'none' }).timeoutMs).toBeUndefined()
  })

  const [kind, argv] = ['resize', ['resize']]
  test.for<[unknown, string, string]>([
    [{ argv }, 'NAME_INVALID', 'job.kind'],
    [{ kind }, 'OPTION_INVALID', 'workerPool.argv'],
    [{ kind, argv: [] }, 'OPTION_INVALID', 'workerPool.argv'],
    [{ kind, argv: ['a', 1] }, 'OPTION_INVALID', 'workerPool.argv[1]'],
    [{ kind, argv: ['a', '\u0000'] }, 'OPTION_INVALID', 'workerPool.argv[1]'],
    [{ kind, argv, size: 0 }, 'NUMBER_INVALID', 'workerPool.size'],
    [{ kind, argv, size: 257 }, 'NUMBER_INVALID', 'workerPool.size'],
    [{ kind, argv, recycleAfter: 0 }, 'NUMBER_INVALID', 'workerPool.recycleAfter'],
    [{ kind, argv, cwd: 1 }, 'OPTION_INVALID', 'workerPool.cwd'],
    [{ kind, argv, env: { A: 1 } }, 'OPTION_INVALID', 'workerPool.env.A'],
    [{ kind, argv, inheritEnv: [1] }, 'OPTION_INVALID', 'workerPool.inheritEnv[0]'],
    [{ kind, argv, killAfter: 'x' }, 'DURATION_INVALID', 'workerPool.killAfter'],
    [{ kind, argv, recycle: 1 }, 'OPTION_UNKNOWN', 'workerPool.recycle'],
  ])('%j is refused', ([options, code, field]) => {
    expect(refusal(() => workerPool(options as WorkerPoolOptions))).toMatchObject({ code, field })
  })

  test('the environment of a child has PATH, env and the inherited variables, and nothing else', async () => {
    vi.stubEnv('SECRET', 'hidden')
    vi.stubEnv('PASSED', 'on')
    onTestFinished(() => void vi.unstubAllEnvs())
    const code = `process.stdin.once('data', (line) => {
      console.log(JSON.stringify({ id: JSON.parse(line).id, status: 'ok', result: process.env }))
    })`
    // Found through PATH, like any other program.
    const argv = ['env', process.execPath, '-e', code] as const
    const job = workerPool({ kind: 'env', argv, env: { A: 'b' }, inheritEnv: ['PASSED'] })
    onTestFinished(async () => await job.service?.stop())
    expect(await run(job, null)).toEqual({
      PATH: process.env['PATH'],
      A: 'b',
      PASSED: 'on',
      JOBMILL_CHILD: expect.any(String) as unknown,
    })
  })

  test('start fails if the program cannot start, and the next start can succeed', async () => {
    const program = join(await aFolder(), 'later')
    const job = workerPool({ kind: 'later', argv: [program], size: 2 })
    const start = async (): Promise<unknown> => await job.service?.start()
    const error = await rejection(start)
    expect(error).toMatchObject({ code: 'OPTION_INVALID', field: 'workerPool.argv' })
    expect(error.cause).toMatchObject({ code: 'ENOENT' })
    expect(await failure(run(job, null))).toMatchObject({ field: 'workerPool.argv' })
    await writeFile(program, '#!/bin/sh\ncat\n')
    await chmod(program, 0o755)
    await start()
    await job.service?.stop()
  })
})
