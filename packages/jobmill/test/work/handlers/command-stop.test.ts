/** How a command ends when its job is interrupted or times out: with all its processes. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { inFull } from '../../../../../test/support/suite/in-full.ts'
import { INTERRUPTIONS } from '../../../src/job/attempt/interruption.ts'
import { testMill } from '../../../src/testing/index.ts'
import { commandJob } from '../../../src/work/handlers/command.ts'
import { failure, interruptible, run } from './context.ts'
import { aFolder, gone, isAlive, isThere, pidIn, pidsNaming, until } from './processes.ts'

const node = process.execPath

/** Writes its pid to `pid` once it is ready; with `deaf` it ignores SIGTERM. */
const WAITING = `
  const { writeFileSync } = require('node:fs')
  if (process.argv.includes('deaf')) process.on('SIGTERM', () => {})
  setInterval(() => {}, 1000)
  writeFileSync('pid', process.pid + '\\n')`

/** Starts a child, whose pid is in `grandchild`; deaf like itself, and with `quiet` without its pipes. */
const FAMILY = `
  const { spawn } = require('node:child_process')
  const code = 'if (process.argv.includes("deaf")) process.on("SIGTERM", () => {});' +
    'setInterval(() => {}, 1000); require("node:fs").writeFileSync("grandchild", process.pid + "\\\\n")'
  const stdio = process.argv.includes('quiet') ? 'ignore' : 'inherit'
  spawn(process.execPath, ['-e', code, '--', ...process.argv.slice(1)], { stdio })`

const script = (code: string, ...args: string[]): { argv: string[] } => ({
  argv: [node, '-e', code, '--', ...args],
})

/** Open pipes of this process. */
const pipes = (): number =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'PipeWrap').length

describe('an interruption', () => {
  test.for(INTERRUPTIONS.slice(0, inFull(INTERRUPTIONS.length, 1)))(
    '%s ends the program and its descendants, and is thrown',
    async (why) => {
      const root = await aFolder()
      const { signal, interrupt } = interruptible()
      const attempt = failure(
        run(commandJob({ programs: [node], root }), script(FAMILY + WAITING), { signal }),
      )
      const pids = [await pidIn(join(root, 'pid')), await pidIn(join(root, 'grandchild'))]
      const reason = interrupt(why)
      expect(await attempt).toBe(reason)
      await Promise.all(pids.map((pid) => gone(pid)))
    },
  )

  test('sends SIGTERM, and waits until the program has ended', async () => {
    const root = await aFolder()
    const tidy = `;process.on('SIGTERM', () => {
      setTimeout(() => { writeFileSync('tidy', 'yes\\n'); process.exit(0) }, 100)
    })`
    const { signal, interrupt } = interruptible()
    const attempt = failure(run(commandJob({ programs: [node], root }), script(tidy + WAITING), { signal }))
    const pid = await pidIn(join(root, 'pid'))
    const reason = interrupt('cancelled')
    expect(await attempt).toBe(reason)
    expect(isAlive(pid)).toBe(false)
    expect(await isThere(join(root, 'tidy'))).toBe(true)
  })

  test('sends SIGKILL to all that ignore SIGTERM', async () => {
    const root = await aFolder()
    const { signal, interrupt } = interruptible()
    const job = commandJob({ programs: [node], root, killAfter: '100ms' })
    const attempt = failure(run(job, script(FAMILY + WAITING, 'deaf'), { signal }))
    const pids = [await pidIn(join(root, 'pid')), await pidIn(join(root, 'grandchild'))]
    const reason = interrupt('timeout')
    expect(await attempt).toBe(reason)
    await Promise.all(pids.map((pid) => gone(pid)))
  })

  test('kills a descendant without pipes that ignores SIGTERM', async () => {
    const root = await aFolder()
    const { signal, interrupt } = interruptible()
    const job = commandJob({ programs: [node], root, killAfter: '1h' })
    // The program itself ends at SIGTERM.
    const deafFamily = FAMILY.replace('...process.argv.slice(1)', '"deaf"')
    const attempt = failure(run(job, script(deafFamily + WAITING, 'quiet'), { signal }))
    await pidIn(join(root, 'pid'))
    const grandchild = await pidIn(join(root, 'grandchild'))
    const reason = interrupt('cancelled')
    expect(await attempt).toBe(reason)
    await gone(grandchild)
  })

  test('by a shutdown does not wait for killAfter', async () => {
    const root = await aFolder()
    const { signal, interrupt } = interruptible()
    const job = commandJob({ programs: [node], root, killAfter: '1h' })
    const attempt = failure(run(job, script(WAITING, 'deaf'), { signal }))
    const pid = await pidIn(join(root, 'pid'))
    const reason = interrupt('shutdown')
    expect(await attempt).toBe(reason)
    expect(isAlive(pid)).toBe(false)
  })

  test('before the start starts nothing', async () => {
    const root = await aFolder()
    const { signal, interrupt } = interruptible()
    const reason = interrupt('shutdown')
    const job = commandJob({ programs: [node], root })
    const lines: unknown[] = []
    const payload = script(WAITING)
    expect(await failure(run(job, payload, { signal, onLog: (line) => lines.push(line) }))).toBe(reason)
    expect(lines).toEqual([])
  })

  test('during the start ends the program', async () => {
    const root = await aFolder()
    const { signal, interrupt } = interruptible()
    const job = commandJob({ programs: [node], root })
    const onLog = (): void => {
      if (!signal.aborted) interrupt('cancelled')
    }
    expect(await failure(run(job, script(WAITING), { signal, onLog }))).toBe(signal.reason)
  })
})

