/** Commands: what runs and in which environment, input and output, and how an exit is reported. */
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { errorText } from '../../../src/job/text/error-text.ts'
import { Dead } from '../../../src/job/attempt/thrown.ts'
import { commandJob, type CommandOptions } from '../../../src/work/handlers/command.ts'
import { refusal } from '../../unit/support.ts'
import { aContext, failure, run } from './context.ts'
import { aFolder } from './processes.ts'

const node = process.execPath
const command = commandJob({ programs: [node] })

const script = (code: string, ...args: string[]): { argv: string[] } => ({
  argv: [node, '-e', code, ...args],
})

async function printed(attempt: Promise<unknown>): Promise<unknown> {
  const { stdout } = (await attempt) as { stdout: string }
  return JSON.parse(stdout)
}

/** `root/inside`, and next to the root `outside` and `root-too`, with links between them. */
async function folders(): Promise<{ root: string; job: ReturnType<typeof commandJob> }> {
  const folder = await aFolder()
  const [root, outside] = [join(folder, 'root'), join(folder, 'outside')]
  for (const path of [join(root, 'inside'), outside, join(folder, 'root-too'), join(root, '..dots')])
    await mkdir(path, { recursive: true })
  await symlink(outside, join(root, 'way-out'))
  await symlink('inside', join(root, 'way-in'))
  await symlink(root, join(folder, 'link-to-root'))
  await writeFile(join(root, 'file'), '')
  return { root, job: commandJob({ programs: [node], root: join(folder, 'link-to-root') }) }
}

/** A program `tool` that prints its own name. */
async function aTool(): Promise<{ folder: string; file: string }> {
  const folder = await aFolder()
  const file = join(folder, 'tool')
  await writeFile(file, '#!/bin/sh\necho "$0"\n')
  await chmod(file, 0o755)
  return { folder, file }
}

const retryIf = (): boolean => false

afterEach(() => vi.unstubAllEnvs())

describe('the result', () => {
  test('exit code 0: both outputs, and a log line at the start and at the end', async () => {
    const context = aContext(script('console.log("out"); console.error("err", process.pid)'))
    const result = (await command.run(context)) as { stderr: string }
    expect(result).toEqual({ exitCode: 0, stdout: 'out\n', stderr: result.stderr })
    const pid = Number(/^err (\d+)\n$/.exec(result.stderr)?.[1])
    expect(context.lines).toEqual([
      { message: 'command started', fields: { program: node, pid } },
      { message: 'command ended', fields: { program: node, exitCode: 0 } },
    ])
  })

  test('another exit code: an error with the code and the end of stderr', async () => {
    const error = await failure(run(command, script('console.error("no disk"); process.exitCode = 3')))
    expect(error.message).toMatch(/failed with exit code 3: no disk$/)
    expect(error).not.toBeInstanceOf(Dead)
  })

  test('the end of stdout if stderr is empty', async () => {
    const error = await failure(run(command, script('console.log("bad input"); process.exitCode = 4')))
    expect(error.message).toMatch(/failed with exit code 4: bad input$/)
  })

  test('the error stores the end of a long stderr', async () => {
    const long = script('console.error("noise ".repeat(10000) + "the reason"); process.exitCode = 1')
    expect(errorText(await failure(run(command, long)))).toMatch(/exit code 1: .*the reason$/s)
  })

  test('a signal: an error that names it', async () => {
    const context = aContext(script('process.kill(process.pid, "SIGKILL")'))
    expect((await failure(Promise.resolve(command.run(context)))).message).toMatch(/was killed by SIGKILL$/)
    expect(context.lines.at(-1)?.fields).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
  })

  test('the last 4 KiB of each output, in whole characters', async () => {
    const code = 'process.stdout.write("é".repeat(5000) + "x"); process.stderr.write("€".repeat(5000))'
    const result = await run(command, script(code))
    expect(result).toEqual({ exitCode: 0, stdout: `${'é'.repeat(2047)}x`, stderr: '€'.repeat(1365) })
  })
})

describe('the input', () => {
  test('megabytes can be written and read at the same time', async () => {
    // It stops reading while its output is not read.
    const job = commandJob({ programs: ['cat'] })
    const stdin = `${'0123456789'.repeat(500_000)}the end`
    const result = await run(job, { argv: ['cat'], stdin })
    expect(result).toEqual({ exitCode: 0, stdout: stdin.slice(-4_096), stderr: '' })
  })

  test('a program need not read its input', async () => {
    const stdin = 'x'.repeat(5_000_000)
    expect(await run(command, { ...script('process.stdin.destroy()'), stdin })).toMatchObject({ exitCode: 0 })
  })

  test('without stdin, the input is empty', async () => {
    const code = 'process.stdin.on("data", () => {}).on("end", () => console.log("ended"))'
    expect(await run(command, script(code))).toMatchObject({ stdout: 'ended\n' })
  })

  test('arguments are passed unchanged: there is no shell', async () => {
    const args = ['$(id)', '; exit 3', '*', '', 'a b', '"']
    const payload = script('console.log(JSON.stringify(process.argv.slice(1)))', '--', ...args)
    expect(await printed(run(command, payload))).toEqual(args)
  })
})

describe('the environment', () => {
  const show = script('console.log(JSON.stringify(process.env))')

  test('has only PATH of this process', async () => {
    vi.stubEnv('SECRET', 'hidden')
    expect(await printed(run(command, show))).toEqual({
      PATH: process.env['PATH'],
      JOBMILL_CHILD: expect.any(String) as unknown,
    })
  })

  test('has the variables of the options and the payload; the payload wins', async () => {
    vi.stubEnv('PASSED', 'on')
    vi.stubEnv('OTHER', 'kept')
    const job = commandJob({
      programs: [node],
      env: { A: 'option', B: 'option', OTHER: 'replaced' },
      inheritEnv: ['PASSED', 'OTHER', 'NOT_SET'],
      payloadEnv: ['B', 'C', 'PATH'],
    })
    const env = await printed(run(job, { ...show, env: { B: 'payload', C: 'payload', PATH: '/bin' } }))
    const passed = { PASSED: 'on', OTHER: 'replaced', JOBMILL_CHILD: expect.any(String) as unknown }
    expect(env).toEqual({ PATH: '/bin', ...passed, A: 'option', B: 'payload', C: 'payload' })
  })
})

describe('the working directory', () => {
  const where = script('console.log(JSON.stringify(process.cwd()))')

  test('is the root, or the folder inside it that the payload names', async () => {
    const { root, job } = await folders()
    const cwd = async (cwd: string): Promise<unknown> => await printed(run(job, { ...where, cwd }))
    expect(await printed(run(job, where))).toBe(root)
    expect(await cwd('inside')).toBe(join(root, 'inside'))
    expect(await cwd(join(root, 'inside'))).toBe(join(root, 'inside'))
    expect(await cwd('way-in')).toBe(join(root, 'inside'))
    expect(await cwd('..dots')).toBe(join(root, '..dots'))
    expect(await cwd('.')).toBe(root)
  })

  const outside = ['..', '../outside', '../root-too', 'inside/../..', 'way-out', '/']
  test.for(outside)('cannot be outside the root, by dots or by links: %s', async (cwd) => {
    const { job } = await folders()
    const error = await failure(run(job, { ...where, cwd }))
    expect(error).not.toBeInstanceOf(Dead)
    expect(error.message).toMatch(/^payload\.cwd: is outside of the root .* Use a directory inside/)
  })

  test.for(['missing', 'file', 'file/inside', 'x'.repeat(300)])('must exist: %s', async (cwd) => {
    const { job } = await folders()
    const error = await failure(run(job, { ...where, cwd }))
    expect(error).not.toBeInstanceOf(Dead)
    expect(error.message).toMatch(/^payload\.cwd: must be an existing directory .* Create it/)
  })

  test('without a root is that of this process, and the payload cannot name one', async () => {
    expect(await printed(run(command, where))).toBe(process.cwd())
    const error = await failure(run(command, { ...where, cwd: process.cwd() }))
    expect(error).not.toBeInstanceOf(Dead)
    expect(error.message).toMatch(/^payload\.cwd: .*pass root to commandJob/)
  })
})

describe('the list of programs', () => {
  test('a bare name is resolved once, when the job is defined', async () => {
    const { folder, file } = await aTool()
    const other = await aFolder()
    // Neither a folder nor a file that cannot be executed is a program.
    await mkdir(join(other, 'tool'))
    const plain = await aFolder()
    await writeFile(join(plain, 'tool'), '')
    vi.stubEnv('PATH', ['', 'relative', other, plain, folder].join(':'))
    const job = commandJob({ programs: ['tool'] })
    vi.stubEnv('PATH', '/usr/bin:/bin')
    expect(await run(job, { argv: ['tool'] })).toMatchObject({ stdout: `${file}\n` })
    expect((await failure(run(job, { argv: [file] }))).message).toMatch(
      /argv\[0\]: is not an allowed program/,
    )
  })

  test.for(['/bin/sh', 'node', `${node}/../node`])(
    'D5 %s is not listed: an attempt is spent',
    async (program) => {
      const error = await failure(run(command, { argv: [program] }))
      expect(error).not.toBeInstanceOf(Dead)
      expect(error.message).toContain('payload.argv[0]: is not an allowed program')
      expect(error.message).toContain(`Use one of ${node}`)
    },
  )

  test.for(['ENOENT', 'EACCES', 'E2BIG'])(
    'a program that cannot be started (%s): D5 an attempt is spent',
    async (code) => {
      const folder = await aFolder()
      const [plain, missing] = [join(folder, 'plain'), join(folder, 'missing')]
      await writeFile(plain, '#!/bin/sh\n')
      const argv = { ENOENT: [missing], EACCES: [plain], E2BIG: [node, 'x'.repeat(4_000_000)] }[code]
      const error = await failure(run(commandJob({ programs: [plain, missing, node] }), { argv }))
      expect(error).not.toBeInstanceOf(Dead)
      expect(error.message).toMatch(new RegExp(`^payload\\.argv: .* cannot be started \\(${code}\\)`))
    },
  )
})