describe('the timeout of a payload', () => {
  test('ends the program and its descendants, and the error says so', async () => {
    const root = await aFolder()
    const job = commandJob({ programs: ['/bin/sh'], root, killAfter: '100ms' })
    const code = 'trap "" TERM; sleep 600 & echo $! > grandchild; echo stuck >&2; wait'
    const attempt = failure(run(job, { argv: ['/bin/sh', '-c', code], timeout: '1s' }))
    const grandchild = await pidIn(join(root, 'grandchild'))
    expect((await attempt).message).toBe('"/bin/sh" timed out after 1000 ms: stuck')
    await gone(grandchild)
  })

  test('that is not reached changes nothing', async () => {
    const job = commandJob({ programs: [node] })
    expect(await run(job, { ...script(''), timeout: '1h' })).toMatchObject({ exitCode: 0 })
  })

  test('A a timeout of the payload, the job or the kind wins over the default, which applies to all others', async () => {
    const root = await aFolder()
    const byDefault = commandJob({ programs: [node], root })
    const byKind = commandJob({ kind: 'patient', programs: [node], root, timeout: '1h' })
    await using mill = await testMill({ jobs: [byDefault, byKind], queues: { default: { workers: 4 } } })
    await mill.start()
    // Each reports that it runs, and ends on request.
    const code = `const { existsSync, writeFileSync } = require('node:fs')
      writeFileSync(process.argv[1], '1\\n'); setInterval(() => existsSync('end') && process.exit(), 20)`
    const of = (name: string) => ({ argv: [node, '-e', code, '--', name] as const })
    const jobs = [
      await mill.enqueue(byDefault, of('default')),
      await mill.enqueue(byDefault, { ...of('payload'), timeout: '1h' }),
      await mill.enqueue(byDefault, of('job'), { timeout: '1h' }),
      await mill.enqueue(byKind, of('kind')),
    ]
    for (const name of ['default', 'payload', 'job', 'kind']) await pidIn(join(root, name))
    await mill.clock.advance('11m')
    const outcomes = (few: typeof jobs) =>
      until('their attempts have ended', async () => {
        const ended = await Promise.all(few.map(async ({ id }) => (await mill.history(id))[0]?.outcome))
        return ended.includes(undefined) ? undefined : ended
      })
    expect(await outcomes(jobs.slice(0, 1))).toEqual(['timed-out'])
    await writeFile(join(root, 'end'), '')
    expect(await outcomes(jobs.slice(1))).toEqual(['returned', 'returned', 'returned'])
  })
})