describe('D5 an invalid payload spends an attempt, with a fix in the error', () => {
  const argv = [node]
  test.for<[unknown, RegExp]>([
    [null, /^payload: .*Pass an object/],
    [[node], /^payload: .*Pass an object/],
    [{ argv, stdn: '' }, /^payload\.stdn: .*Did you mean "stdin"\?/],
    [{}, /^payload\.argv: must be an array .*Pass an array/],
    [{ argv: node }, /^payload\.argv: must be an array .*Pass an array/],
    [{ argv: [] }, /^payload\.argv\[0\]: .*Use one of/],
    [{ argv: [node, 1] }, /^payload\.argv\[1\]: must be a string .*Pass a string/],
    [{ argv: [node, 'a\u0000b'] }, /^payload\.argv\[1\]: contains a NUL .*Remove it/],
    [{ argv, env: ['A=1'] }, /^payload\.env: must be an object .*Pass an object/],
    [{ argv, env: { 'A=B': 'c' } }, /^payload\.env\["A=B"\]: .*Use a name without =/],
    [{ argv, env: { A: 1 } }, /^payload\.env\.A: must be a string \(got number\).*Pass a string/],
    [{ argv, env: { A: '\u0000' } }, /^payload\.env\.A: contains a NUL .*Remove it/],
    [{ argv, env: { LD_PRELOAD: '/tmp/x.so' } }, /^payload\.env\.LD_PRELOAD: must not be set .*payloadEnv/],
    [{ argv, stdin: { a: 1 } }, /^payload\.stdin: must be a string .*JSON/],
    [{ argv, timeout: 'soon' }, /^payload\.timeout: must be a duration .*'90s'/],
    [{ argv, timeout: 0 }, /^payload\.timeout: must be longer than 0 .*or omit it/],
  ])('%j', async ([payload, message]) => {
    const error = await failure(run(command, payload))
    expect(error).not.toBeInstanceOf(Dead)
    expect(error.message).toMatch(message)
  })

  test('the error does not show a secret of the environment', async () => {
    const error = await failure(run(command, { argv, env: { A: 'password\u0000' } }))
    expect(error.message).not.toContain('password')
  })
})

describe('the options', () => {
  test('A the policy comes from the job, with a timeout of ten minutes by default', () => {
    const policy = { queue: 'tools', priority: 3, maxAttempts: 2, timeout: '1m', retryIf } as const
    const job = commandJob({ kind: 'tool.run', programs: [node], ...policy, backoff: { fixed: '1s' } })
    expect(job).toMatchObject({ kind: 'tool.run', queue: 'tools', priority: 3, maxAttempts: 2, retryIf })
    expect(job).toMatchObject({ timeoutMs: 60_000, backoff: { fixedMs: 1_000 } })
    expect(command).toMatchObject({ kind: 'command', queue: undefined, timeoutMs: 600_000 })
    expect(commandJob({ programs: [node], timeout: 'none' }).timeoutMs).toBeUndefined()
  })

  const programs = [node]
  test.for<[unknown, string, string]>([
    [{}, 'OPTION_INVALID', 'commandJob.programs'],
    [{ programs: [] }, 'OPTION_INVALID', 'commandJob.programs'],
    [{ programs: [''] }, 'OPTION_INVALID', 'commandJob.programs[0]'],
    [{ programs: [node, './tool'] }, 'OPTION_INVALID', 'commandJob.programs[1]'],
    [{ programs: ['no-such-program'] }, 'OPTION_INVALID', 'commandJob.programs[0]'],
    [{ programs, root: '/no/such/folder' }, 'OPTION_INVALID', 'commandJob.root'],
    [{ programs, root: node }, 'OPTION_INVALID', 'commandJob.root'],
    [{ programs, env: { A: 1 } }, 'OPTION_INVALID', 'commandJob.env.A'],
    [{ programs, env: new Map([['A', '1']]) }, 'OPTION_INVALID', 'commandJob.env'],
    [{ programs, inheritEnv: 'HOME' }, 'OPTION_INVALID', 'commandJob.inheritEnv'],
    [{ programs, killAfter: -1 }, 'DURATION_INVALID', 'commandJob.killAfter'],
    [{ programs, killafter: 1 }, 'OPTION_UNKNOWN', 'commandJob.killafter'],
    [{ programs, onDead: 1 }, 'OPTION_UNKNOWN', 'commandJob.onDead'],
  ])('%j is refused', ([options, code, field]) => {
    expect(refusal(() => commandJob(options as CommandOptions))).toMatchObject({ code, field })
  })
})