describe('a process that the program leaves behind', () => {
  test('does not keep the handler waiting by holding its pipes, and is killed', async () => {
    const root = await aFolder()
    const job = commandJob({ programs: ['/bin/sh'], root })
    const argv = ['/bin/sh', '-c', 'sleep 600 & echo $! > grandchild; echo done']
    expect(await run(job, { argv })).toEqual({ exitCode: 0, stdout: 'done\n', stderr: '' })
    await gone(await pidIn(join(root, 'grandchild')))
  })

  test('is killed if it holds no pipe', async () => {
    const root = await aFolder()
    const job = commandJob({ programs: ['/bin/sh'], root })
    const argv = ['/bin/sh', '-c', 'sleep 600 >/dev/null 2>&1 </dev/null & echo $! > grandchild']
    expect(await run(job, { argv })).toMatchObject({ exitCode: 0 })
    await gone(await pidIn(join(root, 'grandchild')))
  })

  test('S5 that left the process group with the pipes keeps neither the handler nor a pipe, and is killed', async () => {
    const root = await aFolder()
    const before = pipes()
    const code = `const child = spawn('sleep', ['600'], { stdio: 'inherit', detached: true })
      require('node:fs').writeFileSync('grandchild', child.pid + '\\n')
      child.unref()`
    const payload = script(`const { spawn } = require('node:child_process');${code}`)
    expect(await run(commandJob({ programs: [node], root }), payload)).toMatchObject({ exitCode: 0 })
    const grandchild = await pidIn(join(root, 'grandchild'))
    await gone(grandchild)
    await until('our ends of the pipes are closed', () => pipes() <= before || undefined)
  })

  /** Writes its pid once it has left the group. */
  const LATE = `sh -c 'echo $$ > grandchild; exec sleep 600'`

  /** Without its own process group, without the marked environment, or both while its parent exists. */
  test.for([
    ['a setsid child', `setsid ${LATE} & wait`],
    ['a daemon', `(setsid ${LATE} &) ; sleep 600`],
    ['a setsid child without environment', `env -i setsid ${LATE} & wait`],
  ] as const)('S5 %s does not survive the timeout', async ([, program]) => {
    const root = await aFolder()
    const job = commandJob({ programs: ['/bin/sh'], root, killAfter: '100ms' })
    const { signal, interrupt } = interruptible()
    const attempt = failure(run(job, { argv: ['/bin/sh', '-c', program] }, { signal }))
    const grandchild = await pidIn(join(root, 'grandchild'))
    const reason = interrupt('timeout')
    expect(await attempt).toBe(reason)
    expect(isAlive(grandchild)).toBe(false)
  })

  /** Each link starts the next one in a session of its own, and ends. */
  test.for(inFull(['0', '0.01', '0.03'], ['0']))(
    'S5 a chain of processes that live for %s s is ended',
    async (seconds) => {
      const root = await aFolder()
      const link = `echo $$ >> links; sleep ${seconds}; setsid sh ${root}/link > /dev/null 2>&1 < /dev/null &`
      await writeFile(join(root, 'link'), link)
      onTestFinished(() => rm(join(root, 'link'), { force: true }))
      const job = commandJob({ programs: ['/bin/sh'], root })
      for (let time = 0; time < inFull(20, 5); time += 1) {
        await run(job, { argv: ['/bin/sh', join(root, 'link')] })
        expect(await pidsNaming(root)).toEqual([])
      }
    },
  )

  // Once the program has exited, and not before.
  const late = 'while kill -0 "$leader" 2>/dev/null; do sleep 0.01; done; sleep 0.1; echo late'

  test('can end on its own within a second, and its output counts', async () => {
    const code = `const env = { ...process.env, leader: String(process.pid) }
      const options = { stdio: 'inherit', detached: true, env }
      require('node:child_process').spawn('/bin/sh', ['-c', process.argv[1]], options).unref()
      console.log('early')`
    const result = await run(commandJob({ programs: [node] }), script(code, late))
    expect(result).toMatchObject({ stdout: 'early\nlate\n' })
  })

  test('can end on its own within a second, even without output', async () => {
    const root = await aFolder()
    const argv = ['/bin/sh', '-c', `leader=$$; (${late} > late) > /dev/null 2>&1 < /dev/null &`]
    await run(commandJob({ programs: ['/bin/sh'], root }), { argv })
    expect(await isThere(join(root, 'late'))).toBe(true)
  })
})
